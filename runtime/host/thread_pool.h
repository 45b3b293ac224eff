// Threads that share the work of a loop: each takes one contiguous part, always the same one for the same
// count, so that what a thread wrote first lies in memory near it. The calling thread is the first of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace halo::rt {

class ThreadPool {
public:
    // threads >= 1; fewer where the system starts no more. All but the calling thread are pinned, one to a
    // processor, where there are processors enough.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const;

    // Calls part(begin, end) on each thread whose part of [0, count) is not empty, and returns when all are
    // done. What a part throws is thrown here (one of them, where several throw). One caller at a time; not
    // from within a part.
    using Part = std::function<void(std::int64_t begin, std::int64_t end)>;
    void run(std::int64_t count, const Part& part);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace halo::rt
