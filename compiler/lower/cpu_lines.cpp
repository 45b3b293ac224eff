#include "compiler/lower/cpu_lines.h"

#include <algorithm>
#include <array>
#include <set>

#include "compiler/ir/analysis.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/shared/table_sums.h"

namespace halo::lower {
namespace {

// Of 0.6 to 8 KB in 256³ to 512³ and 8192² cells all were within a tenth of the best, by stars of 5, 7 and 25
// points.
constexpr int kBytesAhead = 2560;

// One loop along the first axis computes cells of several planes or rows together. What they read of each
// other's cells is then loaded once, and so are sums that they have in common. Two planes are faster for all
// stars, within the caches and beyond them: each plane that cells read comes from the core's second cache
// half as often. More of them, or rows, which are in its first cache, are faster where few loads are left, as
// for boxes; elsewhere they are more streams from memory than a processor follows.
struct Choice {
    Together together;
    double most_left;  // of the rows that planes read, of the loads of rows, as a share of all
};
constexpr std::array<Choice, 3> kChoices{
    {{{2, 4}, 0.6}, {{2, 2}, 0.9}, {{1, 4}, 0.72}}};  // the first one that fits
// Loads of these cells at most, as the time to compile a loop grows with them; and rows of planes, as each is
// a stream: two planes of elastic3d, which read 53 rows, were a twentieth slower than one.
constexpr std::size_t kMostLoads = 128, kMostRows = 40;

int bytes_of(const StageView& stage, const Level& level) {
    return size_of(storage_type(stage.field(level).storage));
}

bool is_alone(const StageView& stage, const Level& level) {
    return ir::interleave(*stage.program, level.field).count() == 1;
}

bool stores_all_cells(const StageView& stage, const Write& write) {
    for (int axis = 0; axis < stage.rank(); ++axis) {
        const StoreBounds bounds = store_bounds(stage, write, axis);
        if (bounds.low != 0 || bounds.high != 0) return false;
    }
    return true;
}

// What `count` cells along an axis read of a level: so many elements, of so many rows.
struct Loads {
    std::size_t elements, rows;
};
Loads loads_of(const Read& read, int axis, int count) {
    std::set<ir::Offset> elements, rows;
    for (int number = 0; number < count; ++number)
        for (ir::Offset offset : read.offsets) {
            offset[axis] += number;
            elements.insert(offset);
            offset[0] = 0;
            rows.insert(offset);
        }
    return {elements.size(), rows.size()};
}

bool is_worth(const StageView& stage, const Choice& choice) {
    const auto [axis, count] = choice.together;
    std::size_t loads = 0, rows = 0, left = 0, all = 0;
    for (const Read& read : stage.reads) {
        const Loads single = loads_of(read, axis, 1), together = loads_of(read, axis, count);
        loads += together.elements;
        rows += axis == 2 ? together.rows : 0;
        left += axis == 2 ? together.rows : together.elements;
        all += static_cast<std::size_t>(count) * (axis == 2 ? single.rows : single.elements);
    }
    return loads > 0 && loads <= kMostLoads && rows <= kMostRows &&
           static_cast<double>(left) <= choice.most_left * static_cast<double>(all);
}

}  // namespace

Together cells_together(const StageView& stage) {
    const bool are_numbers = std::ranges::all_of(stage.writes, [&](const Write& write) {
        return kernel::is_real(storage_type(stage.field(write.level).storage));
    });
    if (stage.rank() == 1 || stage.in_place != nullptr || !stage.reductions.empty() ||
        has_table_sums(stage) || !are_numbers)
        return {};
    for (const Choice& choice : kChoices) {
        const bool is_possible = choice.together.axis == 1 || stage.rank() == 3;
        if (is_possible && is_worth(stage, choice)) return choice.together;
    }
    return {};
}

int cells_of_line(const StageView& stage) {
    if (stage.in_place != nullptr || !stage.reductions.empty() || has_table_sums(stage) ||
        stage.writes.empty())
        return 0;
    int widest = 0;
    for (const Write& write : stage.writes) {
        if (!is_alone(stage, write.level) || !stores_all_cells(stage, write)) return 0;
        widest = std::max(widest, bytes_of(stage, write.level));
    }
    return kBytesOfLine / widest;
}

std::vector<FetchedAhead> fetched_ahead(const StageView& stage, const Together& together) {
    std::vector<FetchedAhead> fetched;
    for (const Read& read : stage.reads) {
        if (!is_alone(stage, read.level)) continue;
        // The slowest axis comes first: its planes lie furthest ahead.
        const ir::Offset ahead =
            *std::ranges::max_element(read.offsets, [](const ir::Offset& a, const ir::Offset& b) {
                for (int axis = ir::kMaxRank - 1; axis > 0; --axis)
                    if (a[axis] != b[axis]) return a[axis] < b[axis];
                return false;
            });
        for (int number = 0; number < together.count; ++number) {
            FetchedAhead each{read.level, ahead, kBytesAhead / bytes_of(stage, read.level)};
            each.row[0] = 0;
            each.row[together.axis] += number;
            fetched.push_back(each);
        }
    }
    return fetched;
}

}  // namespace halo::lower
