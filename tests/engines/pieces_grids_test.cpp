// Programs of several grids in pieces: the interpreter's results on the whole grid, bit by bit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "catch.h"
#include "compiler/ir/grids.h"
#include "compiler/lower/lower.h"
#include "cut_engines.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "property.h"
#include "random_pieces.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

GeneratorOptions programs_of_grids() {
    GeneratorOptions options;
    options.max_rank = 2;
    options.max_cells = 1500;
    options.max_radius = 2;
    options.max_statements = 3;
    options.several_grids = true;
    options.fewer_axes = true;
    options.repeats = true;
    return options;
}

// With clamp in the place of periodic along axes that could not be cut, as some fields are not periodic.
ir::Program with_axes_to_cut(ir::Program program) {
    for (int axis = 0; axis < program.rank(); ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        const auto is_open = [&](const ir::Field& field) {
            return field.halo[along] != std::array<int, 2>{} &&
                   field.boundary[along][0].kind != ir::BoundaryKind::periodic;
        };
        if (std::ranges::none_of(program.fields, is_open)) continue;
        for (ir::Field& field : program.fields)
            for (ir::Face& face : field.boundary[along])
                if (face.kind == ir::BoundaryKind::periodic) face.kind = ir::BoundaryKind::clamp;
    }
    return program;
}

// Counts the runs that are compared, of programs of several grids alone. Grids are larger than those that
// were drawn, by whole cells of all of them, so that most can be cut.
struct Comparison {
    const LowerPiece lower;
    const Load load;
    std::uint64_t compared = 0;

    std::string complaint(const RandomProgram& source, const ir::Program& as_drawn, const Reference& drawn,
                          const std::vector<rt::Device*>& devices) {
        if (!ir::has_coarse_grids(as_drawn)) return "";
        const ir::Program program = with_axes_to_cut(as_drawn);
        Random random(source.seed * 31 + 11);
        Extent extent = drawn.extent;
        for (int axis = 0; axis < program.rank(); ++axis)
            extent[axis] += random.between(1, 6) * ir::common_cells(program);
        const Reference reference(program, extent, drawn.steps, source.seed);
        const CutRun run = run_in_pieces(program, reference, source.seed, devices, lower, load);
        compared += run.is_cut ? 1 : 0;
        return run.wrong.empty() ? "" : run.description + ": " + run.wrong;
    }
};

// A V-cycle down to cells of 8, whose coarsest equation is iterated; f is read beside the cell.
std::string vcycle(const std::string& boundary, int sweeps) {
    return fmt::format(R"(stencil vcycle(x, y) {{
    def restrict_cells(v, axis) = (v[2*axis] + v[2*axis+1]) / 2
    def prolong_cells(v, axis) = v[axis/2] / 2 + (v[(axis-1)/2] + v[(axis+1)/2]) / 4
    field f: f64 {{ boundary {0} }}
    field u: f64 {{ boundary {0} }}
    for l in 0..3 {{ field e_{{l}}, d_{{l}}: f64 on coarse(2^l) {{ boundary {0} }} }}
    def beside(v) = sum(a in axes) (v[a-1] + v[a+1])
    def residual(v, d) = d - (4 * v - beside(v)) / 8
    def to_coarse(v) = restrict_cells(restrict_cells(v, x), y)
    def to_fine(v) = prolong_cells(prolong_cells(v, x), y)
    d_0 = residual(u, f[y+1])
    for l in 0..2 {{
        e_{{l}} = 0
        repeat {1} {{
            for c in 0, 1 {{
                where mod(idx(x) + idx(y), 2) == c {{ e_{{l}} = e_{{l}} + 2 * residual(e_{{l}}, d_{{l}}) / 3 }}
            }}
        }}
        d_{{l+1}} = to_coarse(residual(e_{{l}}, d_{{l}}))
    }}
    e_3 = d_3 / 2
    repeat k until most < 1e-3, at most 7 {{
        e_3[k+1] = e_3[k] + residual(e_3[k], d_3) / 2
        reduce most = max(abs(residual(e_3[k+1], d_3))) on coarse(8)
    }}
    for l in 0..2 down {{
        e_{{l}} = e_{{l}} + to_fine(e_{{l+1}})
        repeat k to {1} {{ e_{{l}}[k+1] = e_{{l}}[k] + residual(e_{{l}}[k], d_{{l}}) / 4 }}
    }}
    u[t+1] = u / 2 + e_0 / 4
    reduce rest = norm2(residual(u[t+1], f))
    reduce coarse = sum(e_2) on coarse(4)
}}
)",
                       boundary, sweeps);
}

}  // namespace

TEST_CASE("random programs of several grids in pieces on the CPU") {
    const std::unique_ptr<rt::Device> one = rt::make_cpu_device(2), other = rt::make_cpu_device(1);
    const Seeds seeds = seeds_from_environment(21001, 40);
    Comparison comparison{lower::lower_cpu, load_cpp_unoptimized};
    check_engine(
        programs_of_grids(), seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            return comparison.complaint(source, program, reference, {one.get(), other.get()});
        },
        4);
    CHECK(comparison.compared * 4 >= seeds.count);
}

TEST_CASE("random programs of several grids in pieces on emulated CUDA") {
    const Seeds seeds = seeds_from_environment(22001, 30);
    Comparison comparison{
        [](const ir::Program& piece) { return lower::lower_cuda(piece, {schedules_by_plane(piece)}); },
        load_cuda};
    check_engine(
        programs_of_grids(), seeds,
        [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
            emulator::EmulatedDevice one, other;
            return comparison.complaint(source, program, reference, {&one, &other});
        },
        2);
    CHECK(comparison.compared * 4 >= seeds.count);
}

TEST_CASE("V-cycles in pieces, also of one coarsest row each and beside cells that lie in no coarse one") {
    for (const std::string boundary :
         {"antisymmetric", "clamp", "x periodic, y fixed 1/4", "y periodic, x mirror"}) {
        const bool is_periodic = boundary.starts_with("y periodic");
        for (const int rows : {16, 29, 48}) {
            const rt::Extent extent{24, is_periodic ? (rows + 7) / 8 * 8 : rows, 1};
            for (const int count : {2, 3, 4}) {
                if (count * 8 > extent[1] || (count == 3) != (rows == 29)) continue;
                INFO(boundary << ", " << extent[1] << " rows in " << count << " pieces");
                CHECK(difference_in_pieces(vcycle(boundary, 1 + count % 2), extent, {1, count, 1}, 2) == "");
            }
        }
    }
}
