// Every example is free of mistakes and does on a small grid what it says.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyze_text.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "read_spec.h"

namespace fs = std::filesystem;

namespace {

const fs::path kExamples = fs::path(HALO_SOURCE_DIR) / "dsl_examples";

Analyzed example(const std::string& name) {
    Analyzed result = analyze_text(halo::test::read_spec(kExamples / (name + ".halo")));
    INFO(name << "\n" << result.messages);
    REQUIRE(result.kinds.empty());
    REQUIRE(result.analysis.find_stencil(name) != nullptr);
    return result;
}

// The example with its fields filled as its run says.
std::unique_ptr<halo::ir::Interpreter> start(const Analyzed& made, halo::rt::Extent extent) {
    const halo::sema::RunSpec& spec = made.analysis.runs.at(0);
    halo::ir::Interpreter init(*spec.init, extent, halo::ir::Arithmetic::declared);
    init.step();
    auto run =
        std::make_unique<halo::ir::Interpreter>(made.program(), extent, halo::ir::Arithmetic::declared);
    for (const halo::ir::Field& field : spec.init->fields) {
        run->field(field.name) = init.field(field.name);
        const halo::ir::Field& target = made.field(field.name);
        for (int level = 1; level <= target.history; ++level)
            run->field(field.name, -level) = init.field(field.name);
    }
    return run;
}

double largest(const std::vector<double>& values) {
    double result = 0;
    for (double value : values)
        result = std::max(result, std::abs(value));
    return result;
}

}  // namespace

TEST_CASE("every example has a stencil and a run without a mistake") {
    int count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(kExamples)) {
        if (entry.path().extension() != ".halo") continue;
        ++count;
        const std::string name = entry.path().stem().string();
        const Analyzed made = example(name);
        const halo::sema::RunSpec* run = made.analysis.find_run(name);
        REQUIRE(run != nullptr);
        CHECK(run->grid.has_value());
        CHECK(run->steps.has_value());
        // What computes all of its fields from nothing has nothing to begin with.
        const bool begins_with_something =
            std::ranges::any_of(made.program().fields, [](const halo::ir::Field& field) {
                return field.role == halo::ir::Role::state || field.role == halo::ir::Role::input;
            });
        CHECK((run->init.has_value() || !run->tables.empty() || !begins_with_something));
        CHECK_FALSE(run->plots.empty());
    }
    CHECK(count >= 11);
}

TEST_CASE("derivatives of a sine are as good as those of hand-written kernels") {
    // 64 cells to a period and dx = 1/63: a published CUDA kernel has, in f32, an RMS error of 7.277675e-06
    // and a largest one of 2.861023e-05.
    const char* names[] = {"derivative_x", "derivative_y", "derivative_z"};
    for (int axis = 0; axis < 3; ++axis) {
        halo::rt::Extent extent{2, 2, 2};
        extent[axis] = 64;
        const Analyzed made = example(names[axis]);
        const auto run = start(made, extent);
        run->step();
        const std::int64_t stride = axis == 0 ? 1 : axis == 1 ? 2 : 4;
        double squares = 0, most = 0;
        for (std::int64_t i = 0; i < 64; ++i) {
            const double angle = 2 * 3.14159265358979323846 * static_cast<double>(i) / 64;
            const double exact = 2 * 3.14159265358979323846 * 63 / 64 * std::cos(angle);
            const double error = std::abs(run->field("df")[i * stride] - exact);
            squares += error * error;
            most = std::max(most, error);
        }
        INFO(names[axis] << ": RMS " << std::sqrt(squares / 64) << ", largest " << most);
        CHECK(std::sqrt(squares / 64) <= 7.277675e-06);
        CHECK(most <= 2.861023e-05);
    }
}

TEST_CASE("time steps of the examples are stable") {
    struct Case {
        const char* name;
        const char* field;
        halo::rt::Extent extent;
        double bound;
    };
    const Case cases[] = {
        {"heat3d", "u", {24, 24, 24}, 15.1},       {"heat3d_capacity", "Te", {20, 20, 20}, 60.1},
        {"heat3d_until", "u", {12, 12, 12}, 20.1}, {"jacobi2d", "u", {32, 32, 1}, 1e3},
        {"wave2d", "u", {40, 40, 1}, 4.1},         {"acoustic3d", "p", {64, 64, 40}, 4.1},
        {"cahn_hilliard", "c", {32, 32, 1}, 1.3}};
    for (const Case& one : cases) {
        const Analyzed made = example(one.name);
        const auto run = start(made, one.extent);
        for (int step = 0; step < 60; ++step)
            run->step();
        INFO(one.name);
        CHECK(largest(run->field(one.field)) > 1e-3);  // there is something to grow
        CHECK(largest(run->field(one.field)) <= one.bound);
        CHECK(std::isfinite(largest(run->field(one.field))));
    }
}

TEST_CASE("the Cahn-Hilliard example has two stages and keeps its mass") {
    const Analyzed made = example("cahn_hilliard");
    CHECK(halo::ir::form_stages(made.program()).size() == 2);
    const auto run = start(made, {16, 16, 1});
    run->step();
    const double mass = run->reduction("mass");
    for (int step = 0; step < 30; ++step)
        run->step();
    CHECK(run->reduction("mass") == Approx(mass).margin(1e-4));
}
