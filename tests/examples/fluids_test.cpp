// Lattice Boltzmann flows: against the parabola of a channel and the published profiles of a driven cavity.
#include <cmath>
#include <utility>

#include "catch.h"
#include "example.h"

using namespace halo::test;

TEST_CASE("the flow through a channel is a parabola") {
    constexpr int nx = 4, ny = 18, width = ny - 2;
    const Example example("poiseuille2d");
    const double force = 1e-5, viscosity = std::sqrt(3.0) / 12;
    // The slowest disturbance decays as exp(-viscosity (pi / width)^2 t): by 1e-12 in these steps.
    example.run({"--grid", "4,18", "--steps", "5000", "--no-files", "--save", "velocity=velocity.npy"});
    const std::vector<double> velocity = example.saved("velocity");
    REQUIRE(velocity.size() == nx * ny * 2);
    const double fastest = force * width * width / (8 * viscosity);
    for (int j = 1; j < ny - 1; ++j) {
        // Walls are half way between the outermost cells and their neighbours. With this relaxation time,
        // the scheme's parabola is the exact one; what is left is of the order of (velocity)^3.
        const double y = j - 0.5;
        const double exact = force / (2 * viscosity) * y * (width - y);
        for (int i = 0; i < nx; ++i) {
            INFO("cell " << i << ", " << j);
            CHECK(velocity[(j * nx + i) * 2] == Approx(exact).epsilon(1e-5));
            CHECK(std::abs(velocity[(j * nx + i) * 2 + 1]) < 1e-9 * fastest);
        }
    }
}

TEST_CASE("the flow through a square duct is the series of Boussinesq") {
    constexpr int nx = 2, n = 18, width = n - 2;
    const Example example("duct3d");
    const double force = 1e-5, viscosity = 0.1, half = width / 2.0;
    // The slowest disturbance decays as exp(-2 viscosity (pi / width)^2 t): by 1e-7 in these steps.
    example.run({"--grid", "2,18,18", "--steps", "2000", "--no-files", "--save", "velocity=velocity.npy"});
    const std::vector<double> velocity = example.saved("velocity");
    REQUIRE(velocity.size() == nx * n * n * 3);
    const auto exact = [&](double y, double z) {
        double sum = 0;
        for (int m = 1; m < 60; m += 2) {
            const double rate = m * kPi / (2 * half), sign = m % 4 == 1 ? 1 : -1;
            sum +=
                sign * (1 - std::cosh(rate * z) / std::cosh(rate * half)) * std::cos(rate * y) / (m * m * m);
        }
        return 16 * force * half * half / (viscosity * kPi * kPi * kPi) * sum;
    };
    const double fastest = exact(0, 0);
    CHECK(fastest == Approx(0.07367 * force * width * width / viscosity).epsilon(1e-3));
    for (int k = 1; k < n - 1; ++k) {
        for (int j = 1; j < n - 1; ++j) {
            INFO("cell " << j << ", " << k);
            const double found = velocity[((k * n + j) * nx) * 3];
            // Second order in the spacing: 1/16 of the width.
            CHECK(found == Approx(exact(j - 0.5 - half, k - 0.5 - half)).margin(0.004 * fastest));
        }
    }
}

TEST_CASE("the flow in a driven cavity is as Ghia, Ghia and Shin published for Reynolds number 100") {
    constexpr int n = 66, side = 64;
    const Example example("cavity2d");
    example.run({"--no-files", "--save", "velocity=velocity.npy"});
    const std::vector<double> velocity = example.saved("velocity");
    REQUIRE(velocity.size() == n * n * 2);
    // Component c at a place in units of the side, over the lid's speed; linear between cells.
    const auto at = [&](double x, double y, int c) {
        const double column = x * side + 0.5, row = y * side + 0.5;
        const int i = static_cast<int>(column), j = static_cast<int>(row);
        const double a = column - i, b = row - j;
        const auto cell = [&](int k, int l) { return velocity[(l * n + k) * 2 + c] / 0.1; };
        return (1 - b) * ((1 - a) * cell(i, j) + a * cell(i + 1, j)) +
               b * ((1 - a) * cell(i, j + 1) + a * cell(i + 1, j + 1));
    };
    // J. Comput. Phys. 48 (1982) 387, tables I and II.
    constexpr std::pair<double, double> kAlongX[] = {
        {0.0547, -0.03717}, {0.1016, -0.06434}, {0.1719, -0.10150}, {0.2813, -0.15662}, {0.4531, -0.21090},
        {0.5, -0.20581},    {0.6172, -0.13641}, {0.7344, 0.00332},  {0.8516, 0.23151},  {0.9531, 0.68717},
        {0.9609, 0.73722},  {0.9688, 0.78871},  {0.9766, 0.84123}};
    constexpr std::pair<double, double> kAlongY[] = {
        {0.0625, 0.09233},  {0.0938, 0.12317},  {0.1563, 0.16077},  {0.2344, 0.17527},  {0.5, 0.05454},
        {0.8047, -0.24533}, {0.8594, -0.22445}, {0.9063, -0.16914}, {0.9453, -0.10313}, {0.9688, -0.05906}};
    // The lid has a sixth of the speed of sound, so the fluid is compressed by half a percent.
    for (const auto& [y, expected] : kAlongX) {
        INFO("u at y = " << y);
        CHECK(at(0.5, y, 0) == Approx(expected).margin(0.007));
    }
    for (const auto& [x, expected] : kAlongY) {
        INFO("v at x = " << x);
        CHECK(at(x, 0.5, 1) == Approx(expected).margin(0.007));
    }
}

TEST_CASE("the flow under a lid that slides over a cube") {
    constexpr std::size_t n = 32;
    Example example("cavity3d");
    example.use_one_thread();
    const nlohmann::json result =
        example.run({"--no-files", "--save", "u=u.npy", "--save", "w=w.npy", "--save", "v=v.npy"});
    CHECK(double(result["reductions"]["residual"]) < 1e-6);
    const std::vector<double> u = example.saved("u"), v = example.saved("v"), w = example.saved("w");
    REQUIRE(u.size() == n * n * n);
    const auto at = [&](const std::vector<double>& field, std::size_t x, std::size_t y, std::size_t z) {
        return field[x + n * (y + n * z)];
    };
    double back = 0, divergence = 0;
    for (std::size_t z = 1; z < n; ++z) {
        back = std::min(back, at(u, n / 2 - 1, n / 2, z));
        for (std::size_t y = 1; y < n; ++y)
            for (std::size_t x = 1; x < n; ++x)
                divergence =
                    std::max(divergence, std::abs(at(u, x, y, z) - at(u, x - 1, y, z) + at(v, x, y, z) -
                                                  at(v, x, y - 1, z) + at(w, x, y, z) - at(w, x, y, z - 1)));
    }
    CHECK(back == Approx(-0.2157).epsilon(0.03));
    CHECK(divergence < 1e-5);
    for (std::size_t z = 0; z < n; ++z)  // no flow through the walls
        CHECK(at(u, n - 1, 5, z) == 0);
}

TEST_CASE("smoke thins out downwind as a profile of the wind and a map of the shelter say") {
    constexpr int nx = 40, ny = 12, nz = 6;
    const Example example("valley_plume");
    std::vector<double> wind, shelter;
    for (int k = 0; k < nz; ++k)
        wind.push_back(4 + 2.0 * k);
    for (int n = 0; n < nx * ny; ++n)
        shelter.push_back(0.5 * std::sin(0.1 * (n % nx)) * std::sin(0.1 * (n % nx)) + 0.02 * (n / nx));
    example.give("wind", {nz}, wind);
    example.give("shelter", {ny, nx}, shelter);
    example.run({"--grid", "40,12,6", "--steps", "600", "--set", "mixing=0", "--set", "stack_y=300",
                 "--no-files", "--load", "wind=wind.npy", "--load", "shelter=shelter.npy", "--save",
                 "smoke=smoke.npy"});
    const std::vector<double> smoke = example.saved("smoke");
    // Behind the three cells of the stack, as much flows through each cell as they give off.
    constexpr double given = 3 * 50;
    constexpr int j = 6, k = 3;
    double largest = 0;
    for (int i = 10; i < nx; ++i) {
        const double flux = wind[k] * (1 - shelter[static_cast<std::size_t>(i + nx * j)]) *
                            smoke[static_cast<std::size_t>(i + nx * (j + ny * k))];
        largest = std::max(largest, std::abs(flux - given));
    }
    INFO("largest error " << largest << " of " << given);
    CHECK(largest < 1e-4 * given);
}
