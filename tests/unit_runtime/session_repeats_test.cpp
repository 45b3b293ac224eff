// Kernels of a step that are done several times.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "catch.h"
#include "runtime/core/plan_json.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

// heat_sample() whose kernel is done `count` times in a step. It has no second one: the same each time.
Session repeated(FakeDevice& device, std::int64_t count) {
    Sample sample = heat_sample(1, ElementType::f64);
    sample.plan.repeats.push_back({0, 1, count, {}});
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    Session session(std::move(sample.plan), {5, 1, 1}, device, std::move(modules));
    session.set_param("rate", 0.1);
    return session;
}

}  // namespace

TEST_CASE("a repeat launches its kernels as often as it says, recorded or not") {
    for (const bool recordable : {false, true}) {
        FakeDevice device;
        device.recordable = recordable;
        Session session = repeated(device, 7);
        session.step(20);
        CHECK(device.launches == 7 * 20);
        CHECK((device.replays > 0) == recordable);
    }
}

TEST_CASE("steps of very many launches are not recorded") {
    FakeDevice device;
    device.recordable = true;
    Session session = repeated(device, 50'000);
    session.step(3);
    CHECK(device.launches == 3 * 50'000);
    CHECK(device.recordings == 0);
}

TEST_CASE("a session exchanges what is due after each iteration, and records no such steps") {
    FakeDevice device;
    device.recordable = true;
    Sample sample = heat_sample(1, ElementType::f64);
    sample.plan.repeats.push_back({0, 1, 7, {}});
    sample.plan.repeats.back().ghosts_due = {{0, 1}};
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    Session session(std::move(sample.plan), {5, 1, 1}, device, std::move(modules));
    session.set_param("rate", 0.1);
    CHECK(session.exchanges_in_step());
    std::vector<void*> exchanged;
    session.exchange_with(
        [&](const std::vector<LevelArray>& levels) {
            REQUIRE(levels.size() == 1);
            CHECK(levels[0].element == 8);
            exchanged.push_back(levels[0].array);
        },
        false);
    session.step(20);
    CHECK(device.recordings == 0);
    REQUIRE(exchanged.size() == 7 * 20);
    CHECK(exchanged.back() == session.level_array(0, 0));  // what the last step has written
    CHECK(exchanged[7 * 18] != exchanged.back());
}

namespace {

// u[t+1] = u, and then a number is added, an addition by each of so many kernels, until u[t+1] >= 2 u. Counts
// the iterations that are launched.
Sample doubling_sample(std::int64_t adds, std::int64_t& launched) {
    LaunchPlan plan = named_plan("doubling", 1);
    plan.fields = {state_of_f64("u")};
    const auto kernel = [](const std::string& name) {
        KernelPlan made;
        made.name = name;
        made.blocks = 1;
        made.arguments = {field_argument(0, 1), field_argument(0, 0),
                          index_argument(Argument::Kind::iterations, 0)};
        made.arguments.resize(10, index_argument(Argument::Kind::extent, 0));  // as FakeDevice takes them
        return made;
    };
    plan.kernels = {kernel("copy")};
    plan.kernels.insert(plan.kernels.end(), adds - 1, kernel("add"));
    plan.kernels.push_back(kernel("add_last"));
    plan.kernels.back().arguments[3] = index_argument(Argument::Kind::partials, 0);
    plan.reductions = {{"largest", ReductionPlan::Op::max, false, 0, static_cast<int>(adds)}};
    plan.kernels.push_back(kernel("until"));
    plan.kernels.back().arguments[3] = index_argument(Argument::Kind::partials, 0);
    RepeatPlan repeat{1, static_cast<int>(adds) + 2, 50, {}};
    repeat.until.emplace();
    repeat.until->text = "u has doubled";
    repeat.until->condition = constant_scalar(1);  // the kernel knows another
    repeat.until->reductions = {0};
    repeat.until->kernel = static_cast<int>(adds) + 1;
    plan.repeats = {repeat};
    auto module = std::make_unique<FakeModule>();
    const auto is_done = [](void* const* arguments) {
        return value_of<const std::int64_t*>(arguments, 2)[static_cast<int>(RepeatWord::done)] != 0;
    };
    module->functions["copy"] = [](const auto&, std::int64_t, void* const* arguments) {
        *value_of<double*>(arguments, 0) = *value_of<const double*>(arguments, 1);
    };
    module->functions["add"] = [=](const auto&, std::int64_t, void* const* arguments) {
        if (!is_done(arguments)) *value_of<double*>(arguments, 0) += 1;
    };
    module->functions["add_last"] = [=](const auto&, std::int64_t, void* const* arguments) {
        if (!is_done(arguments)) *value_of<double*>(arguments, 3) = *value_of<double*>(arguments, 0) += 1;
    };
    module->functions["until"] = [=, &launched](const auto&, std::int64_t, void* const* arguments) {
        ++launched;
        if (is_done(arguments)) return;
        auto* const words = value_of<std::int64_t*>(arguments, 2);
        ++words[static_cast<int>(RepeatWord::total)];
        auto* const partials = value_of<double*>(arguments, 3);
        partials[1] = partials[0];  // behind them what they come to
        words[static_cast<int>(RepeatWord::done)] =
            *value_of<double*>(arguments, 0) >= 2 * *value_of<const double*>(arguments, 1) ? 1 : 0;
    };
    return {std::move(plan), std::move(module)};
}

}  // namespace

TEST_CASE("iterations until a condition holds are as many, recorded or not") {
    // stands_for: of a kernel that does in turn what others would.
    struct Kernels {
        std::int64_t adds, stands_for;
    };
    for (const bool recordable : {false, true})
        for (const auto [adds, stands_for] : {Kernels{9, 1}, Kernels{30, 1}, Kernels{9, 20}}) {
            FakeDevice device;
            device.recordable = recordable;
            std::int64_t launched = 0;
            Sample sample = doubling_sample(adds, launched);
            sample.plan.kernels[1].stands_for = stands_for;
            std::vector<std::unique_ptr<Module>> modules;
            modules.push_back(std::move(sample.module));
            // What changes with the step is outside the repeat.
            Argument& changing = sample.plan.kernels[0].arguments[4] = scalar_argument(0, ElementType::f64);
            changing.scalar = {{{HostScalar::Op::step, 0, 0}}};
            Session session(std::move(sample.plan), {1, 1, 1}, device, std::move(modules));
            double u = 1;
            std::int64_t iterations = 0;
            session.upload("u", 0, std::vector<double>{u});
            for (int step = 0; step < 7; ++step) {
                session.step();
                const double before = u;
                do {
                    u += static_cast<double>(adds);
                    ++iterations;
                } while (u < 2 * before);
                CHECK(session.download("u") == std::vector<double>{u});
                CHECK(session.repeat_counts()[0].total == iterations);
                CHECK(session.reduction("largest") == u);
                if (step != 4) continue;
                u = 5;  // to another array than the one that iterations were recorded with
                session.upload("u", 0, std::vector<double>{u});
            }
            CHECK((device.replays > 0) == recordable);
            CHECK(device.recordings == (recordable ? 2 : 0));  // for each of two levels
            // Of an iteration of many launches the host waits for the end, but for those that the step before
            // had.
            const std::int64_t in_vain = launched - iterations;
            CHECK((adds + stands_for == 10 ? in_vain > 7 : in_vain < 14));
        }
}

TEST_CASE("repeats survive the way through JSON, and are checked") {
    Sample sample = heat_sample(1, ElementType::f64);
    sample.plan.repeats.push_back({0, 1, 12, {}});
    const LaunchPlan copy = plan_from_json(plan_to_json(sample.plan));
    REQUIRE(copy.repeats.size() == 1);
    CHECK(copy.repeats[0].past == 1);
    CHECK(copy.repeats[0].count == 12);
    const auto is_refused = [&](const RepeatPlan& repeat) {
        LaunchPlan plan = sample.plan;
        plan.repeats = {repeat};
        try {
            plan_from_json(plan_to_json(plan));
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    CHECK_FALSE(is_refused({0, 1, 1, {}}));
    CHECK(is_refused({0, 1, 0, {}}));
    CHECK(is_refused({0, 1, kMostIterations + 1, {}}));
    CHECK(is_refused({-1, 1, 3, {}}));
    CHECK(is_refused({0, 2, 3, {}}));
    CHECK(is_refused({1, 1, 3, {}}));
    RepeatPlan of_piece{0, 1, 3, {}};
    of_piece.ghosts_due = {{0, 1}};
    CHECK_FALSE(is_refused(of_piece));
    of_piece.ghosts_due = {{0, 0}};  // a level that no iteration writes
    CHECK(is_refused(of_piece));
    of_piece.ghosts_due = {{7, 1}};
    CHECK(is_refused(of_piece));
    // Within each other: so deep, and so many times in all. Others do not overlap.
    LaunchPlan nested = sample.plan;
    for (int depth = 1; depth < kMostNestedRepeats; ++depth)
        nested.repeats.push_back({0, 1, 2, {}});
    CHECK(plan_from_json(plan_to_json(nested)).repeats.size() == kMostNestedRepeats);
    LaunchPlan often = nested;
    often.repeats.front().count = often.repeats.back().count = kMostIterations;
    CHECK_THROWS_AS(plan_from_json(plan_to_json(often)), Error);
    nested.repeats.push_back({0, 1, 2, {}});
    CHECK_THROWS_AS(plan_from_json(plan_to_json(nested)), Error);
    LaunchPlan overlapping = sample.plan;
    for (int kernel = 1; kernel < 3; ++kernel)
        overlapping.kernels.push_back(overlapping.kernels.front());
    overlapping.repeats = {{0, 2, 2, {}}, {1, 3, 2, {}}};
    CHECK_THROWS_AS(plan_from_json(plan_to_json(overlapping)), Error);
    overlapping.repeats = {{1, 3, 2, {}}, {0, 1, 2, {}}};
    CHECK_THROWS_AS(plan_from_json(plan_to_json(overlapping)), Error);
}

TEST_CASE("conditions of repeats survive the way through JSON, and are checked") {
    Sample sample = damped_sample(2, true);
    LaunchPlan plan = sample.plan;
    plan.time_block.reset();
    const int kernel = plan.reductions[0].kernel;
    RepeatPlan repeat{kernel, kernel + 1, 12, {}};
    repeat.until.emplace();
    repeat.until->condition.steps = {{HostScalar::Op::reduction, 0, 0}};
    repeat.until->text = "change < 1";
    repeat.until->reductions = {0};
    plan.repeats = {repeat};
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    REQUIRE(copy.repeats[0].until);
    CHECK(copy.repeats[0].until->text == "change < 1");
    CHECK(copy.repeats[0].until->kernel == -1);
    CHECK(copy.repeats[0].until->reductions == std::vector<int>{0});
    CHECK(copy.repeats[0].until->condition.steps.size() == 1);
    const auto is_refused = [&](const std::function<void(LaunchPlan&)>& damage) {
        LaunchPlan damaged = plan;
        damage(damaged);
        try {
            plan_from_json(plan_to_json(damaged));
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    CHECK(is_refused([](LaunchPlan& p) { p.repeats[0].until->reductions.clear(); }));
    CHECK(is_refused([](LaunchPlan& p) { p.repeats[0].until->reductions = {99}; }));
    CHECK(is_refused([](LaunchPlan& p) { p.repeats[0].until->condition.steps.clear(); }));
    CHECK(is_refused([](LaunchPlan& p) { p.repeats[0].until->condition.steps[0].index = 99; }));
    CHECK(is_refused([](LaunchPlan& p) { p.repeats[0].until->kernel = 99; }));
    CHECK(is_refused([&](LaunchPlan& p) { p.repeats[0].until->kernel = kernel; }));  // not of one block
    CHECK(is_refused([&](LaunchPlan& p) {  // words of a repeat whose condition the host finds
        Argument words;
        words.kind = Argument::Kind::iterations;
        p.kernels[static_cast<std::size_t>(kernel)].arguments.push_back(words);
    }));
    Argument count;
    count.kind = Argument::Kind::partial_count;
    count.index = 99;
    CHECK(is_refused([&](LaunchPlan& p) { p.kernels[0].arguments.push_back(count); }));
}
