// `solve`: beside a dense solution of the same equations, by each method and past every kind of face, and
// alike on all engines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <stdexcept>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/interpreter.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

// Gaussian elimination with rows exchanged.
std::vector<double> dense_solution(std::vector<std::vector<double>> matrix, std::vector<double> right) {
    const std::size_t n = right.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(matrix[i][k]) > std::abs(matrix[best][k])) best = i;
        std::swap(matrix[k], matrix[best]);
        std::swap(right[k], right[best]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = matrix[i][k] / matrix[k][k];
            for (std::size_t j = k; j < n; ++j)
                matrix[i][j] -= factor * matrix[k][j];
            right[i] -= factor * right[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j)
            right[k] -= matrix[k][j] * right[j];
        right[k] /= matrix[k][k];
    }
    return right;
}

// An equation `left = f`, where U is the unknown.
struct Case {
    std::string axes, boundary, left, method;

    std::string head() const {
        return fmt::format(
            "stencil s({}) {{\n    param h = 0.5, a = 0.7\n    spacing x = h\n    field k: f64 {{ boundary "
            "periodic }}\n    field f: f64\n    field u: f64 {{ boundary {} }}\n",
            axes, boundary);
    }
    std::string applied() const {
        return head() + "    field q: f64\n    q = " + replaced(left, "U", "u") + " - 0 * f\n}";
    }
    std::string solved() const {
        return head() +
               fmt::format("    solve u[t+1]: {} = f using {}\n}}", replaced(left, "U", "u[t+1]"), method);
    }
};

std::vector<double> some_values(std::size_t count, double scale, int seed) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = scale * std::sin(static_cast<double>((7 * i + 3) * static_cast<std::size_t>(seed)));
    return values;
}

// What lies between the solution and the dense one, relative to its largest value; nullopt: not on such a
// grid.
std::optional<double> error_of(const Case& one, const Extent& extent) {
    const ir::Program applied = load_program(one.applied(), false),
                      solved = load_program(one.solved(), false);
    const auto cells = static_cast<std::size_t>(extent[0] * extent[1] * extent[2]);
    const std::vector<double> k = some_values(cells, 0.9, 2), f = some_values(cells, 1, 3);
    std::vector<std::vector<double>> matrix(cells, std::vector<double>(cells));
    std::vector<double> right = f;
    try {
        ir::Interpreter apply(applied, extent, ir::Arithmetic::declared);
        apply.field("k") = k;
        const auto image = [&](const std::vector<double>& u) {
            apply.field("u") = u;
            apply.step();
            return apply.field("q");
        };
        std::vector<double> unit(cells);
        const std::vector<double> none = image(unit);
        for (std::size_t j = 0; j < cells; ++j) {
            unit[j] = 1;
            const std::vector<double> column = image(unit);
            for (std::size_t i = 0; i < cells; ++i)
                matrix[i][j] = column[i] - none[i];
            unit[j] = 0;
        }
        for (std::size_t i = 0; i < cells; ++i)
            right[i] -= none[i];
    } catch (const std::exception&) {
        CHECK_THROWS_AS(ir::Interpreter(solved, extent, ir::Arithmetic::declared), std::exception);
        return std::nullopt;
    }
    const std::vector<double> expected = dense_solution(matrix, right);
    ir::Interpreter solver(solved, extent, ir::Arithmetic::declared);
    solver.field("k") = k;
    solver.field("f") = f;
    solver.field("u") = some_values(cells, 3, 5);
    solver.step();
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < cells; ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        const double difference = std::abs(solver.field("u")[i] - expected[i]);
        error = std::isnan(difference) ? difference : std::max(error, difference);
        if (std::isnan(error)) break;
    }
    return error / largest;
}

void check_case(const Case& one, const std::vector<Extent>& grids, double bound) {
    int solved = 0;
    for (const Extent& extent : grids) {
        const std::optional<double> error = error_of(one, extent);
        solved += error ? 1 : 0;
        if (!error || *error < bound) continue;
        FAIL_CHECK(fmt::format("{} on {}x{}x{} cells: {}\n{}", one.boundary, extent[0], extent[1], extent[2],
                               *error, one.solved()));
    }
    CHECK(solved > 0);
}

const std::vector<Extent> kLines{{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {4, 1, 1}, {5, 1, 1}, {7, 1, 1}};
const std::vector<Extent> kPlanes{{1, 1, 1}, {1, 3, 1}, {4, 1, 1}, {2, 2, 1}, {3, 5, 1}, {7, 6, 1}};

// Variable coefficients: what flows between two cells is the same seen from both.
constexpr const char* kFlow = "U - a * ((2 + k + k[x+1]) * (U[x+1] - U) - (2 + k + k[x-1]) * (U - U[x-1]))";

}  // namespace

TEST_CASE("tridiagonal: beside a dense solution, past every kind of face") {
    const std::string left = "3 * U - a * (1 + k) * (U[x+1] - U) + a * (2 - k) * (U - U[x-1])";
    for (const char* boundary :
         {"fixed 0", "fixed 2", "fixed 1 + pos(x)^2", "clamp", "mirror", "symmetric", "antisymmetric",
          "antimirror", "extrapolate 0", "extrapolate 1", "gradient 0", "gradient 2 + pos(x)",
          "robin 2, 1.5, 0.3", "x.low robin 1 + pos(x), 2, a, x.high clamp",
          "x.low fixed a, x.high gradient -1", "x.low mirror, x.high antimirror"})
        check_case({"x", boundary, left, "tridiagonal along x"}, kLines, 1e-12);
    const std::string across = "(2 + abs(k[y+1])) * U - a * (U[y+1] + U[y-1]) / 2";
    for (const char* boundary : {"x periodic, y gradient pos(x)", "x free, y fixed 1"})
        check_case({"x, y", boundary, across, "tridiagonal along y"}, kPlanes, 1e-12);
}

TEST_CASE("cg: beside a dense solution, past faces that keep it symmetric") {
    for (const char* boundary : {"fixed 0", "fixed 2", "fixed 1 + pos(x)^2", "clamp", "periodic", "symmetric",
                                 "antisymmetric", "extrapolate 0", "x.low fixed a, x.high antisymmetric"})
        check_case({"x", boundary, kFlow, "cg tol 1e-13, at most 60"}, kLines, 1e-9);
    const std::string plane = "U - a * laplacian(U, order=4)";
    for (const char* boundary :
         {"fixed 0", "periodic", "symmetric", "x antisymmetric, y periodic", "x periodic, y fixed pos(x)"})
        check_case({"x, y", boundary, plane, "cg tol 1e-13, at most 120"}, kPlanes, 1e-9);
    // Negative definite, and with a factor in front of each cell's equation.
    check_case({"x, y", "fixed 1", "a * laplacian(U)", "cg tol 1e-13, at most 120"}, kPlanes, 1e-9);
}

TEST_CASE("multigrid: beside a dense solution, past faces that keep it symmetric") {
    const std::vector<Extent> lines{{2, 1, 1}, {4, 1, 1}, {5, 1, 1}, {7, 1, 1}, {18, 1, 1}};
    for (const char* boundary : {"fixed 0", "fixed 2", "fixed 1 + pos(x)^2", "clamp", "symmetric",
                                 "antisymmetric", "x.low fixed a, x.high antisymmetric"})
        check_case({"x", boundary, kFlow, "multigrid over 2 tol 1e-13, at most 60"}, lines, 1e-9);
    const std::vector<Extent> halves{{2, 1, 1}, {4, 1, 1}, {12, 1, 1}};
    check_case({"x", "periodic", kFlow, "multigrid over 2 tol 1e-13, at most 60"}, halves, 1e-9);

    const std::string plane = "U - a * laplacian(U, order=4)";
    const std::vector<Extent> planes{{4, 4, 1}, {7, 6, 1}, {5, 8, 1}};
    for (const char* boundary : {"fixed 0", "symmetric", "antisymmetric", "x fixed pos(y), y symmetric"})
        check_case({"x, y", boundary, plane, "multigrid over 3 tol 1e-13, at most 120"}, planes, 1e-9);
    const std::vector<Extent> fours{{4, 4, 1}, {8, 4, 1}, {4, 12, 1}};
    for (const char* boundary : {"periodic", "x antisymmetric, y periodic"})
        check_case({"x, y", boundary, plane, "multigrid over 3 tol 1e-13, at most 120"}, fours, 1e-9);
    // Negative definite; with neighbours along one axis alone, and a face that nothing is read past; with
    // neighbours at corners.
    const std::string cornered =
        "20 * U - 4 * (U[x-1] + U[x+1] + U[y-1] + U[y+1]) - U[x-1, y-1] - U[x+1, y+1]"
        " - U[x-1, y+1] - U[x+1, y-1]";
    for (const auto& [boundary, left] : std::vector<std::pair<std::string, std::string>>{
             {"fixed 1", "a * laplacian(U)"}, {"x fixed 1", "U - d2(U, x)"}, {"antisymmetric", cornered}})
        check_case({"x, y", boundary, left, "multigrid over 2 tol 1e-13, at most 120"}, planes, 1e-9);
    check_case({"x, y, z", "x fixed 1, y symmetric, z antisymmetric", "(2 + abs(k)) * U - laplacian(U)",
                "multigrid over 2 tol 1e-13, at most 120"},
               {{4, 3, 5}, {2, 6, 4}}, 1e-9);
}

TEST_CASE("multigrid takes as many iterations on fine grids as on coarse ones") {
    const auto iterations = [](int cells, int grids, const std::string& left, const std::string& boundary) {
        const ir::Program program = load_program(
            fmt::format(
                "stencil s(x, y) {{\n    param h\n    spacing x = h, y = h\n    field k: f64 {{ "
                "boundary clamp }}\n    field f: f64\n    field u: f64 {{ boundary {} }}\n    def "
                "flow(v, a) = (k + k[a+1]) / 2 * (v[a+1] - v) - (k + k[a-1]) / 2 * (v - v[a-1])\n    "
                "def flows(v) = sum(a in axes) flow(v, a)\n    solve u[t+1]: {} = f using multigrid over "
                "{} tol 1e-8, at most 60\n}}",
                boundary, left, grids),
            false);
        ir::Interpreter interpreter(program, {cells, cells, 1}, ir::Arithmetic::declared);
        interpreter.set_param("h", 1.0 / cells);
        std::mt19937 random(5);
        std::uniform_real_distribution<double> between(-1, 1);
        for (double& value : interpreter.field("f"))
            value = between(random);
        for (int i = 0; i < cells * cells; ++i)
            interpreter.field("k")[static_cast<std::size_t>(i)] =
                1 + 0.9 * std::sin(7.0 * (i % cells) / cells) * std::cos(9.0 * (i / cells) / cells);
        interpreter.step();
        CHECK(interpreter.iterations(0).unfinished == 0);
        return interpreter.iterations(0).total;
    };
    const std::string varying = "-flows(u[t+1]) / h^2", plain = "u[t+1] / 100 - laplacian(u[t+1])";
    for (const auto& [left, boundary] :
         std::vector<std::pair<std::string, std::string>>{{varying, "antisymmetric"},
                                                          {varying, "fixed 0"},
                                                          {plain, "periodic"},
                                                          {plain, "symmetric"},
                                                          {plain, "clamp"},
                                                          {plain, "extrapolate 0"}}) {
        INFO(left << ", " << boundary);
        CHECK(iterations(32, 4, left, boundary) <= 12);
        CHECK(iterations(128, 6, left, boundary) <= 12);
    }
    CHECK(iterations(97, 5, plain, "symmetric") <= 20);  // cells are left over on each grid
}

TEST_CASE("bicgstab: beside a dense solution, past every kind of face") {
    const std::string left = "4 * U - a * laplacian(U) / 4 + (1 + k) * d(U, x)";
    for (const char* boundary :
         {"fixed 0", "fixed 1 + pos(x)^2", "clamp", "mirror", "periodic", "symmetric", "antisymmetric",
          "antimirror", "extrapolate 1", "gradient 2 + pos(x)", "robin 2, 1.5, 0.3"})
        check_case({"x", boundary, left, "bicgstab tol 1e-13, at most 200"}, kLines, 1e-8);
    for (const char* boundary : {"x fixed 1, y mirror", "x periodic, y gradient pos(x)"})
        check_case({"x, y", boundary, left, "bicgstab tol 1e-13, at most 300"}, kPlanes, 1e-8);
}

namespace {

// What differs on the CPU or on emulated CUDA, whose halos hold no numbers before they are written.
std::string solve_difference(const std::string& text) {
    const ir::Program program = load_program(text, false);
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const lower::Lowered on_cpu = lower::lower_cpu(program);
    std::vector<lower::Lowered> on_cuda;
    Random random(3);
    for (const schedule::Strategy& strategy :
         {schedule::Strategy(schedule::Direct{}), schedule::Strategy(schedule::Tile{})})
        if (const auto schedules = random_schedules(program, strategy, random); !schedules.empty())
            on_cuda.push_back(lower::lower_cuda(program, {schedules}));
    REQUIRE(!on_cuda.empty());
    constexpr double kTolerance = 1e-8;  // sums in another order, and so perhaps an iteration more
    for (Extent extent : std::vector<Extent>{{2, 2, 2}, {5, 4, 3}, {33, 3, 2}, {3, 35, 2}}) {
        for (int axis = program.rank(); axis < ir::kMaxRank; ++axis)
            extent[static_cast<std::size_t>(axis)] = 1;
        const Reference reference(program, extent, 3, 7);
        std::string wrong = difference(reference, on_cpu, *device, load_cpp, kTolerance);
        for (const lower::Lowered& lowered : on_cuda) {
            emulator::EmulatedDevice emulated;
            if (wrong.empty()) wrong = difference(reference, lowered, emulated, load_cuda, kTolerance);
        }
        if (!wrong.empty()) return fmt::format("{}x{}x{} cells: {}", extent[0], extent[1], extent[2], wrong);
    }
    return {};
}

}  // namespace

TEST_CASE("equations are solved alike by all engines") {
    const std::string head = R"(stencil s(x, y) {
    param a = 0.7
    field k: f64 { boundary periodic }
    field f: f64 { boundary clamp }
    field w: f64 { boundary x periodic, y fixed 2 }
    field u: f64 { boundary x fixed 1, y symmetric }
    field v: f64 { boundary x gradient 0.5, y mirror }
    def flow(v, axis) = (3 + k + k[axis+1]) * (v[axis+1] - v) - (3 + k + k[axis-1]) * (v - v[axis-1])
    def flows(v) = sum(b in axes) flow(v, b)
)";
    // One after the other, of one unknown twice, beside reductions and statements of the user's.
    CHECK(solve_difference(head + R"(
    reduce before = sum(u)
    solve u[t+1]: u[t+1] - a * flows(u[t+1]) = u + a * laplacian(f) using cg tol 1e-11, at most 300
    reduce after = sum(u[t+1]) start 1
    w = before + after
    solve w: laplacian(w) - 3 * w = u[t+1] using cg tol 1e-11, at most 200
    let half { boundary clamp } = w + f
    solve u[t+1]: u[t+1] - a * flow(u[t+1], y) = half[x+1] using tridiagonal along y
    reduce end = sum(u[t+1])
    v[t+1] = v + end / 100 * f
    solve v[t+1]: v[t+1] - a * laplacian(v[t+1]) + d(v[t+1], x) = v + end using bicgstab tol 1e-11, at most 300
})") == "");
    CHECK(solve_difference(replaced(head, "boundary periodic", "boundary clamp") + R"(
    w = u
    solve u[t+1]: u[t+1] - a * flows(u[t+1]) = u + f using multigrid over 2 tol 1e-11, at most 60
    solve v[t+1]: laplacian(v[t+1]) - v[t+1] = u[t+1] + w using bicgstab tol 1e-11, at most 300
})") == "");
    CHECK(solve_difference(R"(stencil s(x, y, z) {
    field f: f32
    field u: f64 { boundary x periodic, y periodic, z antisymmetric }
    field p: f64 { boundary x clamp, y antisymmetric, z fixed f64(1/2) }
    solve p[t+1]: 2 * p[t+1] - laplacian(p[t+1]) = f + p using cg tol 1e-11, at most 200
    solve u[t+1]: 4 * u[t+1] - d2(u[t+1], z) = p[t+1] using tridiagonal along z
})") == "");
}

TEST_CASE("an equation of nothing gives nothing, and one without a solution is told and stays finite") {
    const std::string text = R"(stencil s(x, y) {
    field f: f64
    field p: f64 { boundary clamp }
    solve p[t+1]: laplacian(p[t+1]) = f using METHOD tol 1e-10, at most 90
})";
    const Extent extent{9, 7, 1};
    const std::vector<double> start(63, 5.0);
    for (const char* method : {"cg", "bicgstab", "multigrid over 2"}) {
        const ir::Program program = load_program(replaced(text, "METHOD", method), false);
        ir::Interpreter interpreter(program, extent, ir::Arithmetic::declared);
        interpreter.field("p") = start;
        interpreter.step();
        CHECK(interpreter.field("p") == std::vector<double>(63, 0.0));
        CHECK(interpreter.iterations(0).total == 1);
        CHECK(interpreter.iterations(0).unfinished == 0);
    }
    // The sum of f is 0: so there are solutions, and the mean stays.
    const ir::Program program = load_program(replaced(text, "METHOD", "cg"), false);
    ir::Interpreter solved(program, extent, ir::Arithmetic::declared);
    solved.field("p") = start;
    solved.field("f")[3] = 1;
    solved.field("f")[40] = -1;
    solved.step();
    CHECK(solved.iterations(0).unfinished == 0);
    double mean = 0;
    for (const double value : solved.field("p"))
        mean += value / 63;
    CHECK(mean == Approx(5).epsilon(1e-12));
    // It is not: there is none.
    for (const char* method : {"cg", "multigrid over 2"}) {
        INFO(method);
        ir::Interpreter unsolved(load_program(replaced(text, "METHOD", method), false), extent,
                                 ir::Arithmetic::declared);
        unsolved.field("p") = start;
        unsolved.field("f")[3] = 1;
        unsolved.step();
        CHECK(unsolved.iterations(0).total == 90);
        CHECK(unsolved.iterations(0).unfinished == 1);
        for (const double value : unsolved.field("p"))
            CHECK(std::abs(value) < 1e14);
    }
}

TEST_CASE("a manufactured solution is found to second order, and to fourth") {
    // -u'' + u = f of u = exp(sin 2 pi x).
    const auto error_of = [](int cells, int order) {
        const ir::Program program =
            load_program(fmt::format("stencil s(x) {{\n    param h\n    spacing x = h\n    field f: f64\n    "
                                     "field u: f64 {{ boundary "
                                     "periodic }}\n    solve u[t+1]: u[t+1] - d2(u[t+1], x, order={}) = f "
                                     "using cg tol 1e-12, at most "
                                     "400\n}}",
                                     order),
                         false);
        constexpr double kTurn = 6.283185307179586;
        ir::Interpreter interpreter(program, {cells, 1, 1}, ir::Arithmetic::declared);
        interpreter.set_param("h", 1.0 / cells);
        std::vector<double> exact;
        for (int i = 0; i < cells; ++i) {
            const double sine = std::sin(kTurn * i / cells), cosine = std::cos(kTurn * i / cells);
            exact.push_back(std::exp(sine));
            interpreter.field("f")[static_cast<std::size_t>(i)] =
                exact.back() * (1 - kTurn * kTurn * (cosine * cosine - sine));
        }
        interpreter.step();
        double error = 0;
        for (std::size_t i = 0; i < exact.size(); ++i)
            error = std::max(error, std::abs(interpreter.field("u")[i] - exact[i]));
        return error;
    };
    CHECK(error_of(32, 2) / error_of(64, 2) == Approx(4).epsilon(0.05));
    CHECK(error_of(32, 4) / error_of(64, 4) == Approx(16).epsilon(0.1));
}

TEST_CASE("an equation whose factors depend on its unknown is solved by a `solve` in a `repeat`") {
    const std::string text = R"(stencil s(x, y) {
    param a = 0.7
    field u: f64 { boundary fixed 0.25 }
    field w: f64 { boundary x periodic, y fixed 0.5 }
    def flow(c, v, b) = (c + c[b+1]) * (v[b+1] - v) - (c + c[b-1]) * (v - v[b-1])
    repeat k until change < 1e-10, at most 40 {
        let before = u[t+1]
        let c { boundary clamp } = 1 + before^2 / 4
        solve u[t+1]: u[t+1] - a * (flow(c, u[t+1], x) + flow(c, u[t+1], y)) = u using cg tol 1e-12, at most 300
        w[k+1] = (w[k, x+1] + u[t+1]) / 2
        reduce change = max(abs(u[t+1] - before))
    }
})";
    CHECK(solve_difference(text) == "");
    // What comes out is a solution of the equation.
    const ir::Program program = load_program(text, false);
    constexpr int kCells = 7;
    ir::Interpreter interpreter(program, {kCells, kCells, 1}, ir::Arithmetic::declared);
    std::vector<double> before(kCells * kCells);
    for (std::size_t i = 0; i < before.size(); ++i)
        before[i] = static_cast<double>(i % 5) / 4;
    interpreter.field("u") = before;
    interpreter.step();
    CHECK(interpreter.iterations(0).unfinished == 0);
    const std::vector<double>& u = interpreter.field("u");
    const auto cell = [](int x, int y) { return static_cast<std::size_t>(x + kCells * y); };
    const auto is_inside = [](int x, int y) { return x >= 0 && y >= 0 && x < kCells && y < kCells; };
    const auto factor = [&](int x, int y) {
        const double v = u[cell(std::clamp(x, 0, kCells - 1), std::clamp(y, 0, kCells - 1))];
        return 1 + v * v / 4;
    };
    for (int y = 0; y < kCells; ++y)
        for (int x = 0; x < kCells; ++x) {
            double left = u[cell(x, y)];
            for (const auto& [i, j] :
                 {std::pair{1, 0}, std::pair{-1, 0}, std::pair{0, 1}, std::pair{0, -1}}) {
                const double other = is_inside(x + i, y + j) ? u[cell(x + i, y + j)] : 0.25;
                left -= 0.7 * (factor(x, y) + factor(x + i, y + j)) * (other - u[cell(x, y)]);
            }
            CHECK(left == Approx(before[cell(x, y)]).margin(1e-8));
        }
}
