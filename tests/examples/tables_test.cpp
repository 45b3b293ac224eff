// Sums over tables against the same sums in f64.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

constexpr double kPerRow = 0x1p-23;  // rounding of one term and one addition in f32, about

// Numbers within [-1, 1] that look random, each a float.
double noise(int n) {
    const double x = std::sin(12.9898 * n) * 43758.5453;
    return static_cast<float>(2 * (x - std::floor(x)) - 1);
}

}  // namespace

TEST_CASE("coulomb is the sum of q / r over the charges") {
    const Example example("coulomb");
    const int atoms = 500;
    const double h = 0.25;
    std::vector<double> rows;
    for (int a = 0; a < atoms; ++a)
        for (int column = 0; column < 4; ++column)
            rows.push_back(noise(4 * a + column) * (column == 3 ? 1 : 4));
    example.give("atoms", {atoms, 4}, rows);
    example.run({"--grid", "33,17,9", "--load", "atoms=atoms.npy", "--save", "potential=potential.npy",
                 "--no-files"});
    const std::vector<double> potential = example.saved("potential");
    REQUIRE(potential.size() == 33 * 17 * 9);
    double worst = 0;
    for (int k = 0; k < 9; ++k) {
        for (int j = 0; j < 17; ++j) {
            for (int i = 0; i < 33; ++i) {
                const double x = i * h - 16.0625, y = j * h - 8.0625, z = k * h - 4.0625;
                double sum = 0, size = 0;
                for (int a = 0; a < atoms; ++a) {
                    const double term = rows[4 * a + 3] /
                                        std::hypot(x - rows[4 * a], y - rows[4 * a + 1], z - rows[4 * a + 2]);
                    sum += term;
                    size += std::abs(term);
                }
                const double got = potential[static_cast<std::size_t>(i + 33 * (j + 17 * k))];
                worst = std::max(worst, std::abs(got - sum) / size);
            }
        }
    }
    CHECK(worst < 16 * kPerRow);
}

TEST_CASE("no charges make no potential, and the rows may be text") {
    const Example example("coulomb");
    example.give("atoms", {0, 4}, {});
    example.run(
        {"--grid", "8,4,2", "--load", "atoms=atoms.npy", "--save", "potential=potential.npy", "--no-files"});
    for (double value : example.saved("potential"))
        CHECK(value == 0);
}

TEST_CASE("mri_fhd is the adjoint transform of the samples") {
    const Example example("mri_fhd");
    const int samples = 300;
    std::vector<double> rows;
    for (int s = 0; s < samples; ++s)
        for (int column = 0; column < 7; ++column)
            rows.push_back(noise(7 * s + column) * (column < 3 ? 16 : 1));
    example.give("samples", {samples, 7}, rows);
    example.run({"--grid", "24,10,3", "--load", "samples=samples.npy", "--save", "rfhd=rfhd.npy", "--save",
                 "ifhd=ifhd.npy", "--no-files"});
    const std::vector<double> real = example.saved("rfhd"), imaginary = example.saved("ifhd");
    double worst = 0;
    for (int n = 0; n < 24 * 10 * 3; ++n) {
        const double x = n % 24 / 64.0 - 0.5, y = n / 24 % 10 / 64.0 - 0.5, z = n / 240 / 64.0 - 1 / 32.0;
        double re = 0, im = 0, size = 0;
        for (int s = 0; s < samples; ++s) {
            const double* row = &rows[static_cast<std::size_t>(7 * s)];
            const double phase = 2 * kPi * (row[0] * x + row[1] * y + row[2] * z);
            const double rmu = row[3] * row[5] + row[4] * row[6], imu = row[3] * row[6] - row[4] * row[5];
            re += rmu * std::cos(phase) - imu * std::sin(phase);
            im += imu * std::cos(phase) + rmu * std::sin(phase);
            // The phase is rounded, too: up to 2 pi * 24 radians.
            size += std::hypot(rmu, imu) * (1 + std::abs(phase));
        }
        const auto cell = static_cast<std::size_t>(n);
        worst = std::max({worst, std::abs(real[cell] - re) / size, std::abs(imaginary[cell] - im) / size});
    }
    CHECK(worst < 16 * kPerRow);
}

TEST_CASE("mri_fhd's own run finds the two spots of its object, and no imaginary part") {
    const Example example("mri_fhd");
    example.run({"--save", "rfhd=rfhd.npy", "--save", "ifhd=ifhd.npy", "--no-files"});
    const std::vector<double> real = example.saved("rfhd"), imaginary = example.saved("ifhd");
    const auto at = [&](const std::vector<double>& field, double x, double y) {
        const auto i = static_cast<std::size_t>(std::lround((x + 0.5) * 64));
        const auto j = static_cast<std::size_t>(std::lround((y + 0.5) * 64));
        return field[i + 64 * j + std::size_t{64} * 64 * 2];
    };
    const double highest = *std::max_element(real.begin(), real.end());
    CHECK(at(real, -0.15, 0.2) > 0.9 * highest);
    CHECK(at(real, 0.2, 0.1) > 0.3 * highest);
    CHECK(std::abs(at(real, -0.3, -0.3)) < 0.05 * highest);
    for (double value : imaginary)
        REQUIRE(std::abs(value) < 0.05 * highest);
}
