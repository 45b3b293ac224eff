// Boxes whose bounds are parameters, radii that the user gives, and short windows around a cell.
#include <math.h>
#define HALO 3
#define MASK 5

// case inner_box: as many cells are left out at each edge as a parameter says
void inner_box(int x, int y, int depth, const double *restrict u, double *restrict r) {
    for (int j = depth; j < y - depth; j++)
        for (int i = depth; i < x - depth; i++) {
            const int c = i + j * x;
            r[c] = u[c] - 0.25 * (u[c - 1] + u[c + 1] + u[c - x] + u[c + x]);
        }
}

// case inner_box_of_two --assume depth=2: the same, for one value of the parameter
void inner_box_of_two(int x, int y, int depth, const double *restrict u, double *restrict r) {
    for (int j = depth; j < y - depth; j++)
        for (int i = depth; i < x - depth; i++) {
            const int c = i + j * x;
            r[c] = u[c] - 0.25 * (u[c - 1] + u[c + 1] + u[c - x] + u[c + x]);
        }
}

// case first_to_last: both ends of each loop are parameters, and rows have a length of their own
void first_to_last(int x_min, int x_max, int y_min, int y_max, int ld, const float *restrict u, float *restrict w) {
    for (int k = y_min; k <= y_max; k++)
        for (int j = x_min; j <= x_max; j++)
            w[k * ld + j] = 0.5f * (u[k * ld + j - 1] + u[(k + 1) * ld + j]);
}

// case chunk: depths that add up, of arrays that are longer than the grid by them
void chunk(int nx, int ny, int halo, const double *restrict p, const double *restrict kx, double *restrict q) {
    const int row = nx + 2 * halo;
    for (int j = halo; j < ny + halo; j++)
        for (int i = halo; i < nx + halo; i++)
            q[j * row + i] = kx[j * row + i + 1] * (p[j * row + i + 1] - p[j * row + i]) - kx[j * row + i] * (p[j * row + i] - p[j * row + i - 1]);
}

// case relax_inner --no-alias: two boxes in one step, of which one is all cells
void relax_inner(int x, int y, int depth, double *u, double *old, const double *f) {
    for (int j = 0; j < y; j++)
        for (int i = 0; i < x; i++) old[j * x + i] = u[j * x + i];
    for (int j = depth; j < y - depth; j++)
        for (int i = depth; i < x - depth; i++) {
            const int c = j * x + i;
            u[c] = 0.25 * (f[c] + old[c - 1] + old[c + 1] + old[c - x] + old[c + x]);
        }
}

// case inner_norm nests 1: a sum over a box
double inner_norm(int x, int y, int depth, const double *restrict r) {
    double sum = 0;
    for (int j = depth; j < y - depth; j++)
        for (int i = depth; i < x - depth; i++) sum += r[j * x + i] * r[j * x + i];
    return sum;
}

// case box_in_time --no-alias: a box in a loop over time, with swapped arrays
void box_in_time(int steps, long n, long from, long to, float *a, float *b) {
    for (int t = 0; t < steps; t++) {
        for (long i = from; i < to; i++) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        float *held = a;
        a = b;
        b = held;
    }
}

// case high_order --assume radius=3: weights that are given, and a radius
void high_order(int nx, int ny, int nz, int radius, const float *restrict coeff, const float *restrict in, float *restrict out) {
    const int row = nx + 2 * radius, plane = row * (ny + 2 * radius);
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                const int c = (k + radius) * plane + (j + radius) * row + i + radius;
                float sum = coeff[0] * in[c];
                for (int r = 1; r <= radius; r++)
                    sum += coeff[r] * (in[c - r] + in[c + r] + in[c - r * row] + in[c + r * row] + in[c - r * plane] + in[c + r * plane]);
                out[c] = sum;
            }
}

// case any_radius nests 0 refused: is not known before: the same, for any radius
void any_radius(int n, int radius, const float *restrict coeff, const float *restrict in, float *restrict out) {
    for (int i = radius; i < n - radius; i++) {
        float sum = coeff[0] * in[i];
        for (int r = 1; r <= radius; r++) sum += coeff[r] * (in[i - r] + in[i + r]);
        out[i] = sum;
    }
}

// case two_edges refused: which of the bounds: two parameters hold a loop back
void two_edges(int n, int most, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++)
        if (i < most) w[i] = 2 * u[i];
}

// case area_bound refused: multiplies parameters: a bound that is a product
void area_bound(int n, int m, int k, const float *restrict u, float *restrict w) {
    for (int i = m * k; i < n; i++) w[i] = 2 * u[i];
}

// case mean_of_window: a short loop around each cell
void mean_of_window(int nx, int ny, const float *restrict u, float *restrict w) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            float sum = 0;
            for (int jj = j - 1; jj <= j + 1; jj++)
                for (int ii = i - 1; ii < i + 2; ii++) sum += u[jj * nx + ii];
            w[j * nx + i] = sum / 9;
        }
}

// case convolved: weights that are given, by the distance from the cell
void convolved(int nx, int ny, const float k[restrict 3][3], const float *restrict u, float *restrict w) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            float sum = 0;
            for (int jj = j - 1; jj <= j + 1; jj++)
                for (int ii = i - 1; ii <= i + 1; ii++) sum += k[jj - j + 1][ii - i + 1] * u[jj * nx + ii];
            w[j * nx + i] = sum;
        }
}

// case mask_of_macro: a window whose size is a macro, downwards
void mask_of_macro(int n, const double *restrict mask, const double *restrict u, double *restrict w) {
    for (int i = MASK / 2; i < n - MASK / 2; i++) {
        double sum = 0;
        for (int k = MASK - 1; k >= 0; k--) sum += mask[k] * u[i + k - MASK / 2];
        w[i] = sum;
    }
}

// case largest_near: the largest value of a window
void largest_near(int n, const float *restrict u, float *restrict w) {
    for (int i = 2; i < n - 2; i++) {
        float most = u[i - 2];
        for (int k = i - 1; k <= i + 2; k++) most = fmaxf(most, u[k]);
        w[i] = most;
    }
}

// case window_too_far refused: before the first cell: a window that begins outside
void window_too_far(int n, const float *restrict u, float *restrict w) {
    for (int i = 1; i < n - 1; i++) {
        float sum = 0;
        for (int k = i - 2; k <= i + 1; k++) sum += u[k];
        w[i] = sum;
    }
}

// case unsigned_window refused: begins at one that may be below zero: a counter that wraps around at the first cell
void unsigned_window(unsigned n, const float *restrict u, float *restrict w) {
    for (unsigned i = 0; i < n; i++) {
        float sum = u[i];
        for (unsigned k = i - 1; k < i; k++) sum += 1;
        w[i] = sum;
    }
}

// case growing_window refused: what is computed is no box of cells: a window that ends elsewhere for each cell
void growing_window(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k <= i; k++) sum += u[k];
        w[i] = sum;
    }
}

// case weights_by_cell refused: 1 axes: weights that change from cell to cell along one axis
void weights_by_cell(int nx, int ny, const float *restrict k, const float *restrict u, float *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) w[j * nx + i] = k[0] * u[j * nx + i] + k[i];
}
