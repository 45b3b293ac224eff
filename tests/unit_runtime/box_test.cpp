// Boxes of up to four axes: their parts, and the runs of cells that lie side by side.
#include "runtime/core/box.h"

#include <fmt/format.h>

#include <vector>

#include "catch.h"

using namespace halo::rt;

namespace {

const std::vector<Box> kBoxes{{{}, {7}},
                              {{2, 1}, {7, 4}},
                              {{0, 0, 1}, {3, 2, 4}},
                              {{}, {4, 3, 2, 5}},
                              {{}, {4, 3, 1, 2}},
                              {{1, 0, 2, 1}, {3, 3, 4, 4}},
                              {{0, 1, 0, 0}, {4, 2, 2, 2}},
                              {{3, 0, 0, 0}, {4, 3, 2, 2}}};
const Box kWhole{{}, {7, 4, 4, 5}};

}  // namespace

TEST_CASE(
    "the parts of a box lie one after the other in memory, and have no more cells than were asked for") {
    for (const Box& box : kBoxes) {
        for (std::int64_t most : {1, 2, 3, 5, 12, 24, 1000}) {
            INFO(fmt::format("{} of {} cells, {} each", fmt::join(box.begin, " "), fmt::join(box.end, " "),
                             most));
            std::int64_t next = 0;
            for (const Box& part : slabs(box, most)) {
                CHECK(part.cells() > 0);
                CHECK((part.cells() <= most || part.length(1) * part.length(2) * part.length(3) == 1));
                CHECK(box.index(part.begin) == next);
                CHECK(is_contiguous(part, box));
                next += part.cells();
            }
            CHECK(next == box.cells());
        }
    }
    CHECK(slabs(Box{{2}, {2}}, 4).empty());
}

TEST_CASE("runs have each cell once, side by side in both boxes") {
    for (const Box& box : kBoxes) {
        std::vector<int> times(static_cast<std::size_t>(box.cells()));
        bool is_same = true;
        for_runs(box, box, kWhole, [&](std::int64_t here, std::int64_t there, std::int64_t cells) {
            for (std::int64_t i = 0; i < cells; ++i)
                ++times[static_cast<std::size_t>(here + i)];
            // The last cell lies as far from the first in both.
            auto cell = box.begin;
            for (std::int64_t n = 0; n < here + cells - 1; ++n)
                advance(cell, box, 0);
            is_same = is_same && kWhole.index(cell) == there + cells - 1;
        });
        CHECK(is_same);
        CHECK(times == std::vector<int>(times.size(), 1));
        CHECK(is_contiguous(box, box));
    }
    CHECK_FALSE(is_contiguous({{}, {4, 3, 2, 2}}, kWhole));
    CHECK(is_contiguous({{0, 0, 0, 1}, {7, 4, 4, 3}}, kWhole));
    CHECK_FALSE(is_contiguous({{0, 0, 1, 1}, {7, 4, 3, 3}}, kWhole));
}
