// Every example on every engine and strategy that needs no GPU, on awkward grids.
#include <algorithm>
#include <filesystem>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/schedule/strategies.h"
#include "emulated_device.h"
#include "emulator.h"
#include "load_cpp.h"
#include "read_spec.h"
#include "runtime/cpu/cpu_device.h"

namespace {

using namespace halo;

std::vector<std::filesystem::path> examples() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() == ".halo") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string read(const std::filesystem::path& path) {
    return test::read_spec(path);
}

std::vector<test::Extent> grids(int rank) {
    if (rank == 1) return {{1, 1, 1}, {5, 1, 1}, {97, 1, 1}};
    if (rank == 2) return {{1, 1, 1}, {3, 2, 1}, {37, 13, 1}, {70, 9, 1}};
    if (rank == 4) return {{1, 1, 1, 1}, {3, 2, 5, 4}, {37, 6, 5, 3}};
    return {{1, 1, 1}, {3, 2, 5}, {13, 11, 7}, {37, 6, 9}};
}

std::vector<schedule::Schedule> schedules(int rank) {
    using schedule::Direct;
    using schedule::Strategy;
    using schedule::Stream;
    using schedule::Tile;
    std::vector<schedule::Schedule> all;
    const auto add = [&](Strategy strategy, halo::rt::Lengths threads, halo::rt::Lengths cells, int planes) {
        schedule::Schedule s;
        s.strategy = strategy;
        for (int axis = rank; axis < 3; ++axis)
            threads[axis] = cells[axis] = 1;
        if (schedule::kind_of(s).streams) threads[rank - 1] = cells[rank - 1] = 1;
        while (threads[0] * threads[1] * threads[2] % 32 != 0)
            threads[0] *= 2;  // reductions need whole warps
        s.threads = threads;
        s.cells = cells;
        schedule::set_own(s, schedule::Setting::planes, planes);
        all.push_back(s);
    };
    add(Direct{}, {32, 2, 1}, {1, 1, 1}, 0);
    add(Direct{}, {8, 4, 1}, {4, 1, 1}, 0);
    add(Direct{}, {8, 4, 1}, {4, 2, 2}, 0);
    add(Direct{}, {16, 2, 2}, {2, 1, 3}, 0);
    if (rank > schedule::kMostAxesOfTile) return all;
    add(Tile{}, {16, 4, 1}, {1, 1, 4}, 0);
    add(Tile{}, {8, 4, 2}, {4, 2, 1}, 0);
    if (rank > 1) {
        add(Stream{}, {16, 4, 1}, {1, 1, 1}, 3);
        add(Stream{}, {8, 4, 1}, {4, 2, 1}, 0);
    }
    return all;
}

// What lies past a face may be made of several cells inside.
bool has_cells_for_faces(const ir::Program& program, const test::Extent& extent) {
    for (const ir::Field& field : program.fields) {
        for (int axis = 0; axis < program.rank(); ++axis) {
            for (const ir::Face& face : field.boundary[axis])
                if (face.reach > extent[axis] / field.grid.factor) return false;
            if (extent[axis] < field.grid.factor) return false;
        }
    }
    return true;
}

// The schedule for each stage that can run by it, and direct with a cell a thread for the others: sums over
// tables, what is changed in place, conditions, what is stored narrower than it is computed in, and what
// needs more shared memory than a block may have. Everything else takes every schedule.
std::vector<schedule::Schedule> for_stages(const ir::Program& program, const schedule::Schedule& schedule) {
    const bool is_narrow =
        std::any_of(program.fields.begin(), program.fields.end(), [](const ir::Field& field) {
            return field.type == ir::Scalar::boolean || field.storage != ir::natural_storage(field.type);
        });
    const std::vector<bool> in_place = ir::in_place_statements(program);
    schedule::Schedule plain;
    plain.threads = {64, 1, 1};
    std::vector<schedule::Schedule> result;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        const bool is_in_place = std::any_of(stage.statements.begin(), stage.statements.end(),
                                             [&](int statement) { return in_place[statement]; });
        const schedule::Footprint footprint = schedule::footprint(program, stage);
        const bool is_too_large =
            schedule::make_shared_layout(footprint, schedule).bytes > schedule::Target{}.max_shared_bytes;
        const bool may_refuse = is_narrow || is_in_place || !program.tables.empty() ||
                                !program.points.empty() || footprint.interleaved || is_too_large ||
                                footprint.of_several_grids;
        const bool is_legal =
            !may_refuse || schedule::is_legal(schedule::check(program, stage, schedule, schedule::Target{}));
        result.push_back(is_legal ? schedule : plain);
        if (!footprint.swept_axis) continue;
        result.back().threads = {32, 1, 1};  // a thread a line
        if (*footprint.swept_axis == 0) result.back().threads = {1, program.rank() > 1 ? 32 : 1, 1};
    }
    return result;
}

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("examples give the interpreter's bits on the CPU") {
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    for (const auto& path : examples()) {
        const ir::Program program = test::load_program(read(path));
        if (test::reads_sums(program)) continue;  // solve_test.cpp has such
        const lower::Lowered lowered = lower::lower_cpu(program);
        for (const test::Extent& extent : grids(program.rank())) {
            if (!has_cells_for_faces(program, extent)) continue;
            INFO(path.filename() << " on " << extent[0] << " x " << extent[1] << " x " << extent[2]);
            const test::Reference reference(program, extent, 3, 1);
            CHECK(test::difference(reference, lowered, *device, test::load_example) == "");
            // Two steps at once, and the third by itself.
            CHECK(test::difference(reference, lowered, *device, test::load_example, 0, {2, 2}) == "");
        }
    }
}

TEST_CASE("examples give the interpreter's bits on emulated CUDA") {
    for (const auto& path : examples()) {
        const ir::Program program = test::load_program(read(path));
        if (test::reads_sums(program)) continue;
        for (const schedule::Schedule& each : schedules(program.rank())) {
            const lower::Lowered lowered = lower::lower_cuda(program, {for_stages(program, each)});
            emulator::EmulatedDevice device;
            for (const test::Extent& extent : grids(program.rank())) {
                if (!has_cells_for_faces(program, extent)) continue;
                INFO(path.filename() << " on " << extent[0] << " x " << extent[1] << " x " << extent[2]
                                     << ", strategy " << schedule::kind_of(each).name << ", cells "
                                     << each.cells[0] << " " << each.cells[1] << " " << each.cells[2]);
                const test::Reference reference(program, extent, 3, 1);
                std::string outcome;
                try {
                    outcome = test::difference(reference, lowered, device, test::load_cuda);
                } catch (const std::exception& error) {
                    outcome = error.what();
                }
                CHECK(outcome == "");
            }
        }
    }
}

TEST_CASE("components side by side give the interpreter's bits, as arrays of their own do") {
    const auto with_aos = [](const char* example, const std::string& field) {
        std::string text = read(HALO_SOURCE_DIR "/dsl_examples/" + std::string(example) + ".halo");
        const std::size_t at = text.find(field);
        REQUIRE(at != std::string::npos);
        const bool has_block = field.back() == '{';
        return text.insert(at + field.size(), has_block ? " layout aos;" : " { layout aos }");
    };
    const std::string at_points = R"(
stencil beside(x, y) {
    field v: (a: f32, b: f32) { layout aos; boundary clamp }
    points shots, phones: sinc 2
    v[t+1] = [v.a/2 + v.b[x+1]/4, v.b/2 + v.a[y-1]/4]
    inject v.b[t+1] at shots += 1/8 * shots.force[t]
    sample v.a[t+1] + v.b[t+1] at phones into phones.heard[t]
}
)";
    const std::unique_ptr<rt::Device> cpu = rt::make_cpu_device(2);
    for (const std::string& text :
         {with_aos("cavity2d", "field f: f32[9]"), with_aos("duct3d", "field f: f32[19] {"),
          with_aos("schroedinger2d", "field psi: c64 {"), at_points}) {
        const ir::Program program = test::load_program(text);
        REQUIRE(program.groups.front().interleaved);
        for (const test::Extent& extent : grids(program.rank())) {
            INFO(program.name << " on " << extent[0] << " x " << extent[1] << " x " << extent[2]);
            if (!has_cells_for_faces(program, extent)) continue;
            const test::Reference reference(program, extent, 4, 1);
            CHECK(test::difference(reference, lower::lower_cpu(program), *cpu, test::load_cpp) == "");
            for (const halo::rt::Lengths cells : {halo::rt::Lengths{1, 1, 1}, halo::rt::Lengths{1, 2, 1}}) {
                schedule::Schedule direct;
                direct.threads = {16, 4, 1};
                direct.cells = cells;
                emulator::EmulatedDevice device;
                const std::size_t stages = ir::form_stages(program).size();
                const lower::Lowered lowered = lower::lower_cuda(program, {std::vector(stages, direct)});
                CHECK(test::difference(reference, lowered, device, test::load_cuda) == "");
            }
        }
    }
}

TEST_CASE("the last vector of the last row stays inside the array") {
    // 31 cells and a halo of 1 fill a row to its last element.
    const ir::Program program = test::load_program(
        "stencil corner(x, y) {\n    field u: f32 { boundary clamp }\n    u[t+1] = u/2 + u[x+1, y+1]/4\n}\n");
    schedule::Schedule direct;
    direct.threads = {32, 1, 1};
    direct.cells = {4, 2, 1};
    emulator::EmulatedDevice device;
    const test::Reference reference(program, {31, 5, 1}, 2, 1);
    CHECK(test::difference(reference, lower::lower_cuda(program, {{direct}}), device, test::load_cuda) == "");
}
