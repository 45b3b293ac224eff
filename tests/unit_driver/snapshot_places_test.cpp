// How many snapshots a gradient keeps, and where.
#include "catch.h"
#include "compiler/adjoint/snapshots.h"
#include "compiler/driver/running/kept_states.h"
#include "contains.h"

using namespace halo;

namespace {

struct Places {
    int on_host, on_device, in_transit = 0;
    friend bool operator==(const Places&, const Places&) = default;
};

Places places(std::optional<std::int64_t> asked, std::int64_t steps, std::int64_t device, std::int64_t host) {
    const rt::SnapshotPlaces chosen =
        driver::choose_snapshots(asked, steps, {10, 10}, {10 * device + 9, 10 * device + 9, 10 * host, 0});
    return {chosen.on_host, chosen.on_device, chosen.in_transit};
}

}  // namespace

TEST_CASE("snapshots are on the device as long as there is room") {
    CHECK(places({}, 50, 80, 80) == Places{0, 50});
    CHECK(places(20, 50, 80, 80) == Places{0, 20});
    CHECK(places(90, 50, 80, 80) == Places{0, 50});
    // Arrays for two on the device let those of the host come and go beside steps.
    CHECK(places(40, 50, 30, 80) == Places{12, 28, 2});
    CHECK(places(40, 50, 1, 80) == Places{40, 0, 1});
    CHECK(places(40, 50, 30, 11) == Places{11, 29, 1});
    CHECK(places(40, 50, 0, 40) == Places{40, 0});
    // 20 states on the device let 1000 steps be done again less than three times each: that is quicker than
    // the bus.
    CHECK(adjoint::snapshots_for(1000, 3) == 17);
    CHECK(places({}, 1000, 20, 500) == Places{0, 20});
    CHECK(places({}, 1000, 5, 500) == Places{14, 3, 2});
    CHECK(places({}, 1000, 5, 3) == Places{3, 5});
    CHECK(places({}, 1, 0, 1) == Places{1, 0});
}

TEST_CASE("on a CPU more than half of the memory is taken where it is asked for") {
    const driver::SnapshotRoom room{50, 100, 0, 0};
    CHECK(driver::choose_snapshots({}, 50, {10, 10}, room).on_device == 5);
    CHECK(driver::choose_snapshots(9, 50, {10, 10}, room).on_device == 9);
    CHECK(driver::choose_snapshots({}, 50, {70, 70}, room).on_device == 1);
    CHECK_THROWS_AS(driver::choose_snapshots(11, 50, {10, 10}, room), rt::Error);
}

TEST_CASE("snapshots of every step share all but their latest levels") {
    // Three levels each: of 50 steps 52.
    for (const std::int64_t room : {52, 51}) {
        for (const std::optional<std::int64_t> asked : {std::optional<std::int64_t>{}, {50}, {49}}) {
            const rt::SnapshotPlaces chosen =
                driver::choose_snapshots(asked, 50, {30, 10}, {10 * room, 10 * room, 10000, 0});
            CHECK(chosen.in_a_row == (room == 52 && asked != 49));
            const int on_device = asked ? 15 : 17;
            CHECK(chosen.on_device == (chosen.in_a_row ? 50 : on_device));
        }
    }
    CHECK_FALSE(driver::choose_snapshots({}, 50, {10, 10}, {500, 500, 0, 0}).in_a_row);
}

TEST_CASE("snapshots of some steps share levels where no number is asked for") {
    const driver::SnapshotRoom room{206 * 10 + 9, 206 * 10 + 9, 0, 0};
    const rt::SnapshotPlaces chosen = driver::choose_snapshots({}, 1000, {20, 10, 2}, room);
    CHECK(chosen.levels == 206);
    CHECK(chosen.on_device == 205);
    CHECK(driver::choose_snapshots(103, 1000, {20, 10, 2}, room).levels == 0);
    // Fields of which each has another number of levels.
    CHECK(driver::choose_snapshots({}, 1000, {20, 15, 1}, room).levels == 0);
}

TEST_CASE("snapshots that there is no room for are refused with figures") {
    std::string refusal;
    try {
        places(40, 50, 30, 5);
    } catch (const rt::Error& error) {
        refusal = error.what();
    }
    CHECK(contains(refusal, "40 snapshots of 10 B need 400 B"));
    CHECK(contains(refusal, "there is room for 35"));
    CHECK_THROWS_AS(places({}, 50, 0, 0), rt::Error);
}

TEST_CASE("snapshots for a number of repeats are the fewest") {
    for (const std::int64_t steps : {1, 2, 10, 57, 1000, 1 << 20})
        for (const std::int64_t repeats : {1, 2, 3, 5}) {
            const std::int64_t fewest = adjoint::snapshots_for(steps, repeats);
            CHECK(adjoint::steps_forward(steps, {fewest}) <= (repeats + 1) * steps);
            CHECK(fewest <= steps);
        }
}
