// The programs of haloc bench --programs: that the table is in order, and the page and the JSON about it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "compiler/bench/programs_results.h"
#include "compiler/bench/programs_table.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/ir/analysis.h"
#include "contains.h"

using namespace halo;
using namespace halo::bench;

namespace {

driver::RunRequest request_of(const Program& program, const driver::CheckedSpec& spec) {
    const sema::AnalyzedStencil& stencil = driver::choose_stencil(spec, program.spec);
    driver::RunArguments arguments;
    for (int axis = 0; axis < stencil.program.rank(); ++axis)
        arguments.grid +=
            (axis > 0 ? "," : "") + std::to_string(program.extent[static_cast<std::size_t>(axis)]);
    arguments.steps = program.steps;
    arguments.set = program.set;
    arguments.no_files = true;
    return driver::make_request(arguments, spec, stencil, driver::Console());
}

ProgramResult result(const char* spec, Extent extent) {
    ProgramResult one;
    one.which = {spec, extent, 100};
    one.which.id = spec;
    one.bytes_per_cell = 8;
    one.kind = kSinglyDone;
    one.run.plan = one.single.plan = "stream threads=32x4 cells=4x1";
    one.run.seconds = one.single.seconds = 1e-3;
    one.run.predicted = one.single.predicted = 2e-3;
    return one;
}

}  // namespace

TEST_CASE("every program has a spec without mistakes, which takes its grid, its params and its data") {
    std::set<std::string> ids;
    for (const Scale scale : {Scale::full, Scale::quick, Scale::small}) {
        for (const Program& program : programs_of(scale)) {
            INFO(program.id << " on " << program.grid());
            if (scale == Scale::full) CHECK(ids.insert(program.id).second);
            const driver::CheckedSpec spec = driver::check_text(program.spec, program_text(program));
            REQUIRE(spec.ok);
            const driver::RunRequest request = request_of(program, spec);
            CHECK(request.extent == program.extent);
            CHECK(request.steps > 0);
            CHECK(request.outputs.empty());
            CHECK(request.loads.empty());
            // Each field that a step reads is given something, or is at rest as its spec says.
            const sema::RunSpec* const run = spec.analysis.find_run(program.spec);
            REQUIRE(run != nullptr);
            CHECK(run->init.has_value());
            // As its own run block has it, if the bench has another.
            const driver::CheckedSpec own = driver::check_text(program.spec, spec_text(program.spec));
            CHECK(own.analysis.find_run(program.spec)->until.has_value() == run->until.has_value());
            // Halos are no wider than the grid.
            for (const ir::Field& field : driver::choose_stencil(spec, program.spec).program.fields)
                for (std::size_t axis = 0; axis < 3; ++axis)
                    if (program.extent[axis] > 1)
                        CHECK(program.extent[axis] > 2 * std::max(field.halo[axis][0], field.halo[axis][1]));
        }
    }
    CHECK(ids.size() >= 28);
    for (const char* wanted : {"maxwell3d-512", "elastic3d-384", "acoustic3d-1024x1024x512", "heat3d-1024",
                               "cahn_hilliard-1024", "poisson2d-4095", "navier_stokes3d-256", "vti3d-384"})
        CHECK(ids.contains(wanted));
}

TEST_CASE("quick grids are half as long, and small ones are small") {
    const std::vector<Program> full = programs_of(Scale::full), quick = programs_of(Scale::quick),
                               small = programs_of(Scale::small);
    for (std::size_t i = 0; i < full.size(); ++i) {
        INFO(full[i].id);
        CHECK(quick[i].id == full[i].id);
        CHECK(quick[i].extent[0] == full[i].extent[0] / 2);
        CHECK(quick[i].steps < full[i].steps);
        CHECK(small[i].extent[0] * small[i].extent[1] * small[i].extent[2] <= 300000);
        CHECK(small[i].steps <= 20);
    }
}

TEST_CASE("programs are chosen by their names, with a grid or without") {
    CHECK(chosen_programs(Scale::full, {}).size() == programs_of(Scale::full).size());
    CHECK(chosen_programs(Scale::full, {"heat3d"}).size() == 2);
    const std::vector<Program> one = chosen_programs(Scale::quick, {"heat3d-1024"});
    REQUIRE(one.size() == 1);
    CHECK(one[0].extent == Extent{512, 512, 512});
    // Both are the same where grids are small.
    CHECK(chosen_programs(Scale::small, {"heat3d"}).size() == 1);
    CHECK(chosen_programs(Scale::small, {"heat3d-1024"}).size() == 1);
    try {
        chosen_programs(Scale::full, {"heat3d", "heat4d"});
        FAIL("a name that there is not was taken");
    } catch (const driver::CommandError& error) {
        CHECK(error.code() == driver::ExitCode::usage);
        CHECK(contains(error.what(), "no program is called `heat4d`"));
    }
}

TEST_CASE("the page and the JSON of programs say what was measured, what was wrong and what is missing") {
    ProgramsResults results;
    results.machine.is_gpu = true;
    results.machine.copy_kernel = 4e12;
    results.command = "haloc bench --programs";
    results.programs.push_back(result("heat3d", {1000, 1000, 100}));
    ProgramResult both = result("wave2d", {10000, 10000, 1});
    both.kind = "temporal";
    both.run.plan = "temporal steps=4 warps=8";
    both.run.seconds = 1e-4;
    results.programs.push_back(both);
    ProgramResult wrong = result("fin", {100, 100, 1});
    wrong.run.wrong = "u differs";
    wrong.run.seconds = 0;
    results.programs.push_back(wrong);
    ProgramResult left_out;
    left_out.which = {"burgers2d", {64, 64, 1}, 10};
    left_out.trouble = "left out";
    results.programs.push_back(left_out);
    const std::string page = programs_page(results);
    INFO(page);
    // 1e8 cells in 1 ms are 100 GStencil/s; 4 TB/s by 8 bytes are 500.
    CHECK(contains(
        page, "| heat3d 1000 × 1000 × 100 | 100 | single steps | 100 | 20.0 % | 100 | 20.0 % | 8 | 500 |\n"));
    CHECK(contains(page, "| wave2d 10000² | 100 | temporal | 1000 | 200.0 % | 100 | 20.0 % | 8 | 500 |\n"));
    CHECK(contains(page, "| wave2d 10000² | `temporal steps=4 warps=8` | 50 | 1000 | 20.00 |\n"));
    CHECK(contains(page, "| fin 100² | 100 | single steps | **wrong** |"));
    CHECK(contains(page, "- fin 100² is wrong: u differs\n"));
    CHECK(contains(page, "| burgers2d 64² | 10 | – | – | – | – | – | 0 |"));
    CHECK(contains(page, "- burgers2d 64²: left out\n"));
    const nlohmann::json json = nlohmann::json::parse(programs_json(results));
    REQUIRE(json["programs"].size() == 4);
    CHECK(json["programs"][1]["run"]["rate_per_s"] == Approx(1e12));
    CHECK(json["programs"][1]["run"]["verified"] == true);
    CHECK(json["programs"][1]["single"]["predicted_seconds_per_step"] == Approx(2e-3));
    CHECK(json["programs"][2]["run"]["verified"] == false);
    CHECK(json["programs"][2]["run"]["wrong"] == "u differs");
    CHECK(json["programs"][3]["trouble"] == "left out");
}
