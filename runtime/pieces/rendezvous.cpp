#include "runtime/pieces/rendezvous.h"

namespace halo::rt {

void Rendezvous::work(const std::function<void()>& work) {
    const std::scoped_lock lock(mutex_);
    try {
        work();
    } catch (...) {
        has_failed_ = true;
        changed_.notify_all();
        throw;
    }
}

// The mutex is held by this thread, except while it waits.
void Rendezvous::meet(const std::function<void()>& work) {
    const std::int64_t generation = generation_;
    if (++arrived_ == parts_.size()) {
        work();
        arrived_ = 0;
        ++generation_;
        changed_.notify_all();
    } else {
        changed_.wait(mutex_, [&] { return generation_ != generation || has_failed_; });
    }
    if (generation_ == generation) throw GaveUp();
}

double Rendezvous::all_reduce(std::size_t thread, PartialResults part, const Combine& combine) {
    parts_[thread] = std::move(part);
    meet([&] { result_ = combine(parts_); });
    return result_;
}

}  // namespace halo::rt
