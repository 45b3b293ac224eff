// What a program means where ranges are empty, cells have no value, factors are zero and integers wrap: the
// interpreter, the CPU and emulated CUDA, on every small grid.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "runtime/core/error.h"
#include "runtime/core/plan_json.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

// What differs on the CPU or on emulated CUDA, with grids of 1 to `most` cells along x and 3 along others.
std::string difference_on_small_grids(const std::string& text, int most, bool strict = false) {
    const ir::Program program = load_program(text, strict);
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(2);
    const lower::Lowered on_cpu = lower::lower_cpu(program);
    schedule::Schedule direct;
    direct.threads = {32, program.rank() > 1 ? 2 : 1, 1};
    const std::size_t stages = ir::form_stages(program).size();
    const lower::Lowered on_cuda =
        lower::lower_cuda(program, {std::vector<schedule::Schedule>(stages, direct)});
    for (std::int64_t n = 1; n <= most; ++n) {
        const Extent extent{n, program.rank() > 1 ? 3 : 1, program.rank() > 2 ? 3 : 1};
        const Reference reference(program, extent, 2, 7);
        std::string wrong = difference(reference, on_cpu, *device, load_cpp);
        if (!wrong.empty()) return fmt::format("on the CPU, {} cells: {}", n, wrong);
        emulator::EmulatedDevice emulated;
        wrong = difference(reference, on_cuda, emulated, load_cuda);
        if (!wrong.empty()) return fmt::format("on emulated CUDA, {} cells: {}", n, wrong);
    }
    return {};
}

// The interpreter's cells of a field after a step on n cells, from u = 1, 2, 3, …
std::vector<double> cells_of(const std::string& text, const std::string& field, std::int64_t n,
                             bool strict = false, double first = 1) {
    const ir::Program program = load_program(text, strict);
    ir::Interpreter interpreter(program, {n, 1, 1}, ir::Arithmetic::declared);
    for (const ir::Field& each : program.fields) {
        if (each.role != ir::Role::input) continue;
        std::vector<double>& values = interpreter.field(each.name);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = first + static_cast<double>(i);
    }
    interpreter.step();
    return interpreter.field(field);
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("a range that begins from the high end and ends from the low does nothing where it is empty") {
    const std::string text = R"(stencil s(x) {
    field u: f64 { boundary clamp }
    field v: f64
    u[t+1] = (u[x-1] + u[x+1]) / 2
    on x in -2..2 {
        u[t+1] = 7
    }
    v = u
    on x in -3..0 {
        v = 2 * u[x+1]
    }
    reduce few = sum(u[t+1]) on x in -2..2
})";
    CHECK(difference_on_small_grids(text, 9) == "");
    const rt::LaunchPlan plan = lower::lower_cpu(load_program(text)).plan;
    CHECK_NOTHROW(rt::plan_from_json(rt::plan_to_json(plan)));
}

TEST_CASE("statements for the same cells are one kernel, and are what they are one by one") {
    struct Case {
        const char* statements;
        std::size_t stages;
    };
    const Case cases[] = {
        // The sum and what it is made of, for a box; cells beside it keep what they held.
        {"on x in 1..-2 { w = u[x-1] + u[x+1] }\nreduce s = sum(w * u) on x in 1..-2", 1},
        {"on x in 1..-2 { w = u[x-1] + u[x+1]\nv = w - u }\nreduce s = max(v) on x in 1..-2", 1},
        // For a condition that is known before.
        {"where idx(x) > 1 { w = 2 * u\nv = w + u }\nreduce s = sum(v * w) where idx(x) > 1", 1},
        // Not where one reads what another writes at another cell, or for other cells.
        {"on x in 1..-2 { w = u }\non x in 1..-2 { v = w[x-1] }\nreduce s = sum(v) on x in 1..-2", 2},
        {"on x in 1..-2 { w = u }\non x in 0..-2 { v = w }\nreduce s = sum(v) on x in 1..-2", 3},
        {"where idx(x) > 1 { w = u[x-1] }\nreduce s = sum(w) where idx(x) > 1", 1},
        // Of a second statement for an output, which changes it in place; of the same cells both are one.
        {"on x in 1..-2 { w = u }\non x in 2..-2 { w = w + u }\nv = w\nreduce s = sum(w) on x in 1..-2", 3},
        {"on x in 1..-2 { w = u }\non x in 1..-2 { w = w + u }\nv = w\nreduce s = sum(w) on x in 1..-2", 2},
    };
    for (const char* boundary : {"clamp", "periodic", "free"})
        for (const Case& each : cases)
            for (const char* axes : {"x", "x, y"}) {
                const bool has_margins = std::string(boundary) == "free";
                const std::string text = fmt::format(
                    "stencil s({}) {{\nfield u: f64 {{ boundary {} }}\nfield w: f32 {{ boundary {} }}\n"
                    "field v: f64\n{}\n}}",
                    axes, boundary, boundary, each.statements);
                INFO(text);
                if (!has_margins) CHECK(ir::form_stages(load_program(text)).size() == each.stages);
                CHECK(difference_on_small_grids(text, 9) == "");
            }
}

TEST_CASE("what a choice needs is what it is, loaded before it or computed after it") {
    const std::string text = R"(stencil s(x, y) {
    param k = 3
    field u, f, b: f64 { boundary clamp }
    field w: f64 over x
    field v, m, n, q: f64

    let up = if f > 0 then u[x-1] else if idx(x) < len(x) - 2 then u[x+1] else u
    let ratio = abs(f) / (if f > 0 then b[x-1] else b[x+1])
    let a = up - u
    v = if a * f > 0 then (1 + ratio) * a / (b * b + w) else 0
    on x in 1..-2 {
        m = (if a < 0 then u[y+1] else u[y-1]) + (if a * f > 0 then sqrt(a * a + 1) / (1 + abs(b)) else ratio / (k + a * a))
    }
    on x in 1..-2 {
        n = if m > a then m * ratio else (if f < 0 then exp(-a * a) else sqrt(a * a + 1) * m)
    }
    where f > 0 {
        q = if u > b then a / (1 + u * u) else a * sqrt(a * a + 1)
    }
    u[t+1] = u + (if abs(v) < 2 then v / 8 else cbrt(v))
})";
    CHECK(difference_on_small_grids(text, 9, true) == "");
    CHECK(difference_on_small_grids(text, 9) == "");
}

TEST_CASE("means and norms are of the cells that a reduction is over, on every small grid") {
    const std::string text = R"(stencil s(x, y) {
    field u: f32 { boundary free }
    field v: f64 { boundary clamp }
    u[t+1] = u
    v[t+1] = v
    reduce all = mean(u)
    reduce inner = mean(u[x-1] + u[x+2] + v[y-1])
    reduce some = mean(v) on x in 2..-2
    reduce high = mean(u) on x in -4..-1, y.low
    reduce one = norm1(v - 1/2)
    reduce two = norm1(u[x+1] - u) on x in 0..2
})";
    CHECK(difference_on_small_grids(text, 8) == "");
    const ir::Program program = load_program(text);
    ir::Interpreter interpreter(program, {8, 2, 1}, ir::Arithmetic::declared);
    for (const char* name : {"u", "v"}) {
        std::vector<double>& values = interpreter.field(name);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<double>(i % 8);
    }
    interpreter.step();
    CHECK(interpreter.reduction("all") == Approx(3.5));
    CHECK(interpreter.reduction("inner") == Approx(10));  // (x-1) + (x+2) + x for x in 1..5
    CHECK(interpreter.reduction("some") == Approx(4));
    CHECK(interpreter.reduction("high") == Approx(5.5));
    CHECK(interpreter.reduction("one") == Approx(2 * (0.5 + 0.5 + 1.5 + 2.5 + 3.5 + 4.5 + 5.5 + 6.5)));
}

TEST_CASE("a value is rounded to f32 and f64 where it says so, by every engine") {
    const std::string text = R"(stencil s(x) {
    param k = 0.1
    field u: f64
    field w: f32
    field a, b, c: f64
    a = f32(u / 3) * f32(0.1)
    b = f64(w) * 0.1 + f32(k)
    c = if f32(u / 3) == u / 3 then 1 else 0
})";
    CHECK(difference_on_small_grids(text, 5, true) == "");
    const auto third = [](double value) { return static_cast<double>(static_cast<float>(value / 3)); };
    const Values a = cells_of(text, "a", 4, true), b = cells_of(text, "b", 4, true);
    for (std::size_t i = 0; i < 4; ++i) {
        const double u = 1 + static_cast<double>(i);
        CHECK(a[i] == static_cast<double>(static_cast<float>(third(u)) * 0.1F));
        CHECK(b[i] == u * 0.1 + static_cast<double>(0.1F));
    }
    CHECK(cells_of(text, "c", 4, true) == Values{0, 0, 1, 0});
}

TEST_CASE("an output that has no value in a cell keeps what it held: 0 at first") {
    const std::string text = "stencil s(x) {\n    field u, out: f64\n    out = u[x-1]\n}\n";
    CHECK(cells_of(text, "out", 4) == Values{0, 1, 2, 3});
    CHECK(difference_on_small_grids(text, 5) == "");
}

TEST_CASE("a grid that boundaries cannot be computed on is refused alike by interpreter and engines") {
    const ir::Program program = load_program(
        "stencil s(x, y) {\n    field v: (x: f64, y: f64) { boundary mirror, v.y y antimirror }\n"
        "    v[t+1] = v + laplacian(v)\n}\n");
    const std::unique_ptr<rt::Device> device = rt::make_cpu_device(1);
    const lower::Lowered lowered = lower::lower_cpu(program);
    const auto refusal = [](auto&& run) -> std::string {
        try {
            run();
        } catch (const rt::Error& error) {
            CHECK(error.code() == rt::ErrorCode::bad_argument);
            return error.what();
        }
        return "";
    };
    for (const Extent& extent :
         {Extent{3, 1, 1}, Extent{1, 2, 1}, Extent{0, 2, 1}, Extent{1, 3000000000, 1}}) {
        const std::string by_interpreter =
            refusal([&] { ir::Interpreter(program, extent, ir::Arithmetic::declared); });
        const std::string by_engine =
            refusal([&] { rt::Session(lowered.plan, extent, *device, load_cpp(lowered, *device)); });
        CHECK(by_interpreter == by_engine);
        CHECK(by_interpreter.empty() == (extent == Extent{1, 2, 1}));
    }
}

TEST_CASE("which cells have a value is decided by what is written, before anything is folded") {
    for (const bool strict : {false, true}) {
        for (const char* value :
             {"0*f[x-1] + 1", "f[x-1] - f[x-1] + 1", "f[x-1]*0 + 1", "f[x-1]^0",
              "sum(i in 0..1) i*f[x-1+i] + 1", "1 + sum(i in 0..0) i*f[x-1]", "dot([0, 1], [f[x-1], 1])"}) {
            INFO(value << (strict ? ", strict" : ""));
            const std::string text =
                fmt::format("stencil s(x) {{\n    field f: f64\n    field w: f64\n    w = {}\n}}\n", value);
            CHECK(cells_of(text, "w", 4, strict).front() == 0);
            CHECK(cells_of(text, "w", 4, strict).back() != 0);
            CHECK(difference_on_small_grids(text, 4, strict) == "");
        }
    }
}

TEST_CASE("--strict-fp multiplies by zero and adds it, as it is written") {
    const std::string text =
        "stencil s(x) {\n    field f: f64\n    field a, b, c: f64\n    a = 0*f\n    b = 0 + f*0\n    c = "
        "f^0\n}\n";
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(std::isnan(cells_of(text, "a", 1, true, infinite).front()));
    CHECK(std::signbit(cells_of(text, "a", 1, true, -2).front()));
    CHECK_FALSE(std::signbit(cells_of(text, "b", 1, true, -2).front()));
    CHECK(cells_of(text, "c", 1, true, infinite) == Values{1});
    CHECK(cells_of(text, "a", 1, false, infinite) == Values{0});
}

TEST_CASE("integer params wrap around beside integers, and are exact") {
    const std::string text = R"(stencil s(x) {
    param n: i32 = 2147483647, m: i32 = -2147483648, zero: i32 = 0, w: i64 = 4503599627370497
    field a, b, c, d, e: i32
    field k, l: i64
    field u, v: u8
    a = n + 1
    b = n * n + idx(x)
    c = abs(m) - div(m, -1)
    d = if n + n < a then div(n, zero) + 5 else 1
    e = mod(m, zero) - m
    k = w * 3 - 1
    l = n * n + mod(w, 1000)
    u = n - n + 300
    v = u + n
})";
    CHECK(cells_of(text, "a", 1) == Values{-2147483648.0});
    CHECK(cells_of(text, "b", 2) == Values{1, 2});
    CHECK(cells_of(text, "c", 1) == Values{0});
    CHECK(cells_of(text, "e", 1) == Values{-2147483648.0});
    CHECK(std::bit_cast<std::int64_t>(cells_of(text, "k", 1)[0]) == 13510798882111490);
    CHECK(std::bit_cast<std::int64_t>(cells_of(text, "l", 1)[0]) == 4611686014132420609 + 497);
    CHECK(difference_on_small_grids(text, 2) == "");
}

TEST_CASE("what lies past a face of an input in each step is shown past its other axes, too") {
    CHECK(difference_on_small_grids(R"(stencil s(x, y) {
    field u: f64 { boundary x.low fixed 1 + step, x.high clamp, y periodic }
    field v: f64 { boundary y fixed step, x mirror }
    field w: f64
    w = u[x-1, y+1] + v[x+1, y-1]
})",
                                    4) == "");
}

TEST_CASE("a series is the same on all engines: in statements, past faces, in conditions and regions") {
    CHECK(difference_on_small_grids(R"(stencil s(x, y) {
    param dt = 1/4, hour = 3
    series wind, tide
    field u: f32 { boundary x.low fixed tide[step], x.high fixed wind[step/2], y periodic }
    field v: f64 { boundary clamp }
    reduce most = max(u) start 1
    u[t+1] = (u[x-1] + u[x+1, y+1]) / 4 + wind[time/hour] * v[y-1] + tide[most]
    where wind[step] > 0 { u[t+1] = u[t+1] / 2 }
    on x.low { v[t+1] = tide[step+1] - v }
    reduce sum_of_v = sum(v[t+1] * wind[0])
})",
                                    5) == "");
}
