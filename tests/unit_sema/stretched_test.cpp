// Axes whose cells are not equally far apart: what derivatives become, their order, and what is refused.
#include <functional>

#include "analyze_text.h"
#include "compiler/ir/interpreter.h"

using halo::DiagnosticKind;
using halo::ir::AxisPoints;

namespace {

// The interpreter with the tables of the program's one stretched axis, x.
class OnStretchedAxis {
public:
    OnStretchedAxis(const std::string& body, std::vector<double> distances, double origin = 0)
        : made_(stencil(body, "x")),
          points_(distances, made_.program().stretched.at(0).is_periodic, origin),
          run_(made_.program(), {points_.cells(), 1, 1}, halo::ir::Arithmetic::f64) {
        for (const auto& table : made_.program().stretched.at(0).tables)
            run_.field(table.field) = points_.values(table.holds);
    }
    void set(const std::string& field, const std::function<double(double)>& value, bool at_half = false) {
        for (std::int64_t i = 0; i < points_.cells(); ++i)
            run_.field(field)[static_cast<std::size_t>(i)] = value(points_.position(i, at_half));
    }
    // The largest error from the cell `first` on, and as far from the last.
    double error(const std::string& field, const std::function<double(double)>& expected, int first = 0,
                 bool at_half = false) {
        run_.step();
        double largest = 0;
        for (std::int64_t i = first; i < points_.cells() - first; ++i)
            largest = std::max(largest, std::abs(run_.field(field)[static_cast<std::size_t>(i)] -
                                                 expected(points_.position(i, at_half))));
        return largest;
    }

private:
    Analyzed made_;
    AxisPoints points_;
    halo::ir::Interpreter run_;
};

constexpr double kTurn = 2 * 3.14159265358979323846;

// Of a period 1: smooth, or rough, where neighbours differ by up to a half.
std::vector<double> distances(std::size_t n, bool smooth) {
    std::vector<double> result;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double rough = 1 + 0.25 * static_cast<double>((i * i + 3 * i * i * i) % 5) / 2;
        result.push_back(smooth ? 1 + 0.5 * std::sin(kTurn * static_cast<double>(i) / static_cast<double>(n))
                                : rough);
        sum += result.back();
    }
    for (double& each : result)
        each /= sum;
    return result;
}

double order_of(const std::function<double(std::size_t)>& error, std::size_t n) {
    return std::log2(error(n) / error(2 * n));
}

const std::string kPeriodic = "spacing x = dx\nfield dx: f64 over x\nfield u: f64 { boundary periodic }\n";

}  // namespace

TEST_CASE("on a stretched axis weights are read at the cell, and constants have the derivative 0") {
    const std::string field = "spacing x = dx\nfield dx: f32 over x\nfield u: f32\nfield du: f32\n";
    CHECK(stencil(field + "du = d(u, x)").value(0) ==
          "x..weight0 * (u[x-1] - u) + x..weight1 * (u[x+1] - u)");
    CHECK(stencil(field + "du = d(u, y)").value(0) == "1/2 * (u[y+1] - u[y-1])");
    CHECK(stencil(field + "du = laplacian(u)").value(0) ==
          "-2 * u + (x..weight0 * (u[x-1] - u) + x..weight1 * (u[x+1] - u)) + (u[y-1] + u[y+1])");
    CHECK(stencil(field + "du = d(u, x, side=low)").value(0).find("x..weight0 * (u[x-1] - u)") == 0);
    CHECK(stencil(field + "du = pos(x)").value(0) == "x..position0");
    // The neighbour's weights are numbers of their own, past a face, too.
    const Analyzed twice = stencil(field + "du = d(d(u, x, side=high, order=1), x, side=low, order=1)");
    REQUIRE(twice.program().stretched.size() == 1);
    CHECK(twice.program().stretched[0].tables.size() == 3);
}

TEST_CASE("derivatives on stretched axes keep their order") {
    for (const bool smooth : {true, false}) {
        for (int order = 2; order <= 6; order += 2) {
            for (const int derivative : {1, 2}) {
                INFO((smooth ? "smooth" : "rough") << ", order " << order << ", derivative " << derivative);
                const auto error = [&](std::size_t n) {
                    const std::string words = derivative == 1 ? "d" : "d2";
                    OnStretchedAxis run(kPeriodic + "field du: f64\ndu = " + words +
                                            "(u, x, order=" + std::to_string(order) + ")",
                                        distances(n, smooth));
                    run.set("u", [](double x) { return std::sin(kTurn * x); });
                    return run.error("du", [&](double x) {
                        return derivative == 1 ? kTurn * std::cos(kTurn * x)
                                               : -kTurn * kTurn * std::sin(kTurn * x);
                    });
                };
                const double found = order_of(error, 40);
                // Around points that are not symmetric a second derivative loses one order.
                const double least = order - (!smooth && derivative == 2 ? 1 : 0);
                CHECK(found > least - 0.35);
                CHECK(found < order + 0.6);
            }
        }
    }
}

TEST_CASE("staggered derivatives and interpolations on stretched axes keep their order") {
    for (const bool smooth : {true, false}) {
        for (int order = 2; order <= 6; order += 2) {
            INFO((smooth ? "smooth" : "rough") << ", order " << order);
            const std::string fields = kPeriodic + "field v: f64 at x+1/2 { boundary periodic }\n" +
                                       "accuracy " + std::to_string(order) + "\n" +
                                       "field up: f64 at x+1/2\nfield down, mean: f64\n" +
                                       "up = d(u, x)\ndown = d(v, x)\nmean = interpolate(v, x)";
            const auto wave = [](double x) { return std::sin(kTurn * x); };
            const auto slope = [](double x) { return kTurn * std::cos(kTurn * x); };
            const auto order_in = [&](const std::string& field, const std::function<double(double)>& expected,
                                      bool at_half) {
                const auto error = [&](std::size_t n) {
                    OnStretchedAxis made(fields, distances(n, smooth));
                    made.set("u", wave);
                    made.set("v", wave, true);
                    return made.error(field, expected, 0, at_half);
                };
                return order_of(error, 40);
            };
            const double lost = smooth ? 0.35 : 1.35;
            CHECK(order_in("up", slope, true) > order - lost);
            CHECK(order_in("down", slope, false) > order - lost);
            CHECK(order_in("mean", wave, false) > order - 0.35);
        }
    }
}

TEST_CASE("differences on stretched axes are exact for polynomials of their degree") {
    const std::string fields =
        "spacing x = 0.1 * 1.2^idx(x)\nfield u: f64\nfield v: f64 at x+1/2\n"
        "field mean, first, second, low, pushed, place: f64\n"
        "mean = interpolate(v, x, order=4)\nfirst = d(u, x, order=4)\nsecond = d2(u, x, order=4)\n"
        "low = d2(u, x, side=low, order=2)\npushed = upwind(u, x, 2, order=3)\nplace = pos(x)";
    std::vector<double> distances;
    for (int i = 0; i < 12; ++i)
        distances.push_back(0.1 * std::pow(1.2, i));
    OnStretchedAxis run(fields, distances, -1);
    const auto cubic = [](double x) { return 1 + x * (2 - x * (1 + x)); };
    run.set("u", cubic);
    run.set("v", cubic, true);
    const auto slope = [](double x) { return 2 - x * (2 + 3 * x); };
    const auto bend = [](double x) { return -2 - 6 * x; };
    CHECK(run.error("mean", cubic, 2) < 1e-12);
    CHECK(run.error("first", slope, 2) < 1e-11);
    CHECK(run.error("second", bend, 2) < 1e-10);
    CHECK(run.error("low", bend, 3) < 1e-10);
    CHECK(run.error("pushed", [&](double x) { return 2 * slope(x); }, 2) < 1e-11);
    CHECK(run.error("place", [](double x) { return x; }) < 1e-14);
}

TEST_CASE("past the faces of a stretched axis cells are mirrored, or go round") {
    const AxisPoints mirrored({1, 2, 4, 99}, false, 10);
    CHECK(mirrored.position(-2, false) == 10 - 3);
    CHECK(mirrored.position(3, false) == 17);
    CHECK(mirrored.position(3, true) == 19);
    CHECK(mirrored.position(5, false) == 17 + 6);
    CHECK(mirrored.position(7, false) == 17 + 8);
    const AxisPoints round({1, 2, 4, 3}, true, 0);
    CHECK(round.position(4, false) == 10);
    CHECK(round.position(5, true) == 12);
    CHECK(round.position(-1, true) == -1.5);
    const AxisPoints one({5}, false, 0);
    CHECK(one.position(-2, false) == -10);

    // So a wave with a slope of 0 at both faces has its order there, too.
    for (int order = 2; order <= 6; order += 2) {
        INFO("order " << order);
        const auto error = [&](std::size_t n) {
            std::vector<double> all = distances(n - 1, true);
            all.push_back(1);
            OnStretchedAxis run(
                "spacing x = dx\nfield dx: f64 over x\nfield u: f64 { boundary mirror }\n"
                "field du: f64\ndu = d2(u, x, order=" +
                    std::to_string(order) + ")",
                all);
            run.set("u", [](double x) { return std::cos(kTurn * x); });
            return run.error("du", [](double x) { return -kTurn * kTurn * std::cos(kTurn * x); });
        };
        CHECK(order_of(error, 40) > order - 1.35);
    }
    // A derivative of a derivative reads weights past the faces.
    OnStretchedAxis twice(
        "spacing x = dx\nfield dx: f64 over x\nfield u: f64 { boundary mirror }\n"
        "field du: f64\ndu = d(d(u, x), x)",
        {1, 2, 4, 8, 99});
    twice.set("u", [](double x) { return 3 * x; });
    CHECK(twice.error("du", [](double) { return 0; }, 2) < 1e-13);
}

TEST_CASE("one number for an axis stays what it was") {
    const Analyzed plain = stencil("param h = 1\nspacing x = h\nfield u: f64\nfield du: f64\ndu = d(u, x)");
    CHECK(plain.program().stretched.empty());
    const Analyzed length = stencil("spacing x = 1/len(x)\nfield u: f64\nfield du: f64\ndu = d(u, x)");
    CHECK(length.program().stretched.empty());
}

TEST_CASE("what a spacing that differs cannot be or have is refused") {
    const std::string body = "field u: f64\nfield du: f64\ndu = d(u, x)";
    CHECK(mistakes("spacing x = idx(y) + 1\n" + body) == std::vector{DiagnosticKind::misused_name});
    CHECK(mistakes("spacing x = 1 + random() * idx(x)\n" + body) ==
          std::vector{DiagnosticKind::misused_name});
    CHECK(mistakes("spacing x = u\n" + body) == std::vector{DiagnosticKind::missing_axis});
    CHECK(mistakes("spacing x = w\nfield w: i32 over x\n" + body) ==
          std::vector{DiagnosticKind::missing_axis});
    const std::string stretched = "spacing x = 1 + idx(x)\n";
    CHECK(mistakes(stretched + "field u: f64 { boundary gradient 1 }\nu[t+1] = d(u, x)") ==
          std::vector{DiagnosticKind::not_built_yet});
    CHECK(mistakes(stretched + "field u: f64 { boundary x extrapolate 2 }\nu[t+1] = d(u, x)") ==
          std::vector{DiagnosticKind::not_built_yet});
    CHECK(mistakes(stretched + "field u: f64 { boundary periodic }\nfield v: f64 { boundary clamp }\n"
                               "u[t+1] = d(u, x)\nv[t+1] = d(v, x)") ==
          std::vector{DiagnosticKind::not_built_yet});
    CHECK(mistakes(stretched + "field u: f64 { boundary fixed 0 }\n"
                               "solve u[t+1]: u[t+1] - laplacian(u[t+1]) = u using cg tol 1e-8, at most 5") ==
          std::vector{DiagnosticKind::not_built_yet});
    CHECK(mistakes(stretched + "points q: linear\nfield u: f64 { boundary fixed 0 }\nu[t+1] = d(u, x)\n"
                               "sample u at q into q.v[t]") == std::vector{DiagnosticKind::not_built_yet});
    CHECK(mistakes("spacing x = w\nfield w: f64 over x\nfield u: f64\nu[t+1] = w",
                   "run s { init w = pos(x) }") == std::vector{DiagnosticKind::misused_name});
    CHECK(mistakes(stretched + "field u: f64 { boundary fixed pos(x) }\nu[t+1] = d(u, x)") ==
          std::vector{DiagnosticKind::not_built_yet});
    CHECK(mistakes(stretched + "field u: f64 { boundary clamp }\nfield e: f64 on coarse(2)\ne = 1\n"
                               "u[t+1] = d(u, x)") == std::vector{DiagnosticKind::not_built_yet});
}
