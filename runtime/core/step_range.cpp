#include "runtime/core/step_range.h"

#include <fmt/format.h>

namespace halo::rt {

std::string words_for(const StepRange& range) {
    if (range.is_all()) return "in all steps";
    if (range.past == StepRange::kNoEnd) return fmt::format("from step {} on", range.first);
    if (range.first == 0) return fmt::format("before step {}", range.past);
    return fmt::format("in steps {} to {}", range.first, range.past - 1);
}

}  // namespace halo::rt
