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

// The most steps that a budget lets undo, by its units and by how often each may be done. A budget that has
// no room for a state lets one step be undone from a state that is there. One that need not do any step twice
// has a row of states, each one step after the one before; else the first states of the two parts of a range
// lie apart.
class MostSteps {
public:
    explicit MostSteps(const SnapshotBudget& budget) : budget_(budget) {}

    std::int64_t operator()(std::int64_t units, std::int64_t repeats) {
        while (std::ssize(rows_) <= repeats)
            add_row();
        return rows_[static_cast<std::size_t>(repeats)][static_cast<std::size_t>(units)];
    }

private:
    void add_row() {
        const auto repeats = rows_.size();
        std::vector<std::int64_t> row;
        for (std::int64_t units = 0; units <= budget_.units; ++units) {
            std::int64_t most = 1;
            if (repeats > 0 && units >= budget_.of_state) {
                most = repeats == 1 ? 2 + (units - budget_.of_state) / budget_.of_next
                                    : rows_.back()[static_cast<std::size_t>(units)] +
                                          row[static_cast<std::size_t>(units - budget_.of_state)];
            }
            row.push_back(std::min(most, kMany));
        }
        rows_.push_back(std::move(row));
    }

    SnapshotBudget budget_;
    std::vector<std::vector<std::int64_t>> rows_;
};

}  // namespace

void go_back(std::int64_t steps, const SnapshotBudget& given, const SnapshotActions& actions) {
    struct Range {  // of steps to be undone, whose first state is kept in the slot of the range's number
        std::int64_t from, to;
        std::int64_t units;  // for it and for states within the range
    };
    if (steps <= 0) return;
    SnapshotBudget budget = given;
    budget.units = std::clamp(budget.units, budget.of_state, budget.of_state + steps * budget.of_next);
    MostSteps most_steps(budget);
    actions.keep(0, 0);
    std::vector<Range> ranges{{0, steps, budget.units}};
    bool is_there = true;  // the state before the last range
    while (!ranges.empty()) {
        const Range range = ranges.back();
        const int slot = static_cast<int>(ranges.size()) - 1;
        if (range.from == range.to) {
            if (slot > 0 && actions.drop) actions.drop(slot);
            ranges.pop_back();
            is_there = false;
            continue;
        }
        if (!is_there) actions.restore(range.from, slot);
        const std::int64_t count = range.to - range.from;
        std::int64_t repeats = 1;
        while (most_steps(range.units, repeats) < count)
            ++repeats;
        const std::int64_t left = range.units - (repeats == 1 ? budget.of_next : budget.of_state);
        if (count == 1 || left < budget.of_state) {  // no state can be kept between
            if (count > 1) actions.advance(range.from, range.to - 1);
            actions.undo(range.to - 1);
            --ranges.back().to;
            is_there = false;
            continue;
        }
        const std::int64_t first =
            repeats == 1 ? 1
                         : std::clamp<std::int64_t>(std::min(most_steps(range.units, repeats - 1),
                                                             count - most_steps(left, repeats - 1)),
                                                    1, count - 1);
        actions.advance(range.from, range.from + first);
        actions.keep(range.from + first, slot + 1);
        ranges.back().to = range.from + first;
        ranges.push_back({range.from + first, range.to, left});
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

std::int64_t steps_forward(std::int64_t steps, const SnapshotBudget& budget) {
    std::int64_t forward = 0;
    go_back(steps, budget,
            {[](std::int64_t, int) {},
             [](std::int64_t, int) {},
             [&](std::int64_t from, std::int64_t to) { forward += to - from; },
             [](std::int64_t) {},
             {}});
    return forward;
}

int most_kept(std::int64_t steps, const SnapshotBudget& budget) {
    int most = 1;
    go_back(steps, budget,
            {[&](std::int64_t, int slot) { most = std::max(most, slot + 1); },
             [](std::int64_t, int) {},
             [](std::int64_t, std::int64_t) {},
             [](std::int64_t) {},
             {}});
    return most;
}

}  // namespace halo::adjoint
