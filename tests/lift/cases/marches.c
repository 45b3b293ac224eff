// Loops that leave values to their next iterations: indices and pointers that move on, cells that are kept.

// case counted_cells: an index that counts all cells
void counted_cells(int nx, int ny, const float *restrict u, float *restrict w) {
    int c = 0;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            w[c] = 2 * u[c];
            c++;
        }
}

// case moving_rows: a pointer that moves on by a row, and an index that is moved on in front of a loop
void moving_rows(int nx, int ny, const double *restrict u, double *restrict w) {
    double *to = w + nx;
    int from = nx;
    for (int j = 1; j < ny - 1; j++) {
        for (int i = 1; i < nx - 1; i++) to[i] = u[from + i - nx] + u[from + i + nx] - 2 * u[from + i];
        to += nx;
        from += nx;
    }
}

// case kept_flux: a flux that the next cell takes away
void kept_flux(int n, const double *restrict u, double *restrict w, double k) {
    double left = k * (u[1] - u[0]);
    for (int i = 1; i < n - 1; i++) {
        const double right = k * (u[i + 1] - u[i]);
        w[i] = u[i] + (right - left);
        left = right;
    }
}

// case kept_downwards: two cells on, by a loop that counts down
void kept_downwards(int n, const float *restrict u, float *restrict w) {
    float ahead = u[n - 1], here = u[n - 2];
    for (int i = n - 2; i > 0; i--) {
        const float behind = u[i - 1];
        w[i] = ahead - 2 * here + behind;
        ahead = here;
        here = behind;
    }
    w[0] = here;
}

// case kept_in_a_nest: planes outside, rows inside
void kept_in_a_nest(int nx, int ny, int nz, const float *restrict u, float *restrict w) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            int c = j * nx + i;
            float below = u[c], here = u[c + nx * ny];
            for (int k = 1; k < nz - 1; k++) {
                c += nx * ny;
                const float above = u[c + nx * ny];
                w[c] = above + below - 2 * here;
                below = here;
                here = above;
            }
        }
}

// case kept_within_steps --no-alias: in a loop over time, arrays that take turns
void kept_within_steps(int n, int steps, double *u, double *w) {
    for (int t = 0; t < steps; t++) {
        double last = u[0];
        for (int i = 1; i < n - 1; i++) {
            w[i] = 0.5 * (last + u[i + 1]);
            last = u[i];
        }
        double *held = u;
        u = w;
        w = held;
    }
}

// case other_front refused: has a value from the iteration: another value in front of the loop
void other_front(int n, const float *restrict u, float *restrict w) {
    float last = 0;
    for (int i = 1; i < n; i++) {
        w[i] = u[i] - last;
        last = u[i];
    }
}

// case running_mean refused: has a value from the iteration: what is carried is made of itself
void running_mean(int n, const float *restrict u, float *restrict w) {
    float mean = u[0];
    for (int i = 1; i < n; i++) {
        w[i] = mean;
        mean = 0.5f * (mean + u[i]);
    }
}

// case sometimes_moved refused: has a value from the iteration: an index that moves on in some iterations
void sometimes_moved(int n, const float *restrict u, float *restrict w) {
    int c = 0;
    for (int i = 0; i < n; i++) {
        w[i] = u[c];
        if (u[i] > 0) c++;
    }
}

// case left_as_it_was refused: has a value from the iteration: what the first iteration leaves as it was
void left_as_it_was(int n, float a, const float *restrict u, float *restrict w) {
    float last, here;
    last = here = a;
    for (int i = 0; i < n; i++) {
        w[i] = last;
        last = here;
        here = u[i];
    }
}

// case step_leaves_weights nests 1: an array that a step changes, and with it what the next one computes
void step_leaves_weights(int n, int steps, const double *restrict u, double *restrict w) {
    double weight[2] = {1, 2};
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) w[i] = weight[0] * u[i] + weight[1];
        weight[0] = 3;
    }
}

// case garbage_elsewhere: a variable that has a value in some cells alone
void garbage_elsewhere(int n, const float *restrict u, float *restrict w) {
    for (int i = 0; i < n; i++) {
        float x;
        if (i > 0) x = u[i - 1];
        if (i > 0) w[i] = x + u[i];
    }
}

// case marching: a pointer in place of an index
void marching(int n, const double *restrict u, double *restrict w) {
    double *at = w;
    for (int i = 0; i < n; i++) *at++ = u[i];
}

// case changed_condition refused: has a value from the iteration: a condition that is asked again, of what has changed
void changed_condition(int n, const float *restrict a, float *restrict u, float *restrict w) {
    float x = 0;
    for (int i = 0; i < n; i++) {
        if (u[i] > 0) x = a[i];
        u[i] = -u[i];
        if (u[i] > 0) w[i] = x;
    }
}
