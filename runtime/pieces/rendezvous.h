// Where threads wait for each other, of which only one works at a time, as they may share a device: another
// one goes on when one waits here or is done.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/session.h"

namespace halo::rt {

// Thrown in a thread that waits for others, where one of them has failed.
class GaveUp : public Error {
public:
    GaveUp() : Error(ErrorCode::internal, "another piece of the grid could not go on with its steps") {}
};

class Rendezvous {
public:
    using Combine = std::function<double(const std::vector<PartialResults>& parts)>;  // by thread

    explicit Rendezvous(std::size_t threads) : parts_(threads) {}

    // Runs a thread's work. Where that throws, the exception is passed on, and threads that wait here throw
    // GaveUp.
    void work(const std::function<void()>& work);

    // Called within work() by every thread, equally often by each: once all are there the last of them does
    // `work`, and then they go on. Throws GaveUp where another thread has failed.
    void meet(const std::function<void()>& work);
    // The same: all get the result of `combine` for their parts.
    double all_reduce(std::size_t thread, PartialResults part, const Combine& combine);

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<PartialResults> parts_;
    std::size_t arrived_ = 0;
    std::int64_t generation_ = 0;
    double result_ = 0;
    bool has_failed_ = false;
};

}  // namespace halo::rt
