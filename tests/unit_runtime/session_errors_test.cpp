// What a session says of mistakes.
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

Session open_on(Sample sample, const halo::rt::Extent& extent, FakeDevice& device) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    return Session(std::move(sample.plan), extent, device, std::move(modules));
}

std::string message(ErrorCode code, const std::function<void()>& mistake) {
    try {
        mistake();
    } catch (const Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
    FAIL("nothing was thrown");
    return {};
}

}  // namespace

TEST_CASE("wrong names, levels and sizes are named") {
    FakeDevice device;
    Session session = open_on(heat_sample(2, ElementType::f32), {4, 3, 1}, device);
    const auto bad = ErrorCode::bad_argument;
    CHECK(message(bad, [&] { session.set_param("speed", 1); }) ==
          "'heat' has no parameter 'speed'; it has 'rate', 'wall'");
    CHECK(contains(message(bad, [&] { session.download("v"); }), "no field 'v'; it has 'u'"));
    CHECK(contains(message(bad, [&] { session.download("u", -1); }), "no level but the present one"));
    CHECK(contains(message(bad, [&] { session.download("u", 1); }), "'u'"));
    CHECK(contains(message(bad, [&] { session.upload("u", 0, std::vector<double>(13)); }),
                   "4 x 3 = 12 values"));
    CHECK(contains(message(bad, [&] { session.reduction("sum"); }), "'change', 'total'"));
    CHECK(contains(message(bad, [&] { session.set_coef("w", std::vector<double>(1)); }),
                   "no launch-time coefficient"));
    CHECK(contains(message(bad, [&] { session.step(-1); }), "-1 steps"));
    RunOptions options;
    options.check_every = 0;
    message(bad, [&] { session.run(options); });

    Session weights = open_on(weights_sample(true), {4, 1, 1}, device);
    CHECK(contains(message(bad, [&] { weights.set_coef("w", std::vector<double>(3)); }),
                   "has 2 weights, but 3"));
    CHECK(contains(message(bad, [&] { weights.download("out", -2); }),
                   "keeps 1 past level; there is no level -2"));
}

TEST_CASE("a parameter without value is asked for before the first step") {
    FakeDevice device;
    Session session = open_on(heat_sample(1, ElementType::f32), {4, 1, 1}, device);
    CHECK(contains(message(ErrorCode::bad_argument, [&] { session.step(); }), "parameter 'rate'"));
    CHECK(contains(message(ErrorCode::bad_argument, [&] { session.param("rate"); }), "'rate'"));
    CHECK(session.param("wall") == 2);
    CHECK(contains(message(ErrorCode::bad_argument, [&] { session.reduction("change"); }),
                   "before the first step"));
    session.set_param("rate", 0.1);
    session.step();
    CHECK(session.reduction("change") == 0);
}

TEST_CASE("too large a grid is refused with what it needs and what is free") {
    FakeDevice device;
    device.reported_memory = {1 << 20, 4 << 20};
    const std::string text = message(ErrorCode::out_of_memory, [&] {
        open_on(heat_sample(2, ElementType::f64), {1024, 1024, 1}, device);
    });
    CHECK(contains(text, "1024 x 1024 cells"));
    CHECK(contains(text, "2 levels of 'u' (f64)"));
    CHECK(contains(text, "1.0 MiB of 4.0 MiB are free on a fake device"));
    CHECK(device.live_allocations == 0);
    CHECK_NOTHROW(open_on(heat_sample(2, ElementType::f64), {64, 64, 1}, device));
}

TEST_CASE("plans that do not hold together are refused") {
    FakeDevice device;
    const auto refused = [&](const std::function<void(Sample&)>& damage) {
        Sample sample = heat_sample(2, ElementType::f32);
        damage(sample);
        return message(ErrorCode::bad_argument, [&] { open_on(std::move(sample), {4, 4, 1}, device); });
    };
    CHECK(contains(refused([](Sample& s) { s.module->functions.clear(); }), "kernel 'heat_step'"));
    CHECK(contains(refused([](Sample& s) { s.plan.kernels[0].arguments[0].field = 1; }), "takes field 1"));
    CHECK(contains(refused([](Sample& s) { s.plan.kernels[0].arguments[1].time = -1; }), "level -1 of 'u'"));
    CHECK(contains(refused([](Sample& s) { s.plan.kernels[0].tile[1] = 0; }), "empty block"));
    CHECK(contains(refused([](Sample& s) { s.plan.reductions[0].kernel = 7; }), "kernel 7"));
    CHECK(contains(refused([](Sample& s) { s.plan.halo = {}; }), "halo wider than its array"));
    CHECK(contains(refused([](Sample& s) { s.plan.params.clear(); }), "reads parameter"));
    CHECK(contains(refused([](Sample& s) { s.plan.rank = 0; }), "0 axes"));
    CHECK(contains(
        refused([](Sample& s) { s.plan.kernels[0].arguments[0].use = ArrayUse{true, false, {0, -1, 0}}; }),
        "reads -1 cells past its own"));
    CHECK(contains(refused([](Sample& s) { s.plan.kernels[0].refresh_halos[0].field = -1; }),
                   "takes field -1"));
    CHECK(device.live_allocations == 0);
}

TEST_CASE("a recording that fails leaves the device in order") {
    FakeDevice device;
    device.recordable = true;
    Sample sample = heat_sample(1, ElementType::f32);
    Session session = open_on(std::move(sample), {4, 1, 1}, device);
    session.set_param("rate", 0.1);
    device.calls_until_failure = 5;
    message(ErrorCode::launch_failed, [&] { session.step(128); });
    CHECK(device.launches == 0);
    session.step(128);
    CHECK(device.launches == 128);
    CHECK(device.replays == 2);
}
