#include <cmath>
#include <functional>

#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "program_maker.h"

using namespace halo;
using namespace halo::ir;

namespace {

using Cells = std::vector<double>;

double pseudo_random(std::uint64_t& state) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 33) / 2147483648.0 - 0.5;
}

Cells random_cells(std::size_t count, std::uint64_t seed) {
    Cells cells(count);
    for (double& cell : cells)
        cell = static_cast<float>(pseudo_random(seed));
    return cells;
}

}  // namespace

TEST_CASE("heat in 1D by hand: fixed faces hold their value") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state, BoundaryKind::fixed);
    make.set_face(u, 0, 0, BoundaryKind::fixed, 8);
    make.set_face(u, 0, 1, BoundaryKind::fixed, -8);
    make.assign(u, make.number(Rational(1, 2)) * (make.read(u, {-1, 0, 0}) + make.read(u, {1, 0, 0})));
    Interpreter interpreter(make.finish(), {3, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3};
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{5, 2, -3});
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{5, 1, -3});
}

TEST_CASE("heat in 3D equals a plain loop nest with the same order of operations") {
    const std::int64_t nx = 5, ny = 3, nz = 4;
    Interpreter interpreter(heat_program(3), {nx, ny, nz}, Arithmetic::declared);
    Cells u = random_cells(static_cast<std::size_t>(nx * ny * nz), 7);
    interpreter.field("u") = u;
    const float scale = static_cast<float>(1.0 * 0.16);
    for (int step = 0; step < 3; ++step) {
        interpreter.step();
        Cells next = u;
        const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
            const bool inside = i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz;
            return inside ? static_cast<float>(u[i + nx * (j + ny * k)]) : 10.0F;
        };
        for (std::int64_t k = 0; k < nz; ++k) {
            for (std::int64_t j = 0; j < ny; ++j) {
                for (std::int64_t i = 0; i < nx; ++i) {
                    const float c = at(i, j, k);
                    const float xx = at(i - 1, j, k) - 2 * c + at(i + 1, j, k);
                    const float yy = at(i, j - 1, k) - 2 * c + at(i, j + 1, k);
                    const float zz = at(i, j, k - 1) - 2 * c + at(i, j, k + 1);
                    const float laplacian = xx + yy + zz;
                    const float change = scale * laplacian;
                    next[i + nx * (j + ny * k)] = c + change;
                }
            }
        }
        u = next;
        CHECK(interpreter.field("u") == u);
    }
}

TEST_CASE("cells within reach of a free face keep their old value") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::state, BoundaryKind::free);
    const FieldId out = make.field("out", Role::output, BoundaryKind::free);
    make.reduce("total", ReduceOp::sum, make.read(u, {2, 0, 0}));
    make.assign(out, make.read(u, {-1, 0, 0}) + make.read(u, {0, 1, 0}));
    make.assign(u, make.read(u, {1, 0, 0}) * make.number(10));
    Interpreter interpreter(make.finish(), {3, 2, 1}, Arithmetic::declared);
    interpreter.field("u") = {1, 2, 3, 4, 5, 6};
    interpreter.field("out") = {-1, -2, -3, -4, -5, -6};
    interpreter.step();
    CHECK(interpreter.field("u") == Cells{20, 30, 3, 50, 60, 6});
    CHECK(interpreter.field("out") == Cells{-1, 6, 8, -4, -5, -6});
    CHECK(interpreter.reduction("total") == 9);
}

TEST_CASE("two steps back, and the levels in between") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::state);
    make.program.fields[u.index].history = 2;
    make.assign(u, make.read(u) + make.read(u, {}, -1) + make.read(u, {}, -2));
    Interpreter interpreter(make.finish(), {1, 1, 1}, Arithmetic::declared);
    Cells& now = interpreter.field("u");
    now = {3};
    interpreter.field("u", -1) = {2};
    interpreter.field("u", -2) = {1};
    interpreter.step();
    CHECK(now == Cells{6});
    interpreter.step();
    CHECK(now == Cells{11});
    CHECK(interpreter.field("u", -1) == Cells{6});
    CHECK(interpreter.field("u", -2) == Cells{3});
    CHECK_THROWS_AS(interpreter.field("u", -3), std::invalid_argument);
    CHECK_THROWS_AS(interpreter.field("v"), std::invalid_argument);
}

TEST_CASE("every mix of faces gives the value that boundary.h names, first axis first") {
    const BoundaryKind kinds[] = {BoundaryKind::fixed, BoundaryKind::clamp, BoundaryKind::mirror};
    const std::int64_t nx = 3, ny = 2;
    const Cells u = random_cells(nx * ny, 3);
    for (int mix = 0; mix < 81; ++mix) {
        ProgramMaker make(2);
        const FieldId in = make.field("in", Role::input);
        const FieldId out = make.field("out", Role::output);
        BoundaryKind face[2][2];
        int rest = mix;
        for (int axis = 0; axis < 2; ++axis) {
            for (int side = 0; side < 2; ++side) {
                face[axis][side] = kinds[rest % 3];
                rest /= 3;
                make.set_face(in, axis, side, face[axis][side], 100 + 10 * axis + side);
            }
        }
        make.assign(out, make.read(in, {-4, 3, 0}));
        Interpreter interpreter(make.finish(), {nx, ny, 1}, Arithmetic::declared);
        interpreter.field("in") = u;
        interpreter.step();
        for (std::int64_t j = 0; j < ny; ++j) {
            for (std::int64_t i = 0; i < nx; ++i) {
                const rt::ImageSource x = rt::image_source(face[0][0], face[0][1], i - 4, nx);
                const rt::ImageSource y = rt::image_source(face[1][0], face[1][1], j + 3, ny);
                const double expected = x.shows != rt::ImageMap::Shows::cell   ? 100 + x.side
                                        : y.shows != rt::ImageMap::Shows::cell ? 110 + y.side
                                                                               : u[x.cell + nx * y.cell];
                CHECK(interpreter.field("out")[i + nx * j] == expected);
            }
        }
    }
}

TEST_CASE("rows longer than a piece, and every function in its own precision") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const FieldId v = make.field("v", Role::output);
    const Term x = make.coordinate(CoordinateKind::index, 0);
    make.assign(v, make.call(Function::exp, {make.read(u, {1, 0, 0})}) +
                       make.call(Function::rsqrt, {x + make.number(1)}) *
                           make.call(Function::pow, {make.read(u), make.number(2)}));
    const Program program = make.finish();
    const std::int64_t n = 1000;
    const Cells u_cells = random_cells(n, 11);
    Interpreter narrow(program, {n, 1, 1}, Arithmetic::declared);
    Interpreter wide(program, {n, 1, 1}, Arithmetic::f64);
    narrow.field("u") = u_cells;
    wide.field("u") = u_cells;
    narrow.step();
    wide.step();
    for (std::int64_t i = 0; i < n; ++i) {
        const float here = static_cast<float>(u_cells[i]), right = static_cast<float>(u_cells[(i + 1) % n]);
        const float root = 1.0F / std::sqrt(static_cast<float>(i) + 1.0F);
        const float product = root * std::pow(here, 2.0F);
        REQUIRE(narrow.field("v")[i] == std::exp(right) + product);
        const double exact = std::exp(u_cells[(i + 1) % n]) +
                             u_cells[i] * u_cells[i] / std::sqrt(static_cast<double>(i) + 1.0);
        REQUIRE(wide.field("v")[i] == Approx(exact).epsilon(1e-14));
        REQUIRE(wide.field("v")[i] != narrow.field("v")[i]);
    }
}

TEST_CASE("numbers are rounded once, to the type they meet") {
    ProgramMaker make(1);
    const FieldId v = make.field("v", Role::output);
    const FieldId w = make.field("w", Role::output, BoundaryKind::free, Scalar::f64);
    const Term third = make.number(Rational(1, 3), Scalar::f64) * make.param("p", 1);
    make.assign(v, make.convert(third) * make.number(Rational(1, 10)));
    make.assign(w, third * make.number(Rational(1, 10), Scalar::f64));
    Interpreter interpreter(make.finish(), {1, 1, 1}, Arithmetic::declared);
    interpreter.step();
    CHECK(interpreter.field("v")[0] == static_cast<float>(1.0 / 3) * 0.1F);
    CHECK(interpreter.field("w")[0] == 1.0 / 3 * 0.1);
}

TEST_CASE("arithmetic on constants is exact") {
    ProgramMaker make(1);
    const FieldId v = make.field("v", Role::output);
    const FieldId w = make.field("w", Role::output);
    const Term tenth = make.number(Rational(1, 10));
    make.assign(v, tenth + tenth + tenth - make.number(Rational(3, 10)));
    const Term thirds = make.number(Rational(1, 3)) * make.number(3);
    make.assign(w, make.select(make.binary(BinaryOp::equal, thirds, make.number(1)), tenth, thirds));
    Interpreter interpreter(make.finish(), {1, 1, 1}, Arithmetic::declared);
    interpreter.step();
    CHECK(interpreter.field("v")[0] == 0);
    CHECK(interpreter.field("w")[0] == 0.1F);
}

TEST_CASE("reductions over levels just written; NaN is not lost") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::state);
    make.assign(u, make.read(u) * make.number(2));
    make.reduce("sum", ReduceOp::sum, make.read(u, {}, 1));
    make.reduce("low", ReduceOp::min, make.read(u, {}, 1));
    make.reduce("high", ReduceOp::max, make.read(u, {}, 1));
    make.reduce("norm", ReduceOp::sum, make.read(u, {}, 1) * make.read(u, {}, 1), true);
    Interpreter interpreter(make.finish(), {2, 2, 1}, Arithmetic::declared);
    CHECK_THROWS_AS(interpreter.reduction("sum"), std::invalid_argument);
    interpreter.field("u") = {1, -2, 3, 4};
    interpreter.step();
    CHECK(interpreter.reduction("sum") == 12);
    CHECK(interpreter.reduction("low") == -4);
    CHECK(interpreter.reduction("high") == 8);
    CHECK(interpreter.reduction("norm") == Approx(std::sqrt(120.0)).epsilon(1e-15));
    interpreter.field("u") = {1, NAN, 3, 4};
    interpreter.step();
    CHECK(std::isnan(interpreter.reduction("low")));
    CHECK(std::isnan(interpreter.reduction("high")));
}

TEST_CASE("params and weights are set between steps; a missing param is named") {
    ProgramMaker make(1);
    const FieldId v = make.field("v", Role::output);
    make.program.coefs.push_back({"w", Scalar::f32, {1}, {2}, {5, 6}, {}});
    const Term element{&make.builder(), make.builder().add({Scalar::f32, CoefElement{{0}, 1}, {}})};
    const Term p = make.param("p", 0);
    make.program.params[0].default_value.reset();
    make.assign(v, make.convert(p) * element + make.coordinate(CoordinateKind::extent, 0));
    Interpreter interpreter(make.finish(), {2, 1, 1}, Arithmetic::declared);
    CHECK_THROWS_AS(interpreter.step(), std::invalid_argument);
    interpreter.set_param("p", 3);
    interpreter.step();
    CHECK(interpreter.field("v") == Cells{20, 20});
    interpreter.set_coef("w", {0, 1});
    interpreter.step();
    CHECK(interpreter.field("v") == Cells{5, 5});
    CHECK_THROWS_AS(interpreter.set_coef("w", {1}), std::invalid_argument);
    CHECK_THROWS_AS(interpreter.set_param("q", 1), std::invalid_argument);
}

TEST_CASE("positions come from origin and spacing") {
    ProgramMaker make(2);
    const FieldId v = make.field("v", Role::output);
    make.program.axes[1].spacing = make.number(Rational(1, 10), Scalar::f64).id;
    make.program.axes[1].origin = make.number(-1, Scalar::f64).id;
    make.assign(v, make.coordinate(CoordinateKind::position, 1));
    Interpreter interpreter(make.finish(), {1, 3, 1}, Arithmetic::declared);
    interpreter.step();
    for (int j = 0; j < 3; ++j) {
        const float scaled = static_cast<float>(j) * 0.1F;
        CHECK(interpreter.field("v")[j] == scaled + -1.0F);
    }
}

TEST_CASE("conditions choose per cell; min and max take the right operand for NaN") {
    ProgramMaker make(1);
    const FieldId u = make.field("u", Role::input);
    const FieldId v = make.field("v", Role::output);
    const FieldId w = make.field("w", Role::output);
    const Term low = make.binary(BinaryOp::less, make.read(u), make.number(0));
    const Term high = make.binary(BinaryOp::greater_equal, make.read(u), make.number(2));
    const Term outside = make.binary(BinaryOp::logical_or, low, high);
    make.assign(v, make.select(outside, make.number(7), make.read(u)));
    make.assign(w, make.binary(BinaryOp::min, make.read(u), make.number(1)));
    Interpreter interpreter(make.finish(), {4, 1, 1}, Arithmetic::declared);
    interpreter.field("u") = {-1, 1, 2, NAN};
    interpreter.step();
    CHECK(interpreter.field("v")[0] == 7);
    CHECK(interpreter.field("v")[1] == 1);
    CHECK(interpreter.field("v")[2] == 7);
    CHECK(std::isnan(interpreter.field("v")[3]));
    CHECK(interpreter.field("w") == Cells{-1, 1, 1, 1});
}
