#include "accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/interpreter.h"
#include "solve.h"

namespace halo::test {

namespace {

// ---- derivatives
// ------------------------------------------------------------------------------------------------

// A call, and what it should give of sin(2 pi x + 4 pi y + 0.3) times this and, at the phase, sin or cos.
struct Derivative {
    std::string call;
    int along_x = 0, along_y = 0;  // how often it is derived
};

double derivative_error(const Derivative& derivative, int n) {
    const ir::Program program =
        load(fmt::format("stencil s(x, y) {{\n    param h\n    spacing x = h, y = h\n    field f: f64 {{ "
                         "boundary periodic }}\n"
                         "    field df: f64\n    df = {}\n}}\n",
                         derivative.call));
    ir::Interpreter interpreter(program, {n, n, 1}, ir::Arithmetic::declared);
    interpreter.set_param("h", 1.0 / n);
    const auto phase = [&](int i, int j) { return 2 * kPi * (i + j) / n + 0.3; };
    const auto cell = [&](int i, int j) { return static_cast<std::size_t>(i + n * j); };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            interpreter.field("f")[cell(i, j)] = std::sin(phase(i, j));
    interpreter.step();
    const int times = derivative.along_x + derivative.along_y;
    double largest = 0;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const double exact = std::pow(2 * kPi, times) * std::sin(phase(i, j) + times * kPi / 2);
            largest = std::max(largest, std::abs(interpreter.field("df")[cell(i, j)] - exact));
        }
    }
    return largest;
}

// ---- steps in time
// ----------------------------------------------------------------------------------------------

struct TimeStep {
    std::string name;
    std::string statements;  // of u' = rate(u); of u'' = rate(u) for leapfrog
    double order = 1;
    int steps = 100;
    bool is_wave = false;
};

const std::vector<TimeStep>& time_steps() {
    static const std::vector<TimeStep> all{
        {"Euler", "u[t+1] = u + dt * rate(u)", 1, 400},
        {"leapfrog", "u[t+1] = 2*u - u[t-1] + dt^2 * rate(u)", 2, 100, true},
        {"midpoint (Runge–Kutta 2)", "let m = u + dt/2 * rate(u)\nu[t+1] = u + dt * rate(m)", 2},
        {"Heun (predictor, corrector)", "let p = u + dt * rate(u)\nu[t+1] = u + dt/2 * (rate(u) + rate(p))",
         2},
        {"Adams–Bashforth 2", "u[t+1] = u + dt/2 * (3 * rate(u) - rate(u[t-1]))", 2, 200},
        {"Adams–Bashforth 3", "u[t+1] = u + dt/12 * (23 * rate(u) - 16 * rate(u[t-1]) + 5 * rate(u[t-2]))",
         3},
        {"Adams–Bashforth 4",
         "u[t+1] = u + dt/24 * (55 * rate(u) - 59 * rate(u[t-1]) + 37 * rate(u[t-2]) - 9 * rate(u[t-3]))", 4},
        {"Runge–Kutta 3 (Shu, Osher)",
         "let a = u + dt * rate(u)\nlet b = 3/4 * u + 1/4 * (a + dt * rate(a))\n"
         "u[t+1] = 1/3 * u + 2/3 * (b + dt * rate(b))",
         3, 50},
        {"Runge–Kutta 4",
         "let a = rate(u)\nlet b = rate(u + dt/2 * a)\nlet c = rate(u + dt/2 * b)\nlet e = rate(u + dt * c)\n"
         "u[t+1] = u + dt/6 * (a + 2*b + 2*c + e)",
         4, 20},
    };
    return all;
}

// Of u(1), where u solves u' = -u^2, u(0) = 1, or u'' = -u from rest at 1. Past levels start exact.
double time_error(const TimeStep& step, int steps) {
    const ir::Program program =
        load(fmt::format("stencil s(x) {{\n    param dt\n    def rate(v) = {}\n    field u: f64\n{}\n}}\n",
                         step.is_wave ? "-v" : "-v^2", step.statements));
    const auto solution = [&](double time) { return step.is_wave ? std::cos(time) : 1 / (1 + time); };
    const double dt = 1.0 / steps;
    ir::Interpreter interpreter(program, {1, 1, 1}, ir::Arithmetic::declared);
    interpreter.set_param("dt", dt);
    for (int time = 0; time >= -program.fields[0].history; --time)
        interpreter.field("u", time)[0] = solution(time * dt);
    for (int done = 0; done < steps; ++done)
        interpreter.step();
    return std::abs(interpreter.field("u")[0] - solution(1));
}

// ---- boundaries
// -------------------------------------------------------------------------------------------------

double stiffness(int order) {  // of the second difference
    constexpr double kSizes[] = {4, 16.0 / 3, 272.0 / 45, 2048.0 / 315};
    return kSizes[order / 2 - 1];
}

struct BoundaryCase {
    std::string boundary;
    std::string says;            // what it says of the solution
    std::vector<int> orders;     // of the differences
    std::vector<double> formal;  // for each
    std::function<double(double, double)> solution;
    double first = 0;    // where cell 0 is, in spacings
    int cells_less = 0;  // the spacing is 1 / (cells + cells_less)
    int cells = 16;
};

double decaying(double k, double t) {
    return std::exp(-k * k * t);
}

std::vector<BoundaryCase> boundary_cases() {
    const auto sine = [](double x, double t) { return decaying(kPi, t) * std::sin(kPi * x); };
    const auto cosine = [](double x, double t) { return decaying(kPi, t) * std::cos(kPi * x); };
    const auto shifted = [](double x, double t) {
        return decaying(2 * kPi, t) * std::sin(2 * kPi * x + 0.3);
    };
    return {
        {"periodic", "the other end goes on", {2, 4, 6, 8}, {2, 4, 6, 8}, shifted, 0, 0},
        {"mirror", "even about the edge cell's centre", {2, 4, 6, 8}, {2, 4, 6, 8}, cosine, 0, -1},
        {"clamp", "no gradient at the edge, half a cell out", {2}, {2}, cosine, 0.5, 0},
        {"clamp", "and the second cell out is wrong", {4}, {1}, cosine, 0.5, 0, 64},
        {"fixed 0", "the value one cell out", {2}, {2}, sine, 1, 1},
        {"fixed 0", "and the second cell out is wrong", {4}, {1}, sine, 1, 1, 64},
        {"free", "the edge cells keep what they have", {2}, {2}, sine, 0, -1},
    };
}

}  // namespace

std::vector<Measured> measure_derivatives() {
    const std::vector<std::pair<std::string, Derivative>> kinds{
        {"d(f, x)", {"d(f, x, order={})", 1, 0}},
        {"d2(f, x)", {"d2(f, x, order={})", 2, 0}},
        {"d(f, x, y)", {"d(f, x, y, order={})", 1, 1}},
        {"laplacian(f)", {"laplacian(f, order={}) / 2", 2, 0}},  // both axes alike
    };
    std::vector<Measured> all;
    for (const auto& [name, derivative] : kinds) {
        for (int accuracy : {2, 4, 6, 8}) {
            Derivative each = derivative;
            each.call = fmt::format(fmt::runtime(derivative.call), accuracy);
            const int n = accuracy < 6 ? 32 : 20;  // finer grids meet rounding
            all.push_back({name, fmt::format("order={}", accuracy), static_cast<double>(accuracy),
                           order(derivative_error(each, n), derivative_error(each, 2 * n))});
        }
    }
    return all;
}

std::vector<Measured> measure_time_steps() {
    std::vector<Measured> all;
    for (const TimeStep& step : time_steps())
        all.push_back({step.name, "", step.order,
                       order(time_error(step, step.steps), time_error(step, 2 * step.steps))});
    return all;
}

std::vector<Measured> measure_boundaries() {
    std::vector<Measured> all;
    for (const BoundaryCase& each : boundary_cases()) {
        for (std::size_t i = 0; i < each.orders.size(); ++i) {
            const int accuracy = each.orders[i];
            Problem problem;
            problem.rate = fmt::format("d2(c, x, order={})", accuracy);
            problem.boundary = each.boundary;
            problem.solution = each.solution;
            problem.stiffness = stiffness(accuracy);
            const auto error = [&](int intervals) {
                const double spacing = 1.0 / intervals;
                return error_of(problem, intervals - each.cells_less, each.first * spacing, spacing);
            };
            all.push_back({fmt::format("`{}`", each.boundary),
                           fmt::format("order={}: {}", accuracy, each.says), each.formal[i],
                           order(error(each.cells), error(2 * each.cells))});
        }
    }
    return all;
}

}  // namespace halo::test
