#include "runtime/pieces/rendezvous.h"

namespace halo::rt {

double Rendezvous::meet(std::size_t thread, PartialResults part, const Combine& combine) {
    std::unique_lock lock(mutex_);
    parts_[thread] = std::move(part);
    const std::int64_t round = round_;
    if (++arrived_ == parts_.size()) {
        result_ = combine(parts_);
        arrived_ = 0;
        ++round_;
        changed_.notify_all();
    } else {
        changed_.wait(lock, [&] { return round_ != round || given_up_; });
    }
    if (round_ == round)
        throw GaveUp();
    return result_;
}

void Rendezvous::give_up() {
    const std::scoped_lock lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
}

}  // namespace halo::rt
