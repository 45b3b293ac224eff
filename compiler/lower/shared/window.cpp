#include "compiler/lower/shared/window.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/lower/packed/lanes.h"

namespace halo::lower {
namespace {

struct RowNeed {
    int left = 0, right = 0;
};

// Rows by (w, z, y) of the window, whose row (0, 0, 0) is the lowest one read.
using Rows = std::map<std::array<int, 3>, RowNeed>;

Rows needed_rows(const Read& read, const rt::Lengths& cells) {
    Rows rows;
    for (const ir::Offset& offset : read.offsets) {
        for (int z = 0; z < cells[2]; ++z) {
            for (int y = 0; y < cells[1]; ++y) {
                RowNeed& row =
                    rows[{offset[3] - read.low[3], z + offset[2] - read.low[2], y + offset[1] - read.low[1]}];
                row.left = std::max(row.left, -offset[0]);
                row.right = std::max(row.right, offset[0]);
            }
        }
    }
    return rows;
}

}  // namespace

std::vector<RowBlock> row_blocks(const Read& read, const rt::Lengths& cells) {
    // Finds runs of equal rows along y in each plane, then joins planes with the same runs.
    std::map<std::pair<int, int>, std::vector<RowBlock>> planes;
    for (const auto& [at, need] : needed_rows(read, cells)) {
        const auto [w, z, y] = at;
        auto& runs = planes[{w, z}];
        const bool continues = !runs.empty() && runs.back().y.second == y && runs.back().left == need.left &&
                               runs.back().right == need.right;
        if (continues) {
            ++runs.back().y.second;
        } else {
            runs.push_back({{y, y + 1}, {z, z + 1}, w, need.left, need.right});
        }
    }
    std::vector<RowBlock> blocks;
    for (auto& [plane, runs] : planes) {
        for (RowBlock& run : runs) {
            const auto below = std::find_if(blocks.begin(), blocks.end(), [&](const RowBlock& block) {
                return block.y == run.y && block.left == run.left && block.right == run.right &&
                       block.w == run.w && block.z.second == run.z.first;
            });
            if (below != blocks.end()) {
                ++below->z.second;
            } else {
                blocks.push_back(run);
            }
        }
    }
    return blocks;
}

Sides sides(const Read& read, int vector, int element) {
    const int few = element == 1 ? 1 : vector / 2;
    Sides sides{-read.low[0], read.high[0], false, false};
    const auto round_up = [&](int cells) { return (cells + vector - 1) / vector * vector; };
    sides.left_vectors = vector > 1 && sides.left > few;
    sides.right_vectors = vector > 1 && sides.right > few;
    if (sides.left_vectors) sides.left = round_up(sides.left);
    if (sides.right_vectors) sides.right = round_up(sides.right);
    return sides;
}

int words_beside(int cells) {
    return (cells + kPackedCells - 1) / kPackedCells;
}

Sides words_beside(const Read& read) {
    return {words_beside(-read.low[0]), words_beside(read.high[0])};
}

}  // namespace halo::lower
