// Styles of C++.
#include <algorithm>
#include <cstddef>
#include <utility>

// case lambda_index: a lambda for the index
void lambda_index(int nx, int ny, const double* __restrict u, double* __restrict w) {
    auto at = [nx](int i, int j) { return i + nx * j; };
    for (int j = 1; j < ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i)
            w[at(i, j)] = u[at(i, j)] + 0.25 * (u[at(i - 1, j)] + u[at(i + 1, j)] + u[at(i, j - 1)] +
                                                u[at(i, j + 1)] - 4 * u[at(i, j)]);
}

// case lambda_formula: a lambda for the formula, which sees all around it
void lambda_formula(int n, const float* __restrict u, float* __restrict w, float a) {
    const auto slope = [&](int i) { return a * (u[i + 1] - u[i - 1]); };
    for (int i = 2; i < n - 2; ++i)
        w[i] = slope(i + 1) - slope(i - 1);
}

template <class T>
inline T square(T v) {
    return v * v;
}

// case template_helper: a template that is called
void template_helper(int n, const double* __restrict u, double* __restrict w) {
    for (int i = 1; i < n - 1; ++i)
        w[i] = square(u[i + 1] - u[i - 1]) / 4;
}

// case references: numbers and arrays by reference
void references(const int& n, const double& dt, double (&__restrict u)[32], double (&__restrict w)[32]) {
    for (int i = 1; i < 31; ++i)
        w[i] = u[i] + dt * (u[i + 1] - u[i - 1]);
    (void)n;
}

// case std_swap --no-alias: std::swap
void std_swap(double* a, double* b, int n, int steps) {
    for (int s = 0; s < steps; ++s) {
        for (int i = 1; i < n - 1; ++i)
            b[i] = (a[i - 1] + a[i + 1]) / 2;
        std::swap(a, b);
    }
}

// case clamped: std::min and std::max
void clamped(int n, const double* __restrict u, double* __restrict w) {
    for (int i = 1; i < n - 1; ++i)
        w[i] = std::min(1.0, std::max(-1.0, u[i - 1] - u[i + 1]));
}

namespace physics {
constexpr double kappa = 0.4;
enum { kGhost = 2 };

// case ghost_cells: constants of a namespace, size_t as the index
void ghost_cells(std::size_t n, const double* __restrict u, double* __restrict w) {
    for (std::size_t i = kGhost; i < n - kGhost; ++i)
        w[i] = kappa * (-u[i - 2] + 16 * u[i - 1] - 30 * u[i] + 16 * u[i + 1] - u[i + 2]) / 12;
}
}  // namespace physics

// case flags: fields of true and false
void flags(int n, const bool* __restrict wet, const double* __restrict h, bool* __restrict next) {
    for (int i = 1; i < n - 1; ++i)
        next[i] = wet[i] || (h[i - 1] > 0.1 && wet[i - 1]) || (h[i + 1] > 0.1 && wet[i + 1]);
}

// case thresholds: bytes
void thresholds(int nx, int ny, const float* __restrict u, unsigned char* __restrict mark) {
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
            mark[j * nx + i] = u[j * nx + i] > 0.5f ? 255 : 0;
}

// case checkerboard: cells of one colour
void checkerboard(int nx, int ny, const double* __restrict f, double* __restrict w) {
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
            if ((i + j) % 2 == 0) w[j * nx + i] = 2 * f[j * nx + i];
}

struct Cells {
    double* value;
    double operator[](int i) const { return value[i]; }
};
// case class_operator: arrays behind a class
void class_operator(int n, Cells u, double* __restrict w) {
    for (int i = 0; i < n; ++i)
        w[i] = u[i];
}

// case casts: the casts of C++, and numbers that are true or false
void casts(int n, const double* __restrict u, double* __restrict w) {
    const double* from = const_cast<const double*>(u);
    double* to = reinterpret_cast<double*>(w);
    const bool scaled = true;
    for (int i = 0; i < n; ++i)
        to[i] = scaled ? from[i] * double(3) : from[i];
}

// case number_of_template: a number that a template is made for
template <int Width>
double window(const double* u, int i) {
    double sum = 0;
    for (int k = -Width; k <= Width; ++k)
        sum += u[i + k];
    return sum;
}
void number_of_template(int n, const double* __restrict u, double* __restrict w) {
    for (int i = 2; i < n - 2; ++i)
        w[i] = window<2>(u, i);
}

// case likely: attributes of a statement
void likely(int n, const double* __restrict u, double* __restrict w) {
    for (int i = 0; i < n; ++i) {
        if (u[i] > 1) [[unlikely]] {
            w[i] = 1;
        } else {
            w[i] = u[i];
        }
    }
}
