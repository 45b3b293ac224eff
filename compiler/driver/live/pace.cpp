#include "compiler/driver/live/pace.h"

#include <algorithm>

namespace halo::driver::live {

std::int64_t Pace::allowed() const {
    if (state_ != State::running) return 0;
    return std::min(left_.value_or(kNoLimit), steps_a_picture_.value_or(kNoLimit));
}

void Pace::page_came() {
    if (state_ == State::awaiting) state_ = State::running;
}

void Pace::pause() {
    if (state_ == State::finished) return;
    state_ = State::paused;
    left_.reset();
}

void Pace::resume() {
    if (state_ == State::finished) return;
    state_ = State::running;
    left_.reset();
}

void Pace::step(std::int64_t count) {
    if (state_ == State::finished || count < 1) return;
    state_ = State::running;
    left_ = count;
}

void Pace::did(std::int64_t steps) {
    if (!left_) return;
    *left_ -= std::min(steps, *left_);
    if (*left_ == 0) pause();
}

}  // namespace halo::driver::live
