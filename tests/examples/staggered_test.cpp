// Examples on staggered grids.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

// The largest distance of a field of n x m cells from a function of its points, which lie `shift` cells
// further.
double largest_error(const std::vector<double>& field, int n, int m, double shift_x, double shift_y,
                     const std::function<double(double, double)>& exact) {
    REQUIRE(field.size() == static_cast<std::size_t>(n) * static_cast<std::size_t>(m));
    double largest = 0;
    for (int j = 0; j < m; ++j) {
        for (int i = 0; i < n; ++i) {
            const double value = field[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) +
                                       static_cast<std::size_t>(i)];
            largest = std::max(largest, std::abs(value - exact((i + shift_x) / n, (j + shift_y) / m)));
        }
    }
    return largest;
}

}  // namespace

TEST_CASE("a standing wave of light in a box of metal is followed to second order") {
    const Example example("maxwell2d");
    const double frequency = std::sqrt(13.0) * kPi;
    double electric[2] = {}, magnetic[2] = {};
    for (int fine = 0; fine < 2; ++fine) {
        const int n = fine == 0 ? 40 : 80, steps = n * 11 / 5;  // up to t = 1.1, on both grids
        const double dt = 0.5 / n;
        example.run({"--grid", fmt::format("{0},{0}", n), "--set", fmt::format("dt={}", dt), "--steps",
                     std::to_string(steps), "--no-files", "--save", "ez=ez.npy", "--save", "hx=hx.npy",
                     "--save", "hy=hy.npy"});
        const double t = steps * dt;
        electric[fine] = largest_error(example.saved("ez"), n, n, 0, 0, [&](double x, double y) {
            return std::sin(3 * kPi * x) * std::sin(2 * kPi * y) * std::cos(frequency * t);
        });
        const double swing = std::sin(frequency * (t - dt / 2)) / std::sqrt(13.0);
        const double hx = largest_error(example.saved("hx"), n, n, 0, 0.5, [&](double x, double y) {
            return -2 * swing * std::sin(3 * kPi * x) * std::cos(2 * kPi * y);
        });
        const double hy = largest_error(example.saved("hy"), n, n, 0.5, 0, [&](double x, double y) {
            return 3 * swing * std::cos(3 * kPi * x) * std::sin(2 * kPi * y);
        });
        magnetic[fine] = std::max(hx, hy);
    }
    INFO("electric " << electric[0] << ", " << electric[1] << "; magnetic " << magnetic[0] << ", "
                     << magnetic[1]);
    CHECK(electric[1] < 0.005);
    CHECK(magnetic[1] < 0.005);
    CHECK(std::log2(electric[0] / electric[1]) == Approx(2).margin(0.1));
    CHECK(std::log2(magnetic[0] / magnetic[1]) == Approx(2).margin(0.1));
}
