// Cycles on several grids: how fast they converge, whatever the size, and what to.
#include <fmt/format.h>

#include <cmath>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

// The factor by which a cycle makes the residual smaller: the geometric mean of `cycles` after the first few.
double factor_of(const Example& example, int cells, int rank, int cycles,
                 std::vector<std::string> options = {}) {
    constexpr int kBefore = 4;
    std::string grid = fmt::format("{}", cells);
    for (int axis = 1; axis < rank; ++axis)
        grid += fmt::format(",{}", cells);
    const auto rest_after = [&](int steps) {
        std::vector<std::string> all{
            "--grid",    grid, "--set", fmt::format("h=1/{}", cells), "--steps", fmt::format("{}", steps),
            "--no-files"};
        all.insert(all.end(), options.begin(), options.end());
        const nlohmann::json report = example.run(all);
        return report["reductions"]["rest"].get<double>();
    };
    return std::pow(rest_after(kBefore + cycles) / rest_after(kBefore), 1.0 / cycles);
}

}  // namespace

TEST_CASE("a V-cycle in two dimensions divides the residual by ten, on grids of all sizes") {
    const Example example("multigrid_poisson2d");
    for (const int cells : {32, 128}) {
        const double factor = factor_of(example, cells, 2, 6);
        INFO(cells << " cells: " << factor);
        CHECK(factor < 0.1);
        CHECK(factor > 0.04);
    }
}

TEST_CASE("a V-cycle in three dimensions does on grids of two sizes") {
    const Example example("multigrid_poisson3d");
    for (const int cells : {16, 32}) {
        const double factor = factor_of(example, cells, 3, 4);
        INFO(cells << " cells: " << factor);
        CHECK(factor < 0.09);
    }
}

TEST_CASE("cycles end at the solution of the equation, to second order") {
    const Example example("multigrid_poisson2d");
    std::vector<double> errors;
    for (const int n : {32, 64}) {
        // u = sin(pi x) sin(pi y), of k = 1.
        std::vector<double> exact, right;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                exact.push_back(std::sin(kPi * (i + 0.5) / n) * std::sin(kPi * (j + 0.5) / n));
                right.push_back(2 * kPi * kPi * exact.back());
            }
        example.give("f", {n, n}, right);
        example.give("k_0", {n, n}, std::vector<double>(right.size(), 1.0));
        example.run({"--grid", fmt::format("{0},{0}", n), "--set", fmt::format("h=1/{}", n), "--no-files",
                     "--load", "f=f.npy", "--load", "k_0=k_0.npy", "--save", "u=u.npy"});
        const std::vector<double> u = example.saved("u");
        REQUIRE(u.size() == exact.size());
        double largest = 0;
        for (std::size_t cell = 0; cell < u.size(); ++cell)
            largest = std::max(largest, std::abs(u[cell] - exact[cell]));
        errors.push_back(largest);
    }
    INFO(errors[0] << " " << errors[1]);
    CHECK(errors[1] < 3e-4);
    CHECK(errors[0] / errors[1] > 3.9);
    CHECK(errors[0] / errors[1] < 4.1);
}

TEST_CASE("the first F-cycle is as right as the equations are, on grids of all sizes") {
    const Example example("multigrid_fcycle2d");
    for (const int n : {32, 128}) {
        std::vector<double> exact, right;  // u = sin(pi x) sin(pi y), of k = 1
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                exact.push_back(std::sin(kPi * (i + 0.5) / n) * std::sin(kPi * (j + 0.5) / n));
                right.push_back(2 * kPi * kPi * exact.back());
            }
        example.give("f", {n, n}, right);
        const auto error_after = [&](int cycles) {
            example.run({"--grid", fmt::format("{0},{0}", n), "--set", fmt::format("h=1/{}", n), "--steps",
                         fmt::format("{}", cycles), "--no-files", "--load", "f=f.npy", "--init", "k_0 = 1",
                         "--save", "u=u.npy"});
            const std::vector<double> u = example.saved("u");
            double largest = 0;
            for (std::size_t cell = 0; cell < u.size(); ++cell)
                largest = std::max(largest, std::abs(u[cell] - exact[cell]));
            return largest;
        };
        const double of_equations = error_after(6);
        INFO(n << " cells: " << of_equations);
        CHECK(of_equations < 0.9 / (n * n));
        CHECK(error_after(1) < of_equations);
    }
}

TEST_CASE("an F-cycle divides the residual by more than ten where the coefficient jumps") {
    const Example example("multigrid_fcycle2d");
    for (const char* inside : {"0.1", "10"}) {
        const std::string k = fmt::format("k_0 = if (x - 0.5)^2 + (y - 0.5)^2 < 0.07 then {} else 1", inside);
        const double factor = factor_of(example, 64, 2, 2, {"--init", k});
        INFO(inside << ": " << factor);
        CHECK(factor < 0.08);
    }
}
