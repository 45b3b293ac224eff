// Simulations on the CPU with linked-in code, against the interpreter.
#include <fstream>
#include <iterator>

#include "common.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/spec/spec.h"
#include "engine_values.h"
#include "heat.h"
#include "wave.h"

using namespace halocline;

namespace {

const Device& cpu() {
    static const Device device = Device::cpu(2);
    return device;
}

std::unique_ptr<halo::driver::Engine> interpreted(const std::string& spec,
                                                  const halo::driver::Extent& extent) {
    const auto checked = halo::driver::check_spec(HALO_SOURCE_DIR "/tests/embedding/specs/" + spec + ".halo");
    REQUIRE(checked.ok);
    return halo::driver::make_interpreter_engine(
        halo::driver::optimize(checked.analysis.stencils.front().program, {}), extent);
}

}  // namespace

TEST_CASE("a simulation computes what the interpreter does, bit by bit") {
    Simulation heat(heat_program(), cpu(), {70, 23});
    const std::vector<float> start = some_values(70 * 23);
    heat.set("dt", 0.2);
    heat.set("wall", 1.75);
    heat.write("u", start);
    const auto expected = interpreted("heat", {70, 23, 1});
    expected->set_param("dt", 0.2);
    expected->set_param("wall", 1.75);
    expected->upload("u", 0,
                     halo::driver::FieldValues::rounded(halo::rt::ElementType::f32,
                                                        std::vector<double>(start.begin(), start.end())));
    for (const int steps : {1, 7, 30}) {
        heat.step(steps);
        expected->run(steps, {});
        CHECK(heat.read("u") == values_of(expected->download("u")));
        CHECK(heat.reduce("change") == expected->reduction("change"));
    }
    CHECK(heat.steps_done() == 38);
}

TEST_CASE("levels of the past are written and read") {
    Simulation wave(wave_program(), cpu(), {12, 7, 9});
    const std::vector<float> floats = some_values(12 * 7 * 9);
    const std::vector<double> now(floats.begin(), floats.end());
    const std::vector<double> before(now.rbegin(), now.rend());
    wave.write("p", now);
    wave.write("p", before, -1);
    const auto expected = interpreted("wave", {12, 7, 9});
    const auto rounded = [](const std::vector<double>& values) {
        return halo::driver::FieldValues::rounded(halo::rt::ElementType::f64, values);
    };
    expected->upload("p", 0, rounded(now));
    expected->upload("p", -1, rounded(before));
    wave.step(11);
    expected->run(11, {});
    CHECK(wave.read("p") == values_of(expected->download("p")));
    CHECK(wave.read("p", -1) == values_of(expected->download("p", -1)));
}

TEST_CASE("a program says what it has") {
    const ProgramInfo& info = heat_program().info();
    CHECK(info.name == "heat");
    CHECK(info.axes == std::vector<std::string>{"x", "y"});
    REQUIRE(info.fields.size() == 1);
    CHECK(info.fields[0].name == "u");
    CHECK(info.fields[0].role == Role::state);
    CHECK(info.fields[0].past == 0);
    CHECK(wave_program().info().fields[0].past == 1);
    CHECK(wave_program().info().fields[0].type == Type::f64);
    REQUIRE(info.params.size() == 3);
    CHECK(info.params[0].default_value == 1.0);
    CHECK_FALSE(info.params[1].default_value.has_value());
    CHECK(info.reductions == std::vector<std::string>{"change"});
    CHECK(heat_program().targets() == std::vector<std::string>{"cpu, any grid"});
    CHECK(cpu().kind() == "cpu");
    CHECK(cpu().arch() == "cpu");
    CHECK_FALSE(cpu().description().empty());
}

TEST_CASE("mistakes of the caller's are refused in the caller's words") {
    CHECK(says(refusal([] { Simulation(heat_program(), cpu(), {8, 8, 8}); }),
               "the grid of 'heat' has 2 numbers, cells along x, y; 3 were given"));
    CHECK(says(refusal([] { Simulation(heat_program(), cpu(), {8, 0}); }), "less than 1 cell along y"));
    CHECK(says(refusal([] { Device::cpu(-1); }), "-1 threads were asked for; 1 to 4096 are possible"));
    CHECK(says(refusal([] { Simulation(heat_program(), {cpu(), cpu()}, {8, 8}); }, ErrorCode::no_device),
               "'heat' was compiled before, for whole grids; 2 devices need code for pieces"));
    Simulation heat(heat_program(), cpu(), {8, 8});
    CHECK(
        says(refusal([&] { heat.set("dtt", 1); }), "has no parameter 'dtt'; it has 'lambda', 'dt', 'wall'"));
    CHECK(says(refusal([&] { heat.get("dt"); }), "'dt' has no default"));
    CHECK(heat.get("wall") == 2);
    heat.set("wall", 3);
    CHECK(heat.get("wall") == 3);
    CHECK(says(refusal([&] { heat.read("v"); }), "has no field 'v'; it has 'u'"));
    CHECK(says(refusal([&] { heat.write("u", some_values(63)); }),
               "8 x 8 = 64 values, but the array holds 63"));
    CHECK(says(refusal([&] { heat.write("u", some_values(64), -1); }), "no level but the present"));
    CHECK(says(refusal([&] { heat.step(); }), "'dt' of 'heat' has no default"));
    CHECK(says(refusal([&] { heat.step(-1); }), "-1 steps"));
    CHECK(says(refusal([&] { heat.reduce("change"); }), "no value before the first step"));
    CHECK(says(refusal([&] { heat.reduce("total"); }), "has no reduction 'total'; it has 'change'"));
    CHECK(says(refusal([&] { heat.set_weights("w", std::vector<double>(3)); }),
               "has no launch-time coefficient"));
    heat.set("dt", 0.1);
    heat.step();  // all of it left the simulation as it was
    CHECK(heat.steps_done() == 1);
}
