#include "compiler/analysis/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halo::analysis {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kCluster = 1e-4;
constexpr int kMaxSweeps = 100;  // for one eigenvalue; two or three are usual

bool is_finite(const Matrix& matrix) {
    return std::all_of(matrix.elements.begin(), matrix.elements.end(), [](const Complex& element) {
        return std::isfinite(element.real()) && std::isfinite(element.imag());
    });
}

// Scales rows and columns by powers of two (a similarity) until they are of like size: fields of different
// units, as pressure and velocity, make entries that differ by many orders.
void balance(Matrix& a) {
    bool changed = true;
    for (int round = 0; changed && round < 64; ++round) {
        changed = false;
        for (std::size_t i = 0; i < a.size; ++i) {
            double row = 0, column = 0;
            for (std::size_t j = 0; j < a.size; ++j) {
                if (j == i) continue;
                row += std::abs(a.at(i, j));
                column += std::abs(a.at(j, i));
            }
            if (row == 0 || column == 0) continue;
            const double scale = std::exp2(std::round(std::log2(row / column) / 2));
            if (scale == 1 || (column * scale + row / scale) >= 0.95 * (column + row)) continue;
            changed = true;
            for (std::size_t j = 0; j < a.size; ++j) {
                a.at(i, j) /= scale;
                a.at(j, i) *= scale;
            }
        }
    }
}

// To upper Hessenberg form, by elimination with pivoting (a similarity).
void reduce(Matrix& a) {
    for (std::size_t k = 1; k + 1 < a.size; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < a.size; ++i)
            if (std::abs(a.at(i, k - 1)) > std::abs(a.at(pivot, k - 1))) pivot = i;
        if (a.at(pivot, k - 1) == Complex()) continue;
        if (pivot != k) {
            for (std::size_t j = 0; j < a.size; ++j)
                std::swap(a.at(pivot, j), a.at(k, j));
            for (std::size_t i = 0; i < a.size; ++i)
                std::swap(a.at(i, pivot), a.at(i, k));
        }
        for (std::size_t i = k + 1; i < a.size; ++i) {
            const Complex factor = a.at(i, k - 1) / a.at(k, k - 1);
            if (factor == Complex()) continue;
            for (std::size_t j = 0; j < a.size; ++j)
                a.at(i, j) -= factor * a.at(k, j);
            for (std::size_t r = 0; r < a.size; ++r)
                a.at(r, k) += factor * a.at(r, i);
        }
    }
}

// The eigenvalue of the last two rows and columns that is nearer to the last element.
Complex shift_of(const Matrix& a, std::size_t last) {
    const Complex p = a.at(last - 1, last - 1), q = a.at(last - 1, last), r = a.at(last, last - 1),
                  s = a.at(last, last);
    const Complex half = (p - s) / 2.0, root = std::sqrt(half * half + q * r);
    const Complex one = s + half + root, other = s + half - root;
    return std::abs(one - s) < std::abs(other - s) ? one : other;
}

// One QR step with a shift on rows and columns first … last of a Hessenberg matrix.
void sweep(Matrix& a, std::size_t first, std::size_t last, const Complex& shift) {
    std::vector<std::pair<Complex, Complex>> rotations;
    for (std::size_t i = first; i <= last; ++i)
        a.at(i, i) -= shift;
    for (std::size_t k = first; k < last; ++k) {
        const double length = std::hypot(std::abs(a.at(k, k)), std::abs(a.at(k + 1, k)));
        Complex c = 1, s = 0;
        if (length > 0) {
            c = a.at(k, k) / length;
            s = a.at(k + 1, k) / length;
        }
        for (std::size_t j = k; j <= last; ++j) {
            const Complex upper = a.at(k, j), lower = a.at(k + 1, j);
            a.at(k, j) = std::conj(c) * upper + std::conj(s) * lower;
            a.at(k + 1, j) = -s * upper + c * lower;
        }
        rotations.emplace_back(c, s);
    }
    for (std::size_t k = first; k < last; ++k) {
        const auto& [c, s] = rotations[k - first];
        for (std::size_t i = first; i <= std::min(k + 1, last); ++i) {
            const Complex left = a.at(i, k), right = a.at(i, k + 1);
            a.at(i, k) = left * c + right * s;
            a.at(i, k + 1) = -left * std::conj(s) + right * std::conj(c);
        }
    }
    for (std::size_t i = first; i <= last; ++i)
        a.at(i, i) += shift;
}

}  // namespace

std::vector<Complex> eigenvalues(Matrix a) {
    const std::size_t n = a.size;
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    if (!is_finite(a)) return std::vector<Complex>(n, Complex(kNaN, kNaN));
    balance(a);
    reduce(a);
    std::vector<Complex> found;
    std::size_t end = n;  // rows and columns before `end` are left
    int sweeps = 0;
    while (end > 0) {
        std::size_t first = end - 1;
        while (first > 0 &&
               std::abs(a.at(first, first - 1)) >
                   kEpsilon * (std::abs(a.at(first, first)) + std::abs(a.at(first - 1, first - 1)))) {
            --first;
        }
        if (first == end - 1 || sweeps == kMaxSweeps) {
            found.push_back(a.at(end - 1, end - 1));
            --end;
            sweeps = 0;
            continue;
        }
        ++sweeps;
        const bool stuck = sweeps % 10 == 0;
        const Complex shift = stuck ? a.at(end - 1, end - 1) + Complex(std::abs(a.at(end - 1, end - 2)), 0)
                                    : shift_of(a, end - 1);
        sweep(a, first, end - 1, shift);
    }
    return found;
}

double spectral_radius(const Matrix& matrix) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (!is_finite(matrix)) return kInfinity;
    if (matrix.size == 1) return std::abs(matrix.at(0, 0));
    const std::vector<Complex> values = eigenvalues(matrix);
    std::vector<bool> taken(values.size());
    double radius = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (taken[i]) continue;
        std::vector<std::size_t> cluster{i};
        taken[i] = true;
        for (std::size_t k = 0; k < cluster.size(); ++k) {
            for (std::size_t j = 0; j < values.size(); ++j) {
                const double near = kCluster * std::max(1.0, std::abs(values[i]));
                if (taken[j] || std::abs(values[j] - values[cluster[k]]) > near) continue;
                taken[j] = true;
                cluster.push_back(j);
            }
        }
        Complex sum;
        for (std::size_t member : cluster)
            sum += values[member];
        const double size = std::abs(sum) / static_cast<double>(cluster.size());
        radius = std::isfinite(size) ? std::max(radius, size) : kInfinity;
    }
    return radius;
}

}  // namespace halo::analysis
