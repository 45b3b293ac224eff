#include "compiler/adjoint/snapshots.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace halo::adjoint {

namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max() / 4;

// (s + r) choose s: the most steps that s states let undo when none is done more than r times. Stops at
// kMany.
std::int64_t most_steps(std::int64_t s, std::int64_t r) {
    if (s < 0 || r < 0) return 0;
    std::int64_t result = 1;
    for (std::int64_t i = 1; i <= std::min(s, r); ++i) {
        const std::int64_t factor = std::max(s, r) + i;
        if (result > kMany / factor) return kMany;
        result = result * factor / i;
    }
    return result;
}

std::int64_t least_repeats(std::int64_t steps, std::int64_t snapshots) {
    std::int64_t repeats = 0;
    while (most_steps(snapshots, repeats) < steps)
        ++repeats;
    return repeats;
}

}  // namespace

void go_back(std::int64_t steps, int snapshots, const SnapshotActions& actions) {
    struct Range {  // of steps to be undone, whose first state is kept in the slot of the range's number
        std::int64_t from, to;
    };
    if (steps <= 0) return;
    actions.keep(0, 0);
    std::vector<Range> ranges{{0, steps}};
    bool is_there = true;  // the state before the last range
    while (!ranges.empty()) {
        const Range range = ranges.back();
        const int slot = static_cast<int>(ranges.size()) - 1, left = std::max(snapshots, 1) - slot;
        if (range.from == range.to) {
            ranges.pop_back();
            is_there = false;
            continue;
        }
        if (!is_there) actions.restore(range.from, slot);
        const std::int64_t count = range.to - range.from;
        if (count == 1 || left == 1) {
            if (count > 1) actions.advance(range.from, range.to - 1);
            actions.undo(range.to - 1);
            --ranges.back().to;
            is_there = false;
            continue;
        }
        const std::int64_t repeats = least_repeats(count, left);
        const std::int64_t first = std::clamp<std::int64_t>(
            std::min(most_steps(left, repeats - 1), count - most_steps(left - 1, repeats - 1)), 1, count - 1);
        actions.advance(range.from, range.from + first);
        actions.keep(range.from + first, slot + 1);
        ranges.back().to = range.from + first;
        ranges.push_back({range.from + first, range.to});
        is_there = true;
    }
}

std::int64_t snapshots_for(std::int64_t steps, std::int64_t repeats) {
    std::int64_t least = 1, most = std::max<std::int64_t>(steps, 1);
    while (least < most) {
        const std::int64_t middle = (least + most) / 2;
        if (most_steps(middle, repeats) >= steps)
            most = middle;
        else
            least = middle + 1;
    }
    return least;
}

std::int64_t steps_forward(std::int64_t steps, int snapshots) {
    std::int64_t forward = 0;
    go_back(steps, snapshots,
            {[](std::int64_t, int) {}, [](std::int64_t, int) {},
             [&](std::int64_t from, std::int64_t to) { forward += to - from; }, [](std::int64_t) {}});
    return forward;
}

}  // namespace halo::adjoint
