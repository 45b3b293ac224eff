// What is another process's after a fork: threads, GPU contexts and locks do not come along, so nothing made
// before may be used or destroyed in the child.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace halocline::python {

class ForkError : public std::runtime_error {
public:
    ForkError()
        : std::runtime_error(
              "this was made before the process forked, and threads and GPU contexts do not come along; make "
              "programs, devices and simulations after the fork, or start processes by the method 'spawn'") {}
};

template <class Value>
class Owned {
public:
    template <class... Arguments>
    explicit Owned(std::in_place_t, Arguments&&... arguments)
        : value_(std::make_unique<Value>(std::forward<Arguments>(arguments)...)) {}
    Owned(Owned&&) noexcept = default;
    Owned& operator=(Owned&&) = delete;
    ~Owned() {
        // In a child of the process it is left behind: to destroy it would wait for threads that are not
        // there.
        if (is_foreign()) value_.release();  // NOLINT(bugprone-unused-return-value)
    }
    Value& get() const {
        if (is_foreign()) throw ForkError();
        return *value_;
    }

private:
    bool is_foreign() const { return ::getpid() != process_; }
    std::unique_ptr<Value> value_;
    pid_t process_ = ::getpid();
};

}  // namespace halocline::python
