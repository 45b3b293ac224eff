// Boundaries that are computed, and statements for some of the cells: against solutions in closed form.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "example.h"

using namespace halo::test;

TEST_CASE("red-black relaxation ends at the solution of Poisson's equation") {
    constexpr int cells = 63;
    const Example example("poisson2d");
    const nlohmann::json report = example.run({"--no-files", "--save", "u=u.npy"});
    CHECK(report["stopped"] == "until");
    const double steps = report["steps"];
    CHECK(steps < 300);  // a plain iteration would take thousands
    const std::vector<double> u = example.saved("u");
    REQUIRE(u.size() == cells * cells);
    // The five-point form has the same sines as solution, with 8/h^2 sin^2(pi h/2) in place of 2 pi^2.
    const double h = 1.0 / 64, eigenvalue = 8 / (h * h) * std::pow(std::sin(kPi * h / 2), 2);
    double largest = 0;
    for (int j = 0; j < cells; ++j) {
        for (int i = 0; i < cells; ++i) {
            const double exact = std::sin(kPi * (i + 1) * h) * std::sin(kPi * (j + 1) * h);
            const double discrete = exact * 2 * kPi * kPi / eigenvalue;
            largest = std::max(largest, std::abs(u[j * cells + i] - discrete));
        }
    }
    CHECK(largest < 1e-8);
}

TEST_CASE("a fin cools along its length and at its tip as its equation says") {
    const Example example("fin");
    const nlohmann::json report = example.run({"--no-files", "--save", "T=T.npy"});
    CHECK(report["stopped"] == "until");
    const std::vector<double> T = example.saved("T");
    REQUIRE(T.size() == 64);
    const double m = 2, tip = 3;  // loss = m^2
    const auto exact = [&](double x) {
        const double left = 1 - x;
        return (std::cosh(m * left) + tip / m * std::sinh(m * left)) /
               (std::cosh(m) + tip / m * std::sinh(m));
    };
    double largest = 0;
    for (int i = 0; i < 64; ++i)
        largest = std::max(largest, std::abs(T[i] - exact(i / 63.0)));
    INFO("largest error " << largest);
    CHECK(largest < 1e-4);  // second order: 63 spacings
    CHECK(T[0] == 1);
    double sum = 0;
    for (int i = 1; i < 64; ++i)
        sum += T[i];
    CHECK(std::abs(report["reductions"]["heat"].get<double>() - sum) < 1e-9);
}

TEST_CASE("cells that are solid are as hot as it is said, and others between what flows in and that") {
    const Example example("heat_solid");
    const nlohmann::json report =
        example.run({"--no-files", "--steps", "200", "--save", "T=T.npy", "--save", "solid=solid.npy"});
    const std::vector<double> T = example.saved("T"), solid = example.saved("solid");
    double warmest = 0;
    std::size_t hot = 0;
    for (std::size_t cell = 0; cell < T.size(); ++cell) {
        if (solid[cell] == 1) {
            ++hot;
            CHECK(T[cell] == 1);
        } else {
            CHECK(T[cell] >= 0);
            CHECK(T[cell] < 1);
            warmest = std::max(warmest, T[cell]);
        }
    }
    CHECK(hot > 400);
    CHECK(report["reductions"]["warmest"].get<double>() == warmest);
}
