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

// A call, with the order of accuracy left open, of f = sin(2 pi (x + y) + 0.3).
struct Derivative {
    std::string call;
    int times = 1;        // how often it is derived
    std::string at = "";  // where the result lies: " at x+1/2" is half a cell off
};

double derivative_error(const Derivative& derivative, int n) {
    const ir::Program program =
        load(fmt::format("stencil s(x, y) {{\n    param h\n    spacing x = h, y = h\n    field f: f64 {{ "
                         "boundary periodic }}\n"
                         "    field df: f64{}\n    df = {}\n}}\n",
                         derivative.at, derivative.call));
    ir::Interpreter interpreter(program, {n, n, 1}, ir::Arithmetic::declared);
    interpreter.set_param("h", 1.0 / n);
    const auto phase = [&](int i, int j) { return 2 * kPi * (i + j) / n + 0.3; };
    const auto cell = [&](int i, int j) { return static_cast<std::size_t>(i + n * j); };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            interpreter.field("f")[cell(i, j)] = std::sin(phase(i, j));
    interpreter.step();
    const int times = derivative.times;
    const double off = derivative.at.empty() ? 0 : kPi / n;
    double largest = 0;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            const double exact = std::pow(2 * kPi, times) * std::sin(phase(i, j) + off + times * kPi / 2);
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
    std::string name;
    std::string says;            // what it says of the solution
    std::vector<int> orders;     // of the differences
    std::vector<double> formal;  // for each
    std::function<double(double, double)> solution;
    double first = 0;    // where cell 0 is, in spacings
    int cells_less = 0;  // the spacing is 1 / (cells + cells_less)
    int cells = 16;
    std::string boundary = {};  // as written; empty: its name
    bool moves = false;         // advection, not diffusion
};

double decaying(double k, double t) {
    return std::exp(-k * k * t);
}

// Solutions of which the boundary is a part of the symmetry, so that what it makes up is exact.
std::vector<BoundaryCase> symmetries() {
    const auto sine = [](double x, double t) { return decaying(kPi, t) * std::sin(kPi * x); };
    const auto cosine = [](double x, double t) { return decaying(kPi, t) * std::cos(kPi * x); };
    const auto shifted = [](double x, double t) {
        return decaying(2 * kPi, t) * std::sin(2 * kPi * x + 0.3);
    };
    const std::vector<int> all{2, 4, 6, 8};
    const std::vector<double> kept{2, 4, 6, 8};
    return {
        {"periodic", "the other end goes on", all, kept, shifted, 0, 0},
        {"mirror", "even about the edge cell", all, kept, cosine, 0, -1},
        {"antimirror", "odd about the edge cell", all, kept, sine, 0, -1},
        {"symmetric", "even about the face", all, kept, cosine, 0.5, 0},
        {"antisymmetric", "odd about the face", all, kept, sine, 0.5, 0},
        {"clamp", "no gradient at the face", {2}, {2}, cosine, 0.5, 0},
        {"clamp", "the second cell out is wrong", {4}, {1}, cosine, 0.5, 0, 64},
        {"fixed 0", "0 at the first cell out", {2}, {2}, sine, 1, 1},
        {"fixed 0", "the second cell out is wrong", {4}, {1}, sine, 1, 1, 64},
        {"free", "edge cells keep what they have", {2}, {2}, sine, 0, -1},
    };
}

// Solutions that nothing makes easy: exp(-36 t) sin(6 x + 0.3), and sin(6 (x - t) + 0.3).
std::vector<BoundaryCase> general_boundaries() {
    const auto wave = [](double x, double t) { return decaying(6, t) * std::sin(6 * x + 0.3); };
    const auto moving = [](double x, double t) { return std::sin(6 * (x - t) + 0.3); };
    const std::string decay = "exp(-36 * time)";
    const std::string inflow = "x.low fixed sin(6 * (pos(x) - time) + 0.3), x.high extrapolate ";
    const auto outflow = [&](int degree, int order, double formal) {
        return BoundaryCase{fmt::format("extrapolate {}", degree),
                            "where a wave leaves",
                            {order},
                            {formal},
                            moving,
                            0,
                            -1,
                            32,
                            inflow + std::to_string(degree),
                            true};
    };
    return {
        {"fixed EXPR",
         "the solution, of pos and time",
         {2, 4, 6, 8},
         {2, 4, 6, 8},
         wave,
         0,
         -1,
         16,
         "fixed " + decay + " * sin(6 * pos(x) + 0.3)"},
        {"gradient G",
         "the gradient, of time",
         {2, 4},
         {2, 2},
         wave,
         0,
         -1,
         32,
         "x.low gradient -6 * cos(0.3) * " + decay + ", x.high gradient 6 * cos(6.3) * " + decay},
        {"robin A, B, C",
         "2 u + du/dn, of time",
         {2, 4},
         {2, 2},
         wave,
         0,
         -1,
         32,
         "x.low robin 2, 1, (2 * sin(0.3) - 6 * cos(0.3)) * " + decay +
             ", x.high robin 2, 1, (2 * sin(6.3) + 6 * cos(6.3)) * " + decay},
        outflow(0, 2, 1),
        outflow(1, 2, 2),
        outflow(3, 4, 4),
    };
}

}  // namespace

std::vector<Measured> measure_derivatives() {
    struct Kind {
        std::string name;
        Derivative derivative;
        std::vector<int> orders{2, 4, 6, 8};
    };
    const std::vector<Kind> kinds{
        {"d(f, x)", {"d(f, x, order={})", 1}},
        {"d2(f, x)", {"d2(f, x, order={})", 2}},
        {"d(f, x, y)", {"d(f, x, y, order={})", 2}},
        {"laplacian(f)", {"laplacian(f, order={}) / 2", 2}},  // both axes alike
        {"biharmonic(f)", {"biharmonic(f, order={}) / 4", 4}, {2, 4}},
        {"upwind(f, x, v)", {"upwind(f, x, 1, order={})", 1}, {1, 2, 3, 5}},
        {"d(f, x) half a cell off", {"d(f, x, order={})", 1, " at x+1/2"}},
        {"interpolate(f, x)", {"interpolate(f, x, order={})", 0, " at x+1/2"}},
    };
    std::vector<Measured> all;
    for (const Kind& kind : kinds) {
        for (int accuracy : kind.orders) {
            Derivative each = kind.derivative;
            each.call = fmt::format(fmt::runtime(kind.derivative.call), accuracy);
            const int n = accuracy == 1 ? 128 : accuracy < 6 ? 32 : 20;  // finer grids meet rounding
            all.push_back({kind.name, fmt::format("order={}", accuracy), static_cast<double>(accuracy),
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
    std::vector<BoundaryCase> cases = symmetries();
    for (BoundaryCase& each : general_boundaries())
        cases.push_back(std::move(each));
    std::vector<Measured> all;
    for (const BoundaryCase& each : cases) {
        for (std::size_t i = 0; i < each.orders.size(); ++i) {
            const int accuracy = each.orders[i];
            Problem problem;
            problem.rate = fmt::format("{}(c, x, order={})", each.moves ? "-d" : "d2", accuracy);
            problem.boundary = each.boundary.empty() ? each.name : each.boundary;
            problem.solution = each.solution;
            problem.stiffness = each.moves ? 1.6 : stiffness(accuracy);
            problem.power = each.moves ? 1 : 2;
            problem.end = each.moves ? 0.2 : 0.02;
            const auto error = [&](int intervals) {
                const double spacing = 1.0 / intervals;
                return error_of(problem, intervals - each.cells_less, each.first * spacing, spacing);
            };
            all.push_back({fmt::format("`{}`", each.name), fmt::format("order={}: {}", accuracy, each.says),
                           each.formal[i], order(error(each.cells), error(2 * each.cells))});
        }
    }
    return all;
}

}  // namespace halo::test
