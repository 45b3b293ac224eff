// Implicit steps, by sweeps along the axes and by equations: what is known of their systems.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "catch.h"
#include "example.h"

using namespace halo::test;

TEST_CASE("alternating directions damp each wave as their formula has it") {
    constexpr int n = 127, steps = 3;
    constexpr double dt = 2e-3, h = 1.0 / 128;
    const Example example("heat2d_adi");
    example.run({"--grid", "127,127", "--steps", std::to_string(steps), "--set", "h=1/128", "--set",
                 "dt=2e-3", "--init", "u = sin(pi*x) * sin(3*pi*y)", "--no-files", "--save", "u=u.npy"});
    const std::vector<double> u = example.saved("u");
    REQUIRE(u.size() == n * n);
    const double s = dt / (2 * h * h);
    const auto damped = [&](int periods) {
        const double along = 4 * s * std::pow(std::sin(periods * kPi * h / 2), 2);
        return (1 - along) / (1 + along);
    };
    const double factor = std::pow(damped(1) * damped(3), steps);
    double error = 0;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            error = std::max(
                error, std::abs(u[static_cast<std::size_t>(i + n * j)] -
                                factor * std::sin(kPi * (i + 1) * h) * std::sin(3 * kPi * (j + 1) * h)));
    CHECK(error < 1e-12);
    CHECK(factor == Approx(std::exp(-10 * kPi * kPi * dt * steps)).epsilon(0.01));
}

TEST_CASE("a column keeps all that its ground emits, and mixing only spreads it") {
    constexpr int steps = 40;
    const Example example("column_diffusion");
    example.run({"--steps", std::to_string(steps), "--no-files", "--save", "q=q.npy", "--save",
                 "emission=emission.npy"});
    const std::vector<double> emission = example.saved("emission"), q = example.saved("q");
    constexpr std::size_t layer = 96 * 48;
    const double emitted = std::accumulate(emission.begin(), emission.begin() + layer, 0.0);
    const double expected = emitted * 0.5 * 60 / 20 * steps;
    CHECK(std::accumulate(q.begin(), q.end(), 0.0) == Approx(expected).epsilon(1e-12));
    const std::size_t middle = 48 + 96 * 24;
    for (std::size_t k = 0; k + 1 < 64; ++k) {  // less with each layer, and nothing below 0
        CHECK(q[middle + k * layer] > q[middle + (k + 1) * layer]);
        CHECK(q[middle + (k + 1) * layer] > 0);
    }
}

TEST_CASE("Crank and Nicolson's steps keep the probability, and move a free packet as they should") {
    constexpr int nx = 257, ny = 129;
    const Example example("schroedinger_cn");
    const nlohmann::json kept = example.run({"--steps", "60", "--no-files"});
    const nlohmann::json begun = example.run({"--steps", "1", "--no-files"});
    CHECK(double(kept["reductions"]["probability"]) ==
          Approx(double(begun["reductions"]["probability"])).epsilon(1e-12));

    // Along y, where the packet rests: its width spreads by the formula. Second order in the step and the
    // spacing.
    const auto width = [&](const char* dt, int steps) {
        example.run({"--steps", std::to_string(steps), "--set", std::string("dt=") + dt, "--init", "kick = 1",
                     "--no-files", "--save", "psi=psi.npy"});
        const std::vector<double> psi = example.saved("psi");
        double all = 0, squares = 0;
        for (int j = 0; j < ny; ++j) {
            for (int i = 0; i < nx; ++i) {
                const std::size_t cell = static_cast<std::size_t>(j * nx + i) * 2;
                const double density = std::norm(std::complex<double>(psi[cell], psi[cell + 1]));
                all += density;
                squares += density * std::pow(-8 + j / 8.0, 2);
            }
        }
        return std::sqrt(squares / all);
    };
    const double exact = std::sqrt(1 + std::pow(1.6 / 2, 2));  // of width 1 at time 1.6
    CHECK(width("0.05", 32) == Approx(exact).epsilon(0.005));
    CHECK(width("0.2", 8) == Approx(exact).epsilon(0.05));
}

TEST_CASE("an implicit step of heat is of first order, and its equations keep the heat") {
    constexpr int n = 32;
    Example example("implicit_heat2d");
    example.use_one_thread();
    const auto run = [&](int steps, double dt) {
        example.run({"--grid", "32,32", "--set", "h=1/32", "--set", fmt::format("dt={}", dt), "--steps",
                     std::to_string(steps), "--no-files", "--save", "u=u.npy"});
        std::vector<double> u = example.saved("u");
        REQUIRE(u.size() == n * n);
        return u;
    };
    const std::vector<double> fine = run(256, 6.25e-5);
    const auto error_of = [&](const std::vector<double>& u) {
        double largest = 0;
        for (std::size_t i = 0; i < u.size(); ++i)
            largest = std::max(largest, std::abs(u[i] - fine[i]));
        return largest;
    };
    const double coarse = error_of(run(8, 2e-3)), half = error_of(run(16, 1e-3));
    INFO(coarse << " " << half);
    CHECK(coarse < 0.03);
    CHECK(coarse / half == Approx(2).epsilon(0.1));

    // Of the first step from 0, with k at the wall 100 where the strip is.
    const std::vector<double> first = run(1, 1e-3);
    double gained = 0, let_in = 0;
    for (const double u : first)
        gained += u;
    for (std::size_t j = 0; j < n; ++j) {
        const double x = 0.5 / n, y = (static_cast<double>(j) + 0.5) / n;
        const double k = std::abs(y - 0.5 - 0.3 * std::sin(2 * kPi * x)) < 0.06 ? 100 : 1;
        let_in += 1e-3 * n * n * k * (1 - first[n * j]);
    }
    CHECK(gained == Approx(let_in).epsilon(1e-6));
}

TEST_CASE("groundwater: what wells take out comes from the rivers and out of the rock") {
    constexpr std::size_t n = 128;
    constexpr double dx = 10, dt = 10, storage = 1e-4;
    Example example("groundwater2d");
    example.use_one_thread();
    example.run(
        {"--steps", "1", "--no-files", "--save", "h=h.npy", "--save", "K=K.npy", "--save", "q=q.npy"});
    const std::vector<double> h = example.saved("h"), conducts = example.saved("K"), q = example.saved("q");
    REQUIRE(h.size() == n * n);
    double gained = 0, let_in = 0, taken = 0;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
            gained += storage * (h[i + n * j] - (10 + static_cast<double>(i) * dx / 640)) / dt;
            taken += q[i + n * j];
        }
        let_in += conducts[n * j] * (10 - h[n * j]) / (dx * dx);
        let_in += conducts[n * j + n - 1] * (12 - h[n * j + n - 1]) / (dx * dx);
    }
    CHECK(taken < -1);
    CHECK(gained == Approx(let_in + taken).margin(1e-5 * -taken));
    const auto lowest = std::ranges::min_element(h) - h.begin();
    CHECK(q[static_cast<std::size_t>(lowest)] < 0);
}
