// Schrodinger's equation: a free packet of waves, and the probability that is kept.
#include <algorithm>
#include <cmath>
#include <complex>

#include "catch.h"
#include "example.h"

using namespace halo::test;

TEST_CASE("a free packet of waves moves and spreads as it should") {
    constexpr int nx = 256, ny = 128, steps = 200;
    const Example example("schroedinger2d");
    example.give("potential", {ny, nx}, std::vector<double>(nx * ny, 0.0));
    const nlohmann::json report = example.run({"--steps", std::to_string(steps), "--no-files", "--load",
                                               "potential=potential.npy", "--save", "psi=psi.npy"});
    // The method loses a fifth power of dt times energy; in f32, 1e-5 is left of rounding.
    CHECK(double(report["reductions"]["probability"]) == Approx(1).margin(1e-4));
    const std::vector<double> psi = example.saved("psi");
    REQUIRE(psi.size() == nx * ny * 2);
    using Complex = std::complex<double>;
    const Complex i(0, 1);
    const double time = steps * 0.015, sigma = 2;
    // One dimension: width sigma and momentum k at time 0.
    const auto packet = [&](double x, double k) {
        const Complex spread = 1.0 + i * time / (2 * sigma * sigma);
        const double away = x - k * time;
        return std::pow(2 * kPi * sigma * sigma, -0.25) / std::sqrt(spread) *
               std::exp(-away * away / (4 * sigma * sigma * spread) + i * (k * x - k * k * time / 2));
    };
    double error = 0, squares = 0, mean = 0;
    for (int row = 0; row < ny; ++row) {
        for (int column = 0; column < nx; ++column) {
            const double x = -32 + column / 4.0, y = -16 + row / 4.0;
            // At the start the phase is 4x, which is 4 (x + 16) and -64.
            const Complex expected = packet(x + 16, 4) * packet(y, 0) * std::exp(-64.0 * i);
            const std::size_t cell = static_cast<std::size_t>(row * nx + column) * 2;
            const Complex found(psi[cell], psi[cell + 1]);
            error = std::max(error, std::abs(found - expected));
            mean += std::norm(found) * x / 16;
            squares += std::norm(found) * x * x / 16;
        }
    }
    INFO("error " << error);
    CHECK(error < 0.004);  // of a peak of 0.19
    CHECK(mean == Approx(-16 + 4 * time).margin(0.02));
    const double width = sigma * std::sqrt(1 + std::pow(time / (2 * sigma * sigma), 2));
    CHECK(std::sqrt(squares - mean * mean) == Approx(width).epsilon(0.005));
}

TEST_CASE("the probability is kept when a packet meets a wall") {
    const Example example("schroedinger2d");
    const nlohmann::json report = example.run({"--steps", "300", "--no-files"});
    CHECK(double(report["reductions"]["probability"]) == Approx(1).margin(0.002));
}
