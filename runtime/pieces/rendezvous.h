// Where threads wait for each other to make one number of what each brings. One of them works at a time, as
// they may share a device: the next goes on when one waits here or is done.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/session.h"

namespace halo::rt {

// In a thread that waited for one in which something else went wrong.
class GaveUp : public Error {
public:
    GaveUp() : Error(ErrorCode::internal, "another piece of the grid could not go on with its steps") {}
};

class Rendezvous {
public:
    using Combine = std::function<double(const std::vector<PartialResults>& parts)>;  // by thread

    explicit Rendezvous(std::size_t threads) : parts_(threads) {}

    // A thread's work. What it throws is thrown on, and the others need not wait for it.
    void work(const std::function<void()>& work);

    // Called within work() by every thread, as often by each: gives all of them what `combine` makes of their
    // parts. Throws GaveUp where another thread has given up.
    double meet(std::size_t thread, PartialResults part, const Combine& combine);

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<PartialResults> parts_;
    std::size_t arrived_ = 0;
    std::int64_t round_ = 0;
    double result_ = 0;
    bool given_up_ = false;
};

}  // namespace halo::rt
