// Grids in boxes: arrays of structs with arrays of arrays, and a clock of another file.
#include <math.h>

typedef struct {
    int row, dim, ghosts;
    double largest;
    double **fields;
} box;
typedef struct {
    int count;
    struct {
        double fill, add;
    } seconds;
    box *boxes;
} level;
double clock_of_elsewhere(void);

// case fill_boxes nests 1: boxes with ghosts, and what a clock has told in between
void fill_boxes(level *on, int field, double value) {
    double start = clock_of_elsewhere();
    for (int b = 0; b < on->count; b++) {
        const int row = on->boxes[b].row, dim = on->boxes[b].dim, ghosts = on->boxes[b].ghosts;
        double *cells = on->boxes[b].fields[field] + ghosts * (1 + row);
        for (int j = -ghosts; j < dim + ghosts; j++)
            for (int i = -ghosts; i < dim + ghosts; i++) cells[i + j * row] = value;
    }
    on->seconds.fill += clock_of_elsewhere() - start;
}

// case add_boxes nests 1: arrays that a struct holds, and that `restrict` says to be apart
void add_boxes(level *on, int to, int from, double scale) {
    for (int b = 0; b < on->count; b++) {
        const int row = on->boxes[b].row, dim = on->boxes[b].dim, ghosts = on->boxes[b].ghosts;
        double *restrict sum = on->boxes[b].fields[to] + ghosts * (1 + row);
        const double *restrict part = on->boxes[b].fields[from] + ghosts * (1 + row);
        for (int j = 0; j < dim; j++)
            for (int i = 0; i < dim; i++) sum[i + j * row] += scale * part[i + j * row];
    }
}

// case add_shifted nests 0 refused: both come from one pointer: one of them may be made of the other
void add_shifted(level *on, int n, double scale) {
    double *restrict sum = on->boxes[0].fields[0];
    double *restrict part = on->boxes[0].fields[1];
    if (scale < 0) part = sum + 1;
    for (int i = 0; i < n; i++) sum[i] += scale * part[i];
}

// case add_unsaid nests 0 refused: both come from one pointer: nothing says that they are apart
void add_unsaid(level *on, int to, int from, int n) {
    double *sum = on->boxes[0].fields[to];
    double *part = on->boxes[0].fields[from];
    for (int i = 0; i < n; i++) sum[i] += part[i];
}

// case largest_of_boxes nests 1: what is left in structs
void largest_of_boxes(level *on, int field) {
    for (int b = 0; b < on->count; b++) {
        const double *cells = on->boxes[b].fields[field];
        const int n = on->boxes[b].dim;
        double largest = 0;
        for (int i = 0; i < n; i++)
            if (fabs(cells[i]) > largest) largest = fabs(cells[i]);
        on->boxes[b].largest = largest;
    }
}

// case while_there_is_time nests 1: a clock that decides something
void while_there_is_time(int n, double limit, const double *restrict u, double *restrict w) {
    const double start = clock_of_elsewhere();
    for (int i = 0; i < n; i++) w[i] = 2 * u[i];
    if (clock_of_elsewhere() - start > limit) w[0] = 0;
}
