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
    FieldPlan u;
    u.name = "u";
    u.type = ElementType::f64;
    u.role = Role::state;
    plan.fields = {u};
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
