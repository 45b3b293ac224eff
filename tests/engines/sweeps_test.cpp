// Statements that go along an axis cell after cell: the interpreter, the CPU and emulated CUDA, on every
// small grid, and beside what they are the solution of.
#include <fmt/format.h>

#include <cmath>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/interpreter.h"
#include "emulator.h"
#include "swept_engines.h"

using namespace halo;
using namespace halo::test;

namespace {

using Row = std::vector<double>;

}  // namespace

// Most of the time is LLVM's: many texts run once each, on few cells.
[[maybe_unused]] const int kOptimization = halo::emulator::CudaModule::optimization = 0;

TEST_CASE("sums along a line, up and down, from a number and from what is there") {
    const std::string text = R"(stencil s(x) {
    field u: f64
    field up, down: f64 { boundary fixed 100 }
    field own: f64
    sweep x up {
        up = up[x-1] + u
    }
    sweep x down {
        down = down[x+2] + u
    }
    on x.low { own = 7 }
    sweep x up {
        own = own[x-1] + u
    }
})";
    CHECK(after_step(text, "up", {4, 1, 1}) == Row{101, 103, 106, 110});
    CHECK(after_step(text, "down", {4, 1, 1}) == Row{1 + 103, 2 + 104, 103, 104});
    CHECK(after_step(text, "own", {4, 1, 1}) == Row{7, 9, 12, 16});
    CHECK(swept_difference(text, 9) == "");
}

TEST_CASE("a state keeps the cells that a sweep leaves out") {
    const std::string text = R"(stencil s(x, y) {
    field u: f64 { boundary free }
    field v: f64 { boundary fixed 1 }
    sweep x up {
        u[t+1] = u[t+1, x-1] + 10
    }
    where idx(x) != 1 {
        sweep y down {
            v[t+1] = v[t+1, y+1] + u
        }
    }
})";
    CHECK(after_step(text, "u", {3, 2, 1}) == Row{1, 11, 21, 4, 14, 24});
    CHECK(after_step(text, "v", {3, 2, 1}) == Row{1 + 4 + 1, 0, 1 + 6 + 3, 1 + 4, 0, 1 + 6});
    CHECK(swept_difference(text, 5) == "");
}

TEST_CASE("the statements of a sweep see each other's cells before") {
    // Fibonacci's numbers, as two sequences that are made of each other.
    const std::string text = R"(stencil s(x, y) {
    field u: f64
    field a: f64 { boundary y.low fixed 0 }
    field b: f64 { boundary y.low fixed 1 }
    sweep y up {
        let sum = a[y-1] + b[y-1]
        a = b[y-1]
        b = sum
    }
})";
    CHECK(after_step(text, "a", {1, 6, 1}) == Row{1, 1, 2, 3, 5, 8});
    CHECK(after_step(text, "b", {1, 6, 1}) == Row{1, 2, 3, 5, 8, 13});
    CHECK(swept_difference(text, 6) == "");
}

TEST_CASE("a level that was written before is changed from both sides") {
    // A line of Gauss and Seidel: new values before, old ones ahead.
    const std::string text = R"(stencil s(x, y, z) {
    field u: f32 { boundary x clamp, y fixed 1/2, z periodic }
    u[t+1] = (u[x-1] + u[x+1] + u[z-1] + u[z+1]) / 4
    sweep y up {
        u[t+1] = (u[t+1] + u[t+1, y-1] + u[t+1, y+1]) / 3
    }
    sweep y down {
        u[t+1] = (u[t+1] + u[t+1, y-1] + u[t+1, y+1]) / 3
    }
    reduce mass = sum(u[t+1])
})";
    CHECK(swept_difference(text, 4) == "");
}

TEST_CASE("cells that a sweep in a repeat leaves out go on from one iteration to the next") {
    const std::string text = R"(stencil s(x) {
    field u: f64 { boundary fixed 0 }
    repeat 2 {
        repeat 3 {
            on x in 1..-2 {
                sweep x up { u[t+1] = u + 1 }
            }
            on x.low {
                sweep x up { u[t+1] = 2 * u[t+1] }
            }
        }
    }
})";
    // From 1, 2, 3, 4: the first cell is doubled six times, the last is left alone.
    CHECK(after_step(text, "u", {4, 1, 1}) == Row{64, 3, 4, 4});
    CHECK(swept_difference(text, 9) == "");
}

TEST_CASE("sweeps along every axis, for some cells alone, of narrow types") {
    for (const std::string axis : {"x", "y", "z"}) {
        for (const std::string way : {"up", "down"}) {
            const std::string before = axis + (way == "up" ? "-1" : "+1");
            const std::string text = fmt::format(R"(stencil s(x, y, z) {{
    field u: f16 {{ boundary clamp }}
    field n: i32 {{ boundary fixed 3 }}
    field a: f16 {{ boundary x fixed 1/2, y fixed 1/4, z fixed 0 }}
    field b: f64 {{ boundary x fixed 1/2, y fixed 1/4, z fixed 0 }}
    field c: f64 {{ boundary periodic }}
    u[t+1] = u
    sweep {0} {1} {{
        let scaled = a[{2}] / 3
        a = scaled + u[x-1] - u[z+1]
        where idx(x) + idx(y) != 2 {{
            b = scaled * b[{2}] + a
        }}
    }}
    on x in 1..-1, z in -3..-1 {{
        sweep {0} {1} {{
            n = n[{2}] + idx(y)
        }}
    }}
    c = b[x+1] + b[y-1] + n[z+1] - a[x-1, y-1]
}})",
                                                 axis, way, before);
            INFO(text);
            CHECK(swept_difference(text, 4) == "");
        }
    }
}

TEST_CASE("sweeps of single bytes") {
    CHECK(swept_difference(R"(stencil s(x, y) {
    field u: f32
    field m: bool { boundary fixed false }
    field n: u8 { boundary fixed 3 }
    m[t+1] = u > 0.9
    n[t+1] = n
    sweep x up { m[t+1] = m[t+1, x-1] and u < 0.5 or m[t+1] }
    sweep x down { n[t+1] = n[t+1, x+1] / 2 + n[t+1] / 2 }
})",
                           5) == "");
}

TEST_CASE("tridiagonal systems along an axis are solved to rounding") {
    const std::string text = R"(stencil s(x, y) {
    field u: f64
    field ratio, part: f64 { boundary y.low fixed 0 }
    field v: f64 { boundary y.high fixed 0 }
    # -v[y-1] + (4 + idx(y)) * v - 2 * v[y+1] = u
    sweep y up {
        let pivot = 4 + idx(y) + ratio[y-1]
        ratio = -2 / pivot
        part = (u + part[y-1]) / pivot
    }
    sweep y down {
        v = part - ratio * v[y+1]
    }
})";
    const std::int64_t n = 9;
    const Row v = after_step(text, "v", {2, n, 1});
    for (std::int64_t x = 0; x < 2; ++x) {
        for (std::int64_t y = 0; y < n; ++y) {
            const auto at = [&](std::int64_t row) {
                return row < 0 || row >= n ? 0.0 : v[static_cast<std::size_t>(x + 2 * row)];
            };
            const double left = -at(y - 1) + static_cast<double>(4 + y) * at(y) - 2 * at(y + 1);
            CHECK(left == Approx(static_cast<double>(1 + x + 2 * y)).epsilon(1e-14));
        }
    }
    CHECK(swept_difference(text, 7) == "");
}

namespace {

// The benchmark adi of PolyBench/C 4.2 by its published algorithm: u after all of its steps on n x n cells.
// u and v are indexed by row and column; p and q by the line that is solved and the place in it.
std::vector<Row> published_adi(std::size_t n, int steps) {
    const auto cells = static_cast<double>(n);
    std::vector<Row> u(n, Row(n)), v = u, p = u, q = u;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            u[i][j] = static_cast<double>(i + n - j) / cells;
    const double width = 1 / cells, duration = 1.0 / steps;
    const double mul1 = 2 * duration / (width * width), mul2 = duration / (width * width);
    const double a = -mul1 / 2, b = 1 + mul1, c = a, d = -mul2 / 2, e = 1 + mul2, f = d;
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 1; i + 1 < n; ++i) {
            v[0][i] = 1;
            p[i][0] = 0;
            q[i][0] = v[0][i];
            for (std::size_t j = 1; j + 1 < n; ++j) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1;
            for (std::size_t j = n - 2; j >= 1; --j)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        for (std::size_t i = 1; i + 1 < n; ++i) {
            u[i][0] = 1;
            p[i][0] = 0;
            q[i][0] = u[i][0];
            for (std::size_t j = 1; j + 1 < n; ++j) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1;
            for (std::size_t j = n - 2; j >= 1; --j)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
    return u;
}

}  // namespace

TEST_CASE("PolyBench's adi, as its loops are written, beside the published algorithm") {
    const std::string text = R"(stencil adi(x, y) {
    param steps_in_all = 20
    let mul1 = 2 * len(x)^2 / steps_in_all
    let mul2 = len(y)^2 / steps_in_all
    let a = -mul1 / 2
    let b = 1 + mul1
    let c = a
    let d = -mul2 / 2
    let e = 1 + mul2
    let f = d
    field u, v, p, q: f64 { boundary free }

    # Along the columns.
    on x in 1..-2, y.low {
        v = 1
        p = 0
        q = v
    }
    sweep y up {
        on x in 1..-2, y in 1..-2 {
            p = -c / (a * p[y-1] + b)
            q = (-d * u[x-1] + (1 + 2*d) * u - f * u[x+1] - a * q[y-1]) / (a * p[y-1] + b)
        }
    }
    on x in 1..-2, y.high { v = 1 }
    sweep y down {
        on x in 1..-2, y in 1..-2 { v = p * v[y+1] + q }
    }

    # Along the rows.
    on x.low, y in 1..-2 {
        u[t+1] = 1
        p = 0
        q = u[t+1]
    }
    sweep x up {
        on x in 1..-2, y in 1..-2 {
            p = -f / (d * p[x-1] + e)
            q = (-a * v[y-1] + (1 + 2*a) * v - c * v[y+1] - d * q[x-1]) / (d * p[x-1] + e)
        }
    }
    on x.high, y in 1..-2 { u[t+1] = 1 }
    sweep x down {
        on x in 1..-2, y in 1..-2 { u[t+1] = p * u[t+1, x+1] + q }
    }
})";
    constexpr std::size_t kCells = 20;
    constexpr int kSteps = 20;
    const ir::Program program = load_program(text, false);
    ir::Interpreter interpreter(program, {kCells, kCells, 1}, ir::Arithmetic::declared);
    for (std::size_t i = 0; i < kCells * kCells; ++i)
        interpreter.field("u")[i] = static_cast<double>(i / kCells + kCells - i % kCells) / kCells;
    for (int step = 0; step < kSteps; ++step)
        interpreter.step();
    const std::vector<Row> expected = published_adi(kCells, kSteps);
    for (std::size_t i = 0; i < kCells * kCells; ++i)
        CHECK(interpreter.field("u")[i] == Approx(expected[i / kCells][i % kCells]).epsilon(1e-13));
    CHECK(swept_difference(text, 4) == "");
}
