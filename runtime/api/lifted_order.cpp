#include "runtime/api/lifted_order.h"

#include <algorithm>

namespace halocline::detail {

namespace {

bool are_in_order(const std::vector<HeldOrder::Cells>& earlier, const std::vector<HeldOrder::Cells>& later) {
    return std::ranges::any_of(earlier, [&](const HeldOrder::Cells& a) {
        return std::ranges::any_of(later, [&](const HeldOrder::Cells& b) {
            return a.array == b.array && (a.is_written || b.is_written) &&
                   !halo::rt::intersection(a.box, b.box).is_empty();
        });
    });
}

}  // namespace

std::vector<std::int64_t> HeldOrder::after(const std::vector<Cells>& cells, std::int64_t first) {
    std::erase_if(steps_, [&](const Step& each) { return each.last < first; });
    std::vector<std::int64_t> found;
    for (const Step& each : steps_)
        if (are_in_order(each.cells, cells)) found.push_back(each.last);
    return found;
}

}  // namespace halocline::detail
