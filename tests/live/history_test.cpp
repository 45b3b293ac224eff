#include "compiler/driver/live/history.h"

#include "catch.h"

using halo::driver::live::History;

TEST_CASE("a history keeps all points while they are few") {
    History history(4);
    CHECK(history.points().empty());
    for (std::int64_t step = 1; step <= 4; ++step)
        history.add(step, 10.0 * static_cast<double>(step));
    history.add(4, 99);  // the run waits: nothing new
    REQUIRE(history.points().size() == 4);
    CHECK(history.points().front().step == 1);
    CHECK(history.points().back().value == 40);
}

TEST_CASE("a history without an end has points from all of it, evenly, and the newest") {
    History history(8);
    for (std::int64_t step = 0; step <= 1000; ++step)
        history.add(step, static_cast<double>(step));
    const std::vector<History::Point> points = history.points();
    REQUIRE(points.size() >= 4);
    CHECK(points.size() <= 9);
    CHECK(points.front().step == 0);
    CHECK(points.back().step == 1000);
    const std::int64_t stride = points[1].step - points[0].step;
    for (std::size_t i = 1; i + 1 < points.size(); ++i)
        CHECK(points[i].step == static_cast<std::int64_t>(i) * stride);
}
