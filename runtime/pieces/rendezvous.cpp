#include "runtime/pieces/rendezvous.h"

namespace halo::rt {

void Rendezvous::work(const std::function<void()>& work) {
    const std::scoped_lock turn(mutex_);
    try {
        work();
    } catch (...) {
        given_up_ = true;
        changed_.notify_all();
        throw;
    }
}

// This thread has its turn; it is another's while it waits.
double Rendezvous::meet(std::size_t thread, PartialResults part, const Combine& combine) {
    parts_[thread] = std::move(part);
    const std::int64_t round = round_;
    if (++arrived_ == parts_.size()) {
        result_ = combine(parts_);
        arrived_ = 0;
        ++round_;
        changed_.notify_all();
    } else {
        changed_.wait(mutex_, [&] { return round_ != round || given_up_; });
    }
    if (round_ == round) throw GaveUp();
    return result_;
}

}  // namespace halo::rt
