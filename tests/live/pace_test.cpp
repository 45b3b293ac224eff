#include "compiler/driver/live/pace.h"

#include "catch.h"

using halo::driver::live::Pace;

TEST_CASE("a view waits for the first page, and runs from then on") {
    Pace pace(Pace::State::awaiting);
    CHECK(pace.allowed() == 0);
    pace.page_came();
    CHECK(pace.allowed() == Pace::kNoLimit);
    pace.pause();
    pace.page_came();  // another page changes nothing
    CHECK(pace.allowed() == 0);
    pace.resume();
    CHECK(pace.allowed() == Pace::kNoLimit);
}

TEST_CASE("steps that are asked for are done, and then the run waits") {
    Pace pace(Pace::State::paused);
    pace.step(10);
    CHECK(pace.allowed() == 10);
    pace.did(8);  // several may be done at once
    CHECK(pace.allowed() == 2);
    pace.did(2);
    CHECK(pace.state() == Pace::State::paused);
    pace.step(0);
    CHECK(pace.state() == Pace::State::paused);
    pace.resume();
    pace.did(1000);
    CHECK(pace.allowed() == Pace::kNoLimit);
    pace.step(3);  // of a run under way
    pace.pause();
    pace.resume();
    CHECK(pace.allowed() == Pace::kNoLimit);
}

TEST_CASE("pictures can be so many steps apart") {
    Pace pace(Pace::State::running);
    pace.show_each(5);
    CHECK(pace.allowed() == 5);
    pace.step(3);
    CHECK(pace.allowed() == 3);
    pace.show_each({});
    CHECK(pace.allowed() == 3);
}

TEST_CASE("nothing goes on after the end") {
    Pace pace(Pace::State::running);
    pace.finish();
    pace.resume();
    pace.step(1);
    pace.pause();
    pace.page_came();
    CHECK(pace.state() == Pace::State::finished);
    CHECK(pace.allowed() == 0);
}
