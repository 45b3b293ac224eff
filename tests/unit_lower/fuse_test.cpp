// Which kernels are fused, and what becomes of repeats and of the numbers that plans have for kernels.
#include <string>
#include <vector>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/reach.h"
#include "compiler/kernel/verify.h"
#include "compiler/lower/lower.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"

using namespace halo;

namespace {

ir::Program fields_and(const std::string& statements) {
    return test::load_program(
        "stencil s(x, y) {\n    field u: f64 { boundary clamp }\n    field a, b, c: f64 { boundary fixed 0 "
        "}\n" +
        statements + "}\n");
}

lower::Lowered lowered_with_fuse(const ir::Program& program, int fuse,
                                 const halo::rt::Lengths& threads = {8, 4, 1}) {
    schedule::Schedule schedule;
    schedule.threads = threads;
    schedule.strategy = schedule::Direct{0, fuse};
    lower::Lowered lowered = lower::lower_cuda(
        program, {std::vector<schedule::Schedule>(ir::form_stages(program).size(), schedule)});
    CHECK(kernel::verify(lowered.kernels) == std::vector<std::string>{});
    rt::check_plan(lowered.plan);
    return lowered;
}

lower::Lowered lowered_with_fuse(const std::string& statements, int fuse,
                                 const halo::rt::Lengths& threads = {8, 4, 1}) {
    return lowered_with_fuse(fields_and(statements), fuse, threads);
}

std::vector<std::string> kernels_of(const rt::LaunchPlan& plan) {
    std::vector<std::string> all;
    for (const rt::KernelPlan& kernel : plan.kernels)
        all.push_back(kernel.name);
    return all;
}

using Kernels = std::vector<std::string>;

constexpr const char* kChain =
    "    a = u[x-1] + u[x+1]\n    b = a[y-1] + a[y+1]\n    u[t+1] = u + b[x-1] - b[x+1]\n";

}  // namespace

TEST_CASE("stages that follow each other are one kernel of one block where their schedules say so") {
    const lower::Lowered apart = lowered_with_fuse(kChain, 0);
    CHECK(kernels_of(apart.plan) == Kernels{"s_a", "s_b", "s_u"});
    CHECK(apart.kernels_of_stages == Kernels{"s_a", "s_b", "s_u"});
    const lower::Lowered together = lowered_with_fuse(kChain, 64);
    CHECK(kernels_of(together.plan) == Kernels{"s_fused"});
    CHECK(together.kernels_of_stages == Kernels{"s_fused", "s_fused", "s_fused"});
    const rt::KernelPlan& fused = together.plan.kernels.front();
    CHECK(fused.blocks == 1);
    CHECK(fused.threads == halo::rt::Lengths{64, 1, 1});
    CHECK(fused.stands_for == 3);
    const rt::LaunchPlan copy = rt::plan_from_json(rt::plan_to_json(together.plan));
    CHECK(copy.kernels.front().stands_for == 3);
}

TEST_CASE("a block whose threads are no multiple of a stage's does not do it") {
    CHECK(kernels_of(lowered_with_fuse(kChain, 64, {32, 3, 1}).plan) == Kernels{"s_a", "s_b", "s_u"});
}

TEST_CASE("a stage that reduces has a launch of its own, and so has one that is left alone") {
    const lower::Lowered plan = lowered_with_fuse(
        "    a = u[x-1]\n    b = a[y-1] + a[y+1]\n    reduce most = max(b[x-1])\n    c = b[x+1] * most\n    "
        "u[t+1] = u + c[x-1]\n"
        "    reduce least = min(u[t+1])\n",
        64);
    CHECK(kernels_of(plan.plan) == Kernels{"s_fused", "s_most", "s_scalars", "s_c", "s_u", "s_u_states"});
    CHECK(plan.plan.reductions[0].kernel == 1);
    CHECK(plan.plan.reductions[1].kernel == 4);
}

TEST_CASE("a repeat of fused stages is a loop of the kernel, and others keep their numbers") {
    const lower::Lowered plan = lowered_with_fuse(
        "    repeat k to 5 { a[k+1] = a[k][x-1] + u[y+1] }\n"
        "    repeat k until most < 1, at most 9 {\n        b[k+1] = b[k][x-1] + a\n        c = b[k+1][y-1]\n "
        "       reduce most = "
        "max(c[y+1])\n    }\n    u[t+1] = u + b[x-1]\n",
        64);
    REQUIRE(plan.plan.repeats.size() == 1);
    const rt::RepeatPlan& repeat = plan.plan.repeats.front();
    CHECK(repeat.until.has_value());
    CHECK(plan.plan.kernels[static_cast<std::size_t>(repeat.until->kernel)].name == "s_until_most");
    for (const rt::KernelPlan& kernel : plan.plan.kernels)
        for (const rt::Argument& argument : kernel.arguments)
            if (argument.kind == rt::Argument::Kind::iterations) CHECK(argument.index == 0);
    CHECK(plan.plan.kernels.front().name == "s_fused");
    // Two turns of two iterations, of which one is with the arrays exchanged, then the fifth and the copy;
    // and what stands before and behind the repeat.
    CHECK(plan.plan.kernels.front().stands_for == 6 + 2);
}

// Shrunk: the loop went through all iterations on the ghosts that the first one had.
// Shrunk from a random program: its emitted text for one grid had the grid's constant and a parameter of that
// name, in a kernel that was launched no more.
TEST_CASE("all kernels that are left are launched") {
    const lower::Lowered fused =
        lowered_with_fuse("    repeat k to 2 { a[k+1] = a[k] }\n    u[t+1] = a\n", 64);
    CHECK(kernels_of(fused.plan) == Kernels{"s_fused"});
    Kernels texts;
    for (const kernel::KernelFunction& function : fused.kernels.functions)
        if (function.kind == kernel::KernelFunction::Kind::kernel) texts.push_back(function.name);
    CHECK(texts == Kernels{"s_fused"});
}

TEST_CASE("a repeat after each iteration of which pieces exchange stays one") {
    const std::string repeat = "    repeat k to 5 { a[k+1] = a[k][x-1] + u }\n    u[t+1] = a[t+1]\n";
    CHECK(lowered_with_fuse(repeat, 64).plan.repeats.empty());
    const lower::Lowered in_pieces = lowered_with_fuse(ir::with_exchanges(fields_and(repeat)), 64);
    REQUIRE(in_pieces.plan.repeats.size() == 1);
    CHECK(in_pieces.plan.repeats.front().count == 5);
    CHECK(in_pieces.plan.repeats.front().ghosts_due.size() == 1);
}
