// Conduction of heat, and derivatives: fields that are known in closed form.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

constexpr int kN = 64;

double sine(int cell, int periods) {
    return std::sin(2 * kPi * periods * cell / kN);
}
double cosine(int cell, int periods) {
    return std::cos(2 * kPi * periods * cell / kN);
}
// d/dx of a sine of so many periods over 64 cells, with the spacing of 1/63 that the examples have.
double slope(int periods) {
    return 2 * kPi * periods * 63 / 64;
}

struct Errors {
    double rms = 0, largest = 0;
};

template <class Exact>
Errors errors(const std::vector<double>& values, const Exact& exact) {
    REQUIRE(values.size() == kN * kN * kN);
    Errors result;
    std::size_t cell = 0;
    for (int k = 0; k < kN; ++k) {
        for (int j = 0; j < kN; ++j) {
            for (int i = 0; i < kN; ++i, ++cell) {
                const double error = std::abs(values[cell] - exact(i, j, k));
                result.rms += error * error;
                result.largest = std::max(result.largest, error);
            }
        }
    }
    result.rms = std::sqrt(result.rms / static_cast<double>(values.size()));
    return result;
}

}  // namespace

TEST_CASE("derivatives on 64 cubed cells are not worse than those of kernels written by hand") {
    // What a published CUDA kernel for the same field in f32 prints.
    constexpr double kPublishedRms = 7.277675e-06, kPublishedLargest = 2.861023e-05;
    for (const char axis : {'x', 'y', 'z'}) {
        const Example example(std::string("derivative_") + axis);
        example.run({"--no-files", "--save", "df=df.npy"});
        const Errors found = errors(example.saved("df"), [&](int i, int j, int k) {
            return slope(1) * cosine(axis == 'x' ? i : axis == 'y' ? j : k, 1);
        });
        INFO("d/d" << axis << ": RMS " << found.rms << ", largest " << found.largest);
        CHECK(found.rms <= kPublishedRms);
        CHECK(found.largest <= kPublishedLargest);
    }
}

TEST_CASE("the gradient is that of the product of waves") {
    const Example example("gradient");
    const nlohmann::json report =
        example.run({"--no-files", "--save", "fx=fx.npy", "--save", "fy=fy.npy", "--save", "fz=fz.npy"});
    const std::vector<double> fx = example.saved("fx"), fy = example.saved("fy"), fz = example.saved("fz");
    // Rounding of f32 in values up to 12, with the weights' cancellation.
    constexpr double kBound = 1.5e-5;
    CHECK(errors(fx, [](int i, int j, int k) {
              return slope(1) * cosine(i, 1) * cosine(j, 1) * sine(k, 2);
          }).largest < kBound);
    CHECK(errors(fy, [](int i, int j, int k) {
              return -slope(1) * sine(i, 1) * sine(j, 1) * sine(k, 2);
          }).largest < kBound);
    CHECK(errors(fz, [](int i, int j, int k) {
              return slope(2) * sine(i, 1) * cosine(j, 1) * cosine(k, 2);
          }).largest < kBound);
    double steepest = 0;
    for (std::size_t cell = 0; cell < fx.size(); ++cell)
        steepest = std::max(steepest, fx[cell] * fx[cell] + fy[cell] * fy[cell] + fz[cell] * fz[cell]);
    CHECK(report["reductions"]["steepest"].get<double>() == Approx(steepest).epsilon(1e-6));
}

TEST_CASE("a single mode of heat decays as its exponential") {
    // The value of the faces lies at cells -1 and n, so modes have n + 1 spacings.
    constexpr int n = 31, steps = 200;
    constexpr double dt = 0.16;
    const auto mode = [](int i, int j, int k) {
        return std::sin(kPi * (i + 1) / (n + 1)) * std::sin(kPi * (j + 1) / (n + 1)) *
               std::sin(kPi * (k + 1) / (n + 1));
    };
    std::vector<double> start;
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i)
                start.push_back(10 + 5 * mode(i, j, k));
        }
    }
    const Example example("heat3d");
    example.give("u", {n, n, n}, start);
    example.run(
        {"--grid", "31,31,31", "--steps", "200", "--no-files", "--load", "u=u.npy", "--save", "u=u.npy"});
    const std::vector<double> u = example.saved("u");
    REQUIRE(u.size() == start.size());
    const double half_angle = std::sin(kPi / (2 * (n + 1)));
    const double discrete = std::pow(1 - 12 * dt * half_angle * half_angle, steps);
    const double exact = std::exp(-3 * std::pow(kPi / (n + 1), 2) * dt * steps);
    double largest = 0;
    for (std::size_t cell = 0; cell < u.size(); ++cell)
        largest = std::max(largest, std::abs(u[cell] - (10 + (start[cell] - 10) * discrete)));
    CHECK(largest < 2e-5);  // rounding of f32 near 10 over 200 steps
    const double amplitude = (u[u.size() / 2] - 10) / 5;
    CHECK(amplitude == Approx(exact).epsilon(3e-3));
    CHECK(amplitude < 0.5);  // it has cooled
}

TEST_CASE("a heterogeneous block keeps its heat and its linear profile") {
    constexpr int n = 96;
    const auto total = [](const std::vector<double>& temperature) {
        double heat = 0;
        for (std::size_t cell = 0; cell < temperature.size(); ++cell)
            heat += (temperature[cell] - 10) * (cell % n < 48 ? 1 : 4);
        return heat;
    };
    const Example example("heat3d_capacity");
    SECTION("heat moves, and none is lost before it reaches a face") {
        example.run({"--steps", "0", "--no-files", "--save", "Te=Te.npy"});
        const std::vector<double> before = example.saved("Te");
        example.run({"--steps", "60", "--no-files", "--save", "Te=Te.npy"});
        const std::vector<double> after = example.saved("Te");
        REQUIRE(after.size() == n * n * n);
        CHECK(total(after) == Approx(total(before)).epsilon(1e-5));
        const std::size_t row = (48 * n + 48) * n;
        CHECK(before[row + 20] == 10);
        CHECK(after[row + 48 - 22] > 12);                    // it has spread to the light side,
        CHECK(after[row + 48 + 22] < after[row + 48 - 22]);  // more than to the heavy one,
        CHECK(after[row] == 10);                             // and not to the faces
    }
    SECTION("a constant flux is steady, whatever the capacity") {
        std::vector<double> profile;
        for (int cell = 0; cell < n * n * n; ++cell)
            profile.push_back(10 + 0.25 * (cell % n) + 0.5 * (cell / (n * n)));
        example.give("Te", {n, n, n}, profile);
        example.run({"--steps", "20", "--no-files", "--load", "Te=Te.npy", "--save", "Te=Te.npy"});
        CHECK((example.saved("Te") == profile));  // numbers that f32 holds exactly
    }
}

TEST_CASE("heat3d_until stops at the same step as the interpreter") {
    const std::vector<std::string> options{"--grid", "14,12,13", "--no-files", "--save", "u=u.npy"};
    const Example on_cpu("heat3d_until"), interpreted("heat3d_until", "interpreter");
    const nlohmann::json cpu = on_cpu.run(options), reference = interpreted.run(options);
    CHECK(cpu["stopped"] == "until");
    CHECK(cpu["device"] == "cpu");
    CHECK(reference["device"] == "interpreter");
    CHECK(cpu["steps"] == reference["steps"]);
    CHECK(cpu["reductions"] == reference["reductions"]);
    CHECK((on_cpu.saved("u") == interpreted.saved("u")));
    const double change = cpu["reductions"]["change"];
    CHECK(change < 1e-4);
    // It was the first step for which this holds.
    const int steps = cpu["steps"];
    REQUIRE(steps > 50);
    const nlohmann::json before =
        on_cpu.run({"--grid", "14,12,13", "--no-files", "--steps", std::to_string(steps - 1)});
    CHECK(before["stopped"] == "steps");
    CHECK(before["reductions"]["change"].get<double>() >= 1e-4);
}
