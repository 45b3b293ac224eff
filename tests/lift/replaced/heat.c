// A whole program in its main function: arrays of variable length from malloc, pointers that are swapped, a loop that is
// left when little changes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double real;

// replaced: all of its nests but the sum, which is added in another order
int main(int argc, char *argv[]) {
    int nx = 30, ny = 22, nsteps = 20, i, j, n;
    real maxdiff = 0, sum = 0;
    if (argc > 1) nx = ny = atoi(argv[1]);
    const real dx = 1.0 / (nx - 1), dy = 1.0 / (ny - 1);
    real(*u)[ny] = malloc(sizeof(real[nx][ny]));
    real(*v)[ny] = malloc(sizeof(real[nx][ny]));
    memset(u, 0, sizeof(real[nx][ny]));
    for (i = 0; i < nx; i++) {
        for (j = 0; j < ny; j++) {
            u[i][j] = (i * dx - 0.3) * (j * dy - 0.7);
            v[i][j] = u[i][j];
        }
    }
    for (n = 0; n < nsteps; n++) {
        maxdiff = 0.0;
#pragma omp parallel for private(j) reduction(max : maxdiff)
        for (i = 1; i < nx - 1; i++) {
            for (j = 1; j < ny - 1; j++) {
                v[i][j] = 0.5 * (u[i][j] + 0.25 * (u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1]));
                real d = fabs(v[i][j] - u[i][j]);
                if (d > maxdiff) maxdiff = d;
            }
        }
        real(*tmp)[ny] = u;
        u = v;
        v = tmp;
        printf("%d %a\n", n, maxdiff);
        if (maxdiff < 1e-5) break;
    }
    for (i = 0; i < nx; i++)
        for (j = 0; j < ny; j++) sum += u[i][j] * dx * dy;
    for (i = 0; i < nx; i++)
        for (j = 0; j < ny; j++) printf("%a ", u[i][j]);
    printf("\n%a\n", sum);
    free(u);
    free(v);
    return 0;
}
