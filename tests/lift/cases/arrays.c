// Styles of arrays in C. A line `// case NAME [flags]: what it shows` stands before each function.
#include <math.h>
#include <stdlib.h>

#define NX 24
#define NY 20
#define IDX(i, j, k) ((i) + nx * ((j) + ny * (k)))

// case blur_row: one axis, restrict
void blur_row(int n, const double *restrict in, double *restrict out) {
    for (int i = 1; i < n - 1; i++) out[i] = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
}

// case jacobi_vla --no-alias: arrays of variable length as parameters
void jacobi_vla(int n, int m, double a[n][m], double b[n][m]) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

// case fixed_2d: global arrays of fixed size
static double temperature[NY][NX], cooled[NY][NX];
void fixed_2d(void) {
    for (int j = 1; j < NY - 1; ++j)
        for (int i = 1; i < NX - 1; ++i)
            cooled[j][i] = temperature[j][i] + 0.1 * (temperature[j][i - 1] + temperature[j][i + 1] +
                                                      temperature[j - 1][i] + temperature[j + 1][i] -
                                                      4.0 * temperature[j][i]);
}

// case pointer_to_array: pointers to arrays, in three dimensions
void pointer_to_array(int nz, double (*restrict p)[NY][NX], double (*restrict q)[NY][NX], double h) {
    const double scale = 1.0 / (h * h);
    for (int k = 1; k < nz - 1; ++k)
        for (int j = 1; j < NY - 1; ++j)
            for (int i = 1; i < NX - 1; ++i)
                q[k][j][i] = scale * (p[k][j][i - 1] + p[k][j][i + 1] + p[k][j - 1][i] + p[k][j + 1][i] +
                                      p[k - 1][j][i] + p[k + 1][j][i] - 6 * p[k][j][i]);
}

// case linear_3d --no-alias: one block of memory, strides of parameters in a macro
void linear_3d(float *out, const float *in, int nx, int ny, int nz, float c0, float c1) {
    for (int k = 2; k < nz - 2; k++)
        for (int j = 2; j < ny - 2; j++)
            for (int i = 2; i < nx - 2; i++)
                out[IDX(i, j, k)] = c0 * in[IDX(i, j, k)] + c1 * (in[IDX(i - 2, j, k)] + in[IDX(i + 2, j, k)] +
                                                                  in[IDX(i, j - 2, k)] + in[IDX(i, j + 2, k)] +
                                                                  in[IDX(i, j, k - 2)] + in[IDX(i, j, k + 2)]);
}

// case leading_dimension: rows longer than what is computed
void leading_dimension(int n, int m, int ld, const double *restrict a, double *restrict b) {
    for (int j = 1; j < m - 1; ++j)
        for (int i = 1; i < n - 1; ++i) b[j * ld + i] = a[j * ld + i + 1] - a[j * ld + i - 1];
}

// case running_index: the index of a row is a variable of its own
void running_index(int nx, int ny, const double *restrict u, double *restrict v) {
    for (int j = 1; j < ny - 1; ++j) {
        const int row = j * nx;
        const double *above = u + row + nx, *below = u + row - nx;
        for (int i = 0; i < nx; ++i) v[row + i] = 0.5 * (above[i] - below[i]);
    }
}

// case rows_by_pointers --no-alias: an array of pointers to rows
void rows_by_pointers(double **u, double **v, int rows, int columns) {
    for (int r = 1; r < rows - 1; r++)
        for (int c = 1; c < columns - 1; c++)
            v[r][c] = (u[r - 1][c - 1] + u[r - 1][c + 1] + u[r + 1][c - 1] + u[r + 1][c + 1]) / 4.0;
}

// case planes_by_pointers --no-alias: pointers to pointers to rows
void planes_by_pointers(double ***f, double ***g, int nx, int ny, int nz) {
    for (int i = 1; i < nx - 1; i++)
        for (int j = 1; j < ny - 1; j++)
            for (int k = 1; k < nz - 1; k++) g[i][j][k] = f[i + 1][j][k] - 2.0 * f[i][j][k] + f[i - 1][j][k];
}

// case swap_pointers --no-alias: double buffering by swapped pointers
void swap_pointers(double *now, double *next, int nx, int ny, int steps, double r) {
    for (int s = 0; s < steps; s++) {
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int c = y * nx + x;
                next[c] = now[c] + r * (now[c - 1] + now[c + 1] + now[c - nx] + now[c + nx] - 4.0 * now[c]);
            }
        double *held = now;
        now = next;
        next = held;
    }
}

// case swap_equal_rims --no-alias --equal-rims: the same, where both arrays begin with the same rim
void swap_equal_rims(double *now, double *next, int nx, int ny, int steps, double r) {
    for (int s = 0; s < steps; s++) {
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int c = y * nx + x;
                next[c] = now[c] + r * (now[c - 1] + now[c + 1] + now[c - nx] + now[c + nx] - 4.0 * now[c]);
            }
        double *held = now;
        now = next;
        next = held;
    }
}

// case three_buffers --no-alias --equal-rims: a wave, with three rotating arrays
void three_buffers(double *before, double *now, double *after, int n, int steps, double c2) {
    double *spare;
    for (int s = 0; s < steps; ++s) {
        for (int i = 1; i < n - 1; ++i)
            after[i] = 2.0 * now[i] - before[i] + c2 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        spare = before;
        before = now;
        now = after;
        after = spare;
    }
}

// case parity: levels chosen by the step's parity
static float level[2][NY][NX];
void parity(int steps) {
    for (int t = 0; t < steps; t++)
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++)
                level[(t + 1) % 2][j][i] = 0.25f * (level[t % 2][j][i - 1] + level[t % 2][j][i + 1] +
                                                    level[t % 2][j - 1][i] + level[t % 2][j + 1][i]);
}

// case three_levels: three levels in a ring
void three_levels(int n, int steps, double (*restrict u)[n], double c) {
    for (int t = 1; t <= steps; t++)
        for (int i = 1; i < n - 1; i++)
            u[(t + 1) % 3][i] = 2 * u[t % 3][i] - u[(t - 1) % 3][i] + c * (u[t % 3][i - 1] - 2 * u[t % 3][i] + u[t % 3][i + 1]);
}

// case copy_back --no-alias: Jacobi through a second array, copied back in each step
void copy_back(int n, int steps, double a[n][n], double b[n][n]) {
    int i, j, t;
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++) a[i][j] = b[i][j];
    }
}

// case back_and_forth --no-alias: two sweeps a step, there and back
void back_and_forth(int n, int steps, double *a, double *b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0;
        for (int i = 1; i < n - 1; i++) a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0;
    }
}

// case heap_scratch --no-alias: a scratch array of its own
void heap_scratch(int n, double *u) {
    double *flux = malloc((n + 1) * sizeof(double));
    for (int i = 1; i < n; i++) flux[i] = 0.5 * (u[i] - u[i - 1]);
    for (int i = 1; i < n - 1; i++) u[i] = u[i] + (flux[i + 1] - flux[i]);
    free(flux);
}

// case descending: a loop that counts down
void descending(int n, double *restrict u, const double *restrict f) {
    for (int i = n - 1; i >= 1; --i) u[i] = u[i - 1] + f[i];
}

// case walls: values at the ends follow their neighbours in each step
void walls(int n, int steps, double *restrict u, double *restrict v, double r) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) v[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1]);
        v[0] = v[1];
        v[n - 1] = v[n - 2];
        for (int i = 0; i < n; i++) u[i] = v[i];
    }
}

// case staggered: velocities on faces, with rows of their own length
void staggered(int nx, int ny, const double *restrict p, double *restrict u, double *restrict v) {
    for (int j = 0; j < ny; j++)
        for (int i = 1; i < nx; i++) u[j * (nx + 1) + i] -= p[j * nx + i] - p[j * nx + i - 1];
    for (int j = 1; j < ny; j++)
        for (int i = 0; i < nx; i++) v[j * nx + i] -= p[j * nx + i] - p[(j - 1) * nx + i];
}

// case in_place_forward: in place, reading only what no iteration has changed yet
void in_place_forward(int n, double *u) {
    for (int i = 0; i < n - 1; ++i) u[i] = 0.5 * (u[i] + u[i + 1]);
}

// case profile: an array of one axis, which has one value along the other
void profile(int nx, int ny, const double *restrict d, const double *restrict u, double *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) w[j * nx + i] = d[i] * u[j * nx + i];
}

// case layers: a profile of the height at two of its cells, and a plane of floats
void layers(int nx, int ny, int nz, const double *restrict wind, const float *restrict depth, const double *restrict c,
            double *restrict w, double dt) {
    for (int k = 1; k < nz - 1; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 1; i < nx; i++) {
                const int at = IDX(i, j, k);
                w[at] = c[at] - dt * (wind[k - 1] + wind[k]) * (c[at] - c[at - 1]) * depth[j * nx + i];
            }
}

// case side_view: a plane whose axes are in another order in memory, and that is clamped along one
void side_view(int nx, int ny, int nz, double p[restrict nx][nz], double c[restrict nz][ny][nx]) {
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx - 1; i++) c[k][j][i] += p[i + 1][k > 0 ? k - 1 : 0];
}

// case own_strides: rows and planes that are as far apart as parameters say
void own_strides(int nx, int ny, int nz, int row, int plane, const double *restrict u, double *restrict w) {
    for (int k = 1; k < nz - 1; k++)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                const int at = i + j * row + k * plane;
                w[at] = u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - plane] + u[at + plane];
            }
}

// case both_at_once --no-alias: a chain of assignments to arrays of arrays
void both_at_once(int ny, int nx, double a[ny][nx], double b[ny][nx]) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) a[j][i] = b[j][i] = 0.5 * (i - j);
}
