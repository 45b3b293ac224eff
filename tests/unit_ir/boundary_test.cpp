#include "compiler/ir/boundary.h"
#include "catch.h"

using namespace halo::ir;
using Kind = BoundaryKind;

namespace {
// The images of cells -count … n + count - 1; -9 where there is none.
std::vector<std::int64_t> images(Kind low, Kind high, std::int64_t n, std::int64_t count) {
    std::vector<std::int64_t> result;
    for (std::int64_t i = -count; i < n + count; ++i)
        result.push_back(source_index(low, high, i, n).value_or(-9));
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
    CHECK(source_index(Kind::mirror, Kind::fixed, -5, 3) == std::nullopt);
    CHECK(outside_side(Kind::mirror, Kind::fixed, -5, 3) == 1);
    CHECK(outside_side(Kind::fixed, Kind::mirror, -5, 3) == 0);
    CHECK(source_index(Kind::mirror, Kind::free, -3, 2) == 1);
    CHECK(source_index(Kind::mirror, Kind::free, -4, 1) == 0);
    CHECK(source_index(Kind::mirror, Kind::free, 3, 3) == std::nullopt);
}
