// Whether the interior needs no ghosts, every plane is computed once, and borders get one of several
// traversals.
#include "runtime/pieces/interior_first.h"

#include <cstdint>

#include "catch.h"

using namespace halo::rt;

TEST_CASE("every own plane once, and none that needs ghosts in the interior") {
    for (const std::int64_t planes : {1, 3, 8, 11, 64, 513})
        for (const std::int64_t below : {0, 2, 8})
            for (const std::int64_t above : {0, 3, 8})
                for (const int traversals : {0, 1, 2, 3, 4, 7}) {
                    INFO(planes << " planes, " << below << " and " << above << " ghosts, " << traversals
                                << " traversals");
                    const InteriorFirst split = interior_first({5, 5 + planes}, {below, above}, traversals);
                    const auto& [lower, upper] = split.borders;
                    const PlaneRange& interior = split.interior;
                    CHECK(lower.planes() >= 0);
                    CHECK(interior.planes() >= 0);
                    CHECK(upper.planes() >= 0);
                    if (below > 0) CHECK(lower.begin == 5);
                    if (above > 0) CHECK(upper.end == 5 + planes);
                    CHECK(interior.begin == (below > 0 ? lower.end : 5));
                    CHECK(interior.end == (above > 0 ? upper.begin : 5 + planes));
                    if (interior.planes() == 0) continue;
                    CHECK(interior.begin >= 5 + below);
                    CHECK(interior.end <= 5 + planes - above);
                }
}

TEST_CASE("borders are traversals, and shorter than those of the interior") {
    const InteriorFirst one = interior_first({4, 508}, {4, 0}, 2);
    CHECK(one.interior.planes() == 448);
    CHECK(one.interior.traversals == 1);
    CHECK(one.borders[0].planes() == 56);
    CHECK(one.borders[0].traversals == 1);
    const InteriorFirst both = interior_first({4, 1004}, {4, 4}, 3);
    CHECK(both.borders[0].planes() == 55);  // together as long as one alone
    CHECK(both.borders[1].planes() == 55);
    CHECK(both.interior.planes() == 890);
    const InteriorFirst many = interior_first({0, 1000}, {0, 8}, 4);
    CHECK(many.borders[1].planes() == 40);
    CHECK(many.interior.traversals == 3);
    const InteriorFirst shared_out = interior_first({4, 516}, {4, 0}, 0);
    CHECK(shared_out.borders[0].planes() == 4);
    CHECK(shared_out.borders[0].traversals == 0);
}
