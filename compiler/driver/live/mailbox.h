// Between the threads that answer pages and the one that drives the run. Only the latter touches the engine:
// the others leave it a task, and wait until it comes by, between two steps.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

namespace halo::driver::live {

class Mailbox {
public:
    using Task = std::function<void()>;
    enum class Answer : std::uint8_t {
        done,
        late,  // the run did not come by in time: the task is not done, and will not be
        over   // nor will it ever
    };

    // By any thread but the run's. What the task throws is thrown here.
    Answer ask(Task task, std::chrono::milliseconds patience);

    // By the run's thread: does the tasks that wait.
    void serve();
    // By the run's thread: waits until there is a task, or for so long.
    void wait(std::chrono::milliseconds time);
    // No task is done from now on.
    void close();

private:
    struct Entry {
        Task task;
        std::exception_ptr trouble;
        bool is_begun = false, is_done = false;
    };

    std::mutex mutex_;
    std::condition_variable arrived_, answered_;
    std::deque<std::shared_ptr<Entry>> waiting_;
    bool is_closed_ = false;
};

}  // namespace halo::driver::live
