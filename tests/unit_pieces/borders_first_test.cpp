// Whether borders are deep enough, every plane is computed once, and walks are shared out as they come.
#include "runtime/pieces/borders_first.h"

#include <cstdint>

#include "catch.h"

using namespace halo::rt;

TEST_CASE("every own plane once, and all that is given first") {
    for (const std::int64_t planes : {1, 3, 8, 11, 64, 513})
        for (const std::int64_t below : {0, 2, 8})
            for (const std::int64_t above : {0, 3, 8})
                for (const int walks : {0, 1, 2, 3, 4, 7}) {
                    if (planes < below || planes < above) continue;
                    INFO(planes << " planes, " << below << " and " << above << " given, " << walks << " walks");
                    const BordersFirst split = borders_first({5, 5 + planes}, {below, above}, walks);
                    const auto& [lower, upper] = split.borders;
                    const bool has_lower = lower.planes() > 0, has_upper = upper.planes() > 0;
                    CHECK(has_lower == (below > 0));
                    CHECK(split.inner.begin == (has_lower ? lower.end : 5));
                    CHECK(split.inner.end == (has_upper ? upper.begin : 5 + planes));
                    if (has_lower) CHECK(lower.begin == 5);
                    if (has_upper) CHECK(upper.end == 5 + planes);
                    CHECK(split.inner.planes() >= 0);
                    // A thin piece gives the same planes to both.
                    CHECK(split.inner.begin >= 5 + below);
                    CHECK((split.inner.planes() == 0 || split.inner.end <= 5 + planes - above));
                }
}

TEST_CASE("borders are as thick as walks, and the inner walk is shorter") {
    const BordersFirst one = borders_first({4, 516}, {4, 0}, 2);
    CHECK(one.borders[0].planes() == 384);
    CHECK(one.borders[0].walks == 1);
    CHECK(one.inner.planes() == 128);
    CHECK(one.inner.walks == 1);
    const BordersFirst both = borders_first({4, 704}, {4, 4}, 3);
    CHECK(both.borders[0].planes() == 300);
    CHECK(both.borders[1].planes() == 300);
    CHECK(both.inner.planes() == 100);
    const BordersFirst many = borders_first({0, 1000}, {0, 8}, 4);
    CHECK(many.borders[1].walks == 3);
    CHECK(many.borders[1].planes() == 900);
    CHECK(many.inner.walks == 1);
    const BordersFirst shared_out = borders_first({4, 516}, {4, 0}, 0);
    CHECK(shared_out.borders[0].planes() == 4);
    CHECK(shared_out.borders[0].walks == 0);
}
