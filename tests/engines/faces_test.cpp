// What lies past several faces: by kernels that fill all axes in one launch, and by those that store cells,
// beside the interpreter, which maps each read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "runtime/core/plan_check.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

const std::vector<std::string> kKinds{"periodic",       "clamp",         "mirror",        "fixed 2",
                                      "fixed 1 + step", "symmetric",     "antisymmetric", "antimirror",
                                      "gradient 1/2",   "extrapolate 1", "robin 1, 2, 3"};

const std::string& kind(std::size_t number) {
    return kKinds[number % kKinds.size()];
}

lower::Lowered on_cuda(const ir::Program& program) {
    schedule::Schedule direct;
    direct.threads = {32, program.rank() > 1 ? 2 : 1, 1};
    return lower::lower_cuda(program,
                             {std::vector<schedule::Schedule>(ir::form_stages(program).size(), direct)});
}

std::string cuda_difference(const ir::Program& program, const std::vector<Extent>& grids) {
    const lower::Lowered lowered = on_cuda(program);
    for (const Extent& grid : grids) {
        emulator::EmulatedDevice device;
        const std::string wrong = difference(Reference(program, grid, 3, 7), lowered, device, load_cuda);
        if (!wrong.empty()) return fmt::format("{}x{}x{}: {}", grid[0], grid[1], grid[2], wrong);
    }
    return {};
}

std::string cuda_difference(const std::string& text, const std::vector<Extent>& grids) {
    return cuda_difference(load_program(text), grids);
}

// A state for each combination of boundaries; all corners are read, up to two cells past each face.
std::string with_boundaries(int rank, const std::vector<std::array<std::string, 3>>& combinations) {
    const std::string axes = rank == 2 ? "x, y" : "x, y, z";
    std::string text = "stencil s(" + axes + ") {\n", statements;
    const std::array<const char*, 3> types{"f64", "f32", "f16"};
    for (std::size_t f = 0; f < combinations.size(); ++f) {
        text += fmt::format("    field u{}: {} {{\n", f, types[f % types.size()]);
        for (int axis = 0; axis < rank; ++axis)
            text += fmt::format("        boundary {} {}\n", "xyz"[axis],
                                combinations[f][static_cast<std::size_t>(axis)]);
        text += "    }\n";
        statements += fmt::format("    u{0}[t+1] = u{0}/4 + around(u{0})/8\n", f);
    }
    text += rank == 2 ? "    def around(v) = v[x-2, y-1] - v[x+1, y+2]/2 + v[x-1, y+2]/4 - v[x+2, y-2]/8 + "
                        "v[x-2, y+1]/16\n"
                      : "    def around(v) = v[x-2, y-1, z-1] - v[x+1, y+2, z+1]/2 + v[x-1, y+2, z-2]/4 - "
                        "v[x+2, y-2, z+2]/8\n";
    return text + statements + "}\n";
}

}  // namespace

TEST_CASE("past two faces lies what both boundaries make of it, whichever they are") {
    std::vector<std::array<std::string, 3>> combinations;
    for (std::size_t first = 0; first < kKinds.size(); ++first)
        for (const std::size_t next : {first, first + 2, first + 7})
            combinations.push_back({kind(first), kind(next), ""});
    CHECK(cuda_difference(with_boundaries(2, combinations), {{3, 3, 1}, {4, 3, 1}, {35, 5, 1}}) == "");
}

TEST_CASE("past three faces, too") {
    std::vector<std::array<std::string, 3>> combinations;
    for (std::size_t first = 0; first < kKinds.size(); ++first)
        combinations.push_back({kind(first), kind(3 * first + 5), kind(2 * first + 6)});
    CHECK(cuda_difference(with_boundaries(3, combinations), {{3, 3, 3}, {4, 3, 5}}) == "");
}

TEST_CASE("faces of an axis that differ, on grids with fewer cells than the halo has") {
    CHECK(cuda_difference(R"(stencil s(x, y) {
    field u: f64 { boundary x.low symmetric, x.high clamp, y.low fixed 3, y.high antisymmetric }
    field v: f64 { boundary x.low antisymmetric, x.high fixed 1, y.low clamp, y.high symmetric }
    field w: i32 { boundary x.low antimirror, x.high symmetric, y periodic }
    field k: bool { boundary x fixed true, y clamp }
    def around(v) = v[x-1, y-1] - v[x+1, y-1]/2 + v[x-1, y+1]/4 - v[x+1, y+1]/8
    u[t+1] = around(u) + v[x-1]
    v[t+1] = around(v) - u[y-1]
    w[t+1] = w[x-1, y-3] - w[x+1, y+3]
    k[t+1] = k[x-1, y-1] != k[x+1, y+1]
})",
                          {{2, 2, 1}, {3, 1, 1}, {2, 3, 1}, {40, 3, 1}}) == "");
}

TEST_CASE("a step fills halos by kernels where stores cannot") {
    const auto fillers = [](const std::string& boundaries, bool in_steps) {
        const rt::LaunchPlan plan =
            on_cuda(load_program("stencil s(x, y) {\n    field u: f64 { boundary " + boundaries +
                                 " }\n    u[t+1] = u[x-1, y-1] + u[x+1, y+1]\n}"))
                .plan;
        return std::ranges::count_if(plan.kernels, [&](const rt::KernelPlan& kernel) {
            return kernel.fills_halo && rt::runs_in_step(plan, kernel) == in_steps;
        });
    };
    for (const std::string boundaries :
         {"symmetric", "antisymmetric", "x antimirror, y clamp", "x fixed 1, y antisymmetric",
          "x symmetric, y fixed 1", "x antisymmetric, y periodic"}) {
        CAPTURE(boundaries);
        CHECK(fillers(boundaries, true) == 0);
        CHECK(fillers(boundaries, false) == 1);  // after an upload
    }
    // In a corner lies -1, which no store leaves there; a gradient is no image; axes are filled in one
    // launch.
    for (const std::string boundaries :
         {"x antisymmetric, y fixed 1", "gradient 1", "x extrapolate 1, y mirror"}) {
        CAPTURE(boundaries);
        CHECK(fillers(boundaries, true) == 1);
        CHECK(fillers(boundaries, false) == 0);
    }
}

TEST_CASE("cells that change in place leave their images where no other cell reads them") {
    // Reads along single axes find images of the cell itself; those of a diagonal are of others.
    for (const std::string reads : {"o[x-1] + o[x+1] + o[y-1] + o[y+1]", "o[x-1, y] + o[x+2, y+1]"}) {
        CAPTURE(reads);
        const ir::Program program = load_program(fmt::format(R"(stencil s(x, y) {{
    field u: f64
    field o: f64 {{ boundary x antisymmetric, y symmetric }}
    field p: f64
    o = 2 * u
    repeat 2 {{
        for c in 0, 1 {{
            where mod(idx(x) + idx(y), 2) == c {{ o = o/2 + ({})/8 }}
        }}
    }}
    p = o[x-1, y-1] + o[x+2, y+2]/2 + o[x+1, y-1]/4
    u[t+1] = p
}})",
                                                             reads));
        const rt::LaunchPlan plan = on_cuda(program).plan;
        const bool has_kernels = std::ranges::any_of(plan.kernels, [&](const rt::KernelPlan& kernel) {
            return kernel.fills_halo && rt::runs_in_step(plan, kernel);
        });
        CHECK(has_kernels == (reads.find("x+2") != std::string::npos));
        CHECK(cuda_difference(program, {{2, 2, 1}, {3, 5, 1}, {37, 4, 1}}) == "");
    }
}
