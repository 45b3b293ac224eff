// Shapes of mini-apps and benchmark suites: hydrodynamics, image filters, electrodynamics, conjugate gradients.
#include <math.h>
#include <stdlib.h>
#define AT(i, j, width, low, first) (((i) - (low)) + ((j) - (first)) * (width))
#define NX 40
#define NY 30

// case totals nests 1: sums over cells, of loops over the four corners of each
void totals(int x_min, int x_max, int y_min, int y_max, const double *restrict volume, const double *restrict density,
            const double *restrict energy, const double *restrict pressure, const double *restrict xvel,
            const double *restrict yvel, double *restrict result) {
    double vol = 0, mass = 0, internal = 0, kinetic = 0, press = 0;
#pragma omp parallel for reduction(+ : vol, mass, internal, kinetic, press)
    for (int k = y_min; k <= y_max; k++)
        for (int j = x_min; j <= x_max; j++) {
            double square = 0;
            for (int kv = k; kv <= k + 1; kv++)
                for (int jv = j; jv <= j + 1; jv++)
                    square += 0.25 * (xvel[AT(jv, kv, x_max + 5, x_min - 2, y_min - 2)] *
                                          xvel[AT(jv, kv, x_max + 5, x_min - 2, y_min - 2)] +
                                      yvel[AT(jv, kv, x_max + 5, x_min - 2, y_min - 2)] *
                                          yvel[AT(jv, kv, x_max + 5, x_min - 2, y_min - 2)]);
            double cell = volume[AT(j, k, x_max + 4, x_min - 2, y_min - 2)];
            double heavy = cell * density[AT(j, k, x_max + 4, x_min - 2, y_min - 2)];
            vol += cell;
            mass += heavy;
            internal += heavy * energy[AT(j, k, x_max + 4, x_min - 2, y_min - 2)];
            kinetic += heavy * 0.5 * square;
            press += cell * pressure[AT(j, k, x_max + 4, x_min - 2, y_min - 2)];
        }
    result[0] = vol;
    result[1] = mass;
    result[2] = internal;
    result[3] = kinetic;
    result[4] = press;
}

// case vertices: places of corners and centres, whose loops begin two cells before a parameter
void vertices(int x_min, int x_max, double left, double dx, double *restrict vertex, double *restrict centre, double *restrict width) {
    for (int j = x_min - 2; j <= x_max + 3; j++) vertex[j - (x_min - 2)] = left + dx * (double)(j - x_min);
    for (int j = x_min - 2; j <= x_max + 2; j++)
        centre[j - (x_min - 2)] = 0.5 * (vertex[j - (x_min - 2)] + vertex[j + 1 - (x_min - 2)]);
    for (int j = x_min - 2; j <= x_max + 2; j++) width[j - (x_min - 2)] = dx;
}

// case regions nests 1: start values, and a loop over regions whose numbers come from arrays
void regions(int nx, int ny, int count, const double *restrict low, const double *restrict high, const double *restrict x,
             const int *restrict shape, const double *restrict value, double *restrict density) {
    for (int i = 0; i < nx * ny; i++) density[i] = value[0];
    for (int s = 1; s < count; s++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                if (shape[s] == 1) {
                    if (x[j * nx + i] >= low[s] && x[j * nx + i] < high[s]) density[j * nx + i] = value[s];
                } else if (shape[s] == 2) {
                    density[j * nx + i] = value[s];
                }
            }
}

// case speckle nests 3: start values and sums, between loops whose neighbours are read from arrays
int speckle(int argc, char **argv) {
    int rows = 12, cols = 14, rounds = argc > 1 ? atoi(argv[1]) : 3;
    float lambda = 0.5f;
    int size = rows * cols;
    float *image = malloc(size * sizeof(float)), *c = malloc(size * sizeof(float));
    float *dn = malloc(size * sizeof(float)), *ds = malloc(size * sizeof(float));
    int *north = malloc(rows * sizeof(int)), *south = malloc(rows * sizeof(int));
    if (!image || !c || !dn || !ds || !north || !south) return 1;
    for (int i = 0; i < rows; i++) {
        north[i] = i - 1;
        south[i] = i + 1;
    }
    north[0] = 0;
    south[rows - 1] = rows - 1;
    for (int k = 0; k < size; k++) image[k] = expf(0.01f * (k % 17));
    for (int iter = 0; iter < rounds; iter++) {
        float sum = 0, sum2 = 0;
        for (int i = 2; i <= 9; i++)
            for (int j = 3; j <= 11; j++) {
                float tmp = image[i * cols + j];
                sum += tmp;
                sum2 += tmp * tmp;
            }
        float mean = sum / 72, var = sum2 / 72 - mean * mean, q0 = var / (mean * mean);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) {
                int k = i * cols + j;
                float jc = image[k];
                dn[k] = image[north[i] * cols + j] - jc;
                ds[k] = image[south[i] * cols + j] - jc;
                float g2 = (dn[k] * dn[k] + ds[k] * ds[k]) / (jc * jc);
                c[k] = 1.0f / (1.0f + (g2 - q0) / (q0 * (1 + q0)));
                if (c[k] < 0)
                    c[k] = 0;
                else if (c[k] > 1)
                    c[k] = 1;
            }
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) {
                int k = i * cols + j;
                float d = c[k] * dn[k] + c[south[i] * cols + j] * ds[k];
                image[k] = image[k] + 0.25f * lambda * d;
            }
    }
    int ok = image[5] > 0;
    free(image); free(c); free(dn); free(ds); free(north); free(south);
    return ok;
}

// case waves --no-alias nests 3: rotating fields, and an edge that a number for each step drives
void waves(int steps, double ex[NX][NY], double ey[NX][NY], double hz[NX][NY], const double *restrict source) {
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < NY; j++) ey[0][j] = source[t];
        for (int i = 1; i < NX; i++)
            for (int j = 0; j < NY; j++) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int i = 0; i < NX; i++)
            for (int j = 1; j < NY; j++) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int i = 0; i < NX - 1; i++)
            for (int j = 0; j < NY - 1; j++)
                hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

// case sweeps --no-alias: two sweeps a step, on part of arrays of fixed size
void sweeps(int tsteps, int n, double a[NX][NX], double b[NX][NX]) {
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][1 + j] + a[1 + i][j] + a[i - 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][1 + j] + b[1 + i][j] + b[i - 1][j]);
    }
}

// case conduct nests 1: a bound that a parameter sets, and a product of arrays
void conduct(int x, int y, int depth, double *restrict pw, const double *restrict p, double *restrict w,
             const double *restrict kx, const double *restrict ky) {
    double sum = 0;
    for (int jj = depth; jj < y - depth; jj++)
        for (int kk = depth; kk < x - depth; kk++) {
            const int index = kk + jj * x;
            const double smvp = (1.0 + (kx[index + 1] + kx[index]) + (ky[index + x] + ky[index])) * p[index] -
                                (kx[index + 1] * p[index + 1] + kx[index] * p[index - 1]) -
                                (ky[index + x] * p[index + x] + ky[index] * p[index - x]);
            w[index] = smvp;
            sum += w[index] * p[index];
        }
    *pw += sum;
}

// case pack_edge --no-alias: a halo is packed into a buffer with rows of its own
void pack_edge(int nx, int ny, int depth, int halo, const double *field, double *buffer) {
    for (int j = halo; j < ny - halo; j++)
        for (int i = nx - halo - depth; i < nx - halo; i++)
            buffer[(i - (nx - halo - depth)) + (j - halo) * depth] = field[j * nx + i];
}

// case unpack_edge --no-alias: and back, to the cells in front of the first
void unpack_edge(int nx, int ny, int depth, int halo, double *field, const double *buffer) {
    for (int j = halo; j < ny - halo; j++)
        for (int i = halo - depth; i < halo; i++)
            field[j * nx + i] = buffer[(i - (halo - depth)) + (j - halo) * depth];
}

// case interior_change --no-alias nests 1: a sum over cells of two arrays, of which one has no halo
double interior_change(int nx, int ny, int halo, const double *with, const double *without) {
    double change = 0;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) change += with[(j + halo) * (nx + 2 * halo) + i + halo] - without[j * nx + i];
    return change;
}

// case with_ghosts: a pointer to the first cell, behind the ghosts
void with_ghosts(int n, int row, int ghosts, float value, float *cells) {
    for (int j = -ghosts; j < n + ghosts; j++)
        for (int i = -ghosts; i < n + ghosts; i++) cells[i + j * row] = i < 0 || j < 0 || i >= n || j >= n ? 0 : value;
}

// case two_distances --no-alias refused: how far this is from the cell that is written is not a number: an array at two cells that parameters put
void two_distances(int n, int h, const double *a, double *b) {
    for (int i = 0; i < n; i++) b[i] = a[i + h] - a[i];
}

// case moving_back refused: how far this is from the cell that is written is not a number: in place, as far away as a parameter says
void moving_back(int n, int h, double *a) {
    for (int i = 0; i < n; i++) a[i] = a[i + h];
}
