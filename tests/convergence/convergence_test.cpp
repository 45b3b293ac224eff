// Observed orders: the error of a known solution on one grid and on one twice as fine, in f64. The reference
// interpreter runs the programs; the other engines are held to its bits elsewhere.
#include <fmt/format.h>

#include <cmath>

#include "analyzed.h"
#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "compiler/passes/pipeline.h"

using namespace halo;
using namespace halo::test;

namespace {

const double kPi = std::acos(-1.0);

ir::Program load(const std::string& text) {
    ir::Program program = analyze_text(text);
    passes::optimize(program);
    return program;
}

double order(double coarse, double fine) {
    return std::log2(coarse / fine);
}

// The largest error of d^k/dx^k of sin(2 pi x) on n cells of a period.
double derivative_error(const char* call, int derivative, int n) {
    const ir::Program program =
        load(fmt::format("stencil s(x) {{\n    param h\n    spacing x = h\n    field f: f64 {{ boundary "
                         "periodic }}\n    field df: f64\n"
                         "    df = {}\n}}\n",
                         call));
    ir::Interpreter interpreter(program, {n, 1, 1}, ir::Arithmetic::declared);
    interpreter.set_param("h", 1.0 / n);
    for (int i = 0; i < n; ++i)
        interpreter.field("f")[i] = std::sin(2 * kPi * i / n);
    interpreter.step();
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        const double phase = 2 * kPi * i / n;
        const double exact = derivative == 1 ? 2 * kPi * std::cos(phase) : -4 * kPi * kPi * std::sin(phase);
        largest = std::max(largest, std::abs(interpreter.field("df")[i] - exact));
    }
    return largest;
}

// Heat conduction on [0, 1] up to t = 0.05, from a mode that the boundary keeps: cell i is at (i + shift) *
// h.
double heat_error(const char* boundary, int n, double h, double shift, double (*mode)(double),
                  double wave_number) {
    const ir::Program program = load(fmt::format(
        "stencil s(x) {{\n    param h, dt\n    spacing x = h\n    field u: f64 {{ boundary {} }}\n"
        "    u[t+1] = u + dt * d2(u, x)\n}}\n",
        boundary));
    const int steps = static_cast<int>(std::lround(0.05 / (0.25 * h * h)));
    const double dt = 0.05 / steps;
    ir::Interpreter interpreter(program, {n, 1, 1}, ir::Arithmetic::declared);
    interpreter.set_param("h", h);
    interpreter.set_param("dt", dt);
    for (int i = 0; i < n; ++i)
        interpreter.field("u")[i] = mode(wave_number * (i + shift) * h);
    for (int step = 0; step < steps; ++step)
        interpreter.step();
    const double decay = std::exp(-wave_number * wave_number * 0.05);
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        largest = std::max(largest,
                           std::abs(interpreter.field("u")[i] - decay * mode(wave_number * (i + shift) * h)));
    }
    return largest;
}

double sine(double x) {
    return std::sin(x);
}
double cosine(double x) {
    return std::cos(x);
}

// The error of u(1), where u solves u' = -u, u(0) = 1; for leapfrog u'' = -u, u'(0) = 0. Past levels start
// exact.
double time_error(const std::string& step, double (*solution)(double), int steps) {
    const ir::Program program = load(fmt::format(
        "stencil s(x) {{\n    param dt\n    def rate(c) = -c\n    field u: f64\n    {}\n}}\n", step));
    const double dt = 1.0 / steps;
    ir::Interpreter interpreter(program, {1, 1, 1}, ir::Arithmetic::declared);
    interpreter.set_param("dt", dt);
    for (int time = 0; time >= -program.fields[0].history; --time)
        interpreter.field("u", time)[0] = solution(time * dt);
    for (int step_done = 0; step_done < steps; ++step_done)
        interpreter.step();
    return std::abs(interpreter.field("u")[0] - solution(1.0));
}

double decay(double time) {
    return std::exp(-time);
}

}  // namespace

TEST_CASE("derivatives show their order of accuracy") {
    for (int accuracy : {2, 4, 6, 8}) {
        const int n = accuracy < 6 ? 64 : 32;  // finer grids meet rounding
        for (int derivative : {1, 2}) {
            const std::string call =
                fmt::format("{}(f, x, order={})", derivative == 1 ? "d" : "d2", accuracy);
            INFO(call);
            const double observed = order(derivative_error(call.c_str(), derivative, n),
                                          derivative_error(call.c_str(), derivative, 2 * n));
            CHECK(observed == Approx(accuracy).margin(0.1));
        }
    }
}

TEST_CASE("every boundary kind keeps second order where its mode meets it") {
    struct Case {
        const char* boundary;
        double (*mode)(double);
        double wave_number;
        double shift;
        int cells_less;  // of h = 1 / (n - cells_less)
    };
    const Case cases[] = {{"periodic", sine, 2 * kPi, 0, 0},  // h = 1 / n
                          {"fixed 0", sine, kPi, 1, -1},      // zero at the halo cells: h = 1 / (n + 1)
                          {"clamp", cosine, kPi, 0.5, 0},     // no gradient across the faces: h = 1 / n
                          {"mirror", cosine, kPi, 0, 1}};     // none at the edge cells: h = 1 / (n - 1)
    for (const Case& each : cases) {
        INFO(each.boundary);
        const auto error = [&](int intervals) {
            return heat_error(each.boundary, intervals + each.cells_less, 1.0 / intervals, each.shift,
                              each.mode, each.wave_number);
        };
        CHECK(order(error(24), error(48)) == Approx(2).margin(0.1));
    }
}

TEST_CASE("time steps show their order of accuracy") {
    struct Case {
        const char* step;
        double (*solution)(double);
        double order;
        int steps;
    };
    const Case cases[] = {
        {"u[t+1] = u + dt * rate(u)", decay, 1, 200},
        {"u[t+1] = 2*u - u[t-1] + dt^2 * rate(u)", cosine, 2, 100},
        {"let half = u + dt / 2 * rate(u)\n    u[t+1] = u + dt * rate(half)", decay, 2, 100},
        {"u[t+1] = u + dt * (3 * rate(u) - rate(u[t-1])) / 2", decay, 2, 100},
        {"u[t+1] = u + dt * (23 * rate(u) - 16 * rate(u[t-1]) + 5 * rate(u[t-2])) / 12", decay, 3, 100},
        {"u[t+1] = u + dt * (55 * rate(u) - 59 * rate(u[t-1]) + 37 * rate(u[t-2]) - 9 * rate(u[t-3])) / 24",
         decay, 4, 50},
        // The backward differentiation formula of second order, solved for the new value: rate is linear.
        {"u[t+1] = (4 * u - u[t-1]) / (3 + 2 * dt)", decay, 2, 100},
        {"let k1 = rate(u)\n    let k2 = rate(u + dt / 2 * k1)\n    let k3 = rate(u + dt / 2 * k2)\n"
         "    let k4 = rate(u + dt * k3)\n    u[t+1] = u + dt * (k1 + 2*k2 + 2*k3 + k4) / 6",
         decay, 4, 20},
    };
    for (const Case& each : cases) {
        INFO(each.step);
        CHECK(order(time_error(each.step, each.solution, each.steps),
                    time_error(each.step, each.solution, 2 * each.steps)) == Approx(each.order).margin(0.1));
    }
}
