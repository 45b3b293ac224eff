// Waves: where they are after a time, with which shape.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "example.h"

using namespace halo::test;

TEST_CASE("a plane wave in the pool follows d'Alembert, and its walls reflect it") {
    constexpr int width = 200, height = 6;
    constexpr double centre = 80, dt = 0.5, spread = 8;
    const auto pulse = [](double x) { return std::exp(-(x * x) / (spread * spread)); };
    std::vector<double> start;
    for (int cell = 0; cell < width * height; ++cell)
        start.push_back(pulse(cell % width - centre));
    const Example example("wave2d");
    for (const int steps : {60, 300}) {  // before and after the reflections
        example.give("start", {height, width}, start);
        example.run({"--grid", "200,6", "--steps", std::to_string(steps), "--no-files", "--load",
                     "u=start.npy", "--save", "u=u.npy"});
        const std::vector<double> u = example.saved("u");
        REQUIRE(u.size() == start.size());
        // Equal levels at t and t - dt are at rest half a step ago.
        const double way = dt * (steps + 0.5);
        double largest = 0, across = 0;
        for (int i = 0; i < width; ++i) {
            double exact = 0;
            for (const double image :
                 {centre, -1 - centre, 2 * width - 1 - centre}) {  // walls half a cell outside
                exact += (pulse(i - image - way) + pulse(i - image + way)) / 2;
            }
            for (int j = 0; j < height; ++j) {
                largest = std::max(largest, std::abs(u[j * width + i] - exact));
                across = std::max(across, std::abs(u[j * width + i] - u[i]));
            }
        }
        INFO("after " << steps << " steps: largest error " << largest);
        CHECK(largest < (steps == 60 ? 0.004 : 0.02));  // of an amplitude of 0.5
        CHECK(across < 1e-5);
    }
}

TEST_CASE("sound spreads as a spherical wave until it meets the second layer") {
    constexpr int n = 120, steps = 160, source = 60, depth = 35;
    constexpr double speed = 1800, dt = 0.001, spacing = 10, width = 40;
    const Example example("acoustic3d");
    example.run({"--steps", "160", "--no-files", "--save", "p=p.npy"});
    const std::vector<double> p = example.saved("p");
    REQUIRE(p.size() == n * n * n);
    const auto at = [&](int i, int j, int k) { return p[(k * n + j) * n + i]; };

    // r * p travels outwards unchanged: from a Gaussian at rest, p = (r - ct) / 2r * exp(-((r - ct) /
    // width)^2), and the wave that went inwards first.
    const auto exact = [&](double r) {
        const double way = speed * dt * (steps + 0.5);
        const auto part = [&](double s) { return s * std::exp(-(s * s) / (width * width)) / (2 * r); };
        return part(r - way) + part(r + way);
    };
    double peak = 0, largest = 0, peak_radius = 0, asymmetry = 0;
    for (int i = source + 5; i < n; ++i) {
        const double r = spacing * (i - source);
        largest = std::max(largest, std::abs(at(i, source, depth) - exact(r)));
        if (at(i, source, depth) > peak) {
            peak = at(i, source, depth);
            peak_radius = r;
        }
    }
    INFO("largest error " << largest << ", peak " << peak << " at " << peak_radius);
    CHECK(largest < 0.02 * peak);
    // The crest runs ahead of c * t by width / sqrt(2).
    CHECK(peak_radius == Approx(speed * dt * steps + width / std::sqrt(2.0)).margin(spacing));

    for (int k = 0; k < n; k += 3) {
        for (int j = 1; j < n; ++j) {
            for (int i = 1; i < n; ++i) {
                asymmetry = std::max(asymmetry, std::abs(at(i, j, k) - at(j, i, k)));
                asymmetry = std::max(asymmetry, std::abs(at(i, j, k) - at(n - i, j, k)));
            }
        }
    }
    CHECK(asymmetry < 1e-5 * peak);

    // Above the layer's boundary (z = 550 m) the wave is faster.
    const int straight_up = static_cast<int>((350 + speed * dt * steps + 60) / spacing);
    CHECK(std::abs(at(source, source, straight_up)) > 0.02 * peak);
}
