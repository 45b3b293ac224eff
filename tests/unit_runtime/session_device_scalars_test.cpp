// Scalars that a kernel computes on the device of what the step before has reduced: by single steps, by
// recordings, in runs that end at a condition, and in runs that go on.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "runtime/core/plan_json.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

constexpr std::int64_t kGrowingCells = 23;
constexpr double kFirstLargest = 0.125;

double growth(double largest) {
    return 0.25 + largest / 64;
}

// u[t+1] = u + growth(largest), of the step before; reduce largest = max(u[t+1]) start 0.125.
Sample growing_sample() {
    LaunchPlan plan = named_plan("growing", 1);
    plan.fields = {state_of_f64("u")};
    plan.reductions = {{"largest", ReductionPlan::Op::max, false, kFirstLargest, 1}};
    plan.device_scalars = 1;
    KernelPlan scalars;
    scalars.name = "growing_scalars";
    scalars.blocks = 1;
    scalars.arguments = {index_argument(Argument::Kind::partials, 0),
                         index_argument(Argument::Kind::partial_count, 0),
                         index_argument(Argument::Kind::device_scalars, 0)};
    KernelPlan grow;
    grow.name = "growing_u";
    grow.tile = {6, 1, 1};
    grow.arguments = {field_argument(0, 1), field_argument(0, 0),
                      index_argument(Argument::Kind::device_scalars, 0),
                      index_argument(Argument::Kind::partials, 0), index_argument(Argument::Kind::extent, 0)};
    for (KernelPlan* const kernel : {&scalars, &grow})
        kernel->arguments.resize(10, index_argument(Argument::Kind::extent, 0));  // as FakeDevice takes them
    plan.kernels = {scalars, grow};
    auto module = std::make_unique<FakeModule>();
    module->functions["growing_scalars"] = [](const auto&, std::int64_t, void* const* arguments) {
        const auto* partials = value_of<const double*>(arguments, 0);
        const auto count = value_of<std::int32_t>(arguments, 1);
        value_of<double*>(arguments, 2)[0] = growth(*std::max_element(partials, partials + count));
    };
    module->functions["growing_u"] = [](const auto&, std::int64_t block, void* const* arguments) {
        const std::int64_t begin = 6 * block,
                           end = std::min<std::int64_t>(begin + 6, value_of<std::int32_t>(arguments, 4));
        double largest = -INFINITY;
        for (std::int64_t x = begin; x < end; ++x) {
            double& next = value_of<double*>(arguments, 0)[x];
            next = value_of<const double*>(arguments, 1)[x] + value_of<const double*>(arguments, 2)[0];
            largest = std::max(largest, next);
        }
        value_of<double*>(arguments, 3)[block] = largest;
    };
    return {std::move(plan), std::move(module)};
}

std::vector<double> growing_start() {
    std::vector<double> values;
    for (std::int64_t x = 0; x < kGrowingCells; ++x)
        values.push_back(static_cast<double>((x * 37) % 64) / 64);
    return values;
}

Session open_growing(FakeDevice& device) {
    Sample sample = growing_sample();
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.poison = true;
    Session session(std::move(sample.plan), {kGrowingCells, 1, 1}, device, std::move(modules), options);
    session.upload("u", 0, std::span<const double>(growing_start()));
    return session;
}

struct Growth {
    std::vector<double> u = growing_start();
    double largest = kFirstLargest;
    void step() {
        const double by = growth(largest);
        for (double& each : u)
            each += by;
        largest = *std::ranges::max_element(u);
    }
};
Growth growth_after(std::int64_t steps) {
    Growth expected;
    for (std::int64_t step = 0; step < steps; ++step)
        expected.step();
    return expected;
}

void check_growth(Session& session, std::int64_t steps) {
    const Growth expected = growth_after(steps);
    CHECK(session.download("u") == expected.u);
    CHECK(session.reduction("largest") == expected.largest);
}

}  // namespace

TEST_CASE("scalars of the device follow from what the step before reduced") {
    for (const bool records : {false, true}) {
        FakeDevice device;
        device.recordable = records;
        Session session = open_growing(device);
        std::int64_t steps = 0;
        for (const std::int64_t count : {1, 2, 200, 3, 131}) {
            session.step(count);
            check_growth(session, steps += count);
        }
        CHECK((device.replays > 0) == records);
    }
}

TEST_CASE("steps that went too far are undone with what they reduced") {
    using Op = HostScalar::Op;
    for (const std::int64_t wanted : {1, 5, 31, 32, 33, 64, 97, 150}) {
        INFO(wanted);
        FakeDevice device;
        device.recordable = device.finishes_reductions = true;
        Session session = open_growing(device);
        RunOptions options;
        options.steps = 200;
        options.until = HostScalar{
            {{Op::param, 0, 0}, {Op::constant, growth_after(wanted).largest, 0}, {Op::greater_equal, 0, 0}}};
        const RunResult result = session.run(options);
        CHECK(result.steps == wanted);
        CHECK(device.replays > 0);
        check_growth(session, wanted);
        session.step(40);
        check_growth(session, wanted + 40);
    }
}

TEST_CASE("a run that goes on has the reduction of the steps before") {
    FakeDevice device;
    Session session = open_growing(device);
    const Growth before = growth_after(5);
    session.upload("u", 0, std::span<const double>(before.u));
    session.continue_from({5, {{"largest", before.largest}}, {}});
    session.step(3);
    check_growth(session, 8);
}

TEST_CASE("plans tell of scalars of the device") {
    const LaunchPlan plan = growing_sample().plan;
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    CHECK(copy.device_scalars == 1);
    CHECK(copy.kernels[1].arguments[2].kind == Argument::Kind::device_scalars);
    for (const int count : {0, -1}) {
        LaunchPlan damaged = plan;
        damaged.device_scalars = count;
        CHECK_THROWS_AS(plan_from_json(plan_to_json(damaged)), Error);
    }
}

// ---- what each step finds for the next one

namespace {

// As growing_sample(), of the largest u of the step itself: u[t+1] = u + growth(max(u)). A kernel finds it in
// first steps and those whose results are read, and each step finds that of the next one. `finds` counts the
// first.
Sample growing_ahead_sample(int& finds) {
    Sample sample = growing_sample();
    LaunchPlan& plan = sample.plan;
    plan.reductions = {{"largest", ReductionPlan::Op::max, false, 0, 0},
                       {"largest_ahead", ReductionPlan::Op::max, false, 0, 3, 0}};
    KernelPlan find = plan.kernels[1];
    find.name = "growing_largest";
    find.steps = Steps::first_or_with_results;
    find.arguments[0] = field_argument(0, 0);
    KernelPlan first = plan.kernels[0];
    first.name = "growing_first";
    first.steps = Steps::first;
    first.arguments[2] = index_argument(Argument::Kind::partials, 1);
    first.arguments[3] = index_argument(Argument::Kind::partial_count, 1);
    for (KernelPlan& kernel : plan.kernels)
        for (Argument& argument : kernel.arguments)
            if (argument.kind == Argument::Kind::partials || argument.kind == Argument::Kind::partial_count)
                argument.index = 1;
    plan.kernels = {find, first, plan.kernels[0], plan.kernels[1]};
    auto& functions = sample.module->functions;
    functions["growing_largest"] = [&finds](const auto&, std::int64_t block, void* const* arguments) {
        finds += block == 0 ? 1 : 0;
        const std::int64_t begin = 6 * block,
                           end = std::min<std::int64_t>(begin + 6, value_of<std::int32_t>(arguments, 4));
        const auto* now = value_of<const double*>(arguments, 0);
        value_of<double*>(arguments, 3)[block] = *std::max_element(now + begin, now + end);
    };
    functions["growing_first"] = [](const auto&, std::int64_t, void* const* arguments) {
        const auto* partials = value_of<const double*>(arguments, 0);
        const double largest = *std::max_element(partials, partials + value_of<std::int32_t>(arguments, 1));
        std::fill_n(value_of<double*>(arguments, 2), value_of<std::int32_t>(arguments, 3), largest);
    };
    return sample;
}

Session open_ahead(FakeDevice& device, int& finds) {
    Sample sample = growing_ahead_sample(finds);
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.poison = true;
    return Session(std::move(sample.plan), {kGrowingCells, 1, 1}, device, std::move(modules), options);
}

struct GrowthAhead {
    std::vector<double> u = growing_start();
    double largest = 0;
    void step(std::int64_t count) {
        for (; count > 0; --count) {
            largest = *std::ranges::max_element(u);
            for (double& each : u)
                each += growth(largest);
        }
    }
};

}  // namespace

TEST_CASE("what steps find for the next one is found anew where others may have changed it") {
    for (const bool records : {false, true}) {
        FakeDevice device;
        device.recordable = records;
        int finds = 0;
        Session session = open_ahead(device, finds);
        GrowthAhead expected;
        std::int64_t steps = 0;
        session.upload("u", 0, std::span<const double>(expected.u));
        for (const std::int64_t count : {1, 2, 200, 3, 131}) {
            INFO(count << (records ? ", recorded" : ""));
            finds = 0;
            session.step(count);
            expected.step(count);
            CHECK(session.download("u") == expected.u);
            CHECK(session.reduction("largest") == expected.largest);
            CHECK(finds == (count == 1 ? 1 : 2));  // of the first step, and of that whose results are read
            expected.u[5] += 100;
            session.upload("u", 0, std::span<const double>(expected.u));
            session.step(count, false);
            expected.step(count);
            CHECK(session.download("u") == expected.u);
            CHECK(session.steps_done() == (steps += 2 * count));
        }
        CHECK((device.replays > 0) == records);
    }
}

TEST_CASE("runs that end at a condition find it once, and again where the caller had a look") {
    using Op = HostScalar::Op;
    for (const std::int64_t wanted : {1, 2, 31, 64, 97, 150}) {
        for (const bool looks : {false, true}) {
            INFO(wanted);
            FakeDevice device;
            device.recordable = device.finishes_reductions = true;
            int finds = 0;
            Session session = open_ahead(device, finds);
            GrowthAhead expected;
            session.upload("u", 0, std::span<const double>(expected.u));
            expected.step(wanted);
            RunOptions options;
            options.steps = 200;
            options.until = HostScalar{
                {{Op::param, 0, 0}, {Op::constant, expected.largest, 0}, {Op::greater_equal, 0, 0}}};
            if (looks) {
                options.batch = 50;
                options.keep_going = [&](std::int64_t) { return true; };
            }
            CHECK(session.run(options).steps == wanted);
            CHECK(session.download("u") == expected.u);
            CHECK(session.reduction("largest") == expected.largest);
            session.step(40);
            expected.step(40);
            CHECK(session.download("u") == expected.u);
        }
    }
}

TEST_CASE("plans tell what is found ahead") {
    int finds = 0;
    const LaunchPlan plan = growing_ahead_sample(finds).plan;
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    CHECK(copy.reductions[1].ahead_of == 0);
    CHECK(copy.kernels[0].steps == Steps::first_or_with_results);
    CHECK(copy.kernels[1].steps == Steps::first);
    LaunchPlan damaged = plan;
    damaged.reductions[1].ahead_of = 7;
    CHECK_THROWS_AS(plan_from_json(plan_to_json(damaged)), Error);
}
