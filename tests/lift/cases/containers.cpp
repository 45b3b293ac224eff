// Arrays in the containers of C++.
#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

// case vectors --no-alias: vectors by reference
void vectors(int nx, int ny, const std::vector<double>& u, std::vector<double>& w) {
    for (int j = 1; j < ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i)
            w[j * nx + i] =
                0.25 * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i] + u[(j + 1) * nx + i]);
}

// case own_vectors nests 3: vectors of the function, which never overlap, and are swapped between the loops
double own_vectors(int n, int steps) {
    std::vector<float> now(n, 1.0f), next(n);
    for (int i = 0; i < n; ++i)
        now[i] = i * 0.5f;
    float largest = 0;
    for (int t = 0; t < steps; ++t) {
        for (int i = 1; i < n - 1; ++i)
            next[i] = 0.5f * (now[i - 1] + now[i + 1]);
        std::swap(now, next);
        largest = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
            largest = std::max(largest, now[i]);
        if (largest < 1) break;
    }
    return largest;
}

// case fixed_arrays --no-alias: std::array in two dimensions
void fixed_arrays(const std::array<std::array<double, 24>, 20>& u,
                  std::array<std::array<double, 24>, 20>& w) {
    for (int j = 1; j < 19; ++j)
        for (int i = 1; i < 23; ++i)
            w[j][i] = u[j][i - 1] - 2 * u[j][i] + u[j][i + 1];
}

// case weights_in_array: weights in a constant std::array
void weights_in_array(int n, const double* __restrict u, double* __restrict w) {
    for (int i = 1; i < n - 1; ++i) {
        const std::array<double, 3> weight = {0.25, 0.5, 0.25};
        double sum = 0;
        for (int k = 0; k < 3; ++k)
            sum += weight[k] * u[i + k - 1];
        w[i] = sum;
    }
}

// case copied_vector nests 1: a copy of a vector, which is made before the loop
void copied_vector(int n, std::vector<double>& u) {
    std::vector<double> old = u;
    for (int i = 1; i < n - 1; ++i)
        u[i] = 0.5 * (old[i - 1] + old[i + 1]);
}

namespace {
class Plane {
public:
    void smooth(double weight);
    int columns() const { return columns_; }
    double& operator()(int i, int j) { return now_[j * columns_ + i]; }

private:
    int rows_, columns_;
    std::vector<double> now_, next_;
};

// case Plane::smooth: vectors that are members, which never overlap
void Plane::smooth(double weight) {
    for (int j = 0; j < rows_; ++j)
        for (int i = 1; i < columns() - 1; ++i)
            next_[j * columns_ + i] = weight * (now_.data()[j * columns_ + i - 1] + (*this)(i + 1, j));
}
}  // namespace

// case vector_by_value --no-alias nests 1: a vector whose new values nobody sees
void vector_by_value(int n, const std::vector<double>& u, std::vector<double> w) {
    for (int i = 0; i < n; ++i)
        w[i] = u[i];
}

// case checked_element --no-alias refused: `std::vector<double>::at` of the library: an access that may throw
void checked_element(int n, const std::vector<double>& u, std::vector<double>& w) {
    for (int i = 0; i < n; ++i)
        w.at(i) = u[i];
}

// case same_vector refused: may be the same memory: two references to vectors
void same_vector(int n, const std::vector<double>& u, std::vector<double>& w) {
    for (int i = 1; i < n - 1; ++i)
        w[i] = u[i - 1] + u[i + 1];
}
