#include "runtime/core/image_map.h"

#include <vector>

#include "catch.h"

using namespace halo::rt;
using Kind = BoundaryKind;
using Shows = ImageMap::Shows;

namespace {
constexpr Kind kMappedKinds[] = {Kind::periodic, Kind::fixed, Kind::clamp,
                                 Kind::mirror,   Kind::free,  Kind::formula};

std::int64_t source_index(Kind low, Kind high, std::int64_t index, std::int64_t n) {
    const ImageSource source = image_source(low, high, index, n);
    return source.shows == Shows::cell ? source.cell : -9;
}
// The images of cells -count … n + count - 1; -9 where there is none.
std::vector<std::int64_t> images(Kind low, Kind high, std::int64_t n, std::int64_t count) {
    std::vector<std::int64_t> result;
    for (std::int64_t i = -count; i < n + count; ++i)
        result.push_back(source_index(low, high, i, n));
    return result;
}
using Cells = std::vector<std::int64_t>;
}  // namespace

TEST_CASE("each kind maps the cells past an edge") {
    CHECK(images(Kind::periodic, Kind::periodic, 3, 4) == Cells{2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0});
    CHECK(images(Kind::clamp, Kind::clamp, 3, 2) == Cells{0, 0, 0, 1, 2, 2, 2});
    CHECK(images(Kind::mirror, Kind::mirror, 3, 4) == Cells{0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2});
    CHECK(images(Kind::fixed, Kind::free, 3, 1) == Cells{-9, 0, 1, 2, -9});
}

TEST_CASE("one cell is its own image, whatever the distance") {
    for (Kind kind : {Kind::periodic, Kind::clamp, Kind::mirror}) {
        for (std::int64_t i = -5; i <= 5; ++i)
            CHECK(source_index(kind, kind, i, 1) == 0);
    }
}

TEST_CASE("a reflection that leaves through the other face follows that face") {
    CHECK(source_index(Kind::mirror, Kind::clamp, -5, 3) == 2);
    CHECK(source_index(Kind::mirror, Kind::fixed, -5, 3) == -9);
    CHECK(image_source(Kind::mirror, Kind::fixed, -5, 3).side == 1);
    CHECK(image_source(Kind::fixed, Kind::mirror, -5, 3).side == 0);
    CHECK(source_index(Kind::mirror, Kind::free, -3, 2) == 1);
    CHECK(source_index(Kind::mirror, Kind::free, -4, 1) == 0);
    CHECK(source_index(Kind::mirror, Kind::free, 3, 3) == -9);
}

TEST_CASE("a map gives the cell that a face shows, from either side") {
    for (const std::int64_t n : {4, 9}) {
        for (int distance = 1; distance < 4; ++distance) {
            const std::int64_t before = -distance, after = n - 1 + distance;
            CHECK(image_map(Kind::periodic, 0).cell(before, n) == n - distance);
            CHECK(image_map(Kind::periodic, 1).cell(after, n) == distance - 1);
            for (const Kind kind : {Kind::clamp, Kind::mirror}) {
                const ImageMap low = image_map(kind, 0), high = image_map(kind, 1);
                CHECK(low.cell(before, n) == low.inwards(distance));
                CHECK(high.cell(after, n) == n - 1 - high.inwards(distance));
                CHECK(low.inwards(distance) == (kind == Kind::mirror ? distance : 0));
            }
        }
    }
}

TEST_CASE("one map a face agrees with where a read goes that its own face decides") {
    constexpr std::int64_t n = 7;
    for (const Kind kind : kMappedKinds) {
        for (int side = 0; side < 2; ++side) {
            for (std::int64_t distance = 1; distance < n; ++distance) {
                const std::int64_t index = side == 0 ? -distance : n - 1 + distance;
                const ImageMap map = image_map(kind, side);
                const ImageSource source = image_source(kind, kind, index, n);
                CHECK(source.shows == map.shows);
                if (map.shows_cell()) CHECK(source.cell == map.cell(index, n));
                if (!map.shows_cell()) CHECK(source.side == side);
            }
        }
    }
}

TEST_CASE("a map says which of a cell, a value, a formula and nothing a face shows") {
    for (int side = 0; side < 2; ++side) {
        CHECK(image_map(Kind::fixed, side).shows == Shows::value);
        CHECK(image_map(Kind::formula, side).shows == Shows::formula);
        CHECK(image_map(Kind::free, side).shows == Shows::nothing);
        CHECK(image_map(Kind::periodic, side).wraps());
        CHECK(image_map(Kind::clamp, side).repeats_edge());
        CHECK(image_map(Kind::mirror, side).reflects());
    }
}

TEST_CASE("a reflection stops at a formula past the other face") {
    const ImageSource source = image_source(Kind::mirror, Kind::formula, -5, 3);
    CHECK(source.shows == Shows::formula);
    CHECK(source.side == 1);
}
