#include "compiler/lower/shared/window.h"

#include <set>

#include "catch.h"

using namespace halo;
using namespace halo::lower;

namespace {

Read read_of(std::vector<ir::Offset> offsets) {
    Read read;
    read.offsets = std::move(offsets);
    for (const ir::Offset& offset : read.offsets) {
        for (int axis = 0; axis < 3; ++axis) {
            read.low[axis] = std::min(read.low[axis], offset[axis]);
            read.high[axis] = std::max(read.high[axis], offset[axis]);
        }
    }
    return read;
}

const Read kSevenPoints =
    read_of({{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}});

// Rows by (z, y), each in one block alone.
std::set<std::pair<int, int>> rows_of(const std::vector<RowBlock>& blocks) {
    std::set<std::pair<int, int>> rows;
    for (const RowBlock& block : blocks) {
        for (int z = block.z.first; z < block.z.second; ++z) {
            for (int y = block.y.first; y < block.y.second; ++y)
                CHECK(rows.insert({z, y}).second);
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("a star's window leaves out the corners' rows") {
    const auto blocks = row_blocks(kSevenPoints, {4, 1, 1});
    CHECK(rows_of(blocks) == std::set<std::pair<int, int>>{{0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 1}});
    for (const RowBlock& block : blocks) {
        const bool middle = block.y.first == 1 && block.z.first == 1;
        CHECK(block.left == (middle ? 1 : 0));
        CHECK(block.right == (middle ? 1 : 0));
    }
}

TEST_CASE("more cells a thread share rows") {
    const auto blocks = row_blocks(kSevenPoints, {4, 2, 2});
    const auto rows = rows_of(blocks);
    CHECK(rows.size() == 12);
    CHECK(rows.count({0, 0}) == 0);
    CHECK(rows.count({1, 0}) == 1);
    CHECK(rows.count({3, 3}) == 0);
}

TEST_CASE("all rows of a cube are one block") {
    std::vector<ir::Offset> cube;
    for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                cube.push_back({x, y, z});
    CHECK(row_blocks(read_of(cube), {4, 2, 1}) == std::vector<RowBlock>{{{0, 4}, {0, 3}, 0, 1, 1}});
}

TEST_CASE("neighbours beside a vector are loaded one by one where they are few") {
    const Sides few = sides(read_of({{-1, 0, 0}, {2, 0, 0}}), 4, 4);
    CHECK(few.left == 1);
    CHECK(few.right == 2);
    CHECK_FALSE(few.left_vectors);
    CHECK_FALSE(few.right_vectors);
    const Sides many = sides(read_of({{-3, 0, 0}, {5, 0, 0}}), 4, 4);
    CHECK(many.left == 4);
    CHECK(many.right == 8);
    CHECK(many.left_vectors);
    CHECK(many.right_vectors);
    const Sides single = sides(read_of({{-3, 0, 0}}), 1, 4);
    CHECK(single.left == 3);
    CHECK(single.right == 0);
    CHECK_FALSE(single.left_vectors);
    const Sides bytes = sides(read_of({{-1, 0, 0}, {2, 0, 0}}), 4, 1);
    CHECK(bytes.left == 1);
    CHECK(bytes.right == 4);
    CHECK_FALSE(bytes.left_vectors);
    CHECK(bytes.right_vectors);
}
