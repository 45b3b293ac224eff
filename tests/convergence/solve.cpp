#include "solve.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzed.h"
#include "compiler/ir/interpreter.h"
#include "compiler/passes/pipeline.h"

namespace halo::test {

ir::Program load(const std::string& text) {
    ir::Program program = analyze_text(text);
    passes::optimize(program);
    return program;
}

double order(double coarse, double fine) {
    return std::log2(coarse / fine);
}

double error_of(const Problem& problem, int cells, double first, double spacing) {
    const ir::Program program = load(fmt::format(
        "stencil s(x) {{\n    param h, dt, first\n    spacing x = h\n    origin x = first\n"
        "    field u: f64 {{ boundary {} }}\n    def rate(c) = {}\n"
        "    u[t+1] = u + dt * (55*rate(u) - 59*rate(u[t-1]) + 37*rate(u[t-2]) - 9*rate(u[t-3])) / 24\n}}\n",
        problem.boundary, problem.rate));
    constexpr double kStable = 0.25;  // of the size of the rate; 0.3 is the method's bound
    const double longest = kStable * std::pow(spacing, problem.power) / problem.stiffness;
    const auto steps = static_cast<int>(std::ceil(problem.end / longest));
    const double dt = problem.end / steps;
    ir::Interpreter interpreter(program, {cells, 1, 1}, ir::Arithmetic::declared);
    interpreter.set_param("h", spacing);
    interpreter.set_param("dt", dt);
    interpreter.set_param("first", first);
    const auto exact = [&](int i, double time) { return problem.solution(first + i * spacing, time); };
    for (int time = 0; time >= -3; --time)
        for (int i = 0; i < cells; ++i)
            interpreter.field("u", time)[static_cast<std::size_t>(i)] = exact(i, time * dt);
    for (int step = 0; step < steps; ++step)
        interpreter.step();
    double largest = 0;
    for (int i = 0; i < cells; ++i) {
        const double found = interpreter.field("u")[static_cast<std::size_t>(i)];
        largest = std::max(largest, std::abs(found - exact(i, problem.end)));
    }
    return largest;
}

}  // namespace halo::test
