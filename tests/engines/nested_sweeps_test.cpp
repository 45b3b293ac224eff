// A sweep in a sweep: cells in the order of two loops, on the interpreter, the CPU and emulated CUDA.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/interpreter.h"
#include "swept_engines.h"

using namespace halo;
using namespace halo::test;

namespace {

using Row = std::vector<double>;

// The benchmark seidel-2d of PolyBench/C 4.2: its loops, from its published data.
std::vector<Row> published_seidel(std::size_t n, int steps) {
    std::vector<Row> a(n, Row(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            a[i][j] = (static_cast<double>(i) * static_cast<double>(j + 2) + 2) / static_cast<double>(n);
    for (int t = 0; t < steps; ++t)
        for (std::size_t i = 1; i + 1 < n; ++i)
            for (std::size_t j = 1; j + 1 < n; ++j)
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] +
                           a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) /
                          9;
    return a;
}

}  // namespace

TEST_CASE("PolyBench's seidel-2d, as its loops are written, is its published algorithm to the bit") {
    const std::string text = R"(stencil seidel(x, y) {
    field u: f64 { boundary free }
    sweep y up {
        sweep x up {
            u[t+1] = (u[t+1, x-1, y-1] + u[t+1, y-1] + u[t+1, x+1, y-1] + u[t+1, x-1] + u + u[x+1]
                + u[x-1, y+1] + u[y+1] + u[x+1, y+1]) / 9
        }
    }
})";
    constexpr std::size_t kCells = 20;
    constexpr int kSteps = 20;
    const ir::Program program = load_program(text, true);
    ir::Interpreter interpreter(program, {kCells, kCells, 1}, ir::Arithmetic::declared);
    for (std::size_t i = 0; i < kCells * kCells; ++i)
        interpreter.field("u")[i] =
            (static_cast<double>(i / kCells) * static_cast<double>(i % kCells + 2) + 2) / kCells;
    for (int step = 0; step < kSteps; ++step)
        interpreter.step();
    const std::vector<Row> expected = published_seidel(kCells, kSteps);
    for (std::size_t i = 0; i < kCells * kCells; ++i)
        CHECK(interpreter.field("u")[i] == expected[i / kCells][i % kCells]);
    CHECK(swept_difference(text, 6) == "");
}

TEST_CASE("paths through a grid are counted from each of its corners") {
    for (const std::string rows : {"up", "down"}) {
        for (const std::string columns : {"up", "down"}) {
            const std::string text = fmt::format(R"(stencil s(x, y) {{
    field u: f64
    field n: f64 {{ boundary fixed 0, y.{0} fixed 1 }}
    sweep y {1} {{
        sweep x {2} {{ n = n[x{3}1] + n[y{4}1] }}
    }}
}})",
                                                 rows == "up" ? "low" : "high", rows, columns,
                                                 columns == "up" ? "-" : "+", rows == "up" ? "-" : "+");
            INFO(text);
            // From 1 past each cell of the first row: 1 2 3, 1 3 6.
            Row expected{1, 2, 3, 1, 3, 6};
            if (columns == "down") expected = {3, 2, 1, 6, 3, 1};
            if (rows == "down") std::rotate(expected.begin(), expected.begin() + 3, expected.end());
            CHECK(after_step(text, "n", {3, 2, 1}) == expected);
            CHECK(swept_difference(text, 5) == "");
        }
    }
}

TEST_CASE("what was written before is read on both sides, new behind a cell and old ahead of it") {
    // The axes in either order, and reads that need a slant of 1 to 3.
    for (const auto& [outer, inner] : {std::pair("y", "x"), std::pair("x", "y")}) {
        const std::string text = fmt::format(R"(stencil s(x, y) {{
    field u: f64 {{ boundary clamp }}
    field v: f64 {{ boundary fixed 1/4 }}
    v[t+1] = u[x+1] + u[y-1] / 3
    u[t+1] = u
    sweep {0} up {{
        sweep {1} down {{
            v[t+1] = (v[t+1] + v[t+1, {0}-1] + v[t+1, {0}+1] + v[t+1, {1}-1] + v[t+1, {1}+1]) / 5
        }}
    }}
    sweep {0} down {{
        sweep {1} up {{
            v[t+1] = (v[t+1] + v[t+1, {0}-1, {1}+2] + v[t+1, {0}+2, {1}+3] + v[t+1, {0}+1, {1}-1]) / 4
        }}
    }}
    reduce most = max(v[t+1])
}})",
                                             outer, inner);
        INFO(text);
        CHECK(swept_difference(text, 6) == "");
    }
}

TEST_CASE("sweeps along each pair of three axes, of several statements, for some cells alone") {
    for (const char* pair : {"xy", "yx", "xz", "zx", "yz", "zy"}) {
        const std::string text = fmt::format(R"(stencil s(x, y, z) {{
    field u: f32 {{ boundary clamp }}
    field a: f16 {{ boundary fixed 1/2 }}
    field b: f64 {{ boundary fixed 1/4 }}
    field n: i32 {{ boundary fixed 3 }}
    field c: f64 {{ boundary periodic }}
    u[t+1] = u
    sweep {0} up {{
        sweep {1} down {{
            let sum = a[{0}-1, {1}-1] + b[{1}+1]
            a = sum / 3 + u[x-1, y+1]
            where idx(x) + idx(z) != 2 {{
                b = (sum - b[{0}-2]) / 4 + a
            }}
        }}
    }}
    sweep {0} down {{
        on x in 1..-1, z in -3..-1 {{
            sweep {1} up {{ n = n[{0}+1, {1}-1] / 2 + n[{1}-1] / 2 + idx(y) }}
        }}
    }}
    c = b[x+1] + b[y-1] + n[z+1] - a[x-1, y-1]
}})",
                                             pair[0], pair[1]);
        INFO(text);
        CHECK(swept_difference(text, 3) == "");
    }
}

TEST_CASE("a state keeps the cells at free faces, and a repeat goes on with what is there") {
    const std::string text = R"(stencil s(x, y) {
    field u: f64 { boundary free }
    field v: f64 { boundary x periodic, y free }
    v[t+1] = v[x-1] / 2 + v[x+1] / 2
    repeat 3 {
        sweep y down {
            sweep x down { u[t+1] = (u[t+1, x+1] + u[t+1, x-1, y+1] + v) / 3 }
        }
    }
})";
    CHECK(swept_difference(text, 6) == "");
}
