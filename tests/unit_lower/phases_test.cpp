// The phases of a chain: statements that later steps make useless, and the kernels that run in each step.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/temporal_core.h"

using namespace halo;

namespace {

using Words = std::vector<std::string>;

const char* const kHead = "stencil flows(x, y) {\n    field u, v: f32 { boundary periodic }\n";
const char* const kFlows = "    u[t+1] = u/2 + u[x-1]/4\n    v[t+1] = v/2 + u[y+1]/4\n}\n";
const char* const kSettles =
    "stencil settles(x, y) {\n    field u: f32 { boundary periodic }\n    u[t+1] = u/2 + u[y-1]/2\n"
    "    reduce most = max(u)\n}\n";
const char* const kRelaxes =
    "stencil relaxes(x, y) {\n    field u, v: f32 { boundary periodic }\n"
    "    let mean { boundary periodic } = (u[x-1] + u[x+1])/2\n    u[t+1] = mean[y-1]/2 + mean[y+1]/2\n"
    "    v[t+1] = u - v\n}\n";
const char* const kCalms =
    "stencil calms(x, y) {\n    field u: f32 { boundary periodic }\n    u[t+1] = u/2\n}\n";

ir::Program chain(const std::string& flows, const std::string& lines) {
    return test::load_program(kHead + flows + kSettles + kRelaxes + kCalms + "run flows {\n    steps 100\n" +
                              lines + "}\n");
}

// Of what is not in all steps: "u: before step 100".
Words steps_of_statements(const ir::Program& program) {
    Words all;
    for (const ir::Statement& statement : program.statements) {
        const rt::StepRange within = ir::steps_of(statement);
        if (within.is_all()) continue;
        const auto* assign = std::get_if<ir::Assign>(&statement);
        const std::string& name =
            assign != nullptr ? program[assign->target].name : std::get<ir::Reduce>(statement).name;
        all.push_back(name + ": " + rt::words_for(within));
    }
    return all;
}

// Kernels that run in that step, whether or not anybody reads its results.
Words kernels_in(const rt::LaunchPlan& plan, std::int64_t step) {
    Words names;
    for (const rt::KernelPlan& kernel : plan.kernels)
        if (kernel.runs(false) && kernel.within.contains(step)) names.push_back(kernel.name);
    return names;
}

lower::Lowered on_cuda(const ir::Program& program) {
    return lower::lower_cuda(program, {std::vector<schedule::Schedule>(ir::form_stages(program).size())});
}

}  // namespace

TEST_CASE("statements of a chain are for the steps of their phases") {
    const ir::Program program = chain(kFlows, "    then settles for 20\n    then relaxes for 5\n");
    CHECK(steps_of_statements(program) == Words{"u: before step 100", "v: before step 100",
                                                "v: in steps 100 to 119", "u: in steps 100 to 119",
                                                "most: in steps 100 to 119", "mean.relaxes: from step 120 on",
                                                "u: from step 120 on", "v: from step 120 on"});
    CHECK(ir::conditions_of_steps(program).empty());
    for (const ir::Statement& statement : program.statements)
        if (const auto* assign = std::get_if<ir::Assign>(&statement)) CHECK_FALSE(assign->condition);
}

TEST_CASE("in each step of a chain the kernels of its phase run alone") {
    const ir::Program program = chain(kFlows, "    then settles for 20\n    then relaxes for 5\n");
    for (const rt::LaunchPlan& plan : {on_cuda(program).plan, lower::lower_cpu(program).plan}) {
        const Words first = kernels_in(plan, 0), second = kernels_in(plan, 100),
                    third = kernels_in(plan, 120);
        CHECK(kernels_in(plan, 99) == first);
        CHECK(kernels_in(plan, 119) == second);
        CHECK(kernels_in(plan, 100000) == third);
        for (const std::string& name : first) {
            CHECK(std::ranges::find(second, name) == second.end());
            CHECK(std::ranges::find(third, name) == third.end());
        }
        CHECK(plan.full_steps.empty());
        // Nothing changes with the step: they can be recorded.
        for (const rt::KernelPlan& kernel : plan.kernels)
            for (const rt::Argument& argument : kernel.arguments)
                CHECK_FALSE(
                    (argument.kind == rt::Argument::Kind::scalar && rt::changes_with_step(argument.scalar)));
    }
}

TEST_CASE("what is done every few steps of a phase has its condition within that") {
    const ir::Program program =
        chain(kFlows, "    every 10 do settles\n    then relaxes for 50\n    every 5 do calms\n");
    CHECK(ir::conditions_of_steps(program).size() == 2);
    for (const rt::LaunchPlan& plan : {on_cuda(program).plan, lower::lower_cpu(program).plan}) {
        CHECK(plan.full_steps.size() == 2);
        const Words first = kernels_in(plan, 0);
        for (const std::string& name : kernels_in(plan, 100))
            CHECK(std::ranges::find(first, name) == first.end());
    }
}

TEST_CASE("statements whose values nobody throws away are for all steps") {
    const auto limited = [](const std::string& statement) {
        return !steps_of_statements(test::load_program(std::string(kHead) + "    u[t+1] = u/2 + u[x-1]/4\n" +
                                                       statement + "}\n"))
                    .empty();
    };
    CHECK(limited("    where step >= 7 { u[t+1] = v }\n"));
    CHECK(limited("    where step > 7 { u[t+1] = v }\n"));
    CHECK_FALSE(limited("    where step > 7 and step <= 20 { u[t+1] = v }\n"));  // goes on afterwards
    CHECK_FALSE(limited("    where step >= 7 { u[t+1] = u[t+1] / 2 }\n"));       // reads it
    CHECK_FALSE(limited("    where step >= 7 and v > 0 { u[t+1] = v }\n"));
    CHECK_FALSE(limited("    on x in 3..6 { where step >= 7 { u[t+1] = v } }\n"));
    CHECK_FALSE(limited("    where step < 7 { u[t+1] = v }\n"));  // begins with the run
    // The first statement keeps what it gives no value.
    CHECK_FALSE(limited("    where step >= 7 { v[t+1] = u }\n"));
    CHECK_FALSE(limited("    where mod(step, 3) == 1 { u[t+1] = v }\n"));
    CHECK_FALSE(limited("    reduce most = max(u[t+1])\n    where step >= 7 { u[t+1] = v }\n"));
}

TEST_CASE("several steps at once are those of the first phase") {
    const ir::Program program = chain(kFlows, "    then settles for 20\n");
    const schedule::TemporalCore core = schedule::temporal_core(program, {});
    CHECK(core.refused.empty());
    CHECK(core.program.statements.size() == 2);
    CHECK(core.is_whole);
}

TEST_CASE("a kernel of a phase says so") {
    const std::string text = emit::print_cuda(on_cuda(chain(kFlows, "    then settles for 20\n")).kernels);
    CHECK(text.find("// Runs before step 100 alone.") != std::string::npos);
    CHECK(text.find("// Runs from step 100 on alone.") != std::string::npos);
}
