// Eigenvalues of small complex matrices (a few tens of rows), as stability needs them.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace halo::analysis {

using Complex = std::complex<double>;

struct Matrix {  // square, row-major
    explicit Matrix(std::size_t rows) : size(rows), elements(rows * rows) {}
    Complex& at(std::size_t row, std::size_t column) { return elements[row * size + column]; }
    const Complex& at(std::size_t row, std::size_t column) const { return elements[row * size + column]; }

    std::size_t size;
    std::vector<Complex> elements;
};

// In no particular order; NaN where the matrix holds something that is not finite.
std::vector<Complex> eigenvalues(Matrix matrix);

// The largest absolute value of an eigenvalue. Rounding parts a multiple eigenvalue by far more than it moves
// the mean of the parts (by its root, where the matrix is defective, as that of leapfrog is for a wave of no
// length), so eigenvalues closer than 1e-4 count as their mean. Infinite where the matrix is not finite.
double spectral_radius(const Matrix& matrix);

}  // namespace halo::analysis
