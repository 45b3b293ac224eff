// C++ functions that do other things besides.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace app {

struct Grid {
    int nx, ny;
    double h;
};

// case smooth_and_print nests 2: output by streams, a lambda and a struct of the function
void smooth_and_print(int nx, int ny, const double* __restrict u, double* __restrict w) {
    Grid grid{nx, ny, 0.5};
    const auto at = [nx](int i, int j) { return j * nx + i; };
    std::cout << "grid " << nx << " x " << ny << "\n";
    for (int j = 1; j < ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i)
            w[at(i, j)] = (u[at(i - 1, j)] + u[at(i + 1, j)]) / grid.h;
    std::cout << w[at(1, 1)] << std::endl;
    for (int j = 0; j < grid.ny; ++j)
        for (int i = 0; i < grid.nx; ++i)
            w[j * grid.nx + i] *= grid.h;
    std::cout << w[at(1, 1)] << std::endl;
}

// case owned_by_new nests 2: new[], std::swap
double owned_by_new(int n, int steps) {
    double* a = new double[n];
    double* b = new double[n];
    for (int i = 0; i < n; ++i)
        a[i] = b[i] = std::exp(-0.01 * (i - 20) * (i - 20));
    double sum = 0;
    for (int t = 0; t < steps; ++t) {
        for (int i = 1; i < n - 1; ++i)
            b[i] = 0.5 * (a[i - 1] + a[i + 1]);
        std::swap(a, b);
        sum += a[n / 2];
    }
    delete[] a;
    delete[] b;
    return sum;
}

// case by_reference nests 1: a sum into a number by reference
void by_reference(int n, const double* __restrict u, double& total) {
    std::printf("%d\n", n);
    for (int i = 0; i < n; ++i)
        total += u[i] * u[i];
}

// case counts_by_reference nests 1: a count into a long by reference
void counts_by_reference(int n, const double* __restrict u, long& found) {
    std::printf("%d\n", n);
    for (int i = 0; i < n; ++i)
        if (u[i] > 0) found += 2;
}

// case sets_reference nests 1: a number by reference that is set besides
void sets_reference(int n, const double* __restrict u, double* __restrict w, int& last) {
    for (int i = 0; i < n; ++i)
        w[i] = u[i];
    last = n;
}

// case second_name nests 0 refused: by another name: a sum that has a second name
double second_name(int n, const double* __restrict u, double* __restrict w) {
    double sum = 0;
    const double& now = sum;
    for (int i = 0; i < n; ++i) {
        sum += u[i];
        w[i] = now;
    }
    return sum;
}

// case copied_before nests 0 refused: which function this calls: a lambda that has copied what has changed
// since
void copied_before(int n, const double* __restrict u, double* __restrict w) {
    int shift = 1;
    const auto at = [shift](int i) { return i + shift; };
    shift = 2;
    std::printf("%d\n", shift);
    for (int i = 0; i < n - 1; ++i)
        w[i] = u[at(i)];
}

}  // namespace app
