// Small problems with known solutions, for accuracy.cpp.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "compiler/ir/program.h"

namespace halo::test {

inline constexpr double kPi = std::numbers::pi;

ir::Program load(const std::string& text);

double order(double coarse, double fine);

// A one-dimensional problem on n cells, the first at `first`, `spacing` apart, from time 0 to `end`.
struct Problem {
    std::string rate;      // d/dt of c, with c for the field: "d2(c, x, order=4)"
    std::string boundary;  // of the field
    std::function<double(double x, double t)> solution;
    double stiffness = 4;  // the rate's largest size, times spacing^power
    int power = 2;         // 2 of diffusion, 1 of advection
    double end = 0.02;
};
// The largest error at the end, stepped by Adams–Bashforth of fourth order, from exact past levels, with
// steps so short that the error is that of space.
double error_of(const Problem& problem, int cells, double first, double spacing);

}  // namespace halo::test
