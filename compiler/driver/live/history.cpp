#include "compiler/driver/live/history.h"

namespace halo::driver::live {

void History::add(std::int64_t step, double value) {
    if (seen_ > 0 && step == newest_.step) return;
    newest_ = {step, value};
    if (seen_++ % stride_ != 0) return;
    if (kept_.size() == most_) {
        for (std::size_t i = 0; 2 * i < kept_.size(); ++i)
            kept_[i] = kept_[2 * i];
        kept_.resize((kept_.size() + 1) / 2);
        stride_ *= 2;
        if ((seen_ - 1) % stride_ != 0) return;
    }
    kept_.push_back(newest_);
}

std::vector<History::Point> History::points() const {
    std::vector<Point> all = kept_;
    if (seen_ > 0 && (all.empty() || all.back().step != newest_.step)) all.push_back(newest_);
    return all;
}

}  // namespace halo::driver::live
