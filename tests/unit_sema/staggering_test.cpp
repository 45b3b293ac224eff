// Staggered fields: what is read where, and that every difference is exact on the polynomials that its order
// promises, computed in rationals from the program that the front end makes: not from its weights, but with
// its offsets, its spacing and its signs.
#include "analyze_text.h"
#include "compiler/ir/finite_difference.h"
#include "compiler/ir/interpreter.h"

#include <functional>

using halo::DiagnosticKind;
using halo::Rational;
namespace ir = halo::ir;

namespace {

// The value of an expression at a cell, exactly; reads are answered by `read`.
class Exact {
public:
    using Read = std::function<Rational(const ir::Access&)>;
    Exact(const ir::Program& program, Read read) : program_(program), read_(std::move(read)) {}

    Rational operator()(ir::ExprId id) const {
        const ir::Expr& expr = program_[id];
        if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) return constant->value;
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) return read_(*access);
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
            const Rational operand = (*this)(unary->operand);
            return unary->op == ir::UnaryOp::negate ? -operand : operand;
        }
        const auto& binary = std::get<ir::Binary>(expr.node);
        const Rational left = (*this)(binary.left), right = (*this)(binary.right);
        switch (binary.op) {
            case ir::BinaryOp::add:
                return left + right;
            case ir::BinaryOp::sub:
                return left - right;
            case ir::BinaryOp::mul:
                return left * right;
            default:
                REQUIRE(binary.op == ir::BinaryOp::div);
                return left / right;
        }
    }

private:
    const ir::Program& program_;
    Read read_;
};

Rational at_power(const Rational& base, int exponent) {
    Rational result(1);
    for (int i = 0; i < exponent; ++i)
        result = result * base;
    return result;
}

// d^times/dx^times of x^degree.
Rational derived(const Rational& x, int degree, int times) {
    if (times > degree) return Rational(0);
    Rational factor(1);
    for (int i = 0; i < times; ++i)
        factor = factor * Rational(std::int64_t{degree - i});
    return factor * at_power(x, degree - times);
}

const Rational kSpacing[2] = {Rational(3, 7), Rational(2, 5)};

struct Place {
    bool half[2] = {false, false};
    Rational point(int axis, std::int64_t element) const {
        return (Rational(element) + Rational(half[axis] ? 1 : 0, 2)) * kSpacing[axis];
    }
    std::string text() const {
        std::string result;
        for (int axis = 0; axis < 2; ++axis) {
            if (half[axis]) result += std::string(result.empty() ? " at " : ", ") + "xy"[axis] + "+1/2";
        }
        return result;
    }
};

// What the right-hand side `call` of u makes of x^a y^b at cell (2, 1), less what it should be.
struct Difference {
    Place from, to;
    std::string call;
    int times[2] = {0, 0};  // derived along x and y

    Analyzed analyzed() const {
        return stencil("spacing x = 3/7, y = 2/5\nfield u: f64" + from.text() + "\nfield r: f64" + to.text() +
                       "\nr = " + call);
    }
    Rational error(const Analyzed& made, int a, int b) const {
        const ir::Program& program = made.program();
        const std::int64_t cell[2] = {2, 1};
        const Exact exact(program, [&](const ir::Access& access) {
            return at_power(from.point(0, cell[0] + access.offset[0]), a) *
                   at_power(from.point(1, cell[1] + access.offset[1]), b);
        });
        const ir::ExprId value = std::get<ir::Assign>(program.statements.front()).value;
        return exact(value) -
               derived(to.point(0, cell[0]), a, times[0]) * derived(to.point(1, cell[1]), b, times[1]);
    }
};

const bool kBoth[] = {false, true};

}  // namespace

TEST_CASE("a difference is taken where its statement lies") {
    const std::string fields = "spacing x = 1/10\nfield p: f32\nfield v: f32 at x+1/2\n";
    CHECK(stencil(fields + "v[t+1] = d(p, x)").value(0) == "10 * (p[x+1] - p)");
    CHECK(stencil(fields + "p[t+1] = d(v, x)").value(0) == "10 * (v - v[x-1])");
    CHECK(stencil(fields + "p[t+1] = d(p, x)").value(0) == "5 * (p[x+1] - p[x-1])");
    CHECK(stencil(fields + "v[t+1] = d(v, x)").value(0) == "5 * (v[x+1] - v[x-1])");
    CHECK(stencil(fields + "p[t+1] = d(v, x, order=4)").value(0) ==
          "45/4 * (v - v[x-1]) + -5/12 * (v[x+1] - v[x-2])");
    CHECK(stencil(fields + "v[t+1] = v + interpolate(p, x)").value(0) == "v + 1/2 * (p + p[x+1])");
    CHECK(stencil(fields + "p[t+1] = interpolate(v, x, order=4)").value(0) ==
          "9/16 * (v[x-1] + v) + -1/16 * (v[x-2] + v[x+1])");
}

TEST_CASE("offsets are from the points of the statement") {
    const std::string fields = "field p: f32\nfield v: f32 at x+1/2\n";
    CHECK(stencil(fields + "p[t+1] = v[x+1/2] - v[x-1/2]").value(0) == "v - v[x-1]");
    CHECK(stencil(fields + "v[t+1] = p[x+1/2] - p[x-1/2]").value(0) == "p[x+1] - p");
    CHECK(stencil(fields + "v[t+1] = v[x+1, y-1] + p[x-3/2, y+2]").value(0) == "v[x+1, y-1] + p[x-1, y+2]");
    CHECK(stencil(fields + "coef c[1..2] = [9/8, -1/24]\n"
                           "p[t+1] = sum(r in 1..2) c[r] * (v[x+r-1/2] - v[x-r+1/2])")
              .value(0) == "9/8 * (v - v[x-1]) + -1/24 * (v[x+1] - v[x-2])");
    CHECK(stencil(fields + "def slope(a) = a[x+1/2] - a[x-1/2]\np[t+1] = slope(v)\nv[t+1] = slope(p)")
              .value(1) == "p[x+1] - p");
}

TEST_CASE("positions are found through products, lets, defs and further derivatives") {
    const std::string fields = "field p, k: f32\nfield v, b: f32 at x+1/2\nfield w: f32 at y+1/2\n";
    CHECK(stencil(fields + "p[t+1] = d(b * d(p, x), x)").value(0) ==
          "b * (p[x+1] - p) - b[x-1] * (p - p[x-1])");
    CHECK(stencil(fields + "p[t+1] = d(v, x) + d(w, y)").value(0) == "v - v[x-1] + (w - w[y-1])");
    // A let is where its fields are, or where all that it reads can be had.
    const Analyzed both = stencil(fields + "let div = d(v, x) + d(w, y)\np[t+1] = p + div");
    CHECK(both.value(0) == "v - v[x-1] + (w - w[y-1])");
    CHECK_FALSE(both.field("div").staggered[0]);
    const Analyzed shear = stencil(fields + "let e = d(v, y) + d(w, x)\nreduce m = max(e)");
    CHECK(shear.value(0) == "v[y+1] - v + (w[x+1] - w)");
    CHECK(shear.field("e").staggered[0]);
    CHECK(shear.field("e").staggered[1]);
    const Analyzed own = stencil(fields + "let e = d(v, x)\nv[t+1] = e");
    CHECK(own.value(0) == "1/2 * (v[x+1] - v[x-1])");
    const Analyzed said = stencil(fields + "let e at x = d(v, x)\np[t+1] = e");
    CHECK(said.value(0) == "v - v[x-1]");
    CHECK(stencil(fields + "def flux(a) = k * a\np[t+1] = flux(d(v, x))").value(0) == "k * (v - v[x-1])");
    CHECK(stencil(fields + "def twice(a, r) = a[x+r/2] - a[x-r/2]\nv[t+1] = twice(p, 1)").value(0) ==
          "p[x+1] - p");
    CHECK(stencil(fields + "w[t+1] = d(v, x, y)").value(0) == "v[y+1] - v[x-1, y+1] - (v - v[x-1])");
}

TEST_CASE("coordinates are those of the points") {
    const Analyzed made = stencil(
        "param h = 2\nspacing x = 1/10, y = h\norigin x = 3\n"
        "field p: f64\nfield v: f64 at x+1/2, y+1/2\n"
        "p[t+1] = pos(x) + idx(x)\nv[t+1] = v + pos(x) * pos(y)");
    CHECK(made.value(0) == "pos(x) + idx(x)");
    CHECK(made.value(1) == "v + (pos(x) + 1/20) * (pos(y) + 1/2 * h)");

    const Analyzed run = analyze_text(
        "stencil s(x) {\n spacing x = 1/4\n field v: f64 at x+1/2\n v[t+1] = v\n}\nrun s { grid 4; steps 1; "
        "init v = x + pos(x) }\n");
    REQUIRE(run.kinds.empty());
    const ir::Program& init = *run.analysis.runs.front().init;
    ir::Interpreter interpreter(init, {4, 1, 1}, ir::Arithmetic::declared);
    interpreter.step();
    CHECK(interpreter.field("v") == std::vector<double>{0.25, 0.75, 1.25, 1.75});
}

TEST_CASE("every difference is exact on the polynomials of its order") {
    for (const bool from : kBoth) {
        for (const bool to : kBoth) {
            for (int times = from == to ? 1 : 0; times <= 4; ++times) {
                for (int order = 2; order <= 16; order += 2) {
                    Difference test;
                    test.from.half[0] = from;
                    test.to.half[0] = to;
                    test.times[0] = times;
                    test.call = times == 0 ? "interpolate(u, x" : "d(u";
                    for (int i = 0; i < times; ++i)
                        test.call += ", x";
                    test.call += ", order=" + std::to_string(order) + ")";
                    INFO(test.call << " from " << from << " to " << to);
                    const Analyzed made = test.analyzed();
                    for (int degree = 0; degree < order + times; ++degree)
                        CHECK(test.error(made, degree, 0).is_zero());
                    CHECK_FALSE(test.error(made, order + times, 0).is_zero());  // and no wider than it needs
                }
            }
        }
    }
}

TEST_CASE("mixed derivatives are exact between all positions") {
    for (int places = 0; places < 16; ++places) {
        Difference test;
        test.from.half[0] = (places & 1) != 0;
        test.from.half[1] = (places & 2) != 0;
        test.to.half[0] = (places & 4) != 0;
        test.to.half[1] = (places & 8) != 0;
        test.times[0] = 1;
        test.times[1] = 2;
        for (int order = 2; order <= 8; order += 2) {
            test.call = "d(u, x, y, y, order=" + std::to_string(order) + ")";
            INFO(test.call << " places " << places);
            const Analyzed made = test.analyzed();
            for (int a = 0; a < order + 1; ++a) {
                for (int b = 0; b < order + 2; ++b)
                    CHECK(test.error(made, a, b).is_zero());
            }
        }
    }
}

TEST_CASE("weights that a coef gives are used as they are, at every position") {
    for (const bool from : kBoth) {
        for (const bool to : kBoth) {
            for (int order = 2; order <= 16; order += 2) {
                const bool is_staggered = from != to;
                const std::vector<ir::Tap> taps =
                    is_staggered ? ir::staggered_difference(1, order) : ir::centred_difference(1, order);
                std::string weights;
                int count = 0;
                for (const ir::Tap& tap : taps) {
                    if (tap.offset <= 0) continue;
                    weights += (weights.empty() ? "" : ", ") + tap.weight.to_string();
                    ++count;
                }
                Difference test;
                test.from.half[0] = from;
                test.to.half[0] = to;
                test.times[0] = 1;
                const std::string half = is_staggered ? "1/2" : "0";
                test.call = "sum(r in 1.." + std::to_string(count) + ") c[r] * (u[x+r-" + half +
                            "] - u[x-r+" + half + "]) / (3/7)\ncoef c[1.." + std::to_string(count) + "] = [" +
                            weights + "]";
                INFO(test.call << " from " << from << " to " << to);
                const Analyzed made = test.analyzed();
                for (int degree = 0; degree <= order; ++degree)
                    CHECK(test.error(made, degree, 0).is_zero());
            }
        }
    }
    // Not ours: zeros and nonsense are taken, too (Devito puts its own there).
    CHECK(stencil("field p: f32\nfield v: f32 at x+1/2\nparam coef c[1..2] = [0, 7]\n"
                  "p[t+1] = sum(r in 1..2) c[r] * (v[x+r-1/2] - v[x-r+1/2])")
              .value(0) == "c#0 * (v - v[x-1]) + c#1 * (v[x+1] - v[x-2])");
}

TEST_CASE("differences on one side are exact, too") {
    for (const bool from : kBoth) {
        for (const bool to : kBoth) {
            for (const char* side : {"low", "high"}) {
                for (int order = 1; order <= 5; ++order) {
                    for (int times = 1; times <= 2; ++times) {
                        Difference test;
                        test.from.half[0] = from;
                        test.to.half[0] = to;
                        test.times[0] = times;
                        test.call = std::string(times == 1 ? "d" : "d2") + "(u, x, side=" + side +
                                    ", order=" + std::to_string(order) + ")";
                        INFO(test.call << " from " << from << " to " << to);
                        const Analyzed made = test.analyzed();
                        for (int degree = 0; degree < order + times; ++degree)
                            CHECK(test.error(made, degree, 0).is_zero());
                    }
                }
            }
        }
    }
    CHECK(stencil("field u: f32\nu[t+1] = d(u, x, side=low, order=1)").value(0) == "u - u[x-1]");
}

TEST_CASE("upwind differences look to where the velocity comes from") {
    CHECK(stencil("field u, v: f32\nu[t+1] = upwind(u, x, v)").value(0) ==
          "v * (if v > 0 then u - u[x-1] else -u + u[x+1])");
    CHECK(stencil("param a = 1\nfield u: f32\nu[t+1] = upwind(u, x, a, order=3)").kinds.empty());
    CHECK(mistakes("field u: f32\nu[t+1] = upwind(u, x, u, order=4)") ==
          std::vector<DiagnosticKind>{DiagnosticKind::out_of_range});
    CHECK(mistakes("field u: f32\nu[t+1] = upwind(u, x)") ==
          std::vector<DiagnosticKind>{DiagnosticKind::wrong_argument_count});
}

TEST_CASE("the biharmonic operator is made of differences") {
    CHECK(stencil("field u: f32\nu[t+1] = biharmonic(u)", "x").value(0) ==
          "6 * u + -4 * (u[x-1] + u[x+1]) + (u[x-2] + u[x+2])");
    Difference test;
    test.call =
        "biharmonic(u, order=4) - d(u, x, x, x, x, order=4) - d(u, y, y, y, y, order=4)"
        " - d(u, x, x, y, y, order=4)";
    test.times[0] = test.times[1] = 2;
    const Analyzed made = test.analyzed();
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 6; ++b)
            CHECK(test.error(made, a, b).is_zero());
    }
}

TEST_CASE("what lies apart does not meet") {
    const std::string fields = "field p: f32\nfield v: f32 at x+1/2\nfield w: f32 at y+1/2\n";
    const auto one = [&](const std::string& line) {
        const std::vector<DiagnosticKind> kinds = mistakes(fields + line);
        REQUIRE(kinds.size() == 1);
        return kinds.front();
    };
    CHECK(one("p[t+1] = p + v") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = v") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = p + max(p, v)") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = if v > 0 then p else 0") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = d(v, y)") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = laplacian(v)") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = interpolate(p, x)") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = d(v * w, x)") == DiagnosticKind::position_mismatch);
    CHECK(one("p[t+1] = p[x+1/2]") == DiagnosticKind::no_point_here);
    CHECK(one("p[t+1] = v[x+1]") == DiagnosticKind::no_point_here);
    CHECK(one("let a = v\np[t+1] = a[x+1]") == DiagnosticKind::position_mismatch);
    CHECK(one("reduce m = sum(p^2 + v^2)") == DiagnosticKind::position_mismatch);
    CHECK(mistakes("field u: f32\nu[t+1] = u[x+1/2]") ==
          std::vector<DiagnosticKind>{DiagnosticKind::no_point_here});
    CHECK(mistakes("field u: f32\nu[t+1] = interpolate(u, x)") ==
          std::vector<DiagnosticKind>{DiagnosticKind::needless_interpolation});
    CHECK(mistakes("field u: f32 at x-1/2\nu[t+1] = u") ==
          std::vector<DiagnosticKind>{DiagnosticKind::invalid_position});
    CHECK(mistakes("field u: f32 at x+1/2, x\nu[t+1] = u") ==
          std::vector<DiagnosticKind>{DiagnosticKind::duplicate_setting});
    CHECK(mistakes("field u: f32\nu[t+1] = u[x+1/3]") ==
          std::vector<DiagnosticKind>{DiagnosticKind::invalid_offset});
}

TEST_CASE("of four axes there are sixteen places in a cell") {
    const auto of = [](const std::string& lines) {
        return analyze_text("stencil test(x, y, z, w) {\n" + lines + "\n}\n");
    };
    for (const std::string place : {"x+1/2, w+1/2", "y+1/2, w+1/2", "x+1/2, y+1/2, z+1/2, w+1/2", "w+1/2"}) {
        INFO(place);
        const std::string fields = "field p: f32\nfield u: f32 at " + place + "\n";
        const Analyzed read = of(fields + "p[t+1] = u[" + place + "]\nu[t+1] = u + p[" + place + "]");
        CHECK(read.messages == "");
        // Derived along z half a cell from p.
        const bool is_along_z = place.find('z') != std::string::npos;
        const std::string inside = is_along_z ? place : place + ", z+1/2";
        CHECK(of(fields + "p[t+1] = d(u[" + inside + "], z)\nu[t+1] = u").messages == "");
    }
    CHECK(of("field p: f32\nfield u: f32 at w+1/2\np[t+1] = d(u, w)\nu[t+1] = u + d(p, w)").messages == "");
    const std::vector<DiagnosticKind> kinds{DiagnosticKind::position_mismatch};
    CHECK(of("field p: f32\nfield u: f32 at w+1/2\np[t+1] = p + u\nu[t+1] = u").kinds == kinds);
    CHECK(of("field p: f32\nfield u: f32 at x+1/2, w+1/2\np[t+1] = d(u, x)\nu[t+1] = u").kinds == kinds);
}

TEST_CASE("a let between the cells makes the statements before it staggered, too") {
    const Analyzed spec = analyze_text(R"(
stencil s(x) {
    field u: f64 { boundary periodic }
    u[t+1] = u + d(u[x+1/2], x)
    let between at x+1/2 = interpolate(u, x)
    reduce most = max(between)
})");
    CHECK(spec.messages.empty());
    CHECK(spec.value(0) == "u + (u[x+1] - u)");
}
