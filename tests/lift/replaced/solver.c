// A program whose loops are replaced one function after the other; it prints all that it computes, in every bit.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(a, i, j) (a)[(size_t)(j) * nx + (i)]

struct grid {
    int nx, ny;
    double h;
    double *heat;
};

static float weights[3] = {0.25f, 0.5f, 0.25f}, pairs[2][2] = {{0.5f, 0.25f}, {0.125f, 2}};
static double plate[12][17], cooled[12][17];

static void print(const char *name, const double *a, int count) {
    printf("%s", name);
    for (int i = 0; i < count; i++) printf(" %a", a[i]);
    printf("\n");
}

static double start(int i) { return (i * 7919 % 1013) / 509.0 - 0.7; }

// replaced: one axis, weights in an array that may change
void blur(int n, const float *restrict in, float *restrict out) {
    for (int i = 1; i < n - 1; i++) out[i] = weights[0] * in[i - 1] + weights[1] * in[i] + weights[2] * in[i + 1];
}

// replaced: weights in an array of two axes
void mix(int n, const float *restrict in, float *restrict out) {
    for (int i = 1; i < n; i++) out[i] = pairs[0][1] * in[i - 1] + pairs[1][0] * in[i];
}

// replaced: sizes and an array in a struct
void heat_up(struct grid *g, const double *restrict source) {
    const int nx = g->nx;
#pragma omp parallel for
    for (int j = 1; j < g->ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) AT(g->heat, i, j) += g->h * AT(source, i, j);
}

// replaced: global arrays
void cool(double rate) {
    for (int j = 1; j < 11; j++)
        for (int i = 1; i < 16; i++)
            cooled[j][i] = plate[j][i] + rate * (plate[j][i - 1] + plate[j][i + 1] + plate[j - 1][i] + plate[j + 1][i] -
                                                 4 * plate[j][i]);
}

// replaced: rows by pointers, in three dimensions, and whole numbers
void decay(int ***cells, int nx, int ny, int nz) {
    for (int k = 1; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) cells[k][j][i] = cells[k][j][i] > 2 ? cells[k][j][i] - 2 : 0;
}

// replaced: rotating levels
void wave(int n, int steps, double (*u)[40], double c) {
    for (int t = 1; t <= steps; t++)
        for (int i = 1; i < n - 1; i++)
            u[(t + 1) % 3][i] =
                2 * u[t % 3][i] - u[(t - 1) % 3][i] + c * (u[t % 3][i - 1] - 2 * u[t % 3][i] + u[t % 3][i + 1]);
}

// replaced: a loop over time that swaps, the largest change, a count, and what is between them
double relax(double *a, double *b, int n, int steps, int *changed) {
    double change = 0, *held;
    int count = 3;
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for \
    schedule(static)
        for (int i = 1; i < n - 1; i++) b[i] = 0.5 * (a[i - 1] + a[i + 1]);
        held = a;
        a = b;
        b = held;
    }
    print("now", a, n);
    if (n > 3)
        for (int i = 0; i < n; i++) change = fmax(change, fabs(a[i] - b[i]));
    else
        change = -1;
    for (int i = 0; i < n; i++)
        if (a[i] > 0.25) count++;
    *changed = count;
    return change;
}

// replaced: a box that a parameter sets; the loops run where cells outside of it would be needed
void inner(int nx, int ny, int depth, const double *u, double *w) {
    for (int j = depth; j < ny - depth; j++)
        for (int i = depth; i < nx - depth; i++)
            AT(w, i, j) = 0.5 * (AT(u, i - 1, j) + AT(u, i + 1, j)) - 0.25 * AT(u, i, j - 1);
}

// replaced: for a depth of 2 alone
void thick(int nx, int ny, int depth, const double *u, double *w) {
    for (int j = 0; j < ny; j++)
        for (int i = depth; i < nx - depth; i++) {
            double sum = 0;
            for (int k = -depth; k <= depth; k++) sum += AT(u, i + k, j);
            AT(w, i, j) = 0.5 * (sum - 1);
        }
}

// A profile, and rows and planes as far apart as it is told; planes within each other are left to the loops.
void damp(int nx, int ny, int nz, int row, int slab, const double *restrict by, double *restrict u) {
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) u[i + j * row + k * slab] *= by[j];
}

// replaced: changed in place, each array by itself; which directive is meant an #if decides
int advance(int nx, int ny, double k, const double *p, double *u, double *r) {
    int grown = 0;
#ifdef HAS_TARGET
#pragma omp target teams distribute parallel for reduction(+ : grown)
#else
#pragma omp parallel for reduction(+ : grown)
#endif
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            AT(u, i, j) += k * AT(p, i, j);
            AT(r, i, j) = AT(u, i, j) - k * AT(r, i, j);
            if (AT(r, i, j) > 0.25) grown++;
        }
    return grown;
}

// replaced: mirrored cells, for two of them alone
void mirror(int nx, int ny, int halo, int depth, double *a) {
    for (int j = halo; j < ny - halo; j++)
        for (int k = 0; k < depth; k++) AT(a, halo - 1 - k, j) = AT(a, halo + k, j);
}

// replaced: in place, where the second statement sees what the first has left of its neighbours
void ripple(int n, double *a, double *b) {
    for (int i = 1; i < n; i++) {
        b[i] = a[i] - b[i];
        a[i - 1] = b[i - 1] + a[i];
    }
}

// replaced: a region of several threads, of which each loop is parallel by itself then
double region(int nx, int ny, int which, const double *a, double *b) {
    double most = -10;
    int i, j;
#pragma omp parallel private(i)
    {
        if (which > 0) {
#pragma omp for
            for (j = 1; j < ny - 1; j++)
                for (i = 1; i < nx - 1; i++) AT(b, i, j) = 0.5 * (AT(a, i - 1, j) + AT(a, i + 1, j));
        }
        which = which + 1;
#pragma omp for private(i) reduction(max : most)
        for (j = 0; j < ny; j++)
            for (i = 0; i < nx; i++)
                if (AT(b, i, j) > most) most = AT(b, i, j);
    }
    return most + which;
}

// replaced: values at corners, whose rows are one longer than those of cells
void corners(int nx, int ny, const double *p, double *v) {
    for (int j = 1; j < ny; j++)
        for (int i = 1; i < nx; i++)
            v[j * (nx + 1) + i] += 0.5 * (AT(p, i, j) + AT(p, i - 1, j) - AT(p, i, j - 1) - AT(p, i - 1, j - 1));
}

// replaced: cells between corners
void cells(int nx, int ny, const double *v, double *p) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) AT(p, i, j) -= 0.5 * (v[j * (nx + 1) + i] + v[(j + 1) * (nx + 1) + i + 1]);
}

// replaced: one value or another by two conditions; upwind cells, for which past the last row the row itself stands
void limit(int nx, int ny, const double *u, const double *flux, double *slope) {
    for (int j = 1; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            int up;
            if (AT(flux, i, j) > 0)
                up = j - 1;
            else
                up = j + 1 < ny - 1 ? j + 1 : ny - 1;
            const double change = u[up * nx + i] - u[j * nx + i];
            if (change > 0.25 || AT(flux, i, j) < -0.5)
                AT(slope, i, j) = 0.5 * change;
            else
                AT(slope, i, j) = AT(flux, i, j) / (2 + change * change);
        }
}

// replaced: in place, by a mass that is made of the old value
void remap(int nx, int ny, const double *flux, double *mass, double *left, double *u) {
    for (int j = 1; j < ny; j++)
        for (int i = 1; i < nx - 1; i++) {
            AT(mass, i, j) = AT(u, i, j) * AT(flux, i, j);
            AT(left, i, j) = AT(mass, i, j) + 0.5 * (AT(flux, i + 1, j) - AT(flux, i - 1, j));
            AT(u, i, j) = AT(left, i, j) / (2 + AT(mass, i, j) * AT(mass, i, j));
        }
}

int main(void) {
    float in[50], out[50];
    double a[40], b[40], levels[4][40], source[15 * 9], heat[15 * 9];
    struct grid g = {15, 9, 0.125, heat};
    int plane[4][5][6], *rows[4][5], **planes[4], count = 0;
    for (int i = 0; i < 50; i++) in[i] = (float)start(i), out[i] = 1;
    for (int i = 0; i < 40; i++) a[i] = start(i + 3), b[i] = start(i + 90);
    for (int i = 0; i < 160; i++) levels[i / 40][i % 40] = start(i);
    for (int i = 0; i < 135; i++) source[i] = start(i + 5), heat[i] = start(i + 7);
    for (int j = 0; j < 12; j++)
        for (int i = 0; i < 17; i++) plate[j][i] = start(i * 3 + j), cooled[j][i] = 9;
    for (int k = 0; k < 4; k++) {
        for (int j = 0; j < 5; j++) {
            rows[k][j] = plane[k][j];
            for (int i = 0; i < 6; i++) plane[k][j][i] = (i * 5 + j * 3 + k) % 7;
        }
        planes[k] = rows[k];
    }
    blur(50, in, out);
    weights[1] = 0.75f;
    blur(30, out, in);
    blur(2, out, in);
    mix(20, in, out);
    heat_up(&g, source);
    cool(0.1);
    decay(planes, 6, 5, 4);
    wave(40, 5, levels, 0.2);
    inner(15, 9, 1, source, heat);
    inner(15, 9, 3, heat, source);
    inner(15, 7, 0, source + 15, heat + 15);
    inner(15, 9, 8, source, heat);
    thick(15, 9, 2, source, heat);
    thick(15, 4, 1, heat, source);
    thick(15, 2, 3, source, heat);
    damp(4, 3, 2, 5, 17, a, heat);
    damp(4, 3, 2, 5, 9, a, heat);
    for (int t = 0; t < 3; t++) printf("%d ", advance(15, 9, 0.375, source, heat, levels[0]));
    mirror(15, 9, 2, 2, heat);
    mirror(15, 9, 3, 2, heat);
    mirror(15, 9, 2, 1, source);
    ripple(40, a, b);
    for (int t = 0; t < 3; t++) limit(9, 4, levels[1], a, b), remap(9, 4, a, b, levels[0], levels[1]);
    limit(9, 2, levels[1], a, b);
    limit(9, 1, levels[1], a, b);
    remap(2, 4, a, b, levels[0], levels[1]);
    for (int t = 0; t < 2; t++) printf("%a ", region(15, 9, t, heat, source));
#ifdef HALOCLINE_LIFTED_H
    halo_lift_keep_arrays(1);
#endif
    for (int t = 0; t < 3; t++) corners(11, 7, heat, source), cells(11, 7, source, heat);
#ifdef HALOCLINE_LIFTED_H
    halo_lift_take_back(source);
    halo_lift_take_back(NULL);
    halo_lift_keep_arrays(0);
#endif
    const double change = relax(a, b, 40, 7, &count);
    for (int i = 0; i < 50; i++) printf("%a %a ", (double)in[i], (double)out[i]);
    for (int i = 0; i < 120; i++) printf("%d ", plane[i / 30][i / 6 % 5][i % 6]);
    print("heat", heat, 135);
    print("source", source, 135);
    print("plate", plate[0], 12 * 17);
    print("cooled", cooled[0], 12 * 17);
    print("wave", levels[0], 160);
    print("a", a, 40);
    print("b", b, 40);
    printf("%a %d\n", change, count);
    return 0;
}
