// What the offline files say, and how host scalars are written.
#include <algorithm>
#include <set>

#include "catch.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/host_expression.h"
#include "compiler/ir/grids.h"
#include "compiler/support/error.h"
#include "contains.h"
#include "examples.h"
#include "offline_files.h"

using namespace halo;
using namespace halo::test;
using Op = rt::HostScalar::Op;

namespace {

std::string expression(const std::vector<rt::HostScalar::Step>& steps) {
    rt::HostScalar scalar;
    scalar.steps = steps;
    const emit::HostNames names{[](int index) { return std::string("p") + std::to_string(index); },
                                [](int axis) { return std::string("n") + std::to_string(axis); },
                                [] { return std::string("step"); }};
    return emit::print_host_scalar(scalar, names);
}

rt::HostScalar::Step constant(double value) {
    return {Op::constant, value, 0};
}
rt::HostScalar::Step param(int index) {
    return {Op::param, 0, index};
}
rt::HostScalar::Step extent(int axis) {
    return {Op::extent, 0, axis};
}
rt::HostScalar::Step op(Op code) {
    return {code, 0, 0};
}

}  // namespace

TEST_CASE("the kernels stand in the source byte for byte, and the same input gives the same bytes",
          "[offline]") {
    for (const OfflineCase& offline_case : offline_cases()) {
        const Offline first = make_offline(offline_case);
        const Offline second = make_offline(offline_case);
        INFO(first.program.name);
        CHECK(contains(first.files.source, emit::print_cuda(first.lowered.kernels)));
        CHECK(first.files.source == second.files.source);
        CHECK(first.files.header == second.files.header);
        CHECK(contains(first.files.source, "#include \"" + first.program.name + ".h\"\n"));
        CHECK_FALSE(contains(first.files.source, "stencil_"));
        CHECK_FALSE(contains(first.files.source, " \n"));
    }
}

TEST_CASE("the header offers a function for each param, field level and reduction", "[offline]") {
    const Offline heat = make_offline(first_of(offline_cases(), "heat3d"));
    for (const char* text :
         {"heat3d_create(long long nx, long long ny, long long nz, heat3d_solver** solver)",
          "heat3d_set_lambda(heat3d_solver* solver, double value);  // to be set before",
          "heat3d_set_dt(heat3d_solver* solver, double value);  // 0.1 unless set",
          "heat3d_set_u(heat3d_solver* solver, const float* values)",
          "heat3d_get_u(heat3d_solver* solver, float* values)",
          "heat3d_advance(heat3d_solver* solver, long long steps)",
          "heat3d_get_change(heat3d_solver* solver, double* value)"}) {
        INFO(text);
        CHECK(contains(heat.files.header, text));
    }
    const Offline wave = make_offline(first_of(offline_cases(), "wave"));
    CHECK(contains(wave.files.header, "wave_set_p_before(wave_solver* solver, const float* values)"));
    CHECK(
        contains(wave.files.header, "wave_set_c(wave_solver* solver, const double* weights);  // 2 weights"));
    CHECK(contains(wave.files.header, "wave_set_v(wave_solver* solver, const double* values)"));
}

TEST_CASE("fields over fewer axes are set and got as arrays of their own cells", "[offline]") {
    const auto& cases = offline_cases();
    const auto layers = std::ranges::find_if(
        cases, [](const OfflineCase& each) { return contains(each.text, "stencil layers"); });
    REQUIRE(layers != cases.end());
    const Offline offline = make_offline(*layers);
    for (const char* text :
         {"// profile: read by every step. Over z alone: nz values.",
          "layers_copy_profile_from(layers_solver* solver, const float* cells);",
          "// cut: read by every step. Over x and z alone: nx * nz values, dense element x + nx * z.",
          "layers_copy_cut_from(layers_solver* solver, const double* cells, long long pitch);"}) {
        INFO(text);
        CHECK(contains(offline.files.header, text));
    }
    CHECK(contains(offline.files.source, "allocate(solver.profile_now, 1LL * (solver.nz + 3))"));
}

TEST_CASE("several steps are done by one launch where the grid has room for its tiles", "[offline]") {
    const std::string heat = make_offline(cases_of_several_steps()[0]).files.source;
    CHECK(contains(heat, "const bool has_room = solver->nx >= 128 && solver->ny >= 16 && solver->nz >= "));
    CHECK(contains(heat, "while (has_room && steps > 2) {"));  // the last step has the reduction
    const std::string relax = make_offline(cases_of_several_steps()[3]).files.source;
    CHECK(contains(relax, "while (has_room && steps >= 2) {"));
    const std::string wave = make_offline(cases_of_several_steps()[2]).files.source;
    CHECK(contains(wave, "float* p_next2 = nullptr;"));
}

TEST_CASE("a let is read but not set, and a name of a kernel is left to it", "[offline]") {
    const Offline stages = make_offline(first_of(offline_cases(), "register"));
    CHECK_FALSE(contains(stages.files.header, "register_set_create"));
    CHECK(contains(stages.files.header, "register_get_create("));
    std::set<std::string> kernels;
    for (const auto& kernel : stages.lowered.plan.kernels)
        kernels.insert(kernel.name);
    REQUIRE(kernels.contains("register_create"));
    CHECK(contains(stages.files.header,
                   "register_create_(long long nx, long long ny, register_solver** solver)"));
}

TEST_CASE("a file name that would break out of the include is refused", "[offline]") {
    const Offline line = make_offline(first_of(offline_cases(), "line"));
    for (const char* stem : {"", "a\"b", "a\\b", "a\nb"}) {
        CHECK_THROWS_AS(emit::print_offline(line.lowered.kernels, line.lowered.plan, stem), UnsupportedError);
    }
}

TEST_CASE("all examples have launchers, but those with several grids", "[offline]") {
    for (const Example& example : examples()) {
        INFO(example.name);
        if (ir::has_coarse_grids(example.program))
            CHECK_THROWS_AS(make_offline(example), UnsupportedError);
        else
            CHECK_NOTHROW(make_offline(example));
    }
}

TEST_CASE("a launcher computes nothing on the host between the statements of a repeat", "[offline]") {
    const auto of = [](const std::string& pace) {
        return make_offline(
            OfflineCase{"stencil s(x) {\n    field u: f64 { boundary fixed 0 }\n    repeat k to 3 {\n"
                        "        reduce most = max(abs(u[k]))\n        u[k+1] = u[k] / (1 + " +
                            pace + ")\n    }\n}",
                        "",
                        {64, 1, 1}});
    };
    CHECK(contains(of("sqrt(most)").files.source, "s_scalars"));
    CHECK_THROWS_WITH(of("exp(most)"),
                      "s: a launcher is not built yet where the host computes numbers between the "
                      "statements of a `repeat`");
}

TEST_CASE("the header says what points are given and what they give", "[offline]") {
    std::string header;
    for (const OfflineCase& offline_case : offline_cases())
        if (contains(offline_case.text, "source.echo[t]")) header = make_offline(offline_case).files.header;
    const std::string broken = "\n// ";
    for (std::size_t at; (at = header.find(broken)) != std::string::npos;)
        header.replace(at, broken.size(), " ");
    for (const char* text :
         {"shot_place_source(shot_solver* solver, const double* positions, long long count);",
          "shot_set_source_strength(shot_solver* solver, const double* values);",
          "shot_set_source_wavelet(shot_solver* solver, const double* values, long long rows);",
          "shot_get_source_echo(shot_solver* solver, double* values, long long first, long long rows);",
          "source: `count` points, anywhere",
          "lies at x = 0.0, y = -3.0, the next one h along x, 2.0 along y further"}) {
        INFO(text);
        CHECK(contains(header, text));
    }
}

TEST_CASE("a grid that the resident kernel is not for is refused where it is the only one", "[offline]") {
    OfflineCase other = cases_on_the_chip()[1];
    other.is_fixed = true;
    std::string why;
    try {
        make_offline(other);
    } catch (const std::exception& refused) {
        why = refused.what();
    }
    CHECK(contains(why, "its blocks reach over 64 cells along x, and the grid has 66"));
}

TEST_CASE("components side by side share one array of a solver", "[offline]") {
    const Offline both =
        make_offline({"stencil s(x) { field v: f32[2] { layout aos }\n v[t+1] = 2*v }", "", {8, 1, 1}});
    CHECK(contains(both.files.source, "allocate(solver.v_0_now, solver.elements * 2)"));
    CHECK(!contains(both.files.source, "v_1_now"));
    CHECK(contains(both.files.header, "s_set_v_1(s_solver* solver, const float* values)"));
}

TEST_CASE("host scalars keep their order of operations", "[offline]") {
    CHECK(expression({constant(0.1)}) == "0.1");
    CHECK(expression({constant(2)}) == "2.0");
    CHECK(expression({constant(1e300)}) == "1e+300");
    CHECK(expression({param(0), param(1), op(Op::add), constant(2), op(Op::mul)}) == "(p0 + p1) * 2.0");
    CHECK(expression({param(0), param(1), param(2), op(Op::sub), op(Op::sub)}) == "p0 - (p1 - p2)");
    CHECK(expression({param(0), param(1), op(Op::sub), param(2), op(Op::sub)}) == "p0 - p1 - p2");
    CHECK(expression({param(0), param(1), param(2), op(Op::mul), op(Op::div)}) == "p0 / (p1 * p2)");
    CHECK(expression({param(0), constant(-2), op(Op::sub)}) == "p0 - -2.0");
    CHECK(expression({param(0), op(Op::negate), op(Op::negate)}) == "-(-p0)");
    CHECK(expression({param(0), op(Op::exp), op(Op::rsqrt)}) == "1.0 / std::sqrt(std::exp(p0))");
    CHECK(expression({param(0), op(Op::round_f32)}) == "double(float(p0))");
}

TEST_CASE("extents and truths are made double where integers would count otherwise", "[offline]") {
    CHECK(expression({extent(0), extent(1), op(Op::div)}) == "double(n0) / n1");
    CHECK(expression({param(0), extent(1), op(Op::div)}) == "p0 / n1");
    CHECK(expression({param(0), param(1), op(Op::less)}) == "double(p0 < p1)");
    CHECK(expression({param(0), param(1), op(Op::less), param(2), op(Op::mul)}) == "double(p0 < p1) * p2");
    CHECK(expression({param(0), param(1), op(Op::less), param(2), constant(0), op(Op::select)}) ==
          "p0 < p1 ? p2 : 0.0");
    CHECK(expression({param(0), param(1), op(Op::less), param(2), op(Op::logical_and), constant(1),
                      constant(0), op(Op::select)}) == "p0 < p1 && p2 != 0.0 ? 1.0 : 0.0");
    CHECK(expression({extent(0), op(Op::sqrt)}) == "std::sqrt(double(n0))");
    CHECK_THROWS_AS(expression({op(Op::add)}), InternalError);
    CHECK_THROWS_AS(expression({}), InternalError);
}
