// The same in C++.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

namespace app {

struct Grid {
    int nx, ny;
    double h;
};

// replaced: a lambda, a struct by reference, streams between the loops
void smooth(const Grid& grid, const double* __restrict u, double* __restrict w) {
    const int nx = grid.nx;
    const auto at = [nx](int i, int j) { return j * nx + i; };
    std::cout << "grid " << nx << " x " << grid.ny << "\n";
    for (int j = 1; j < grid.ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i)
            w[at(i, j)] = (u[at(i - 1, j)] + u[at(i + 1, j)]) / grid.h;
    std::cout << w[at(1, 1)] << std::endl;
}

// replaced: new[], std::swap, and the smallest value in float
float settle(int n, int steps) {
    float* a = new float[n];
    float* b = new float[n];
    for (int i = 0; i < n; ++i)
        a[i] = b[i] = static_cast<float>(i * 31 % 17);
    float least = 100;
    for (int t = 0; t < steps; ++t) {
        for (int i = 1; i < n - 1; ++i)
            b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        std::swap(a, b);
        for (int i = 1; i < n - 1; ++i)
            least = std::min(least, a[i]);
        std::printf("%a\n", static_cast<double>(least));
    }
    for (int i = 0; i < n; ++i)
        std::printf("%a ", static_cast<double>(a[i]));
    delete[] a;
    delete[] b;
    return least;
}

// replaced: flags
void mark(int n, const double* __restrict u, bool* __restrict flags) {
    for (int i = 1; i < n - 1; ++i)
        flags[i] = u[i] > u[i - 1] && !flags[i];
}

// replaced: a sum of whole numbers by reference
void count(int n, const double* __restrict u, long& found) {
    std::printf("%d\n", n);
    for (int i = 0; i < n; ++i)
        if (u[i] > 0) found += 2;
}

// replaced: vectors, and an array in a container of fixed size
double blend(std::vector<double>& a, std::array<double, 40>& b) {
    const std::array<double, 3> weight = {0.25, 0.5, 0.25};
    const int n = static_cast<int>(a.size());
    const std::vector<double> old = a;
    for (int i = 1; i < n - 1; ++i) {
        a[i] = 0;
        for (int k = 0; k < 3; ++k)
            a[i] += weight[k] * old[i + k - 1];
    }
    for (int i = 0; i < 40; ++i)
        b[i] = b[i] * 0.75;
    return a[2] + b[3];
}

}  // namespace app

int main() {
    double u[14 * 11], w[14 * 11];
    bool flags[14 * 11];
    for (int i = 0; i < 14 * 11; ++i) {
        u[i] = (i * 7919 % 1013) / 509.0 - 0.7;
        w[i] = 1;
        flags[i] = i % 3 == 0;
    }
    app::smooth({14, 11, 0.5}, u, w);
    app::mark(14 * 11, u, flags);
    std::vector<double> a(77);
    std::array<double, 40> b;
    for (int i = 0; i < 77; ++i)
        a[i] = u[i];
    for (int i = 0; i < 40; ++i)
        b[i] = w[i];
    std::printf("%a\n", app::blend(a, b));
    for (int i = 0; i < 77; ++i)
        std::printf("%a %a ", a[i], b[i % 40]);
    long found = 5;
    app::count(14 * 11, u, found);
    std::printf("%ld\n", found);
    const float least = app::settle(33, 4);
    for (int i = 0; i < 14 * 11; ++i)
        std::printf("%a %d ", w[i], flags[i]);
    std::printf("%a\n", static_cast<double>(least));
}
