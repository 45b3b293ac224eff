#include "runtime/core/session/tile_trial.h"

#include <algorithm>

namespace halo::rt::session {

void TileTrial::add_single(double seconds) {
    latest_ = seconds;
    singles_ = std::min(singles_, seconds);
    ++timed_;
}

void TileTrial::add_tile(double seconds, std::int64_t steps) {
    const double each = seconds / static_cast<double>(steps);
    tile_ = std::min(tile_, each);
    timed_ = 0;
    if (looks_left_ == 0) {
        --rounds_left_;
    } else if (each <= kSlow * singles_) {
        looks_left_ = 0;
    } else if (--looks_left_ == 0 || each > kHopeless * singles_) {
        rounds_left_ = 0;
    }
}

}  // namespace halo::rt::session
