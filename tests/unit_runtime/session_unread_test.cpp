// Steps whose results nobody reads run other kernels, and what can be read is the same.
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

constexpr std::int64_t kUnreadCells = 23;

struct Launched {
    std::map<std::string, int> by_name;
};

// damped_sample() whose steps without results find no reductions.
Sample unread_sample(bool has_block, Launched& launched) {
    Sample sample = damped_sample(3, false);
    if (!has_block) sample.plan.time_block.reset();
    KernelPlan& full = sample.plan.kernels[0];
    full.steps = Steps::with_results;
    KernelPlan rest = full;
    rest.name = "damped_step_states";
    rest.steps = Steps::without_results;
    std::erase_if(rest.arguments,
                  [](const Argument& argument) { return argument.kind == Argument::Kind::partials; });
    rest.arguments.insert(rest.arguments.end(), 2, rest.arguments.back());  // the device takes so many
    sample.plan.kernels.push_back(rest);
    auto& functions = sample.module->functions;
    const BlockFunction whole = functions["damped_step"];
    functions["damped_step"] = [whole, &launched](const auto& block, std::int64_t number,
                                                  void* const* arguments) {
        ++launched.by_name["damped_step"];
        whole(block, number, arguments);
    };
    functions["damped_step_states"] = [whole, &launched](const auto& block, std::int64_t number,
                                                         void* const* arguments) {
        ++launched.by_name["damped_step_states"];
        double change = 0, total = 0;
        double* results[] = {&change, &total};
        std::vector<void*> all(arguments, arguments + 4);
        all.insert(all.end(), {&results[0], &results[1]});
        all.insert(all.end(), 4, arguments[4]);
        whole(block, number, all.data());
    };
    return sample;
}

Session open_poisoned(Sample sample, FakeDevice& device) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.poison = true;
    Session session(std::move(sample.plan), {kUnreadCells, 1, 1}, device, std::move(modules), options);
    std::vector<double> values;
    for (std::int64_t x = 0; x < kUnreadCells; ++x)
        values.push_back(static_cast<double>((x * 37) % 64) / 16);
    session.upload("p", 0, std::span<const double>(values));
    session.upload("p", -1, std::span<const double>(values));
    return session;
}

struct UnreadStep {
    double change = 0, total = 0;
    std::vector<double> now;
    friend bool operator==(const UnreadStep&, const UnreadStep&) = default;
};
UnreadStep read(Session& session) {
    return {session.reduction("change"), session.reduction("total"), session.download("p")};
}

std::vector<UnreadStep> one_by_one(int count) {
    FakeDevice device;
    Sample sample = damped_sample(2, true);
    sample.plan.time_block.reset();
    Session session = open_poisoned(std::move(sample), device);
    std::vector<UnreadStep> steps(1);
    for (int step = 0; step < count; ++step) {
        session.step();
        steps.push_back(read(session));
    }
    return steps;
}

}  // namespace

TEST_CASE("of many steps the last alone runs kernels for results") {
    for (const bool records : {false, true}) {
        FakeDevice device;
        device.recordable = records;
        Launched launched;
        Session session = open_poisoned(unread_sample(false, launched), device);
        session.step(1000);
        CHECK(launched.by_name["damped_step"] == 1);
        CHECK(launched.by_name["damped_step_states"] == 999);
        CHECK((device.replays > 0) == records);
        session.step(7, false);
        CHECK(launched.by_name["damped_step"] == 1);
        CHECK(launched.by_name["damped_step_states"] == 1006);
    }
}

TEST_CASE("steps that do more than others run with results, and those between them together") {
    using Op = HostScalar::Op;
    // step == 5, step == 72 * rate, which is 9
    const std::vector<HostScalar> conditions{
        {{{Op::step, 0, 0}, {Op::constant, 5, 0}, {Op::equal, 0, 0}}},
        {{{Op::step, 0, 0}, {Op::constant, 72, 0}, {Op::param, 0, 0}, {Op::mul, 0, 0}, {Op::equal, 0, 0}}}};
    const std::vector<double> expected = one_by_one(306).back().now;
    for (const bool has_block : {false, true})
        for (const bool records : {false, true}) {
            FakeDevice device;
            device.recordable = records;
            Launched launched;
            Sample sample = unread_sample(has_block, launched);
            sample.plan.full_steps = conditions;
            sample.plan = plan_from_json(plan_to_json(sample.plan));
            Session session = open_poisoned(std::move(sample), device);
            CHECK(session.steps_to_full(5) == 5);
            CHECK(session.steps_to_full(100) == 6);
            session.step(6, false);
            CHECK(launched.by_name["damped_step"] == 1);
            CHECK(session.steps_to_full(300) == 4);
            session.step(300, false);
            CHECK(launched.by_name["damped_step"] == 2);
            CHECK((device.replays > 0) == records);
            CHECK(session.download("p") == expected);
        }
}

TEST_CASE("steps that are asked for in parts give what each would give") {
    const std::vector<UnreadStep> expected = one_by_one(420);
    for (const bool has_block : {false, true}) {
        for (const bool records : {false, true}) {
            FakeDevice device;
            device.recordable = records;
            Launched launched;
            Session session = open_poisoned(unread_sample(has_block, launched), device);
            std::size_t done = 0;
            // Among them as many as a recording has, one less and one more.
            for (const int part : {1, 2, 3, 5, 1, 8, 4, 62, 64, 63, 65, 128, 6}) {
                session.step(part);
                done += static_cast<std::size_t>(part);
                INFO("after " << done << ", of which " << part << (records ? " recorded" : ""));
                CHECK(read(session) == expected[done]);
            }
            CHECK(launched.by_name["damped_step"] == 13);
        }
    }
}

TEST_CASE("a run that watches reductions ends where single steps would") {
    const std::vector<UnreadStep> expected = one_by_one(420);
    using Op = HostScalar::Op;
    for (const bool records : {false, true}) {
        for (const std::int64_t every : {1, 7, 70}) {
            for (const std::size_t wanted : {1U, 64U, 69U, 70U, 71U, 140U, 350U}) {
                FakeDevice device;
                device.recordable = device.finishes_reductions = records;
                Launched launched;
                Session session = open_poisoned(unread_sample(false, launched), device);
                RunOptions run;
                run.steps = 400;
                run.check_every = every;
                run.until = HostScalar{{{Op::param, 0, 1},
                                        {Op::constant, expected[wanted].change * (1 + 1e-12), 0},
                                        {Op::less, 0, 0}}};
                std::size_t first = static_cast<std::size_t>(every);
                while (first < 400 && !(expected[first].change < expected[wanted].change * (1 + 1e-12)))
                    first += static_cast<std::size_t>(every);
                first = std::min<std::size_t>(first, 400);
                INFO("every " << every << ", " << wanted << (records ? ", recorded" : ""));
                CHECK(session.run(run).steps == static_cast<std::int64_t>(first));
                CHECK(read(session) == expected[first]);
                if (every == 70) CHECK(launched.by_name["damped_step"] <= 6);
            }
        }
    }
}

TEST_CASE("plans whose kernels do not fit their steps are refused") {
    const auto refused = [](const std::function<void(LaunchPlan&)>& damage) -> std::string {
        Launched launched;
        Sample sample = unread_sample(true, launched);
        damage(sample.plan);
        try {
            check_plan(sample.plan);
            return "";
        } catch (const Error& error) {
            return error.what();
        }
    };
    CHECK(refused([](LaunchPlan&) {}) == "");
    CHECK(refused([](LaunchPlan& plan) { plan.kernels[0].steps = Steps::all; }).find("none in those with") !=
          std::string::npos);
    CHECK(refused([](LaunchPlan& plan) {
              plan.reductions[1].kernel = 1;
          }).find("not found in steps with results") != std::string::npos);
    CHECK(refused([](LaunchPlan& plan) {
              plan.kernels[1].arguments.push_back(plan.kernels[0].arguments[4]);
              plan.kernels[1].tile = {2, 1, 1};
          }).find("reduce by other blocks") != std::string::npos);
    CHECK(refused([](LaunchPlan& plan) {
              plan.time_block->kernel.steps = Steps::with_results;
          }).find("runs in some steps alone") != std::string::npos);
}
