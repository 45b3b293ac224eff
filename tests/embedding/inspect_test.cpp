// What a program becomes, how it would run, and steps until a condition holds.
#include <filesystem>

#include <unistd.h>

#include "common.h"
#include "halocline/halocline.hpp"
#include "runtime/cpu/jit.h"

using namespace halocline;

namespace {

constexpr const char* kHeatUntil = R"(const limit = 1/8
stencil heat(x, y) {
    param dt = 0.2
    field u: f32 { boundary fixed 0 }
    u[t+1] = u + dt * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4 * u)
    reduce change = max(abs(u[t+1] - u))
}
run heat {
    grid 4, 4
    steps 3 until change < 7
})";

Simulation started(const Program& program, const std::vector<Device>& devices) {
    Simulation heat(program, devices, {16, 12});
    heat.write("u", some_values(16 * 12));
    return heat;
}

}  // namespace

TEST_CASE("steps go on until a condition holds, on one device and in pieces") {
    const Program program = compile(kHeatUntil);
    const Condition small = condition(program, "change < dt * limit");
    if (!halo::rt::cpu_available()) return;
    const std::vector<Device> one = {Device::cpu(1)}, two = {Device::cpu(1), Device::cpu(1)};
    std::int64_t needed = 0;
    for (const std::vector<Device>& devices : {one, two}) {
        Simulation heat = started(program, devices);
        const Simulation::Stepped done = heat.step_until(small, 10000);
        CHECK(done.holds);
        CHECK(done.steps == heat.steps_done());
        CHECK(heat.reduce("change") < 0.025);
        if (needed > 0) CHECK(done.steps == needed);
        needed = done.steps;

        Simulation rare = started(program, devices);
        CHECK(rare.step_until(small, 10000, 10).steps == (needed + 9) / 10 * 10);
        Simulation few = started(program, devices);
        const Simulation::Stepped some = few.step_until(small, 3);
        CHECK(some.steps == 3);
        CHECK_FALSE(some.holds);
        CHECK(few.step_until(small, 0).steps == 0);
        CHECK(says(refusal([&] { few.step_until(small, 1, 0); }), "every 1 step"));
        refusal([&] { few.step_until(small, -1); });
        const Condition of_another = condition(compile(kHeatUntil), "change < 1");
        CHECK(says(refusal([&] { few.step_until(of_another, 1); }), "another program"));
        CHECK(few.steps_done() == 3);
    }
}

TEST_CASE("mistakes in a condition have their places in it") {
    const Program program = compile(kHeatUntil, {.name = "heat.halo"});
    const auto place = [&](const std::string& text) {
        try {
            condition(program, text);
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::spec);
            REQUIRE_FALSE(error.diagnostics().empty());
            CHECK(error.diagnostics().front().file == "until");
            return error.diagnostics().front().column;
        }
        FAIL("nothing was thrown");
        return 0;
    };
    CHECK(place("change < limi") == 10);
    CHECK(place("change") == 1);
    CHECK(place("u < 1") == 1);
    CHECK(place("change < 1 change") == 12);
    CHECK(place("change < (1") == 12);
    CHECK(place("") == 1);
    CHECK(place("change = 1") == 8);
}

TEST_CASE("a program is emitted as text and to files") {
    const Program program = compile(kHeatUntil);
    const std::string cuda = emit(program, {.schedules = {"direct threads=32x8 cells=1x1"}});
    CHECK(says(cuda, "__launch_bounds__(256"));
    CHECK(says(emit(program, {.target = EmitTarget::plan}), "\"heat\""));
    CHECK(says(emit(program, {.target = EmitTarget::cpu}), "heat_step"));
    CHECK(emit(program, {.target = EmitTarget::stencil}) != emit(program, {.target = EmitTarget::kernel}));
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("inspect_test_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const std::vector<std::string> files = emit_file(program, (folder / "heat.cu").string());
    CHECK(files == std::vector<std::string>{(folder / "heat.cu").string(), (folder / "heat.h").string()});
    for (const std::string& file : files)
        CHECK(std::filesystem::file_size(file) > 0);
    refusal([&] { emit_file(program, (folder / "none" / "heat.cu").string()); }, ErrorCode::io);
    std::filesystem::remove_all(folder);
    CHECK(says(refusal([&] { emit(program, {.archs = {"sm_12"}}); }), "sm_12"));
    CHECK(says(refusal([&] { emit(program, {.fixed_grid = true}); }), "no grid"));
    CHECK(says(refusal([&] { emit(program, {.grid = {3}}); }), "2 numbers"));
}

TEST_CASE("a program explains how it would run") {
    const Program program = compile(kHeatUntil);
    CHECK(
        says(explain(program, {.grid = {64, 64}, .arch = "sm_80"}), "for sm_80 on a grid of 64 x 64 cells"));
    CHECK(says(explain(program, {.schedules = {"direct threads=32x8 cells=1x1"}}), "(pinned)"));
    CHECK(explain(program, {.json = true}).front() == '{');
    CHECK(says(refusal([&] { explain(program, {.arch = "sm_12"}); }), "sm_12"));
}

TEST_CASE("a program says what a run gives it and takes from it") {
    const ProgramInfo info = compile(R"(stencil all(x, y) {
        param coef w[-1..1, 0..1] = [[0, 1], [1, 0], [0, 0]]
        table atoms { q, r: f32
            both = q * r }
        series wind
        field v: f32[2] { boundary periodic
            layout aos }
        field f: f32
        points shots, phones
        v[t+1] = v + sum(i in -1..1) w[i, 0] * v
        f = sum(a in atoms) a.both * a.q * wind[step]
        inject f at shots += shots.gain * shots.wavelet[t]
        sample f at phones into phones.trace[t]
    })")
                                 .info();
    REQUIRE(info.weights.size() == 1);
    CHECK(info.weights[0].sizes == std::vector<std::int64_t>{3, 2});
    REQUIRE(info.tables.size() == 2);
    CHECK(info.tables[0].columns == std::vector<std::string>{"q", "r"});
    CHECK_FALSE(info.tables[0].is_series);
    CHECK(info.tables[1].name == "wind");
    CHECK(info.tables[1].is_series);
    REQUIRE(info.points.size() == 2);
    CHECK(info.points[0].columns == std::vector<std::string>{"gain"});
    CHECK(info.points[0].injected == std::vector<std::string>{"wavelet"});
    CHECK(info.points[1].sampled == std::vector<std::string>{"trace"});
    for (const FieldInfo& field : info.fields)
        CHECK(field.interleaved == (field.name != "f"));
}
