// Functions that do other things besides: the loop nests that are stencils are found in them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NX 24
#define NY 20
#define CELL(i, j) ((j) * width + (i))

// case simulate nests 1: allocation, start values, output, and a loop over time that prints
int simulate(int argc, char **argv) {
    int n = 100, steps = 50;
    if (argc > 1) n = atoi(argv[1]);
    const int width = n + 2;
    double *u = malloc(width * width * sizeof(double)), *w = malloc(width * width * sizeof(double));
    if (!u || !w) return 1;
    double dt = 0.1;
    for (int c = 0; c < width * width; c++) u[c] = rand() / (double)RAND_MAX;
    for (int t = 0; t < steps; t++) {
        for (int j = 1; j <= n; j++)
            for (int i = 1; i <= n; i++)
                w[CELL(i, j)] = u[CELL(i, j)] + dt * (u[CELL(i - 1, j)] + u[CELL(i + 1, j)] + u[CELL(i, j - 1)] +
                                                      u[CELL(i, j + 1)] - 4.0 * u[CELL(i, j)]);
        double *held = u;
        u = w;
        w = held;
        if (t % 10 == 0) printf("step %d: %g\n", t, u[CELL(n / 2, n / 2)]);
    }
    free(u);
    free(w);
    return 0;
}

// case until_settled nests 3: loops in a loop that ends when it is good enough, and counters of the function
int until_settled(int n, double *restrict u, double *restrict v, const double *restrict f, double tolerance) {
    int i, rounds = 0;
    double change = 2 * tolerance;
    while (change > tolerance) {
        for (i = 1; i < n - 1; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1] - f[i]);
        v[0] = v[1];
        for (i = 0; i < n; i++) u[i] = v[i];
        change *= 0.5;
        rounds++;
    }
    for (i = 0; i < n; i++) v[i] = 0;
    return rounds;
}

// case own_arrays nests 2: arrays of the function's own, which cannot overlap with any other
void own_arrays(int n, const double *given, double *result) {
    double field[NY][NX], smooth[NY][NX];
    const int shift = n / 2;
    const double weight[3] = {0.25, 0.5, 0.25};
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) field[j][i] = given[j * NX + i];
    if (shift < 0) return;
    for (int j = 0; j < NY; j++)
        for (int i = 1; i < NX - 1; i++) {
            smooth[j][i] = 0;
            for (int k = 0; k < 3; k++) smooth[j][i] += weight[k] * field[j][i + k - 1];
        }
    result[0] = smooth[1][shift];
}

// case rows_of_own nests 1: pointers into a block are made again for the nest, and so are products of sizes
void rows_of_own(int nx, int ny, int nz, const float *u, float *out) {
    const int plane = nx * ny;
    float *w = (float *)malloc(sizeof(float) * plane * nz);
    const float *middle = u + plane;
    printf("%d cells in a plane\n", plane);
    for (int k = 0; k < nz - 2; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                w[k * plane + j * nx + i] = middle[(k + 1) * plane + j * nx + i] - middle[k * plane + j * nx + i];
    out[0] = w[plane];
    free(w);
}

// case swapped_first nests 1: a loop over time that swaps, between other things
double swapped_first(int n, int steps) {
    double *now = calloc(n, sizeof(double)), *next = calloc(n, sizeof(double)), *held;
    now[n / 2] = 1;
    for (int s = 0; s < steps; s++) {
        for (int i = 1; i < n - 1; i++) next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        held = now, now = next, next = held;
    }
    double middle = now[n / 2];
    free(now);
    free(next);
    return middle;
}

// case left_counter nests 0 refused: read after it: a counter that is read after its loop
int left_counter(int n, const double *restrict u, double *restrict w) {
    int i;
    for (i = 0; i < n; i++) w[i] = u[i];
    return i;
}

// case same_block nests 0 refused: may be the same memory: two names of one allocation, perhaps
void same_block(int n, double *result) {
    double *a = malloc(n * sizeof(double)), *b = result;
    scanf("%lf", a);
    if (n > 5) b = a;
    for (int i = 1; i < n; i++) a[i] = b[i - 1];
    result[0] = a[1];
}

// case same_name nests 0 refused: has already changed: a second name of an array
void same_name(int n, double *result) {
    double *a = malloc(n * sizeof(double)), *b = a + 1;
    scanf("%lf", a);
    for (int i = 2; i < n; i++) b[i - 1] = a[i - 1];
    result[0] = a[1];
}

// case counters_of_switch nests 3: counters that each case of a switch begins anew
int counters_of_switch(int kind, int n, const double *restrict u, double *restrict w) {
    int i;
    switch (kind) {
    case 2:
        for (i = 1; i < n - 1; i++) w[i] = u[i - 1] + u[i + 1];
        break;
    case 3:
        for (i = 0; i < n; i++) w[i] = 2 * u[i];
        // falls through
    default:
        for (i = 0; i < n; i++) w[i] += u[i];
    }
    return kind;
}

// case counter_after_switch refused: and read after it: a counter that is read behind a switch
int counter_after_switch(int kind, int n, const double *restrict u, double *restrict w) {
    int i = 0;
    switch (kind) {
    case 2:
        for (i = 1; i < n - 1; i++) w[i] = u[i - 1] + u[i + 1];
        break;
    default:
        i = 1;
    }
    return i;
}

// case counter_of_next_case refused: and read after it: a counter that the next case of a switch goes on with
int counter_of_next_case(int kind, int n, const double *restrict u, double *restrict w) {
    int i = 0;
    switch (kind) {
    case 2:
        for (i = 1; i < n - 1; i++) w[i] = u[i - 1] + u[i + 1];
    default:
        return i;
    }
}

// case switched nests 1: a size that is made in a case of a switch, and a nest in another
void switched(int kind, int nx, int ny, const double *restrict u, double *restrict w) {
    int cells = 5;
    switch (kind) {
        case 0:
            printf("none\n");
            cells = nx * ny;
            break;
        case 1:
            for (int i = 0; i < cells; i++) w[i] = u[i];
    }
}

// case reached nests 0 refused: may be in the same memory: a number that a pointer may reach
void reached(int n, const double *restrict u, double *w) {
    double scale = 2;
    double *p = &scale;
    printf("%g\n", *p);
    w = n > 3 ? p : w;
    for (int i = 0; i < n; i++) w[i] = scale * u[i];
}

// case watched nests 0 refused: of a type that: volatile
void watched(int n, volatile double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i];
}

// case moved_size nests 1: a product of sizes of which one has changed since, as a stride of its own
void moved_size(int nx, int ny, const double *restrict u, double *restrict w) {
    int plane = nx * ny;
    scanf("%d", &nx);
    for (int k = 1; k < 4; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) w[k * plane + j * nx + i] = u[k * plane + j * nx + i];
}

// case timed --no-alias nests 1: a clock that may fail, a branch that is never taken, a size that is made of itself
double timed(int n, const double *u, double *w) {
    struct timespec now;
    double end = 0.0;
    n = n + (n & 1);
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) perror("clock");
    for (int i = 1; i < n - 1; i++) w[i] = 0.5 * (u[i - 1] + u[i + 1]);
    return end != 0.0 ? end : (double)now.tv_sec;
}

// case by_address nests 2 --no-alias --assume first=1: numbers behind pointers, and flags in a list, as Fortran gives them
void by_address(const int *begin, const int *end, const int *faces, double *a, double *b) {
    int first = *begin, last = *end, wall = -1;
    if (faces[0] == wall)
        for (int i = first; i <= last; i++) a[i] = 2 * b[i + 1];
    if (faces[1] == wall && first == 1)
        for (int i = first; i <= last; i++) b[i] = a[i - 1];
}
