// Kernels that run within some steps of a run alone (KernelPlan::within), as those of a phase do.
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "catch.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

constexpr std::int64_t kPhaseCells = 23, kFirstPhase = 70;

// damped_sample() whose step is done by another kernel, which finds no reductions, from step 70 on. launched:
// how often, by kernel.
Sample phased_sample(bool has_block, std::map<std::string, int>& launched) {
    Sample sample = damped_sample(3, false);
    KernelPlan& first = sample.plan.kernels[0];
    first.within.past = kFirstPhase;
    KernelPlan later = first;
    later.name = "damped_later";
    later.within = {.first = kFirstPhase};
    std::erase_if(later.arguments,
                  [](const Argument& argument) { return argument.kind == Argument::Kind::partials; });
    later.arguments.insert(later.arguments.end(), 2, later.arguments.back());  // the device takes so many
    sample.plan.kernels.push_back(later);
    sample.plan.time_block->kernel.within = sample.plan.kernels[0].within;
    if (!has_block) sample.plan.time_block.reset();
    auto& functions = sample.module->functions;
    const BlockFunction whole = functions["damped_step"], several = functions["damped_steps"];
    functions["damped_step"] = [whole, &launched](const auto& block, std::int64_t number,
                                                  void* const* arguments) {
        ++launched["damped_step"];
        whole(block, number, arguments);
    };
    functions["damped_steps"] = [several, &launched](const auto& block, std::int64_t number,
                                                     void* const* arguments) {
        if (number == 0) ++launched["damped_steps"];
        several(block, number, arguments);
    };
    functions["damped_later"] = [whole, &launched](const auto& block, std::int64_t number,
                                                   void* const* arguments) {
        ++launched["damped_later"];
        double change = 0, total = 0;
        double* results[] = {&change, &total};
        std::vector<void*> all(arguments, arguments + 4);
        all.insert(all.end(), {&results[0], &results[1]});
        all.insert(all.end(), 4, arguments[4]);
        whole(block, number, all.data());
    };
    sample.plan = plan_from_json(plan_to_json(sample.plan));
    return sample;
}

Session open_phases(Sample sample, FakeDevice& device) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.poison = true;
    Session session(std::move(sample.plan), {kPhaseCells, 1, 1}, device, std::move(modules), options);
    std::vector<double> values;
    for (std::int64_t x = 0; x < kPhaseCells; ++x)
        values.push_back(static_cast<double>((x * 37) % 64) / 16);
    session.upload("p", 0, std::span<const double>(values));
    session.upload("p", -1, std::span<const double>(values));
    return session;
}

std::vector<double> after(int steps) {
    FakeDevice device;
    Sample sample = damped_sample(2, true);
    sample.plan.time_block.reset();
    Session session = open_phases(std::move(sample), device);
    session.step(steps);
    return session.download("p");
}

}  // namespace

TEST_CASE("in each step the kernels of its phase run and no others") {
    for (const bool has_block : {false, true})
        for (const bool records : {false, true}) {
            INFO((has_block ? "several steps at once" : "single steps") << (records ? ", recorded" : ""));
            FakeDevice device;
            device.recordable = records;
            std::map<std::string, int> launched;
            Session session = open_phases(phased_sample(has_block, launched), device);
            CHECK(session.steps_to_full(1000) == kFirstPhase);
            session.step(66);
            CHECK(session.steps_to_full(1000) == 4);
            session.step(334);
            CHECK(launched["damped_step"] + 3 * launched["damped_steps"] == kFirstPhase);
            CHECK((launched["damped_steps"] > 0) == has_block);
            CHECK(launched["damped_later"] == 400 - kFirstPhase);
            CHECK((device.replays > 0) == records);
            CHECK(session.download("p") == after(400));
        }
}

TEST_CASE("a reduction of another phase than the last step's is no number") {
    FakeDevice device;
    std::map<std::string, int> launched;
    Session session = open_phases(phased_sample(false, launched), device);
    session.step(kFirstPhase);
    CHECK(session.reduction("change") > 0);
    session.note_reduction("change");
    session.step(1);
    CHECK(std::isnan(session.reduction("change")));
    session.note_reduction("change");
    const std::vector<double> noted = session.noted_reductions("change");
    REQUIRE(noted.size() == 2);
    CHECK(noted[0] > 0);
    CHECK(std::isnan(noted[1]));
}

TEST_CASE("plans whose kernels run in no step are refused") {
    std::map<std::string, int> launched;
    LaunchPlan plan = phased_sample(true, launched).plan;
    check_plan(plan);
    plan.kernels[1].within = {20, 20};
    CHECK_THROWS_AS(check_plan(plan), Error);
    plan.kernels[1].within = {.first = -1};
    CHECK_THROWS_AS(check_plan(plan), Error);
}
