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

TEST_CASE("a standing wave of light in a metal box of three dimensions is followed to second order") {
    // Of the mode with 3, 2 and 1 half waves: what each component is multiplied with, and along which axes it
    // is a cosine. It lies half a cell further there, and the magnetic field along the two others.
    constexpr double electric[3] = {1, -1, -1}, magnetic[3] = {-1, 4, -5};
    const double wave[3] = {3 * kPi, 2 * kPi, kPi}, frequency = std::sqrt(14.0) * kPi;
    const Example example("maxwell3d");
    double errors[2][2] = {};  // [fine][electric, magnetic]
    for (int fine = 0; fine < 2; ++fine) {
        const int n = fine ? 40 : 20, steps = n * 11 / 5;  // up to t = 1.1, on both grids
        const double dt = 0.5 / n, t = steps * dt;
        example.run({"--grid", fmt::format("{0},{0},{0}", n), "--set", fmt::format("dt={}", dt), "--steps",
                     std::to_string(steps), "--no-files", "--save", "e=e.npy", "--save", "h=h.npy"});
        const double swing[2] = {std::cos(frequency * t),
                                 -std::sin(frequency * (t - dt / 2)) / std::sqrt(14.0)};
        for (const bool is_magnetic : {false, true}) {
            const std::vector<double> field = example.saved(is_magnetic ? "h" : "e");
            REQUIRE(field.size() == static_cast<std::size_t>(3 * n * n * n));
            for (std::size_t at = 0; at < field.size(); ++at) {
                const int component = static_cast<int>(at % 3), cell = static_cast<int>(at / 3);
                const int index[3] = {cell % n, cell / n % n, cell / n / n};
                double exact = (is_magnetic ? magnetic : electric)[component] * swing[is_magnetic ? 1 : 0];
                for (int axis = 0; axis < 3; ++axis) {
                    const bool is_cosine = (axis == component) != is_magnetic;
                    const double phase = wave[axis] * (index[axis] + (is_cosine ? 0.5 : 0)) / n;
                    exact *= is_cosine ? std::cos(phase) : std::sin(phase);
                }
                double& largest = errors[fine][is_magnetic ? 1 : 0];
                largest = std::max(largest, std::abs(field[at] - exact));
            }
        }
    }
    INFO("electric " << errors[0][0] << ", " << errors[1][0] << "; magnetic " << errors[0][1] << ", "
                     << errors[1][1]);
    for (const int of : {0, 1}) {
        CHECK(errors[1][of] < 0.02);
        CHECK(std::log2(errors[0][of] / errors[1][of]) == Approx(2).margin(0.15));
    }
}

TEST_CASE("plane waves in a solid run at the speeds of P and S waves") {
    constexpr int n = 200, m = 4, steps = 200;
    constexpr double dt = 0.2, fast = 2, slow = 1;  // rho 1, lambda 2, mu 1
    const auto pulse = [](double x) {
        const double s = x - n * std::floor(x / n) - 60;  // periodic
        return std::exp(-(s * s) / 128);
    };
    const auto cells = [&](double shift, double factor) {
        std::vector<double> values;
        for (int cell = 0; cell < n * m; ++cell)
            values.push_back(factor * pulse(cell % n + shift));
        return values;
    };
    const Example example("elastic2d");
    // Both run up along x; velocities are those of half a step before.
    example.give("vx", {m, n}, cells(0.5 + fast * dt / 2, 1));
    example.give("sxx", {m, n}, cells(0, -fast));
    example.give("syy", {m, n}, cells(0, -2 / fast));
    example.give("vy", {m, n}, cells(slow * dt / 2, 1));
    example.give("sxy", {m, n}, cells(0.5, -slow));
    example.run({"--grid", "200,4", "--steps", std::to_string(steps), "--no-files", "--load", "vx=vx.npy",
                 "--load", "sxx=sxx.npy", "--load", "syy=syy.npy", "--load", "vy=vy.npy", "--load",
                 "sxy=sxy.npy", "--save", "vx=vx.npy", "--save", "vy=vy.npy"});
    const std::vector<double> vx = example.saved("vx"), vy = example.saved("vy");
    const double t = (steps - 0.5) * dt;
    double p_error = 0, s_error = 0;
    for (int i = 0; i < n; ++i) {
        p_error = std::max(p_error, std::abs(vx[static_cast<std::size_t>(i)] - pulse(i + 0.5 - fast * t)));
        s_error = std::max(s_error, std::abs(vy[static_cast<std::size_t>(i)] - pulse(i - slow * t)));
    }
    INFO("P " << p_error << ", S " << s_error);
    CHECK(p_error < 0.01);
    CHECK(s_error < 0.01);
}

TEST_CASE("plane waves in rock run at the speeds of P and S waves, and where it gets harder come back") {
    constexpr int n = 4, m = 160, steps = 100;
    constexpr double dt = 0.001, h = 10, density = 2000, fast = 3000, slow = 1500;
    const auto pulse = [](double z) { return std::exp(-(z - 500) * (z - 500) / (60 * 60)); };  // z in metres
    const auto cells = [&](const std::function<double(double)>& value, double shift) {
        std::vector<double> values;
        for (int cell = 0; cell < n * n * m; ++cell)
            values.push_back(value((cell / n / n + shift) * h));
        return values;
    };
    const auto give = [&](const Example& example, const char* field, double shift,
                          const std::function<double(double)>& value) {
        example.give(field, {m, n, n}, cells(value, shift));
    };
    const double shear = density * slow * slow, all = density * fast * fast;
    // Where the upper half is twice as dense, and the speeds are the same, a third comes back.
    for (const bool is_layered : {false, true}) {
        const Example example("elastic3d");
        const auto here = [&](double z) { return is_layered && z > 800 ? 2.0 : 1.0; };
        give(example, "buoyancy", 0, [&](double z) { return 1 / (density * here(z)); });
        give(example, "mu", 0, [&](double z) { return shear * here(z); });
        give(example, "lambda", 0, [&](double z) { return (all - 2 * shear) * here(z); });
        // Both run up along z; velocities are those of half a step before.
        give(example, "vz", 0.5, [&](double z) { return pulse(z + fast * dt / 2); });
        give(example, "vx", 0, [&](double z) { return pulse(z + slow * dt / 2); });
        give(example, "szz", 0, [&](double z) { return -density * fast * pulse(z); });
        for (const char* across : {"sxx", "syy"})
            give(example, across, 0, [&](double z) { return -(all - 2 * shear) / fast * pulse(z); });
        give(example, "sxz", 0.5, [&](double z) { return -density * slow * pulse(z); });
        std::vector<std::string> options{"--grid", fmt::format("{0},{0},{1}", n, m), "--steps",
                                         std::to_string(is_layered ? 2 * steps : steps), "--no-files"};
        for (const char* field : {"buoyancy", "mu", "lambda", "vz", "vx", "szz", "sxx", "syy", "sxz"})
            options.insert(options.end(), {"--load", fmt::format("{0}={0}.npy", field)});
        options.insert(options.end(), {"--save", "vx=vx.npy", "--save", "vz=vz.npy"});
        example.run(options);
        const std::vector<double> vx = example.saved("vx"), vz = example.saved("vz");
        double p_error = 0, s_error = 0;
        const double t = ((is_layered ? 2 * steps : steps) - 0.5) * dt;
        for (int k = 0; k < m; ++k) {
            const auto at = static_cast<std::size_t>(k * n * n + 5);
            const double z = (k + 0.5) * h;
            // The P wave was at the layer after 0.1 s; the S wave gets there after 0.2 s.
            if (!is_layered) {
                p_error = std::max(p_error, std::abs(vz[at] - pulse(z - fast * t)));
                s_error = std::max(s_error, std::abs(vx[at] - pulse(k * h - slow * t)));
            } else if (z < 700) {
                p_error = std::max(p_error, std::abs(vz[at] + pulse(1610 - z - fast * t) / 3));
            }
        }
        INFO((is_layered ? "layered, " : "") << "P " << p_error << ", S " << s_error);
        CHECK(p_error < 0.01);
        CHECK(s_error < 0.01);
    }
}

TEST_CASE("an explosion in rock looks the same along all axes") {
    constexpr int n = 40;
    const Example example("elastic3d");
    const auto give = [&](const char* field, double value) {
        example.give(field, {n, n, n}, std::vector<double>(n * n * n, value));
    };
    give("buoyancy", 1.0 / 2000);
    give("mu", 2000.0 * 1500 * 1500);
    give("lambda", 2000.0 * 1500 * 1500);
    std::vector<double> blow;
    for (int cell = 0; cell < n * n * n; ++cell) {
        const int i = cell % n - 20, j = cell / n % n - 20, k = cell / n / n - 20;
        blow.push_back(1e6 * std::exp(-(i * i + j * j + k * k) / 8.0));
    }
    std::vector<std::string> options{"--grid", fmt::format("{0},{0},{0}", n), "--steps", "30", "--no-files"};
    for (const char* field : {"sxx", "syy", "szz"})
        example.give(field, {n, n, n}, blow);
    for (const char* field : {"buoyancy", "mu", "lambda", "sxx", "syy", "szz"})
        options.insert(options.end(), {"--load", fmt::format("{0}={0}.npy", field)});
    for (const char* field : {"vx", "vy", "vz", "sxy", "sxz", "syz"})
        options.insert(options.end(), {"--save", fmt::format("{0}={0}.npy", field)});
    example.run(options);
    const auto at = [](int i, int j, int k) { return static_cast<std::size_t>(i + n * (j + n * k)); };
    const std::vector<double> vx = example.saved("vx"), vy = example.saved("vy"), vz = example.saved("vz");
    const std::vector<double> sxy = example.saved("sxy"), sxz = example.saved("sxz"),
                              syz = example.saved("syz");
    double largest = 0, stress = 0, different = 0, otherwise = 0;
    for (int k = 6; k < n - 6; ++k) {
        for (int j = 6; j < n - 6; ++j) {
            for (int i = 6; i < n - 6; ++i) {
                largest = std::max(largest, std::abs(vx[at(i, j, k)]));
                stress = std::max(stress, std::abs(sxy[at(i, j, k)]));
                different = std::max({different, std::abs(vx[at(i, j, k)] - vy[at(j, i, k)]),
                                      std::abs(vx[at(i, j, k)] - vz[at(k, j, i)])});
                otherwise = std::max({otherwise, std::abs(sxy[at(i, j, k)] - sxz[at(i, k, j)]),
                                      std::abs(sxy[at(i, j, k)] - syz[at(k, j, i)])});
            }
        }
    }
    INFO(largest << ", different by " << different << "; " << stress << ", by " << otherwise);
    CHECK(largest > 1e-3);
    CHECK(different < 1e-5 * largest);
    CHECK(otherwise < 1e-5 * stress);
}

TEST_CASE("the energy of a blow to a solid stays as it is") {
    const Example example("elastic2d");
    double energy[2] = {};
    for (int late = 0; late < 2; ++late) {
        const nlohmann::json result = example.run({"--steps", late ? "260" : "1", "--no-files"});
        for (const char* part : {"kinetic", "kinetic_y", "stretch", "shear"})
            energy[late] += result["reductions"][part].get<double>();
    }
    CHECK(energy[0] > 10);
    CHECK(energy[1] == Approx(energy[0]).epsilon(1e-5));
}

TEST_CASE("water in a basin swings as a low wave does, and none is lost") {
    constexpr int n = 64, m = 3, steps = 400;
    constexpr double h = 0.25, g = 9.81, dt = 0.02, height = 1e-4;
    const double wave_number = kPi / (n * h), frequency = std::sqrt(g) * wave_number;
    const auto mode = [&](int i) { return height * std::cos(wave_number * (i + 0.5) * h); };
    std::vector<double> start;
    for (int cell = 0; cell < n * m; ++cell)
        start.push_back(mode(cell % n));
    const Example example("shallow_water");
    example.give("eta", {m, n}, start);
    example.run({"--grid", "64,3", "--steps", std::to_string(steps), "--set", "dt=0.02", "--no-files",
                 "--load", "eta=eta.npy", "--save", "eta=eta.npy"});
    const std::vector<double> eta = example.saved("eta");
    // The currents, half a step behind, were at rest at the start.
    const double swing = std::cos(frequency * dt * (steps + 0.5));
    double largest = 0;
    for (int cell = 0; cell < n * m; ++cell)
        largest = std::max(largest, std::abs(eta[static_cast<std::size_t>(cell)] - mode(cell % n) * swing));
    INFO("largest error " << largest << " at " << frequency * dt * steps);
    CHECK(largest < 0.01 * height);

    const double first = example.run({"--steps", "1", "--no-files"})["reductions"]["volume"];
    const double last = example.run({"--steps", "400", "--no-files"})["reductions"]["volume"];
    CHECK(last == Approx(first).epsilon(1e-12));
}

TEST_CASE("a steady wind holds the water up at the coast by its stress") {
    constexpr int n = 40;
    constexpr double h = 1000, wind = -20;
    const Example example("storm_surge");
    example.give("wind_x", {2}, {0, 0});
    example.give("wind_y", {1}, {wind});  // stays as it is past its end
    example.run({"--grid", "3,40", "--steps", "9000", "--set", "friction=1e-3", "--no-files", "--load",
                 "wind_x=wind_x.npy", "--load", "wind_y=wind_y.npy", "--save", "eta=eta.npy"});
    const std::vector<double> eta = example.saved("eta");
    double level = 0, largest = 0;
    for (int j = n; j-- > 0;) {
        const double depth = 8 + 30 * (j + 0.5) / n;
        level += h * 1.5e-6 * wind * wind / (9.81 * depth);
        for (int i = 0; i < 3; ++i)
            largest = std::max(largest, std::abs(eta[static_cast<std::size_t>(i + 3 * j)] - level));
    }
    INFO("largest error " << largest << " of " << level);
    CHECK(level > 0.1);
    CHECK(largest < 1e-6 * level);
}

TEST_CASE("shocks follow Cole and Hopf's solution, to fifth order where they are resolved") {
    constexpr double nu = 1.0 / 200, time = 0.25;
    const auto exact = [&](double x, double t) {
        const double powers[3] = {-(x - 0.5 + 4.95 * t) / (20 * nu), -(x - 0.5 + 0.75 * t) / (4 * nu),
                                  -(x - 0.375) / (2 * nu)};
        const double top = std::max({powers[0], powers[1], powers[2]});
        const double a = std::exp(powers[0] - top), b = std::exp(powers[1] - top),
                     c = std::exp(powers[2] - top);
        return (a / 10 + b / 2 + c) / (a + b + c);
    };
    const Example example("burgers");
    double errors[2] = {};
    for (int fine = 0; fine < 2; ++fine) {
        const int n = fine ? 256 : 128, steps = 4 * n;
        const double dt = time / steps;
        example.run({"--grid", std::to_string(n + 1), "--set", fmt::format("h=1/{}", n), "--set",
                     fmt::format("dt={}", dt), "--set", "nu=1/200", "--steps", std::to_string(steps),
                     "--no-files", "--save", "u=u.npy"});
        const std::vector<double> u = example.saved("u");
        REQUIRE(u.size() == static_cast<std::size_t>(n + 1));
        for (int i = 0; i <= n; ++i) {
            const double error = u[static_cast<std::size_t>(i)] - exact(static_cast<double>(i) / n, time);
            errors[fine] = std::max(errors[fine], std::abs(error));
        }
    }
    INFO(errors[0] << ", " << errors[1]);
    CHECK(errors[1] < 3e-6);
    CHECK(std::log2(errors[0] / errors[1]) > 4.7);
}
