// Step-invariant values of inputs, and the rings that inputs and states have.
#include "compiler/schedule/invariant.h"

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/print.h"
#include "compiler/schedule/temporal.h"

using namespace halo;
using namespace halo::schedule;
using namespace halo::test;

namespace {

ir::FieldId field(const ir::Program& program, const std::string& name) {
    for (std::uint32_t index = 0; index < program.fields.size(); ++index)
        if (program.fields[index].name == name) return ir::FieldId{index};
    throw std::runtime_error("no field " + name);
}

// What all steps compute of c in `value`, the next level of u; empty where there is nothing.
std::string invariant_of(const std::string& value) {
    const ir::Program program = load_program(
        "stencil one(x, y, z) {\n    param p = 0.5\n    field u, c, d: f32\n    u[t+1] = " + value + "\n}\n");
    std::vector<ir::ExprId> roots;
    for (const ir::Statement& statement : program.statements)
        for (const ir::ExprId root : ir::roots_of(statement))
            roots.push_back(root);
    const std::optional<ir::ExprId> found = step_invariant(program, roots, field(program, "c"));
    return found ? ir::print(program, *found) : "";
}

}  // namespace

TEST_CASE("the largest expression of an input, params and constants alone is step-invariant") {
    CHECK(invariant_of("u + p/c * (u[x+1] - u)") == "f32(p) / c");
    CHECK(invariant_of("u + sqrt(abs(c)) * u[x-1]") == "sqrt(abs(c))");
    CHECK(invariant_of("u + (if c > 1/2 then 3 else p*c + c*c) * u[x-1]") != "");
    CHECK(invariant_of("(u[x+1] + u[x-1]) / (1 + p*c^2)") != "");
}

TEST_CASE("what differs from step to step, or costs nothing, is not kept") {
    CHECK(invariant_of("u + c * u[x+1]") == "");
    CHECK(invariant_of("u + p*c * u[x+1]") == "");                     // one product
    CHECK(invariant_of("(u[x+1] + u[x-1]) / (1 + c^2)") == "");        // one multiply-add
    CHECK(invariant_of("u + p/c * u[x+1] + 1/c") == "");               // two expressions
    CHECK(invariant_of("u + p/c[x+1] * u[x+1]") == "");                // of a neighbour
    CHECK(invariant_of("u + (step + 1)/c * u[x+1]") == "");            // of the step
    CHECK(invariant_of("u + (1 + idx(x))/c * u[x+1]") == "");          // of the place
    CHECK(invariant_of("u + u / c") == "");                            // of the state
    CHECK(invariant_of("u + (if c > 1/2 then u else u[x+1])") == "");  // a condition, of another type
}

TEST_CASE("a field's planes stay in its ring as long as steps read them") {
    const ir::Program program = load_program(
        "stencil heat(x, y, z) {\n    field u, c: f32\n    u[t+1] = u + 1/8 / c * (u[x-1] + u[x+1] + u[y-1] "
        "+ "
        "u[y+1] + u[z-1] + u[z+1] - 6*u)\n}\n");
    TemporalSchedule schedule;
    schedule.steps = 4;
    schedule.warps = 8;
    schedule.cells = {4, 4};
    schedule.ahead = 2;
    const auto pipeline = std::get<Pipeline>(form_pipeline(program, schedule.steps));
    const auto shape = std::get<TemporalShape>(temporal_shape(program, pipeline, schedule, Target{}));
    CHECK(shape.rings.at(field(program, "u")).planes == 3);
    CHECK(shape.rings.at(field(program, "c")).planes == 6);
    CHECK(pipeline.find(field(program, "c"))->invariant.has_value());
    CHECK_FALSE(pipeline.find(field(program, "u"))->invariant.has_value());
    // A single step computes it where it needs it.
    const auto single = std::get<Pipeline>(form_pipeline(program, 1));
    CHECK_FALSE(single.find(field(program, "c"))->invariant.has_value());
}

TEST_CASE("fewer planes are in flight where shared memory would not hold the rings") {
    const ir::Program program = load_program(
        "stencil heat(x, y, z) {\n    field u, c: f32\n    u[t+1] = u + c * (u[x-1] + u[x+1] + u[y-1] + "
        "u[y+1] + "
        "u[z-1] + u[z+1] - 6*u)\n}\n");
    TemporalPins pins;
    pins.steps = 4;
    pins.cells = std::array{4, 4};
    pins.warps = 8;
    const Extent extent{512, 512, 512};
    const TemporalChoice chosen = choose_temporal(program, Target{}, extent, pins);
    REQUIRE(chosen.schedule);
    CHECK(chosen.schedule->ahead == 2);
    pins.ahead = 4;
    CHECK_FALSE(choose_temporal(program, Target{}, extent, pins).schedule);
}
