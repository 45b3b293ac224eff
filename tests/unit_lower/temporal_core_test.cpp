// Which reductions a kernel for several steps finds, and what is left for single steps.
#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/temporal.h"
#include "compiler/schedule/temporal_passes.h"
#include "compiler/support/error.h"

using namespace halo;
using namespace halo::schedule;

namespace {

// `change` is taken in with the cell, `slope` of the level before, `later` in a stage of its own.
const char* const kHeat = R"(
stencil heat(x, y) {
    field u, v: f32 { boundary clamp }
    field place: i32
    u[t+1] = u + (u[x-1] - 2*u + u[x+1]) / 4
    v[t+1] = v + u[t+1] / 2
    reduce change = max(abs(u[t+1] - u))
    reduce slope = sum((u[x+1] - u)^2) on y in 1..-1
    reduce later = min(v[t+1, x+1] - v[t+1, y-1])
    reduce ahead = max(u[t+1, x+1])
    reduce placed = sum(u) where place > 0
})";

const std::vector<std::string> kAll{"change", "slope", "later", "ahead", "placed"};

lower::Lowered lowered(const ir::Program& program, const std::vector<std::string>& reductions) {
    std::vector<Schedule> singles(ir::form_stages(program).size());
    TemporalSchedule temporal;
    temporal.steps = 2;
    temporal.reductions = reductions;
    return lower::lower_cuda(program, {singles, temporal});
}

std::string refusal(const ir::Program& program) {
    try {
        lowered(program, {});
    } catch (const UnsupportedError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("reductions that a pipeline can have are part of it, others say why not") {
    const ir::Program program = test::load_program(kHeat);
    CHECK(temporal_core(program, {}).program.statements.size() == 2);
    const TemporalCore core = temporal_core(program, kAll);
    CHECK(core.reductions == std::vector<std::string>{"change", "slope", "later", "ahead"});
    CHECK_FALSE(core.is_whole);
    REQUIRE(core.left_out.size() == 1);
    CHECK(core.left_out[0].reduction == "placed");
    CHECK(core.left_out[0].why == "`place` is not stored as f32 or f64 as it is computed");
}

TEST_CASE("a state whose neighbours are read at two levels has a let for the later one") {
    const ir::Program program = test::load_program(kHeat);
    const std::size_t fields = program.fields.size();
    CHECK(temporal_core(program, {"change"}).program.fields.size() == fields);
    const ir::Program core = temporal_core(program, {"change", "ahead"}).program;
    REQUIRE(core.fields.size() == fields + 1);
    CHECK(core.fields.back().name == "u_made");
    CHECK(core.fields.back().role == ir::Role::intermediate);
    CHECK(ir::verify(core).empty());
}

TEST_CASE("the plan says which reductions a time block gives") {
    const ir::Program program = test::load_program(kHeat);
    const rt::TimeBlock none = *lowered(program, {}).plan.time_block;
    CHECK(none.reductions.empty());
    CHECK_FALSE(none.is_whole);
    const rt::TimeBlock some = *lowered(program, {"later", "change"}).plan.time_block;
    CHECK(some.reductions == std::vector<int>{0, 2});  // in the order of their statements
    CHECK_FALSE(some.is_whole);
    const ir::Program alone = test::load_program(
        "stencil alone(x, y) {\n    field u: f32 { boundary clamp }\n"
        "    u[t+1] = u/2 + u[x-1]/2\n    reduce mass = sum(u[t+1])\n}\n");
    CHECK(lowered(alone, {"mass"}).plan.time_block->is_whole);
    CHECK_THROWS_AS(lowered(program, {"placed"}), UnsupportedError);
}

TEST_CASE("a run that looks at what a pipeline cannot have is done in single steps") {
    const ir::Program program = test::load_program(kHeat);
    const Extent extent{8192, 8192, 1};
    const auto choice = [&](const std::vector<std::string>& watched) {
        return choose_temporal(program, Target{}, extent, std::nullopt, watched);
    };
    REQUIRE(choice({"change"}).schedule);
    CHECK(choice({"change"}).schedule->reductions == std::vector<std::string>{"change"});
    CHECK(choice({}).schedule->reductions.empty());
    // What is found at every step costs time and registers.
    CHECK(choice({"change", "slope"}).seconds_per_cell > choice({}).seconds_per_cell);
    CHECK(choice({"change", "ahead"}).schedule);
    CHECK_FALSE(choice({"change", "placed"}).schedule);
    CHECK(choice({"change", "placed"}).reason ==
          "`placed` is looked at after every step, and cannot be found at each of several: `place` is not "
          "stored as f32 or f64 as it is computed");
}

// Steps of a time block leave out what no state needs, so that the step before the last has not done it.
TEST_CASE("what needs the step before keeps steps from being done together") {
    const std::string head =
        "stencil rest(x, y) {\n    field u: f32 { boundary clamp }\n    field o: f32\n"
        "    u[t+1] = u/2 + u[y+1]/4\n";
    CHECK(refusal(test::load_program(head + "    o = u - most\n    reduce most = max(u) start 1\n}\n")) ==
          "temporal: a statement reads a reduction of the step before");
    CHECK(refusal(test::load_program(head + "    reduce most = max(u)\n    o = u - most\n}\n")) == "");
}

TEST_CASE("outputs that keep something of earlier steps need each of them") {
    const std::string head =
        "stencil rest(x, y) {\n    field u: f32 { boundary clamp }\n    field o: f32\n"
        "    u[t+1] = u/2 + u[y+1]/4\n";
    CHECK(refusal(test::load_program(head + "    where u > 1/2 { o = u }\n}\n")) ==
          "temporal: a statement is for a part of the grid, or changes a level in place");
    CHECK(refusal(test::load_program(head + "    where idx(x) > 1 { o = u }\n}\n")) == "");
}

TEST_CASE("the iterations of a repeat are steps, but for what is not known to be alike in all") {
    const std::string head = R"(
stencil s(x, y) {
    param rate = 0.1
    field f: f64
    field u, v: f64 { boundary clamp }
    field n: f32
)";
    const auto why_not = [&](const std::string& statements) {
        return refusal(test::load_program(head + statements + "}"));
    };
    const std::string average = "(u[k, x-1] + u[k, x+1] + u[k, y-1] + u[k, y+1] - f) / 4";
    CHECK(why_not("repeat k to 5 { u[k+1] = " + average + " }") == "");
    CHECK(why_not("repeat k to 5 { u[k+1] = " + average + " + rate * v[t, x+1] - idx(x) * u[t] }") == "");
    CHECK(why_not("repeat 3 { repeat k to 5 { u[k+1] = " + average + " }\nv[t+1] = v + u[t+1] }") == "");
    const std::string none = "temporal: of no `repeat` several iterations can be done at once: ";
    CHECK(why_not("repeat k to 5 { where idx(x) > 2 { u[k+1] = " + average + " } }") == "");  // a choice
    CHECK(why_not("repeat k to 5 { on x in 1..-2 { u[k+1] = " + average + " } }") == "");
    CHECK(why_not("field w: f64\nrepeat k to 5 { w[k+1] = w[k, x+1] - f }") ==
          none + "an iteration does not end by giving whole fields their next values");  // free faces
    CHECK(why_not("repeat k to 5 { u[k+1] = " + average + " + step }") ==
          none + "it reads what may change with the step, a table, or another grid");
    CHECK(why_not("reduce size = max(u)\nrepeat k to 5 { u[k+1] = " + average + " + size }") ==
          none + "it reads what may change with the step, a table, or another grid");
    CHECK(why_not("repeat k to 5 { n = rate * f\nu[k+1] = " + average + " + n }") ==
          none + "`n` is written in it and read by what comes after");
    CHECK(why_not("repeat k until change < 1, at most 5 { u[k+1] = " + average +
                  "\nreduce change = max(u[k+1]) }") == none + "a condition ends it, or one around it");
    CHECK(why_not("repeat 5 { where idx(x) > 2 { u[t+1] = u[t+1] + f } }") ==
          none + "an iteration does not end by giving whole fields their next values");
    // Of two, that with more iterations; all else is done by single ones.
    const ir::Program two = test::load_program(head + "repeat k to 3 { u[k+1] = " + average +
                                               " }\nrepeat k to 7 { v[k+1] = v[k, x-1] - f\n"
                                               "reduce largest = max(v[k+1]) }}");
    const TemporalCore core = temporal_core(two, {});
    REQUIRE(core.iterations);
    CHECK(core.iterations->count == 7);
    CHECK(core.program.statements.size() == 1);
    CHECK_FALSE(core.is_whole);
    CHECK(core.iterations->launches(3) == 2);
    CHECK(core.iterations->singly(3) == 1);
    CHECK(core.iterations->launches(7) == 0);
}

TEST_CASE("a step in passes keeps what later ones read") {
    const ir::Program program = test::load_program(R"(
stencil stages(x, y) {
    param dt = 1/8
    field u: f32 { boundary periodic }
    let k1 = laplacian(u)
    let k2 = laplacian(u + dt*k1)
    u[t+1] = u + dt/2*(k1 + k2)
})");
    const ir::Program core = temporal_core(program, {}).program;
    const auto made = temporal_passes(program, core, 2);
    REQUIRE(std::holds_alternative<std::vector<TemporalPass>>(made));
    const auto& passes = std::get<std::vector<TemporalPass>>(made);
    REQUIRE(passes.size() == 2);
    REQUIRE(passes[0].kept.size() == 1);
    CHECK(program[passes[0].kept[0].of.field].name == "k1");
    CHECK(passes[0].kept[0].of.time == 0);
    REQUIRE(passes[1].kept.size() == 1);
    CHECK(program[passes[1].kept[0].of.field].name == "u");
    CHECK(passes[1].kept[0].of.time == 1);
    CHECK(passes[1].program.statements.size() == 2);
    CHECK(passes[1].program[ir::FieldId{0}].role == ir::Role::input);
    CHECK(std::get<std::string>(temporal_passes(program, core, 3)) == "a step of 2 stages has no 3 passes");

    const ir::Program leapfrog = test::load_program(R"(
stencil leapfrog(x, y) {
    field u: f32 { boundary periodic }
    let k = u[x-1] - u
    u[t+1] = k[y+1] - u[t-1]
})");
    CHECK(std::get<std::string>(temporal_passes(leapfrog, temporal_core(leapfrog, {}).program, 2)) ==
          "`u` is read at another level than the step's first");
}
