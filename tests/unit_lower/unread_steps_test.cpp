// What steps leave out whose results nobody reads, and the kernels that follow from it.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/lower/lower.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"

using namespace halo;

namespace {

using Words = std::vector<std::string>;

// `statements` beside a state `u` of a plane, an input `v` and outputs `o` and `p`.
ir::Program program_of(const std::string& statements) {
    return test::load_program(
        "stencil s(x, y) {\n    param k = 1\n    field u, v: f32 { boundary clamp }\n    field o, p: f32\n" +
        statements + "}\n");
}

const std::string kState = "    u[t+1] = u/2 + u[x-1]/4 + v\n";

Words leaves_out(const std::string& statements) {
    return ir::left_out_of_unread_steps(program_of(statements));
}

lower::Lowered cuda(const ir::Program& program) {
    return lower::lower_cuda(program, {std::vector<schedule::Schedule>(ir::form_stages(program).size())});
}

// "s_step: with_results". Without kernels that compute scalars on the device, as the CPU has none.
Words uses(const rt::LaunchPlan& plan) {
    static const char* const kWords[] = {"all", "with_results", "without_results"};
    Words result;
    for (const rt::KernelPlan& kernel : plan.kernels) {
        if (std::ranges::any_of(kernel.arguments, [](const rt::Argument& argument) {
                return argument.kind == rt::Argument::Kind::partial_count;
            }))
            continue;
        result.push_back(kernel.name + ": " + kWords[static_cast<int>(kernel.steps)]);
    }
    return result;
}

void check_uses(const std::string& statements, const Words& expected) {
    const ir::Program program = program_of(statements);
    INFO(statements);
    CHECK(uses(cuda(program).plan) == expected);
    CHECK(uses(lower::lower_cpu(program).plan) == expected);
}

}  // namespace

TEST_CASE("outputs and reductions that nothing reads are left out") {
    CHECK(leaves_out(kState).empty());
    CHECK(leaves_out(kState + "    o = u\n    reduce most = max(u[t+1])\n") == Words{"o", "most"});
    CHECK(leaves_out("    o = u[x+1]\n    u[t+1] = o/2\n    p = o\n") == Words{"p"});
    // Of one that is left out, what it reads is left out, too.
    CHECK(leaves_out(kState + "    o = u\n    p = o*2\n    reduce most = max(p)\n") ==
          Words{"o", "p", "most"});
    CHECK(leaves_out(kState + "    o = u\n    on x.low { o = o + 1 }\n") == Words{"o"});
}

TEST_CASE("reductions that a later step, a state or a boundary reads are found in each") {
    CHECK(leaves_out("    reduce most = max(u)\n    u[t+1] = u / most\n    reduce least = min(u)\n") ==
          Words{"least"});
    CHECK(leaves_out("    u[t+1] = u / most\n    reduce most = max(u) start 1\n").empty());
    // An output that reads it in its own step needs none of the steps before.
    CHECK(leaves_out(kState + "    reduce most = max(u)\n    o = u - most\n") == Words{"most", "o"});
    CHECK(leaves_out(kState + "    o = u - most\n    reduce most = max(u) start 1\n") == Words{"o"});
}

TEST_CASE("outputs that keep something of earlier steps are computed in each") {
    CHECK(leaves_out(kState + "    where u > 0 { o = u }\n    p = u\n") == Words{"p"});
    CHECK(leaves_out(kState + "    let r = random()\n    where r > 1/2 { o = u }\n").empty());
    CHECK(leaves_out(kState + "    on x.low { o = u }\n    on y.low { o = o + 1 }\n").empty());
    // The same cells in each step.
    CHECK(leaves_out(kState + "    where v > 0 { o = u }\n") == Words{"o"});
    CHECK(leaves_out(kState + "    on x in 2..5 { where idx(y) > 3 { o = u } }\n") == Words{"o"});
    CHECK(leaves_out(kState + "    o = u - v[x-1]\n    where u > 1 { o = 0 }\n") == Words{"o"});
}

TEST_CASE(
    "what the step's number chooses is left out, and makes steps with results of those that it chooses") {
    const auto conditions = [](const std::string& statements) {
        return ir::conditions_of_steps(program_of(kState + statements)).size();
    };
    CHECK(conditions("    where mod(step, 3) == 1 { u[t+1] = v }\n") == 1);
    CHECK(conditions("    where v > 0 and mod(step, 3) == 1 { u[t+1] = v }\n") == 1);  // of the part alone
    CHECK(conditions("    where v > 0 { u[t+1] = v }\n") == 0);
    CHECK(conditions("    where mod(step, 3) == 1 { o = u }\n") == 1);
    CHECK(leaves_out(kState + "    where mod(step, 3) == 1 { o = u }\n") == Words{"o"});
    // The last step has all of it.
    CHECK(conditions("    o = u\n    where mod(step, 3) == 1 { o = v }\n") == 0);
}

TEST_CASE("samples at points are taken in each step, with all that they read") {
    const ir::Program program = test::load_program(
        "stencil s(x, y) {\n    field u: f32 { boundary clamp }\n    field o, p: f32\n"
        "    points taps\n    u[t+1] = u/2 + u[x-1]/4\n    o = u * 2\n    p = u\n"
        "    sample o at taps into taps.heard[t]\n}\n");
    CHECK(ir::left_out_of_unread_steps(program) == Words{"p"});
}

TEST_CASE("a stage has a second kernel where steps without results need some of it") {
    check_uses(kState, {"s_step: all"});
    check_uses(kState + "    o = u\n", {"s_step: with_results", "s_step_states: without_results"});
    check_uses("    o = v\n    reduce most = max(v)\n", {"s_step: all"});
    check_uses("    u[t+1] = u/2\n    o = u[t+1, x-1]\n", {"s_u: all", "s_o: with_results"});
    check_uses("    let w { boundary clamp } = u - v\n    u[t+1] = u/2 + w\n    o = w[x+1]\n",
               {"s_w: with_results", "s_w_states: without_results", "s_o: with_results"});
    const std::string reads = "    reduce most = max(u)\n    reduce least = min(u)\n    u[t+1] = u / most\n";
    check_uses(reads, {"s_most: with_results", "s_most_states: without_results", "s_u: all"});
    const rt::LaunchPlan plan = cuda(program_of(reads)).plan;
    CHECK(plan.reductions[0].kernel == 0);
    CHECK(plan.reductions[1].kernel == 0);
}

TEST_CASE("the second kernel neither loads nor stores what is left out") {
    const ir::Program program = program_of(kState + "    o = u - v[x-1]\n    reduce most = max(u[t+1])\n");
    const std::string text = emit::print_cuda(cuda(program).kernels);
    const std::size_t at =
        text.find("// In place of s_step in steps whose results nobody reads; leaves out o, most.");
    REQUIRE(at != std::string::npos);
    const std::string second = text.substr(at);
    CHECK(second.find("s_step_states(") != std::string::npos);
    CHECK(second.find("o[") == std::string::npos);
    CHECK(second.find("most", second.find("extern")) == std::string::npos);
    CHECK(second.find("v[at - 1]") == std::string::npos);
}

TEST_CASE("halos of outputs are filled where these are written") {
    const ir::Program program = test::load_program(
        "stencil s(x) {\n    field u: f32 { boundary clamp }\n    field o: f32 { boundary extrapolate 1 }\n"
        "    field p: f32\n    u[t+1] = u/2 + u[x-1]/4\n    o = u\n    p = o[x+1] - o[x-1]\n}\n");
    const rt::LaunchPlan plan = cuda(program).plan;
    int fillers = 0;
    for (const rt::KernelPlan& kernel : plan.kernels) {
        if (!kernel.fills_halo) continue;
        ++fillers;
        CHECK(kernel.steps == rt::Steps::with_results);
    }
    CHECK(fillers > 0);
    CHECK(rt::has_unread_steps(plan));
    CHECK(uses(rt::plan_from_json(rt::plan_to_json(plan))) == uses(plan));
}

TEST_CASE("cells that go through a table together are for its sum alone") {
    const ir::Program program = test::load_program(
        "stencil s(x) {\n    table rows { a: f32 }\n    field v: (u: f32, w: f32) { boundary periodic; "
        "layout aos }\n"
        "    v[t+1] = v/2\n    reduce most = max(sum(r in rows) v.u * r.a)\n}\n");
    schedule::Schedule schedule;
    schedule.threads = {64, 1, 1};
    schedule.cells = {4, 1, 1};
    const rt::LaunchPlan plan = lower::lower_cuda(program, {{schedule}}).plan;
    REQUIRE(plan.kernels.size() == 2);
    CHECK(plan.kernels[0].tile[0] == 256);
    CHECK(plan.kernels[1].tile[0] == 64);
}
