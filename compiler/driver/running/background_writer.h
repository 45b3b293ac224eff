// Files that are written by a thread of their own while the run goes on. It takes what was copied for it, in
// order, one piece of work after another.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/ranks/ranks.h"

namespace halo::driver {

class BackgroundWriter {
public:
    // most: bytes of copies that may wait, with those that are being written.
    explicit BackgroundWriter(std::int64_t most);
    // A share of the memory that is free now.
    BackgroundWriter();
    // Does what is left to do. What goes wrong then is not said: something else ended the run.
    ~BackgroundWriter();
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;

    bool has_room_for(std::int64_t bytes) const { return bytes <= most_; }  // once nothing waits

    // Waits until so many bytes may be copied: until few enough wait, and little work. Throws what has gone
    // wrong in earlier work, as all here; the work that was left is then not done.
    void make_room(std::int64_t bytes);
    // Work on copies of so many bytes, for which there is room. Where no thread can be started it is done
    // at once.
    void put(std::int64_t bytes, std::function<void()> work);
    void wait();  // until all is done

    // For the files that the work writes: this process alone.
    rt::Ranks& ranks() { return *ranks_; }

    // Memory for copies, that of earlier ones where it is large enough: new memory is slow to touch first.
    std::vector<std::byte> take_memory(std::int64_t bytes);
    void give_memory(std::vector<std::byte> memory);

private:
    struct Work {
        std::int64_t bytes = 0;
        std::function<void()> run;
    };
    void run();
    void rethrow();  // with the lock
    bool start();

    const std::int64_t most_;
    const std::unique_ptr<rt::Ranks> ranks_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<Work> queue_;  // the first is being done
    std::int64_t bytes_ = 0;  // of all in it
    std::vector<std::vector<std::byte>> memory_;
    std::exception_ptr trouble_;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace halo::driver
