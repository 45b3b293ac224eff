// Styles of arithmetic in C: temporaries, conditions, helpers, constants, types.
#include <math.h>
#include <stddef.h>

#define SQUARE(v) ((v) * (v))
#define AT(a, i, j) (a)[(size_t)(j) * nx + (i)]

// case temporaries: several statements and temporaries in a cell
void temporaries(int nx, int ny, const double *restrict u, const double *restrict v, double *restrict p,
                 double *restrict q, double dt) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            double ux = 0.5 * (AT(u, i + 1, j) - AT(u, i - 1, j));
            double vy = 0.5 * (AT(v, i, j + 1) - AT(v, i, j - 1));
            double divergence = ux + vy;
            AT(p, i, j) = AT(p, i, j) - dt * divergence;
            AT(q, i, j) = divergence * divergence + SQUARE(ux);
        }
}

// case upwind: a condition chooses the neighbour
void upwind(int n, const double *restrict u, const double *restrict speed, double *restrict w, double r) {
    for (int i = 1; i < n - 1; i++)
        w[i] = u[i] - r * speed[i] * (speed[i] > 0 ? u[i] - u[i - 1] : u[i + 1] - u[i]);
}

// case limited: if and else for a temporary
void limited(int n, const double *restrict u, double *restrict w) {
    for (int i = 1; i < n - 1; i++) {
        double a = u[i] - u[i - 1], b = u[i + 1] - u[i], slope;
        if (a * b <= 0)
            slope = 0;
        else if (fabs(a) < fabs(b))
            slope = a;
        else
            slope = b;
        w[i] = u[i] + 0.5 * slope;
    }
}

// case masked: cells that a mask leaves out
void masked(int nx, int ny, const int *restrict solid, const float *restrict u, float *restrict w, float r) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            if (AT(solid, i, j)) continue;
            AT(w, i, j) = AT(u, i, j) + r * (AT(u, i - 1, j) + AT(u, i + 1, j) - 2.0f * AT(u, i, j));
        }
}

// case both_branches: both branches store
void both_branches(int n, const double *restrict u, double *restrict w) {
    for (int i = 0; i < n; i++) {
        if (u[i] > 1.0)
            w[i] = 2.0 - u[i];
        else
            w[i] = u[i] * u[i];
    }
}

static const double weights[5] = {-1.0 / 12.0, 4.0 / 3.0, -5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0};

// case constant_weights: constant coefficients in an array, summed by a loop
void constant_weights(int n, const double *restrict u, double *restrict w) {
    for (int i = 2; i < n - 2; i++) {
        double sum = 0;
        for (int k = -2; k <= 2; k++) sum += weights[k + 2] * u[i + k];
        w[i] = sum;
    }
}

// case box_filter: a small filter in two dimensions, its sum written out
void box_filter(int nx, int ny, const float *restrict in, float *restrict out) {
    const float kernel[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            float sum = 0.0f;
            for (int b = -1; b <= 1; b++)
                for (int a = -1; a <= 1; a++) sum += kernel[b + 1][a + 1] * AT(in, i + a, j + b);
            AT(out, i, j) = sum / 16.0f;
        }
}

// case given_weights: coefficients that are given
void given_weights(int n, const double *restrict c, const double *restrict f, double *restrict df) {
    for (int i = 4; i < n - 4; i++) {
        df[i] = c[0] * (f[i + 1] - f[i - 1]) + c[1] * (f[i + 2] - f[i - 2]) + c[2] * (f[i + 3] - f[i - 3]) +
                c[3] * (f[i + 4] - f[i - 4]);
    }
}

static double laplace_of(const double *a, int at, int nx) {
    return a[at - 1] + a[at + 1] + a[at - nx] + a[at + nx] - 4.0 * a[at];
}
static double reaction(double u, double v) {
    if (u < 0) return 0;
    return u * v * v;
}

// case helpers: functions that are called for each cell
void helpers(int nx, int ny, double *restrict u2, double *restrict v2, const double *restrict u,
             const double *restrict v, double du, double dv, double feed, double kill) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            const int c = j * nx + i;
            const double r = reaction(u[c], v[c]);
            u2[c] = u[c] + du * laplace_of(u, c, nx) - r + feed * (1.0 - u[c]);
            v2[c] = v[c] + dv * laplace_of(v, c, nx) + r - (feed + kill) * v[c];
        }
}

// case float_literals: float constants among doubles
void float_literals(int n, const double *restrict u, double *restrict w) {
    for (int i = 1; i < n - 1; i++) w[i] = 0.1f * u[i - 1] + 0.7f * u[i] + 0.3 * u[i + 1];
}

// case double_of_floats: floats that are computed with in double
void double_of_floats(int n, const float *restrict u, float *restrict w) {
    for (int i = 1; i < n - 1; i++) w[i] = 0.1 * u[i - 1] + 0.8 * (double)u[i] + 0.1 * u[i + 1];
}

// case one_double: a float sum times a double that rounds as a float would
void one_double(int n, const float *restrict u, float *restrict w) {
    for (int i = 1; i < n - 1; i++) w[i] = 0.25 * (u[i - 1] + 2 * u[i] + u[i + 1]);
}

// case openmp: pragmas say how, not what
void openmp(int nx, int ny, const double *restrict u, double *restrict w) {
#pragma omp parallel for collapse(2) schedule(static)
    for (int j = 1; j < ny - 1; j++) {
        for (int i = 1; i < nx - 1; i++) {
            AT(w, i, j) = 0.5 * AT(u, i, j) + 0.125 * (AT(u, i - 1, j) + AT(u, i + 1, j) + AT(u, i, j - 1) + AT(u, i, j + 1));
        }
    }
}

// case functions: functions of <math.h>
void functions(int n, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = sqrt(fabs(a[i])) + exp(-a[i] * a[i]) * sin(a[i]);
}

// case functions_of_choice: copysign and fdim, which a spec says by conditions
void functions_of_choice(int n, double c, const double *restrict a, double *restrict b, const float *restrict f,
                         float *restrict g) {
    for (int i = 1; i < n - 1; i++) {
        b[i] = copysign(a[i - 1], a[i]) + 0.5 * copysign(1.0, -a[i + 1]) + fdim(a[i], c) + copysign(c, -0.0);
        g[i] = copysignf(f[i + 1], f[i]) + fdimf(f[i - 1], f[i + 1]);
    }
}

// case position: the index itself is part of the formula
void position(int nx, int ny, double *restrict f, double h) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) AT(f, i, j) = i * h * (1.0 - j * h);
}

// case edges: an update inside, and rows and columns at the edges
void edges(int nx, int ny, const double *restrict u, double *restrict w) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++)
            AT(w, i, j) = 0.25 * (AT(u, i - 1, j) + AT(u, i + 1, j) + AT(u, i, j - 1) + AT(u, i, j + 1));
    for (int j = 1; j < ny - 1; j++) {
        AT(w, 0, j) = AT(w, 1, j);
        AT(w, nx - 1, j) = AT(w, nx - 2, j);
    }
    for (int i = 0; i < nx; i++) {
        AT(w, i, 0) = 0.0;
        AT(w, i, ny - 1) = 1.0;
    }
}

// case life: whole numbers
void life(int nx, int ny, const int *restrict alive, int *restrict next) {
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++) {
            int near = 0;
            for (int b = -1; b <= 1; b++)
                for (int a = -1; a <= 1; a++)
                    if (a != 0 || b != 0) near += AT(alive, i + a, j + b);
            AT(next, i, j) = near == 3 || (near == 2 && AT(alive, i, j));
        }
}

// case scaled_time: the step's number is part of the formula
void scaled_time(int n, int steps, double *restrict u, double dt) {
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++) u[i] = u[i] + dt * (t + 1) * u[i];
}

struct grid {
    int nx, ny;
    double dx;
    double *u, *rhs;
};
// case members --no-alias: sizes and arrays in a struct
void members(const struct grid *g) {
    const double h2 = g->dx * g->dx;
    for (int j = 1; j < g->ny - 1; j++)
        for (int i = 1; i < g->nx - 1; i++) {
            const int c = j * g->nx + i;
            g->rhs[c] = (g->u[c - 1] - 2 * g->u[c] + g->u[c + 1]) / h2;
        }
}

// case fixed_box: a box that does not reach from edge to edge
void fixed_box(int nx, int ny, double *restrict u, double value) {
    for (int j = 2; j < 5; j++)
        for (int i = 3; i < nx - 4; i++) AT(u, i, j) = value;
    AT(u, 0, ny - 1) = 0;
}

// case fused_order: the second statement sees the first one's new values to the left
void fused_order(int n, const double *restrict a, double *restrict b, double *restrict d) {
    for (int i = 1; i < n; i++) {
        b[i] = 0.5 * a[i];
        d[i] = b[i] - b[i - 1];
    }
}

// case not_yet: the second statement sees old values to the right
void not_yet(int n, const double *restrict a, double *restrict b, double *restrict d) {
    for (int i = 0; i < n - 1; i++) {
        b[i] = 0.5 * a[i];
        d[i] = b[i] - b[i + 1];
    }
}
