// Which scalars are computed on the device, where in the step, and which stay with the host.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/lower/lower.h"

using namespace halo;

namespace {

rt::LaunchPlan plan_with(const std::string& statements) {
    const ir::Program program = test::load_program(
        "stencil s(x, y) {\n    param k = 1\n    field u, v: f64 { boundary clamp }\n    field w: f64\n    "
        "field o: f32\n" +
        statements + "}\n");
    return lower::lower_cuda(program, {std::vector<schedule::Schedule>(ir::form_stages(program).size())})
        .plan;
}

bool waits_for_host(const rt::LaunchPlan& plan) {
    return std::ranges::any_of(plan.kernels, [](const rt::KernelPlan& kernel) {
        return std::ranges::any_of(kernel.arguments, [](const rt::Argument& argument) {
            return argument.kind == rt::Argument::Kind::scalar && rt::changes_with_step(argument.scalar);
        });
    });
}

std::vector<std::string> kernel_names(const rt::LaunchPlan& plan) {
    std::vector<std::string> all;
    for (const rt::KernelPlan& kernel : plan.kernels)
        all.push_back(kernel.name);
    return all;
}

}  // namespace

TEST_CASE("scalars of exact operations on least and greatest values are computed on the device") {
    for (const char* const scalar :
         {"most", "-most + 1", "sqrt(abs(most)) / k", "min(k, most) * max(most, 2)",
          "floor(most) - ceil(most / 3)", "if most > 2 then most else k",
          "if not (most <= 2 or most == k) then 1 else 2 * most"}) {
        INFO(scalar);
        const rt::LaunchPlan plan =
            plan_with(std::string("    reduce most = max(abs(u))\n    u[t+1] = u * (") + scalar + ")\n");
        CHECK(plan.device_scalars == 1);
        CHECK_FALSE(waits_for_host(plan));
        CHECK(kernel_names(plan) == std::vector<std::string>{"s_most", "s_first_most", "s_scalars", "s_u"});
        CHECK(plan.reductions[0].kernel == 0);
    }
}

TEST_CASE("what the host and the device may not agree on stays with the host") {
    for (const char* const statements :
         {"    reduce all = sum(u)\n    u[t+1] = u / all\n",
          "    reduce most = max(u)\n    u[t+1] = u * exp(most)\n",
          "    reduce most = max(u)\n    u[t+1] = u * most^k\n",
          "    reduce most = max(u)\n    u[t+1] = u * most * step\n",
          "    reduce most = max(u)\n    reduce all = sum(u)\n    u[t+1] = u * most + all\n"}) {
        INFO(statements);
        const rt::LaunchPlan plan = plan_with(statements);
        CHECK(plan.device_scalars == 0);
        CHECK(waits_for_host(plan));
    }
    CHECK(plan_with("    reduce most = max(u)\n    u[t+1] = u * k\n").device_scalars == 0);
}

TEST_CASE("scalars are computed anew once a reduction is another one") {
    const rt::LaunchPlan plan = plan_with(
        "    let before = u[x-1] * most\n    u[t+1] = u + before\n    reduce most = max(u[t+1]) start 1\n    "
        "o = u[t+1] * most\n");
    CHECK(plan.device_scalars == 1);
    const std::vector<std::string> all = kernel_names(plan);
    CHECK(std::ranges::count_if(
              all, [](const std::string& name) { return name.find("s_scalars") != std::string::npos; }) == 2);
    CHECK(all.front() == "s_scalars");
    for (const rt::ReductionPlan& reduction : plan.reductions) {
        const rt::KernelPlan& kernel = plan.kernels[static_cast<std::size_t>(reduction.kernel)];
        CHECK(std::ranges::any_of(kernel.arguments, [](const rt::Argument& argument) {
            return argument.kind == rt::Argument::Kind::partials;
        }));
        CHECK(kernel.name.find("scalars") == std::string::npos);
    }
}

TEST_CASE("beside a repeat that the device ends no kernel waits for the host") {
    const rt::LaunchPlan plan = plan_with(
        "    reduce all = sum(u)\n    o = all / 2\n"
        "    repeat n until left < 1e-3 * all, at most 9 {\n"
        "        v[n+1] = v[n, x-1] / 2 + all * u\n"
        "        reduce left = sum(abs(v[n+1] - v[n]))\n"
        "        let a { boundary clamp } = v[n+1, x-1] * left\n        w = a[y-1] / (1 + left)\n    }\n");
    CHECK_FALSE(waits_for_host(plan));
    CHECK(plan.device_scalars == 5);
    const rt::RepeatPlan& repeat = plan.repeats.at(0);
    const std::vector<std::string> all = kernel_names(plan);
    const auto in_repeat = [&](const std::string& name) {
        return std::count(all.begin() + repeat.first, all.begin() + repeat.past, name);
    };
    // Before `o`, what it takes of the sum and what the iterations do; in these, what follows from `left`.
    CHECK(std::ranges::count(all, "s_scalars") == 1);
    CHECK(in_repeat("s_scalars") == 0);
    CHECK(in_repeat("s_scalars_2") == 1);
    CHECK(std::ranges::count(all, "s_scalars_3") == 0);
    CHECK(plan.repeats[0].until->kernel == repeat.past - 1);
}

TEST_CASE("the number of the step stays with the host beside a repeat, too") {
    CHECK(
        waits_for_host(plan_with("    repeat n until left < step, at most 9 {\n"
                                 "        v[n+1] = v[n, x-1] / 2\n"
                                 "        reduce left = sum(abs(v[n+1] - v[n]))\n    }\n")));
}

// ---- reductions that the step before finds

namespace {

std::vector<std::string> steps_of(const rt::LaunchPlan& plan) {
    static const char* const kWords[] = {"all", "with results", "without results", "first",
                                         "first or with results"};
    std::vector<std::string> all;
    for (const rt::KernelPlan& kernel : plan.kernels)
        all.push_back(kernel.name + ": " + kWords[static_cast<int>(kernel.steps)]);
    return all;
}

}  // namespace

TEST_CASE("what a step begins with is reduced by the step before") {
    const rt::LaunchPlan plan = plan_with(
        "    reduce most = max(abs(u))\n    u[t+1] = u + u[x-1] / most\n    reduce most_ahead = "
        "sum(u[t+1])\n");
    CHECK(steps_of(plan) == std::vector<std::string>{"s_most: first or with results", "s_first_most: first",
                                                     "s_scalars: all", "s_u: with results",
                                                     "s_u_states: without results"});
    REQUIRE(plan.reductions.size() == 3);
    CHECK(plan.reductions[2].name == "most_ahead_");  // the spec has most_ahead
    CHECK(plan.reductions[2].ahead_of == 0);
    CHECK(plan.reductions[0].kernel == 0);
    CHECK(plan.kernels[static_cast<std::size_t>(plan.reductions[2].kernel)].name == "s_u");
}

TEST_CASE("reductions that the step before cannot find have a pass of their own in each step") {
    for (const char* const statements : {
             "    reduce most = max(abs(u[x+1]))\n    u[t+1] = u / most\n",
             "    reduce most = max(u - u[t-1])\n    u[t+1] = u / most\n",
             "    reduce most = max(u * step)\n    u[t+1] = u / most\n",
             "    reduce most = max(u * w)\n    u[t+1] = u / most\n",
             "    reduce most = max(u)\n    where idx(x) > 3 {\n    u[t+1] = u / most\n    }\n",
             "    reduce most = max(u) where idx(x) > 3\n    u[t+1] = u / most\n",
             "    reduce most = max(u)\n    u[t+1] = u - u[x-1]\n    v[t+1] = v * most\n",
             "    reduce most = max(u) start 1\n    let before = most\n    u[t+1] = u * exp(before)\n",
         }) {
        INFO(statements);
        const rt::LaunchPlan plan = plan_with(statements);
        for (const rt::KernelPlan& kernel : plan.kernels) {
            CHECK(kernel.steps != rt::Steps::first);
            CHECK(kernel.steps != rt::Steps::first_or_with_results);
        }
        for (const rt::ReductionPlan& reduction : plan.reductions)
            CHECK(reduction.ahead_of == -1);
    }
}

TEST_CASE("of several reductions all are found ahead, or none") {
    const auto is_ahead = [](const rt::LaunchPlan& plan) {
        return std::ranges::any_of(
            plan.reductions, [](const rt::ReductionPlan& reduction) { return reduction.ahead_of >= 0; });
    };
    const std::string rest = "    u[t+1] = u * most + least\n    v[t+1] = v + u * most\n";
    CHECK(is_ahead(plan_with("    reduce most = max(u)\n    reduce least = min(u + v * idx(x))\n" + rest)));
    CHECK_FALSE(is_ahead(plan_with("    reduce most = max(u)\n    reduce least = min(u[x+1])\n" + rest)));
}
