// Unequal spacing in code that is linked in, against the interpreter.
#include "common.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/stretched_axes.h"
#include "compiler/driver/spec/spec.h"
#include "engine_values.h"
#include "stretched.h"

using namespace halocline;
namespace driver = halo::driver;

namespace {

constexpr std::int64_t kWide = 6, kHigh = 9;

std::vector<double> start_of_u() {
    std::vector<double> values;
    for (int z = 0; z < kHigh; ++z)
        for (int x = 0; x < kWide; ++x)
            values.push_back(x * x + 3 * z);
    return values;
}

std::vector<double> distances(double first) {
    std::vector<double> values;
    for (int x = 0; x < kWide; ++x)
        values.push_back(first + x / 4.0);
    return values;
}

// After three steps, by the interpreter.
struct Interpreted {
    Interpreted(double h, const std::vector<double>& dx) {
        const auto checked = driver::check_spec(HALO_SOURCE_DIR "/tests/embedding/specs/stretched.halo");
        REQUIRE(checked.ok);
        const halo::ir::Program program = driver::optimize(checked.analysis.stencils.front().program, {});
        driver::RunRequest request;
        request.name = program.name;
        request.extent = {kWide, kHigh, 1};
        request.params = {{"h", h}};
        const auto engine = driver::make_interpreter_engine(program, request.extent);
        engine->set_param("h", h);
        engine->upload("u", 0, driver::FieldValues::rounded(halo::rt::ElementType::f64, start_of_u()));
        engine->upload("dx", 0, driver::FieldValues::rounded(halo::rt::ElementType::f64, dx));
        driver::fill_axis_tables(*engine, program, driver::points_of_axes(*engine, program, request),
                                 halo::rt::whole_box(request.extent));
        engine->run(3, {});
        u = values_of(engine->download("u"));
        place = values_of(engine->download("place"));
    }
    std::vector<double> u, place;
};

void check_same(Simulation& simulation, double h, const std::vector<double>& dx) {
    simulation.set("h", h);
    simulation.write("dx", dx);
    simulation.write("u", start_of_u());
    simulation.step(3);
    const Interpreted expected(h, dx);
    CHECK(simulation.read("u") == expected.u);
    CHECK(simulation.read("place") == expected.place);
}

}  // namespace

TEST_CASE("code that is linked in computes what unequal spacing gives") {
    Simulation simulation(stretched_program(), Device::cpu(1), {kWide, kHigh});
    CHECK(says(refusal([&] { simulation.step(1); }),
               "the spacing of `x` must be greater than 0, and is 0 in the cell x = 0"));
    check_same(simulation, 0.25, distances(1));
    check_same(simulation, 0.5, distances(1));
    check_same(simulation, 0.5, distances(2));
    simulation.set("h", -1);
    CHECK(says(refusal([&] { simulation.step(1); }),
               "the spacing of `z` must be greater than 0, and is -1 in the cell z = 0"));
    CHECK(stretched_program().info().fields.size() == 3);
}

TEST_CASE("distances in memory of the program's own can be written at any time") {
    Simulation simulation(stretched_program(), Device::cpu(1), {kWide, kHigh});
    const View view = simulation.view("dx");
    double* const cells = static_cast<double*>(view.memory) + view.first_cell;
    for (const double first : {2.0, 1.0}) {
        std::ranges::copy(distances(first), cells);
        simulation.write("u", start_of_u());
        simulation.step(3);
        CHECK(simulation.read("u") == Interpreted(0.25, distances(first)).u);
    }
}
