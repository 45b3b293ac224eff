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
    const bool is_look = looks_left_ > 0, is_slow = each > kSlow * singles_;
    tile_ = std::min(tile_, each);
    // Whole tiles come right after a few steps that are faster than single ones.
    timed_ = is_look && each < singles_ ? kSingles : 0;
    if (is_look)
        looks_left_ = is_slow ? looks_left_ - 1 : 0;
    else
        --rounds_left_;
    const bool has_lost = is_slow && (looks_left_ == 0 || each > kHopeless * singles_);
    const bool has_won = !is_look && each < kFast * singles_;
    if (has_lost || has_won) rounds_left_ = 0;
}

}  // namespace halo::rt::session
