// Programs for several threads and processes, whose headers need not be there; and sizes that the text fixes.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

// case processes nests 2: what each process of MPI computes between its exchanges
int processes(int n, int steps) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double begin = omp_get_wtime();
    double *u = malloc((n + 2) * sizeof(double)), *w = malloc((n + 2) * sizeof(double)), all = 0;
    if (!u || !w) return 1;
    for (int i = 0; i < n + 2; i++) u[i] = rank + i;
    for (int t = 0; t < steps; t++) {
        if (rank > 0) MPI_Recv(u, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank + 1 < size) MPI_Send(u + n, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
#pragma omp parallel for
        for (int i = 1; i <= n; i++) w[i] = 0.5 * (u[i - 1] + u[i + 1]);
        double *held = u;
        u = w;
        w = held;
    }
    MPI_Allreduce(u, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%f in %f s\n", all, omp_get_wtime() - begin);
    free(u);
    free(w);
    return 0;
}

#define SIZE 2800
#define STEPS (1000L)
static double large_a[SIZE][SIZE], large_b[SIZE][SIZE];

// case fixed_by_macros: sizes in the thousands, which are made small to be run
void fixed_by_macros(void) {
    for (int t = 0; t < STEPS; t++) {
        for (int j = 1; j < SIZE - 1; j++)
            for (int i = 1; i < SIZE - 1; i++)
                large_b[j][i] = 0.2 * (large_a[j][i] + large_a[j][i - 1] + large_a[j][i + 1] + large_a[j - 1][i]);
        for (int j = 1; j < SIZE - 1; j++)
            for (int i = 1; i < SIZE - 1; i++) large_a[j][i] = large_b[j][i];
    }
}
