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

TEST_CASE("a wave on the torus is filtered every ten steps, and damped in a phase of its own") {
    constexpr int width = 32, height = 24, first_phase = 200;
    constexpr double dt = 0.4, friction = 0.05, kx = 2 * kPi * 5 / width, ky = 2 * kPi * 3 / height;
    std::vector<double> start;
    for (int cell = 0; cell < width * height; ++cell)
        start.push_back(std::cos(kx * (cell % width)) * std::cos(ky * (cell / width)));
    // What each operator makes of the wave: a number times it.
    const auto slope = [](double k) {
        return 1225.0 / 512 * std::sin(k / 2) - 245.0 / 1536 * std::sin(3 * k / 2) +
               49.0 / 2560 * std::sin(5 * k / 2) - 5.0 / 3584 * std::sin(7 * k / 2);
    };
    const auto smooth = [](double k) { return 1 - std::pow(std::sin(k / 2), 4); };
    const double filter = smooth(kx) * smooth(ky);
    const Example example("filtered_wave2d");
    example.give("start", {height, width}, start);
    for (const int steps : {25, first_phase, first_phase + 30}) {
        double p = 1, vx = 0, vy = 0;
        for (int step = 0; step < steps; ++step) {
            const double left = step < first_phase ? 1 : 1 / (1 + friction * dt);
            vx = (vx + dt * slope(kx) * p) * left;
            vy = (vy + dt * slope(ky) * p) * left;
            p -= dt * (slope(kx) * vx + slope(ky) * vy);
            const bool is_filtered = step < first_phase && (step + 1) % 10 == 0;
            for (double* amplitude : {&p, &vx, &vy})
                *amplitude *= is_filtered ? filter : 1;
        }
        example.run({"--grid", "32,24", "--steps", std::to_string(steps), "--no-files", "--load",
                     "p=start.npy", "--save", "p=p.npy"});
        const std::vector<double> found = example.saved("p");
        double largest = 0;
        for (std::size_t cell = 0; cell < found.size(); ++cell)
            largest = std::max(largest, std::abs(found[cell] - p * start[cell]));
        INFO("after " << steps << " steps: largest error " << largest << " of " << p);
        CHECK(largest < 1e-5);
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

TEST_CASE("sound in shale spreads as an ellipsoid where epsilon and delta are the same") {
    // With the axis across the layers stretched by sqrt(1 + 2 epsilon) it is the sound of all directions
    // alike.
    constexpr int n = 90, middle = 45, steps = 80;
    constexpr double v = 2000, epsilon = 0.3, dt = 0.001, spacing = 10, width = 50;
    const double stretch = std::sqrt(1 + 2 * epsilon);
    const Example example("vti3d");
    std::vector<double> start(n * n * n);
    const auto squared = [](double value) { return value * value; };
    for (int cell = 0; cell < n * n * n; ++cell) {
        const double r2 = squared((cell % n - middle) * spacing) +
                          squared((cell / n % n - middle) * spacing) +
                          squared((cell / n / n - middle) * spacing * stretch);
        start[static_cast<std::size_t>(cell)] = std::exp(-r2 / (width * width));
    }
    example.give("p", {n, n, n}, start);
    for (double& value : start)
        value /= stretch;  // p is sqrt(1 + 2 epsilon) times r
    example.give("r", {n, n, n}, start);
    example.give("v", {n, n, n}, std::vector<double>(n * n * n, v));
    for (const char* same : {"epsilon", "delta"})
        example.give(same, {n, n, n}, std::vector<double>(n * n * n, epsilon));
    std::vector<std::string> options{"--grid", "90,90,90", "--steps", std::to_string(steps), "--no-files"};
    for (const char* field : {"p", "r", "v", "epsilon", "delta"})
        options.insert(options.end(), {"--load", std::string(field) + "=" + field + ".npy"});
    options.insert(options.end(), {"--save", "p=p.npy", "--save", "r=r.npy"});
    example.run(options);
    const std::vector<double> p = example.saved("p"), r = example.saved("r");
    const double way = v * stretch * dt * (steps + 0.5);
    const auto exact = [&](double distance) {
        const auto part = [&](double s) { return s * std::exp(-(s * s) / (width * width)) / (2 * distance); };
        return part(distance - way) + part(distance + way);
    };
    double peak = 0, largest = 0, apart = 0;
    for (int away = 8; away < middle; ++away) {
        const auto along = static_cast<std::size_t>(middle + away + n * (middle + n * middle));
        const auto across = static_cast<std::size_t>(middle + n * (middle + n * (middle + away)));
        const auto aslant =
            static_cast<std::size_t>(middle + n * (middle + away / 2 + n * (middle + away / 2)));
        peak = std::max(peak, p[along]);
        largest = std::max(largest, std::abs(p[along] - exact(away * spacing)));
        if (away * stretch < middle)
            largest = std::max(largest, std::abs(p[across] - exact(away * spacing * stretch)));
        const double oblique = spacing * (away / 2) * std::sqrt(1 + stretch * stretch);
        largest = std::max(largest, std::abs(p[aslant] - exact(oblique)));
        apart = std::max(apart, std::abs(p[across] - stretch * r[across]));
    }
    INFO("largest error " << largest << ", peak " << peak << ", p and r apart by " << apart);
    CHECK(peak > 0.04);
    CHECK(largest < 0.01 * peak);
    CHECK(apart < 1e-4 * peak);
}

TEST_CASE("plane waves in shale run along its layers as epsilon says, and across them as ever") {
    constexpr int length = 120, wide = 60, steps = 50;
    constexpr double v = 2000, epsilon = 0.3, delta = 0.1, dt = 0.001, spacing = 10;
    const auto pulse = [](double s) { return std::exp(-(s * s) / (60 * 60)); };
    for (const bool is_along : {true, false}) {
        const std::vector<std::int64_t> shape = is_along ? std::vector<std::int64_t>{wide, wide, length}
                                                         : std::vector<std::int64_t>{length, wide, wide};
        const int stride = is_along ? 1 : wide * wide;
        const auto place = [&](int cell) {
            return (is_along ? cell % length : cell / wide / wide) * spacing;
        };
        constexpr int cells = length * wide * wide;
        std::vector<double> wave(cells), other(cells, 0.0);
        for (int cell = 0; cell < cells; ++cell)
            wave[static_cast<std::size_t>(cell)] = pulse(place(cell) - 600);
        // Along the layers p drives r and not the other way; across them it is r that drives p.
        const Example example("vti3d");
        example.give("p", shape, is_along ? wave : other);
        example.give("r", shape, is_along ? other : wave);
        example.give("v", shape, std::vector<double>(cells, v));
        example.give("epsilon", shape, std::vector<double>(cells, epsilon));
        example.give("delta", shape, std::vector<double>(cells, delta));
        std::vector<std::string> options{"--grid", is_along ? "120,60,60" : "60,60,120", "--steps",
                                         std::to_string(steps), "--no-files"};
        for (const char* field : {"p", "r", "v", "epsilon", "delta"})
            options.insert(options.end(), {"--load", std::string(field) + "=" + field + ".npy"});
        const char* field = is_along ? "p" : "r";
        options.insert(options.end(), {"--save", std::string(field) + "=" + field + ".npy"});
        example.run(options);
        const std::vector<double> u = example.saved(field);
        const double way = v * (is_along ? std::sqrt(1 + 2 * epsilon) : 1) * dt * (steps + 0.5);
        // In the middle, which nothing from the faces has reached.
        const int first = is_along ? length * (wide / 2 + wide * (wide / 2)) : wide / 2 + wide * (wide / 2);
        double largest = 0;
        for (int i = 30; i < 90; ++i) {
            const double s = i * spacing - 600, exact = (pulse(s - way) + pulse(s + way)) / 2;
            largest = std::max(largest, std::abs(u[static_cast<std::size_t>(first + stride * i)] - exact));
        }
        INFO((is_along ? "along: " : "across: ") << largest);
        CHECK(largest < 0.005);  // of 0.5
    }
}

TEST_CASE("liouville: after a quarter of a period a cloud is where it moved to, in its shape") {
    constexpr int n = 33;
    constexpr double spacing = 0.25, time = 1.57;
    const Example example("liouville");
    const nlohmann::json run = example.run({"--no-files", "--save", "f=f.npy"});
    const std::vector<double> f = example.saved("f");
    REQUIRE(f.size() == std::size_t{n} * n * n * n);
    const auto place = [](int index) { return (index % n) * spacing - 4; };
    double largest = 0, particles = 0;
    for (int cell = 0; cell < n * n * n * n; ++cell) {
        const double x = place(cell) - 2 * std::cos(time), y = place(cell / n);
        const double u = place(cell / n / n) + 2 * std::sin(time), v = place(cell / n / n / n);
        const double exact = std::exp(-2 * (x * x + y * y + u * u + v * v));
        largest = std::max(largest, std::abs(f[static_cast<std::size_t>(cell)] - exact));
        particles += exact;
    }
    INFO("largest error " << largest);
    CHECK(largest < 0.06);
    CHECK(run.at("reductions").at("particles").get<double>() == Approx(particles).epsilon(1e-4));
}
