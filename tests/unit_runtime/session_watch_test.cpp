// Runs that end at a condition, in time blocks that give the reductions of each of their steps, against
// single steps.
#include <cmath>
#include <future>
#include <vector>

#include "catch.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

constexpr std::int64_t kCells = 23;

Session open_watched(Sample sample, FakeDevice& device, std::shared_future<AsyncCode> block = {}) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.poison = true;
    options.time_block_code = std::move(block);
    Session session(std::move(sample.plan), {kCells, 1, 1}, device, std::move(modules), options);
    std::vector<double> values;
    for (std::int64_t x = 0; x < kCells; ++x)
        values.push_back(static_cast<double>((x * 37) % 64) / 16);
    session.upload("p", 0, std::span<const double>(values));
    session.upload("p", -1, std::span<const double>(values));
    return session;
}

// By single steps: after each, from the start on.
struct Step {
    double change = 0, total = 0;
    std::vector<double> now, past;
};
std::vector<Step> single_steps(std::int64_t count) {
    FakeDevice device;
    Sample sample = damped_sample(2, true);
    sample.plan.time_block.reset();
    Session session = open_watched(std::move(sample), device);
    std::vector<Step> steps(1);
    for (std::int64_t step = 1; step <= count; ++step) {
        session.step();
        steps.push_back({session.reduction("change"), session.reduction("total"), session.download("p"),
                         session.download("p", -1)});
    }
    return steps;
}

// Of the reduction, which comes after the one param.
HostScalar below(int reduction, double bound) {
    using Op = HostScalar::Op;
    return {{{Op::param, 0, 1 + reduction}, {Op::constant, bound, 0}, {Op::less, 0, 0}}};
}

void check_state(Session& session, const Step& expected) {
    CHECK(session.download("p") == expected.now);
    CHECK(session.download("p", -1) == expected.past);
    CHECK(session.reduction("change") == expected.change);
    CHECK(std::abs(session.reduction("total") - expected.total) < 1e-9);
}

FakeDevice make_device(bool finishes, bool records) {
    FakeDevice device;
    device.finishes_reductions = finishes;
    device.recordable = records;
    return device;
}

}  // namespace

TEST_CASE("runs in time blocks end at the step at which the condition holds") {
    constexpr std::int64_t kMost = 210, kBefore = 3;
    const std::vector<Step> singles = single_steps(kMost + kBefore + 20);
    for (const int at_once : {1, 2, 3, 4}) {
        for (const bool is_whole : {true, false}) {
            for (const auto& [finishes, records] : {std::pair{false, false}, {true, false}, {true, true}}) {
                for (const std::int64_t check_every : {1, 5}) {
                    for (const std::int64_t wanted :
                         {1, 2, 3, 4, 5, 6, 7, 8, 9, 47, 48, 49, 63, 66, 70, 129, 200, 209, 210}) {
                        INFO(at_once << " at once" << (is_whole ? "" : ", the last by itself") << ", every "
                                     << check_every << ", " << wanted << (records ? ", recorded" : ""));
                        FakeDevice device = make_device(finishes, records);
                        Session session = open_watched(damped_sample(at_once, is_whole), device);
                        session.step(kBefore);
                        const double bound =
                            singles[static_cast<std::size_t>(kBefore + wanted)].change * (1 + 1e-12);
                        std::int64_t expected = kMost;
                        bool holds = false;
                        for (std::int64_t step = 1; step <= kMost && !holds; ++step) {
                            if (step % check_every != 0 && step != kMost) continue;
                            holds = singles[static_cast<std::size_t>(kBefore + step)].change < bound;
                            if (holds) expected = step;
                        }
                        RunOptions options;
                        options.steps = kMost;
                        options.until = below(0, bound);
                        options.check_every = check_every;
                        const RunResult result = session.run(options);
                        CHECK(result.steps == expected);
                        CHECK((result.stop == RunResult::Stop::until) == holds);
                        CHECK(session.steps_done() == kBefore + expected);
                        check_state(session, singles[static_cast<std::size_t>(kBefore + expected)]);
                        session.step(7);  // and on from there
                        check_state(session, singles[static_cast<std::size_t>(kBefore + expected + 7)]);
                    }
                }
            }
        }
    }
}

TEST_CASE("a time block that is compiled asynchronously gives the reductions of its steps from then on") {
    constexpr std::int64_t kMost = 90;
    const std::vector<Step> singles = single_steps(kMost);
    for (const bool records : {false, true}) {
        for (const std::int64_t before : {1, 2, 5, 40}) {
            for (const std::int64_t wanted : {41, 42, 43, 44, 60, 61, 90}) {
                INFO("after " << before << " steps; until " << wanted << (records ? ", recorded" : ""));
                FakeDevice device = make_device(records, records);
                Sample sample = damped_sample(3, true);
                device.loader = [&](std::string_view) {
                    auto module = std::make_unique<FakeModule>();
                    module->functions["damped_steps"] =
                        damped_sample(3, true).module->functions["damped_steps"];
                    return module;
                };
                sample.module->functions.erase("damped_steps");
                std::promise<AsyncCode> code;
                Session session = open_watched(std::move(sample), device, code.get_future().share());
                RunOptions options;
                options.until = below(0, singles[static_cast<std::size_t>(wanted)].change * (1 + 1e-12));
                options.steps = before;
                CHECK(session.run(options).stop == RunResult::Stop::steps);
                check_state(session, singles[static_cast<std::size_t>(before)]);
                code.set_value({"the code", 0});
                options.steps = kMost - before;
                CHECK(session.run(options).stop == RunResult::Stop::until);
                CHECK(session.steps_done() == wanted);
                CHECK(session.async_block().state == AsyncBlock::State::active);
                CHECK(session.async_block().after_steps == before);
                check_state(session, singles[static_cast<std::size_t>(wanted)]);
            }
        }
    }
}

TEST_CASE("time blocks that are looked at are recorded, and few steps are done twice") {
    FakeDevice device = make_device(true, true);
    Session session = open_watched(damped_sample(4, true), device);
    RunOptions options;
    options.steps = 4 * 16 * 5 + 4;
    options.until = below(0, -1);  // never
    CHECK(session.run(options).steps == options.steps);
    CHECK(device.replays >= 4);
    CHECK(device.launches == options.steps / 4);  // no step twice
    // A sum may be looked at, too: the device adds it up in an order of its own.
    options.until = below(1, -1e30);
    CHECK(session.run(options).steps == options.steps);
}

TEST_CASE("a condition that reads no reduction is known beforehand") {
    using Op = HostScalar::Op;
    FakeDevice device;
    Session session = open_watched(damped_sample(4, true), device);
    RunOptions options;
    options.steps = 100;
    options.until = HostScalar{{{Op::step, 0, 0}, {Op::constant, 41, 0}, {Op::greater_equal, 0, 0}}};
    const RunResult result = session.run(options);
    CHECK(result.steps == 41);
    CHECK(result.stop == RunResult::Stop::until);
    check_state(session, single_steps(41).back());
    CHECK(device.launches == 10 + 1);
}

TEST_CASE("pieces of a run are whole time blocks") {
    FakeDevice device;
    const Session whole = open_watched(damped_sample(4, true), device);
    CHECK(whole.whole_steps(3) == 3);
    CHECK(whole.whole_steps(4) == 4);
    CHECK(whole.whole_steps(11) == 8);
    const Session rest = open_watched(damped_sample(4, false), device);
    CHECK(rest.whole_steps(11) == 9);
}

TEST_CASE("reductions of a time block are checked") {
    const auto why = [](const LaunchPlan& plan) {
        try {
            check_plan(plan);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    LaunchPlan plan = damped_sample(2, true).plan;
    CHECK(why(plan) == "");
    plan.time_block->reductions = {0};
    CHECK(why(plan).find("takes the partial results of reduction 1, which it does not give") !=
          std::string::npos);
    plan.time_block->reductions = {0, 1, 2};
    CHECK(why(plan).find("its time block gives reduction 2") != std::string::npos);
    plan = damped_sample(2, true).plan;
    plan.time_block->kernel.arguments[5].kind = Argument::Kind::partials;
    CHECK(why(plan).find("takes the partial results of a single step") != std::string::npos);
    plan = damped_sample(2, true).plan;
    plan.kernels[0].arguments[4].kind = Argument::Kind::step_partials;
    CHECK(why(plan).find("takes the partial results of several steps") != std::string::npos);
}
