// What noise and reductions drive.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

double mean_square(const std::vector<double>& values) {
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0) /
           static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("the noise of Cook moves matter and makes none, and parts an even mixture") {
    const Example example("cahn_hilliard_cook");
    const std::vector<std::string> small{"--grid", "64,64", "--no-files", "--save", "c=c.npy"};
    const auto run = [&](int steps, std::vector<std::string> more = {}) {
        std::vector<std::string> options = small;
        options.insert(options.end(), {"--steps", std::to_string(steps)});
        options.insert(options.end(), more.begin(), more.end());
        return example.run(options);
    };
    // After one step from c = 0 there is the noise alone: each cell has the sum of four fluxes.
    run(1);
    const std::vector<double> first = example.saved("c");
    const double kT = 0.01, M = 1, dt = 0.03;
    CHECK(mean_square(first) == Approx(4 * 2 * kT * M * dt).epsilon(0.1));
    // Each of 4096 cells is rounded to f32 in each step, at random: a number in [1/2, 1) by up to 2^-25. Four
    // standard deviations of the sum.
    const double mass = run(400)["reductions"]["mass"];
    const double rounding = std::exp2(-25) / std::sqrt(3.0);
    CHECK(std::abs(mass) < 4 * rounding * std::sqrt(4096.0 * 400));

    run(1, {"--set", "seed=2"});
    CHECK(mean_square(example.saved("c")) == Approx(mean_square(first)).epsilon(0.1));
    CHECK(example.saved("c") != first);
    run(1, {"--set", "seed=1"});
    CHECK(example.saved("c") == first);
    run(1, {"--set", "kT=0"});
    CHECK(mean_square(example.saved("c")) == 0);

    run(2000);
    const std::vector<double> c = example.saved("c");
    CHECK(std::count_if(c.begin(), c.end(), [](double value) { return std::abs(value) > 0.6; }) >
          64 * 64 / 2);
}

TEST_CASE("the time step of Burgers' equation follows the fastest wave and ends where it should") {
    const Example example("burgers2d");
    // A wave along x steepens until 1 / (0.25 * 2 pi); before, u(x, t) = u0(x - u t).
    const auto start = [](double x) { return 0.5 + 0.25 * std::sin(2 * kPi * x); };
    const double end = 0.3;
    double error[2] = {};
    for (int fine = 0; fine < 2; ++fine) {
        const int n = fine == 0 ? 128 : 256;
        std::vector<double> cells;
        for (int cell = 0; cell < 4 * n; ++cell)
            cells.push_back(start((cell % n) / static_cast<double>(n)));
        example.give("start", {4, n}, cells);
        const nlohmann::json report = example.run(
            {"--grid", std::to_string(n) + ",4", "--no-files", "--load", "u=start.npy", "--save", "u=u.npy",
             "--set", "h=" + std::to_string(1.0 / n), "--set", "end=" + std::to_string(end)});
        CHECK(report["reductions"]["elapsed"] == Approx(end).epsilon(1e-14));
        CHECK(report["reductions"]["mass"] == Approx(0.5 * 4 * n).epsilon(1e-13));
        // dt = 0.4 h / max |u|, and max |u| falls from 0.75 a little, but never rises.
        const double steps = report["steps"];
        CHECK(steps >= std::ceil(end * 0.7 / 0.4 * n));
        CHECK(steps <= std::ceil(end * 0.75 / 0.4 * n));
        const std::vector<double> u = example.saved("u");
        for (int i = 0; i < n; ++i) {
            const double x = i / static_cast<double>(n);
            double exact = start(x);
            for (int iteration = 0; iteration < 200; ++iteration)
                exact = start(x - exact * end);
            error[fine] += std::abs(u[static_cast<std::size_t>(i)] - exact) / n;
        }
    }
    INFO("errors " << error[0] << ", " << error[1]);
    CHECK(error[0] < 0.01);
    CHECK(error[0] > 1.7 * error[1]);  // first order
}
