// What is no stencil, or cannot be proved to be one. Behind `refused:` are words of the reason.
#include <math.h>
#include <stdio.h>

// case gauss_seidel refused: has already changed: in place, with new values
void gauss_seidel(int nx, int ny, double *u) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++)
            u[j * nx + i] = 0.25 * (u[j * nx + i - 1] + u[j * nx + i + 1] + u[(j - 1) * nx + i] + u[(j + 1) * nx + i]);
}

// case recurrence refused: in an earlier iteration: each statement reads what the other wrote an iteration before
void recurrence(int n, const double *restrict f, double *restrict a, double *restrict b) {
    for (int i = 1; i < n; i++) {
        a[i] = b[i - 1] + f[i];
        b[i] = 0.5 * a[i];
    }
}

// case indirect refused: itself read from an array: neighbours from a list
void indirect(int n, const int *restrict left, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[left[i]];
}

// case aliasing refused: may be the same memory: pointers that may overlap
void aliasing(int n, double *in, double *out) {
    for (int i = 1; i < n - 1; i++) out[i] = in[i - 1] + in[i + 1];
}

// case printing refused: is called here: a call with a side effect
void printing(int n, const double *restrict in, double *restrict out) {
    for (int i = 1; i < n - 1; i++) {
        out[i] = in[i - 1] + in[i + 1];
        printf("%g\n", out[i]);
    }
}

// case ambiguous refused: the strides of: two strides of which none is a multiple of the other
void ambiguous(int n, int m, int p, const double *restrict in, double *restrict out) {
    for (int j = 1; j < m - 1; j++)
        for (int i = 1; i < n - 1; i++) out[i * p + j * m] = in[i * p + j * m];
}

// case same_axis refused: along the same axis: two loops along one axis
void same_axis(int n, int m, const double *restrict in, double *restrict out) {
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) out[i + j] = in[i + j];
}

// case sum_of_cells nests 1: a sum over the grid
double sum_of_cells(int n, const double *restrict u, double *restrict w) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        w[i] = 2 * u[i];
        sum += u[i];
    }
    return sum;
}

// case prefix_sum refused: carried from cell to cell: a value that goes from cell to cell
void prefix_sum(int n, const double *restrict u, double *restrict w) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += u[i];
        w[i] = sum;
    }
}

// case wrapped: neighbours around the edge
void wrapped(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[(i + 1) % n] - u[i];
}

// case row_end refused: before the first cell: a row's first cell sees the row before
void row_end(int nx, int ny, const double *restrict u, double *restrict w) {
    for (int j = 1; j < ny; j++)
        for (int i = 0; i < nx; i++) w[j * nx + i] = u[j * nx + i - 1];
}

// case triangle refused: no box of cells: a loop as long as another one's index
void triangle(int n, const double *restrict u, double *restrict w) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) w[j * n + i] = u[j * n + i];
}

// case every_second refused: leaves out cells: every second cell
void every_second(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i += 2) w[i] = u[i];
}

// case until_done nests 1: a loop that ends when it is good enough
void until_done(int n, double *restrict u, const double *restrict f) {
    double change = 1;
    while (change > 1e-6) {
        change = 0;
        for (int i = 0; i < n; i++) u[i] = f[i];
    }
}

// case mixed_types refused: computed in double: a double constant among floats
void mixed_types(int n, const float *restrict u, float *restrict w) {
    for (int i = 1; i < n - 1; i++) w[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]);
}

// case transposed refused: in another order: rows become columns
void transposed(int n, const double *restrict u, double *restrict w) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) w[j * n + i] = u[i * n + j];
}

// case far_edge refused: at a fixed place along an axis: every cell sees the same one
void far_edge(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i] - u[0];
}

// case half_index refused: rounds towards zero: whole numbers that are divided
void half_index(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i / 2];
}

// case bound_moves refused: how far the loop goes: a bound that the loop changes
void bound_moves(int n, double *restrict w) {
    for (int i = 0; i < n; i++) {
        w[i] = 1;
        if (i > 3) n = 5;
    }
}

// case skipped_effect refused: in one branch of a condition: an assignment that may not be reached
void skipped_effect(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) {
        int found = 0;
        if (u[i] > 1 && (found = 1)) w[i] = 2;
        w[i] += found;
    }
}

// case extended refused: of a type that a spec does not have: long double
void extended(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) {
        long double square = u[i];
        square = square * square;
        w[i] = square / 3;
    }
}

// case profile_both_ways refused: over the same axes: an array of one axis, read along two
void profile_both_ways(int nx, int ny, const double *restrict d, double *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) w[j * nx + i] = d[i] * d[j];
}

// case diagonal refused: no row or plane of its own: the diagonal of a plane
void diagonal(int n, int m, const double d[restrict n][n], double w[restrict m][m][n]) {
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++)
            for (int i = 0; i < n; i++) w[k][j][i] = d[i][i];
}

// case profile_written refused: what is written has a value at every cell: a row that is written beside the cells
void profile_written(int nx, int ny, double *restrict d, double *restrict w) {
    for (int j = 0; j < ny; j++) {
        d[j] = 2.0;
        for (int i = 0; i < nx; i++) w[j * nx + i] = 1.0;
    }
}

static int calls;
// case counting refused: is a side effect: a global variable is changed
void counting(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) {
        w[i] = u[i];
        calls++;
    }
}

// case unsigned_trick refused: may go below zero: a comparison that wraps around
void unsigned_trick(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++)
        if ((unsigned)(i - 1) < (unsigned)(n - 2)) w[i] = u[i - 1] + u[i + 1];
}
