// A viscous gas: what is conserved, waves of shear and of sound, and heat.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

constexpr int kCells = 24;
constexpr double kGamma = 1.4, kPressure = 1, kDensity = 1;
using Place = std::array<double, 3>;  // within the box of 2 pi

std::vector<double> over_grid(int components, const std::function<double(const Place&, int)>& value) {
    std::vector<double> values;
    for (int cell = 0; cell < kCells * kCells * kCells; ++cell) {
        const auto at = [](int index) { return 2 * kPi * (index % kCells) / kCells; };
        const Place place{at(cell), at(cell / kCells), at(cell / kCells / kCells)};
        for (int component = 0; component < components; ++component)
            values.push_back(value(place, component));
    }
    return values;
}

// A gas at rest but for what is given; `run` gets more options.
struct Gas {
    Example example{"navier_stokes3d"};

    void give(const std::function<double(const Place&)>& density,
              const std::function<double(const Place&, int)>& speed,
              const std::function<double(const Place&)>& pressure) const {
        const std::int64_t n = kCells;
        example.give("rho", {n, n, n}, over_grid(1, [&](const Place& p, int) { return density(p); }));
        example.give("m", {n, n, n, 3},
                     over_grid(3, [&](const Place& p, int c) { return density(p) * speed(p, c); }));
        example.give("e", {n, n, n}, over_grid(1, [&](const Place& p, int) {
                         double moving = 0;
                         for (int c = 0; c < 3; ++c)
                             moving += density(p) * speed(p, c) * speed(p, c) / 2;
                         return pressure(p) / (kGamma - 1) + moving;
                     }));
    }

    void run(int steps, const std::vector<std::string>& more) const {
        std::vector<std::string> options{"--grid", fmt::format("{0},{0},{0}", kCells), "--steps",
                                         std::to_string(steps), "--no-files"};
        for (const char* field : {"rho", "m", "e"})
            options.insert(options.end(), {"--load", fmt::format("{0}={0}.npy", field), "--save",
                                           fmt::format("{0}={0}-after.npy", field)});
        options.insert(options.end(), more.begin(), more.end());
        example.run(options);
    }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

double at_rest(const Place&) {
    return kPressure;
}

}  // namespace

TEST_CASE("slow shear in a gas decays as viscosity says, in all directions") {
    constexpr double speed = 1e-4, nu = 0.05, dt = 0.01;
    constexpr int steps = 200;
    const Gas gas;
    // x is sheared along y, y along z, and z along x, twice as finely.
    const auto shear = [](const Place& p, int c) {
        return speed * (c == 0 ? std::sin(p[1]) : c == 1 ? std::cos(p[2]) : std::sin(2 * p[0]));
    };
    gas.give(at_rest, shear, at_rest);
    gas.run(steps, {"--set", "viscosity=0.05", "--set", "dt=0.01"});
    const double once = std::exp(-nu * steps * dt), twice = std::exp(-4 * nu * steps * dt);
    const std::vector<double> expected =
        over_grid(3, [&](const Place& p, int c) { return shear(p, c) * (c == 2 ? twice : once); });
    CHECK(largest_difference(gas.example.saved("m-after"), expected) < 1e-3 * speed);
}

TEST_CASE("a low wave of sound in a gas runs at its speed, along each axis") {
    constexpr double height = 1e-5, dt = 0.005;
    constexpr int steps = 200;
    const double sound = std::sqrt(kGamma * kPressure / kDensity), t = steps * dt;
    for (int axis = 0; axis < 3; ++axis) {
        const Gas gas;
        const auto wave = [&](const Place& p, double past) {
            return height * std::sin(p[static_cast<std::size_t>(axis)] - sound * past);
        };
        gas.give([&](const Place& p) { return 1 + wave(p, 0); },
                 [&](const Place& p, int c) { return c == axis ? sound * wave(p, 0) : 0; },
                 [&](const Place& p) { return 1 + kGamma * wave(p, 0); });
        gas.run(steps, {"--set", "viscosity=0", "--set", "conductivity=0"});
        const std::vector<double> expected =
            over_grid(1, [&](const Place& p, int) { return 1 + wave(p, t); });
        INFO("axis " << axis);
        CHECK(largest_difference(gas.example.saved("rho-after"), expected) < 1e-3 * height);
    }
}

TEST_CASE("vortices in a gas lose no mass, momentum and energy") {
    const Example example("navier_stokes3d");
    double before[3] = {}, after[3] = {};
    for (const bool late : {false, true}) {
        example.run({"--grid", "20,20,20", "--steps", late ? "150" : "0", "--no-files", "--save",
                     "rho=rho.npy", "--save", "m=m.npy", "--save", "e=e.npy"});
        double* const sums = late ? after : before;
        for (const double value : example.saved("rho"))
            sums[0] += value;
        for (const double value : example.saved("m"))
            sums[1] += value;
        for (const double value : example.saved("e"))
            sums[2] += value;
    }
    CHECK(after[0] == Approx(before[0]).epsilon(1e-13));
    CHECK(std::abs(after[1] - before[1]) < 1e-9);
    // The work of viscous forces and what it heats are computed apart.
    CHECK(after[2] == Approx(before[2]).epsilon(1e-6));
}
