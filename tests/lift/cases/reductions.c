// Sums, largest and smallest values over cells, that the function goes on with.
#include <math.h>
#include <stddef.h>

#define AT(a, i, j) (a)[(size_t)(j) * nx + (i)]

// case norm nests 1: the norm of an array
double norm(int nx, int ny, const double *u) {
    double s = 0;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) s += AT(u, i, j) * AT(u, i, j);
    return sqrt(s / (nx * ny));
}

// case strict_norm --strict-fp nests 0 refused: in another order: a sum of which every bit is to be the same
double strict_norm(int n, const double *u) {
    double s = 0;
    for (int i = 0; i < n; i++) s += u[i] * u[i];
    return sqrt(s);
}

// case strict_largest --strict-fp nests 1: the largest value is the same in any order
double strict_largest(int n, const double *u) {
    double m = -1e300;
    for (int i = 0; i < n; i++) m = m > u[i] ? m : u[i];
    return m;
}

// case largest_change nests 1: an update, and the largest change that it makes
double largest_change(int nx, int ny, const double *restrict u, double *restrict w) {
    double largest = 0;
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            AT(w, i, j) = 0.25 * (AT(u, i - 1, j) + AT(u, i + 1, j) + AT(u, i, j - 1) + AT(u, i, j + 1));
            largest = fmax(largest, fabs(AT(w, i, j) - AT(u, i, j)));
        }
    return largest;
}

// case extremes nests 1: two ifs, for the largest and the smallest value
void extremes(int n, const float *u, float *low, float *high) {
    float least = u[0], most = u[0];
    for (int i = 1; i < n; ++i) {
        if (u[i] < least) least = u[i];
        if (most < u[i]) most = u[i];
    }
    *low = least;
    *high = most;
}

// case wet_cells nests 1: how many cells are wet, what they hold, and the deepest of them
double wet_cells(int nx, int ny, const int *restrict dry, const double *restrict depth) {
    int count = 0, i, j;
    double volume = 0, deepest = 0;
    for (j = 0; j < ny; j++)
        for (i = 0; i < nx; i++) {
            if (AT(dry, i, j)) continue;
            count++;
            volume += 0.5 * AT(depth, i, j);
            deepest = AT(depth, i, j) > deepest ? AT(depth, i, j) : deepest;
        }
    return count ? volume / count / deepest : 0;
}

// case float_sum nests 1: a sum in float of differences, less another one
float float_sum(int n, const float *u, const float *v) {
    float total = 1.0f;
    for (int i = 1; i < n - 1; i++) {
        total += (u[i + 1] - u[i - 1]) * v[i];
        total -= u[i];
    }
    return total;
}

// case jacobi_until nests 2: iterations until the residual is small
int jacobi_until(int n, double *restrict u, double *restrict v, const double *restrict f, double tolerance) {
    double residual = tolerance + 1;
    int rounds;
    for (rounds = 0; residual > tolerance && rounds < 60; rounds++) {
        residual = 0;
        for (int i = 1; i < n - 1; i++) {
            v[i] = 0.5 * (u[i - 1] + u[i + 1] - f[i]);
            double d = v[i] - u[i];
            residual += d * d;
        }
        for (int i = 1; i < n - 1; i++) u[i] = v[i];
    }
    return rounds;
}

// case filtered_sum nests 1: a small filter in each cell, and the sum of it
double filtered_sum(int n, const double *u) {
    const double weight[3] = {0.25, 0.5, 0.25};
    double total = 0;
    for (int i = 1; i < n - 1; i++) {
        double smooth = 0;
        for (int k = -1; k <= 1; k++) smooth += weight[k + 1] * u[i + k];
        total += smooth * smooth;
    }
    return total;
}

// case mean_of_rows nests 0 refused: carried from cell to cell: a sum that is stored cell by cell
double mean_of_rows(int n, const double *restrict u, double *restrict w) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += u[i];
        w[i] = sum / (i + 1);
    }
    return sum;
}

// case where_largest nests 0 refused: more than the loops: where the largest value is
int where_largest(int n, const double *u) {
    int at = 0;
    for (int i = 1; i < n; i++)
        if (u[i] > u[at]) at = i;
    return at;
}

// case product nests 0 refused: read after it: a product over cells
double product(int n, const double *u) {
    double all = 1;
    for (int i = 0; i < n; i++) all *= u[i];
    return all;
}

// case alternating nests 0 refused: read after it: sums and smallest values in one
double alternating(int n, const double *u) {
    double value = 0;
    for (int i = 0; i < n; i++) {
        value += u[i];
        value = fmin(value, 10.0);
    }
    return value;
}
