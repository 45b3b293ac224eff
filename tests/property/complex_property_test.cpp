// Complex arithmetic that sema writes out in real arithmetic, against std::complex; loops and vectors against
// the same statements written one by one.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <vector>

#include "analyzed.h"
#include "catch.h"

using namespace halo;
using namespace halo::test;

namespace {

using Complex = std::complex<double>;
constexpr int kCells = 7;

// A random expression as text, and its value in each cell.
struct Term {
    std::string text;
    std::vector<Complex> values;
};

class Maker {
public:
    Maker(std::uint64_t seed, std::vector<Complex> z, std::vector<Complex> w)
        : random_(seed), z_(std::move(z)), w_(std::move(w)) {}

    Term make(int depth) {
        if (depth == 0) return leaf();
        switch (random_.between(0, 8)) {
            case 0:
                return combine(make(depth - 1), make(depth - 1), "+",
                               [](Complex a, Complex b) { return a + b; });
            case 1:
                return combine(make(depth - 1), make(depth - 1), "-",
                               [](Complex a, Complex b) { return a - b; });
            case 2:
            case 3:
                return combine(make(depth - 1), make(depth - 1), "*",
                               [](Complex a, Complex b) { return a * b; });
            case 4:  // a divisor that is not near zero
                return combine(make(depth - 1), map(leaf(), "(3 + @)", [](Complex a) { return 3.0 + a; }),
                               "/", [](Complex a, Complex b) { return a / b; });
            case 5:
                return map(make(depth - 1), "conj(@)", [](Complex a) { return std::conj(a); });
            case 6:
                return map(leaf(), "exp(@)", [](Complex a) { return std::exp(a); });
            case 7:
                return map(leaf(), "(@)^3", [](Complex a) { return a * a * a; });
            default:
                return map(make(depth - 1), "(-@ + abs(@)^2 - 1i*re(@))",
                           [](Complex a) { return -a + std::norm(a) - Complex(0, 1) * a.real(); });
        }
    }

private:
    Term leaf() {
        const int distance = random_.between(-2, 2);
        switch (random_.between(0, 5)) {
            case 0:
                return {"(1/2 - 3/4*1i)", std::vector<Complex>(kCells, {0.5, -0.75})};
            case 1:
                return {"0.25i", std::vector<Complex>(kCells, {0, 0.25})};
            case 2:
                return {"2", std::vector<Complex>(kCells, 2)};
            case 3:
                return read("z", z_, distance);
            case 4:
                return read("w", w_, distance);
            default:
                return map(read("w", w_, distance), "@.im", [](Complex a) { return Complex(a.imag()); });
        }
    }
    static Term read(const std::string& name, const std::vector<Complex>& values, int distance) {
        Term result{fmt::format("{}[x{:+}]", name, distance), {}};
        for (int i = 0; i < kCells; ++i)
            result.values.push_back(values[static_cast<std::size_t>((i + distance + kCells) % kCells)]);
        return result;
    }
    template <class Function>
    static Term combine(const Term& a, const Term& b, const char* op, Function function) {
        Term result{fmt::format("({} {} {})", a.text, op, b.text), {}};
        for (std::size_t i = 0; i < kCells; ++i)
            result.values.push_back(function(a.values[i], b.values[i]));
        return result;
    }
    template <class Function>
    static Term map(const Term& a, const std::string& pattern, Function function) {
        Term result;
        for (char letter : pattern)
            result.text += letter == '@' ? a.text : std::string(1, letter);
        for (std::size_t i = 0; i < kCells; ++i)
            result.values.push_back(function(a.values[i]));
        return result;
    }

    Random random_;
    std::vector<Complex> z_, w_;
};

}  // namespace

TEST_CASE("complex expressions are worth what std::complex says") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const auto cells = [&](const char* name) { return initial_cells(seed, name, 0, kCells); };
        std::vector<Complex> z, w;
        for (std::size_t i = 0; i < kCells; ++i) {
            z.emplace_back(cells("z.re")[i], cells("z.im")[i]);
            w.emplace_back(cells("w.re")[i], cells("w.im")[i]);
        }
        const Term term = Maker(seed, z, w).make(1 + static_cast<int>(seed % 4));
        const std::string text = fmt::format(
            "stencil s(x) {{\nfield z, w: c128 {{ boundary periodic }}\nz[t+1] = {}\nw[t+1] = w\n}}\n",
            term.text);
        INFO(text);
        const ir::Program program = analyze_text(text);
        ir::Interpreter interpreter(program, {kCells, 1, 1}, ir::Arithmetic::declared);
        for (const char* name : {"z.re", "z.im", "w.re", "w.im"})
            interpreter.field(name) = cells(name);
        interpreter.step();
        for (std::size_t i = 0; i < kCells; ++i) {
            const Complex found(interpreter.field("z.re")[i], interpreter.field("z.im")[i]);
            const double size = 1 + std::abs(term.values[i]);
            CHECK(std::abs(found - term.values[i]) < 1e-10 * size);
        }
    }
}

TEST_CASE("loops and vectors mean what is written one by one") {
    const ir::Program looped = analyze_text(
        "stencil s(x) {\ncoef c[0..3] = [0, 1, -1, 2]\nfield f: f64[4] { boundary periodic }\n"
        "let g = [f.i[x-c[i]] for i in 0..3]\nlet m = sum(i in 0..3) (i+1) * g.i\n"
        "for i in 0..3 { f.i[t+1] = g.i + (m/10 - g.i) / (i + 2) }\n}\n");
    std::string text = "stencil s(x) {\nfield f0, f1, f2, f3: f64 { boundary periodic }\n";
    const char* reads[] = {"f0", "f1[x-1]", "f2[x+1]", "f3[x-2]"};
    text += fmt::format("let m = {} + 2*{} + 3*{} + 4*{}\n", reads[0], reads[1], reads[2], reads[3]);
    for (int i = 0; i < 4; ++i)
        text += fmt::format("f{0}[t+1] = {1} + (m/10 - {1}) / ({0} + 2)\n", i, reads[i]);
    const ir::Program plain = analyze_text(text + "}\n");
    ir::Interpreter one(looped, {9, 1, 1}, ir::Arithmetic::declared);
    ir::Interpreter other(plain, {9, 1, 1}, ir::Arithmetic::declared);
    for (int i = 0; i < 4; ++i) {
        one.field(fmt::format("f.{}", i)) = initial_cells(5, std::to_string(i), 0, 9);
        other.field(fmt::format("f{}", i)) = initial_cells(5, std::to_string(i), 0, 9);
    }
    for (int step = 0; step < 3; ++step) {
        one.step();
        other.step();
    }
    for (int i = 0; i < 4; ++i)
        CHECK(one.field(fmt::format("f.{}", i)) == other.field(fmt::format("f{}", i)));
}
