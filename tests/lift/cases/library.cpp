// C++ functions that use more of its library. What a file includes is read anew for each of its functions, so
// they have one of their own.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

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

}  // namespace app
