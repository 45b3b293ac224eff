#include <algorithm>
#include <cmath>
#include <cstdint>

#include "catch.h"
#include "compiler/analysis/eigenvalues.h"

using namespace halo::analysis;

namespace {

Matrix matrix(std::vector<Complex> elements) {
    Matrix result(static_cast<std::size_t>(std::lround(std::sqrt(elements.size()))));
    result.elements = std::move(elements);
    return result;
}

// How far the found values are from those given, each matched with its nearest.
double distance(std::vector<Complex> found, const std::vector<Complex>& expected) {
    double largest = found.size() == expected.size() ? 0 : INFINITY;
    for (const Complex& value : expected) {
        auto nearest = std::min_element(found.begin(), found.end(), [&](const Complex& a, const Complex& b) {
            return std::abs(a - value) < std::abs(b - value);
        });
        if (nearest == found.end()) return INFINITY;
        largest = std::max(largest, std::abs(*nearest - value));
        found.erase(nearest);
    }
    return largest;
}

double random_part(std::uint64_t& state) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 33) / 4294967296.0 - 0.25;
}

}  // namespace

TEST_CASE("eigenvalues of matrices whose values are known") {
    CHECK(distance(eigenvalues(matrix({3.0})), {3.0}) == 0);
    CHECK(distance(eigenvalues(matrix({0, -1, 1, 0})), {Complex(0, 1), Complex(0, -1)}) < 1e-15);
    CHECK(distance(eigenvalues(matrix({2, 0, 0, 1, 2, 0, 5, 4, 3})), {2, 2, 3}) < 1e-7);
    // The companion matrix of (x - 1) (x - 2) (x - 3) (x - 4).
    CHECK(distance(eigenvalues(matrix({10, -35, 50, -24, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0})),
                   {1, 2, 3, 4}) < 1e-11);
    // A rotation of four: the fourth roots of 1, on which shifts by the last element stand still.
    CHECK(distance(eigenvalues(matrix({0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0})),
                   {1, -1, Complex(0, 1), Complex(0, -1)}) < 1e-14);
}

TEST_CASE("eigenvalues of random matrices have their sum and sum of squares") {
    std::uint64_t state = 7;
    for (std::size_t n = 2; n <= 24; ++n) {
        Matrix a(n);
        for (Complex& element : a.elements) {
            const double real = random_part(state);
            element = Complex(real, random_part(state));
        }
        Complex trace, squares, sum, sum_of_squares;
        for (std::size_t i = 0; i < n; ++i) {
            trace += a.at(i, i);
            for (std::size_t j = 0; j < n; ++j)
                squares += a.at(i, j) * a.at(j, i);
        }
        for (const Complex& value : eigenvalues(a)) {
            sum += value;
            sum_of_squares += value * value;
        }
        INFO(n);
        CHECK(std::abs(sum - trace) < 1e-12 * static_cast<double>(n));
        CHECK(std::abs(sum_of_squares - squares) < 1e-11 * static_cast<double>(n));
    }
}

TEST_CASE("units do not spoil the spectral radius") {
    // Pressure and velocity of a wave at rest and at the highest frequency that is stable.
    for (const double unit : {1.0, 1e9, 1e-9}) {
        CHECK(spectral_radius(matrix({1, 0, 0, 1})) == Approx(1).margin(1e-12));
        const double c = 1.999999;
        CHECK(spectral_radius(matrix({1, -c * unit, c / unit, 1 - c * c})) == Approx(1).margin(1e-9));
    }
}

TEST_CASE("a defective eigenvalue counts as it is") {
    CHECK(std::abs(spectral_radius(matrix({2, -1, 1, 0})) - 1) < 1e-12);
    CHECK(std::abs(spectral_radius(matrix({3, -3, 1, 1, 0, 0, 0, 1, 0})) - 1) < 1e-9);
    CHECK(spectral_radius(matrix({Complex(NAN, 0), 0, 0, 1})) == INFINITY);
}
