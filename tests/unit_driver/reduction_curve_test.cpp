#include "compiler/driver/running/reduction_curve.h"

#include "catch.h"

using namespace halo;
using namespace halo::driver;

namespace {

Output curve_output() {
    Output output;
    output.kind = Output::Kind::curve;
    output.field.name = "mass";
    output.layers.push_back(output);
    output.layers.front().field.name = "most";
    return output;
}

// As a run does, which stops where a point is due.
rt::Curve after(std::int64_t steps, const Output& output) {
    ReductionCurve curve(output);
    std::int64_t done = 0;
    while (const std::optional<std::int64_t> next = curve.steps_to_next(done)) {
        if (done + *next > steps) break;
        done += *next;
        curve.add(done, {static_cast<double>(done), -1});
    }
    if (done < steps) curve.add(steps, {static_cast<double>(steps), -1});
    RunRequest request;
    request.time_step = 0.5;
    return curve.picture(request);
}

}  // namespace

TEST_CASE("a curve over the time has all steps of a short run, and even ones of a long run") {
    const rt::Curve short_run = after(7, curve_output());
    REQUIRE(short_run.lines.size() == 2);
    CHECK(short_run.lines[0].values == std::vector<double>{1, 2, 3, 4, 5, 6, 7});
    CHECK(short_run.lines[1].label == "most");
    CHECK(short_run.across.last == 3.5);

    const std::vector<double> many = after(100'001, curve_output()).lines[0].values;
    CHECK(many.size() > 500);
    CHECK(many.size() <= 1025);
    CHECK(many.back() == 100'001);
    for (std::size_t i = 1; i + 1 < many.size(); ++i)
        CHECK(many[i] - many[i - 1] == 128);
}

TEST_CASE("the run block may say which steps a curve over the time has") {
    Output output = curve_output();
    output.frames.every = 100;
    output.frames.from = 300;
    const rt::Curve curve = after(550, output);
    CHECK(curve.lines[0].values == std::vector<double>{300, 400, 500, 550});
    CHECK(curve.lines[0].places == std::vector<double>{150, 200, 250, 275});
}
