// Cells at an edge: indices that are clamped or go around, and reads that a condition leaves out there.
#include <stddef.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

// case conduction: each neighbour beyond a face is the cell itself, in one block of memory
void conduction(int nx, int ny, int nz, float side, float up, float step, const float *restrict power,
                const float *restrict in, float *restrict out) {
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                const int c = x + nx * (y + ny * z);
                const int w = x == 0 ? c : c - 1, e = x == nx - 1 ? c : c + 1;
                const int n = y == 0 ? c : c - nx, s = y == ny - 1 ? c : c + nx;
                const int b = z == 0 ? c : c - nx * ny, t = z == nz - 1 ? c : c + nx * ny;
                out[c] = in[c] + side * (in[w] + in[e] + in[n] + in[s]) + up * (in[b] + in[t]) + step * power[c];
            }
}

// case clamped_indices: the index itself is clamped, by conditions and by macros
void clamped_indices(int nx, int ny, const double u[restrict ny][nx], double w[restrict ny][nx]) {
    for (int j = 0; j < ny; j++) {
        const int below = j > 0 ? j - 1 : 0, above = j + 1 < ny ? j + 1 : ny - 1;
        for (int i = 0; i < nx; i++)
            w[j][i] = u[below][i] + u[above][i] + u[j][MAX(i - 2, 0)] + u[j][MIN(MAX(i + 2, 0), nx - 1)];
    }
}

// case set_at_the_edge: an if sets the index at an edge
void set_at_the_edge(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) {
        int before = i - 1, after = i + 1;
        if (before < 0) before = 0;
        if (after >= n) after = n - 1;
        w[i] = u[after] - u[before];
    }
}

static int clamp_to(int x, int low, int high) {
    if (x < low) return low;
    if (x > high) return high;
    return x;
}

// case clamped_window: a window whose cells are clamped by a function
void clamped_window(int nx, int ny, const float *restrict u, float *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            float sum = 0;
            for (int b = -1; b <= 1; b++)
                for (int a = -1; a <= 1; a++) sum += u[clamp_to(j + b, 0, ny - 1) * nx + clamp_to(i + a, 0, nx - 1)];
            w[j * nx + i] = sum / 9;
        }
}

// case around: neighbours around both edges, by remainders
void around(int nx, int ny, const float *restrict u, float *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            w[j * nx + i] = u[j * nx + (i + 1) % nx] + u[j * nx + (i + nx - 1) % nx] + u[(j + 1) % ny * nx + i] +
                            u[(j - 1 + ny) % ny * nx + i];
}

// case around_by_choice: the same, by conditions, and two cells away
void around_by_choice(size_t n, const double *restrict u, double *restrict w) {
    for (size_t i = 0; i < n; i++) {
        const size_t before = i == 0 ? n - 1 : i - 1, after = i == n - 1 ? 0 : i + 1;
        w[i] = u[before] + u[after] + u[(i + 2) % n];
    }
}

// case torus_life: cells that live on a torus
void torus_life(int nx, int ny, const unsigned char *restrict now, unsigned char *restrict next) {
    for (int j = 0; j < ny; j++) {
        const int up = (j + ny - 1) % ny, down = (j + 1) % ny;
        for (int i = 0; i < nx; i++) {
            const int left = (i + nx - 1) % nx, right = (i + 1) % nx;
            const int n = now[up * nx + left] + now[up * nx + i] + now[up * nx + right] + now[j * nx + left] +
                          now[j * nx + right] + now[down * nx + left] + now[down * nx + i] + now[down * nx + right];
            next[j * nx + i] = n == 3 || (n == 2 && now[j * nx + i]) ? 1 : 0;
        }
    }
}

// case steps_around --no-alias: boundaries in a loop over time, with swapped arrays
void steps_around(int steps, int n, double *u, double *v) {
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) v[i] = u[i] + 0.1 * (u[(i + 1) % n] - u[i > 0 ? i - 1 : n - 1]);
        double *held = u;
        u = v;
        v = held;
    }
}

// case where_there_is_one: a sum over the neighbours that there are
void where_there_is_one(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) {
        float sum = u[i];
        if (i > 0) sum += u[i - 1];
        if (i != n - 1) sum += u[i + 1];
        w[i] = sum;
    }
}

// case inflow: values beyond the face are constant
void inflow(int nx, int ny, float wall, const float *restrict u, float *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            const float west = i > 0 ? u[j * nx + i - 1] : wall;
            const float north = j + 1 < ny && u[(j + 1) * nx + i] > 0.5f ? u[(j + 1) * nx + i] : 0.0f;
            w[j * nx + i] = west + north;
        }
}

// case corners: the cells of corners and edges have formulas of their own
void corners(int rows, int cols, const float *restrict t, const float *restrict p, float *restrict r) {
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++) {
            float d;
            if (j == 0 && i == 0)
                d = p[0] + (t[1] - t[0]) + (t[cols] - t[0]);
            else if (j == rows - 1 && i == 0)
                d = p[j * cols] + (t[j * cols + 1] - t[j * cols]) + (t[(j - 1) * cols] - t[j * cols]);
            else if (i == 0)
                d = p[j * cols] + (t[(j + 1) * cols] + t[(j - 1) * cols] - 2.0f * t[j * cols]);
            else
                d = p[j * cols + i] + (t[j * cols + i - 1] - t[j * cols + i]);
            r[j * cols + i] = t[j * cols + i] + d;
        }
}

// case largest_step nests 1: a reduction that leaves out the first cell
float largest_step(int n, const float *restrict u) {
    float most = 0;
    for (int i = 0; i < n; i++) {
        if (i == 0) continue;
        if (u[i] - u[i - 1] > most) most = u[i] - u[i - 1];
    }
    return most;
}

// case reflected: a mirror of one cell, which is no boundary and chosen by a condition
void reflected(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i == 0 ? 1 : i - 1];
}

// case ahead_in_place: an update in place that reads itself at the last cell
void ahead_in_place(int n, float *u) {
    for (int i = 0; i < n; i++) u[i] = u[i] + u[i == n - 1 ? i : i + 1];
}

// case donor_cells: the sign of a flux says of which neighbours
void donor_cells(int nx, int ny, const double *restrict flux, const double *restrict d, double *restrict mass) {
    for (int j = 0; j < ny; j++)
        for (int i = 2; i < nx - 1; i++) {
            int upwind, donor, downwind;
            if (flux[j * nx + i] > 0) {
                upwind = i - 2;
                donor = i - 1;
                downwind = i;
            } else {
                upwind = i + 1;
                donor = i;
                downwind = i - 1;
            }
            const double before = d[j * nx + donor] - d[j * nx + upwind], after = d[j * nx + downwind] - d[j * nx + donor];
            mass[j * nx + i] = flux[j * nx + i] * (d[j * nx + donor] + (before * after > 0 ? 0.5 * before : 0.0));
        }
}

// case donor_rows: the sign of a flux chooses the row of an array of arrays, and a neighbour in it
void donor_rows(int nx, int ny, const double flux[restrict ny][nx], const double d[restrict ny][nx],
                double mass[restrict ny][nx]) {
    for (int j = 2; j < ny - 1; j++)
        for (int i = 1; i < nx; i++) {
            const int donor = flux[j][i] > 0 ? j - 1 : j, left = flux[j][i] > 0.5 ? i - 1 : i;
            mass[j][i] = flux[j][i] * (d[donor][i] + d[donor - 1][left]);
        }
}

// case moved_by_sign: two choices in one index
void moved_by_sign(int n, int m, const float *restrict v, const float *restrict u, float *restrict w) {
    for (int j = 1; j < m - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            const int c = j * n + i, di = v[c] > 0.5f ? -1 : 1, dj = v[c] < 0.2f ? -n : n;
            w[c] = u[c + di] + u[c + di + dj];
        }
}

// case stored_by_sign refused: which cell is written here depends on a condition: a store on one side or the other
void stored_by_sign(int n, const float *restrict v, float *restrict w) {
    for (int i = 1; i < n - 1; i++) w[v[i] > 0 ? i - 1 : i + 1] = v[i];
}

// case clamped_inside: clamped where the loop ends, before the last cell, in an array and in a profile
void clamped_inside(int nx, int ny, const double *restrict flux, const double *restrict d, const double *restrict dx,
                    double *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 2; i < nx - 1; i++) {
            const int up = flux[j * nx + i] > 0 ? i - 2 : (i + 1 >= nx - 2 ? nx - 2 : i + 1);
            w[j * nx + i] = dx[up] * d[j * nx + up];
        }
}

// case clamped_below: the same where the loop begins, by the other comparison
void clamped_below(int n, const double *restrict d, double *restrict w) {
    for (int i = 2; i < n; i++) w[i] = d[i - 1 > 2 ? i - 1 : 2];
}

// case clamped_late refused: at an edge this is neither: one cell more than those beyond the edge is clamped
void clamped_late(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i < 3 ? 0 : i - 1];
}

// case around_short refused: at an edge this is neither: a turn that is one cell too short
void around_short(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i == 0 ? n - 2 : i - 1];
}

// case both_kinds refused: goes around in another: one array with two boundaries
void both_kinds(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i > 0 ? i - 1 : 0] + u[i > 0 ? i - 1 : n - 1];
}

// case half_around refused: clamped at one face and goes around at the other: half a boundary
void half_around(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[i > 0 ? i - 1 : 0] + u[(i + 1) % n];
}

// case clamped_in_place refused: beyond an edge in the loops that write it: what is read at the edge has changed, or not
void clamped_in_place(int n, float *u) {
    for (int i = 0; i < n; i++) u[i] = u[i] + u[i < n - 1 ? i + 1 : 0];
}

// case stored_at_the_edge refused: which cell is written here differs: a store that is clamped
void stored_at_the_edge(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i > 0 ? i - 1 : 0] = u[i];
}

// case wrong_condition refused: before the first cell: a condition that guards the other edge
void wrong_condition(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = i < n - 1 ? u[i - 1] : u[i];
}

// case part_of_a_turn refused: depends on more than the loops: a remainder of less than there are cells
void part_of_a_turn(int n, int m, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) w[i] = u[(i + 1) % m];
}

// case never_read: conditions that exclude each other, around a read past the last cell
void never_read(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = i + 1 < n ? 2 * a[i] : (i < n - 1 ? a[i + 1] : a[i]);
}

// case never_read_before: a condition that holds everywhere, in front of a read before the first cell
void never_read_before(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 2; i++) b[i] = i < n - 1 ? a[i + 1] : a[i - 3];
}

// case never_read_row refused: before the first cell: the same along the other axis
void never_read_row(int n, int m, const double *restrict a, double *restrict b) {
    for (int j = 1; j < m - 2; j++)
        for (int i = 1; i < n - 2; i++) b[j * n + i] = j < m - 1 ? a[j * n + i + 1] : a[(j - 2) * n + i - 2];
}

// case never_read_array refused: is read in no cell: an array that no cell needs
void never_read_array(int n, const float *restrict a, const float *restrict c, float *restrict b) {
    for (int i = 1; i < n - 2; i++) b[i] = i < n - 1 ? a[i + 1] : c[i - 2];
}

// case one_cell_of_another: a fixed cell that a short loop never reaches
void one_cell_of_another(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n - 1; i++) b[i] = i == 5 ? a[i] : 2 * b[i];
}

// case cut_window: a loop around a cell that ends at the edges
void cut_window(int n, int m, const float *restrict u, float *restrict w) {
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            float s = 0;
            for (int b = j > 0 ? j - 1 : 0; b <= (j + 1 < m - 1 ? j + 1 : m - 1); b++)
                for (int a = i > 0 ? i - 1 : 0; a < (i + 2 < n ? i + 2 : n); a++) s += u[b * n + a];
            w[j * n + i] = s;
        }
}

// case cut_inside: one that ends at a cell before the edge
void cut_inside(int n, const double *restrict u, double *restrict w) {
    for (int i = 2; i < n - 2; i++) {
        double s = 0;
        const int first = i - 2 < 1 ? 1 : i - 2;
        for (int a = first; a <= i + 1; a++) s += (a - i + 3) * u[a];
        w[i] = s;
    }
}

// case averaged_window: an average of as many cells as there are
void averaged_window(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) {
        double s = 0;
        int count = 0;
        for (int a = i > 0 ? i - 1 : 0; a <= (i < n - 1 ? i + 1 : n - 1); a++) {
            s += u[a];
            count++;
        }
        w[i] = s / count;
    }
}

// case cut_and_more refused: not made of whole numbers: one that goes further back at the edge than inside
void cut_and_more(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int a = i < 3 ? 0 : i - 1; a <= i; a++) s += u[a];
        w[i] = s;
    }
}

// case mirrored_sides --assume depth=2 --assume halo=2: cells beyond two edges are the mirror of those inside
void mirrored_sides(int nx, int ny, int halo, int depth, float *a) {
    for (int j = 0; j < ny; j++)
        for (int k = 0; k < depth; k++) {
            a[j * nx + halo - 1 - k] = a[j * nx + halo + k];
            a[j * nx + nx - halo + k] = a[j * nx + nx - halo - 1 - k];
        }
}

// case mirrored_rows --assume depth=1 --assume halo=2: the same of rows, by an outer loop
void mirrored_rows(int nx, int ny, int halo, int depth, double *a) {
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < nx; i++) a[(ny - halo + k) * nx + i] = a[(ny - halo - 1 - k) * nx + i];
}

// case mirrored_any refused: the loop over `k` goes up `a` in one place and down in another: any number of mirrored cells
void mirrored_any(int nx, int ny, int halo, int depth, double *a) {
    for (int j = 0; j < ny; j++)
        for (int k = 0; k < depth; k++) a[j * nx + halo - 1 - k] = a[j * nx + halo + k];
}
