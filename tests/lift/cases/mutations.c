// A function for each fault of compiler/lift/mutation.h, called like it: with the fault it is lifted to
// something else, which running both must find.

void drop_condition(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (a[i] > 0.9f) b[i] = a[i];
}

void drop_index_condition(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (i > 1) b[i] = a[i];
}

void drop_else(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (a[i] > 0.9f)
            b[i] = a[i];
        else
            b[i] = 2 * a[i];
}

void drop_continue(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) {
        if (a[i] > 0.7f) {
            if (a[i] > 1.0f) continue;
        }
        b[i] = a[i];
    }
}

void drop_statement(int n, const float *restrict a, float *restrict b, float *restrict c) {
    for (int i = 0; i < n; i++) {
        b[i] = a[i];
        c[i] = 2 * a[i];
    }
}

void drop_narrowing(int n, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = (float)a[i];
}

void drop_wrap(int n, unsigned k, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (k - 5 > 0) b[i] = a[i];
}

void drop_minus(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = -a[i];
}

void drop_assignment(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) {
        float x = a[i];
        if (x > 0.9f) x = 0.5f * x;
        b[i] = x;
    }
}

void shift_read(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1];
}

void shorten_loop(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i];
}

void drop_equal(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i <= n - 2; i++) b[i] = a[i];
}

void swap_difference(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i + 1] - a[i - 1];
}

void swap_extremes(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 1; i++) b[i] = __builtin_fminf(a[i + 1], a[i - 1]);
}

void swap_comparison(int n, int k, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (!(k < 8))
            b[i] = a[i];
        else
            b[i] = 2 * a[i];
}

void keep_counter(int n, int m, const float *restrict a, float *restrict b) {
    for (int s = m; s < 100; s += 7)
        for (int i = 0; i < n; i++) b[i] = b[i] + (float)s * a[i];
}

void keep_pointer(int n, int m, float *restrict a, float *restrict b) {
    float *row = a;
    for (int k = 0; k < m; k++) {
        a = a + n;
        for (int i = 0; i < n; i++) b[i] = row[i] + a[i];
    }
}

void keep_order(int n, const float *restrict a, float *restrict b, float *restrict c) {
    for (int i = 0; i < n; i++) {
        b[i] = a[i];
        c[i] = 2 * b[i];
    }
}

void keep_arrays(int n, int m, float *restrict a, float *restrict b) {
    for (int t = 0; t < m; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
        float *held = a;
        a = b;
        b = held;
    }
}

void drop_zero(int n, const double *restrict a, double *restrict b) {
    for (int i = 1; i < n - 1; i++) {
        double s = 0.0;
        for (int k = 0; k < 2; k++) s += a[i + k];
        b[i] = 1.0 / s;
    }
}

void drop_bound(int n, int h, const float *restrict a, float *restrict b) {
    for (int i = h; i < n; i++) b[i] = a[i];
}

void drop_assumption(int n, int h, const float *restrict a, float *restrict b) {
    for (int i = h; i < n - h; i++) b[i] = a[i];
}

void drop_need(int n, int h, const float *restrict a, float *restrict b) {
    for (int i = h; i < n; i++) b[i] = 2 * a[i - 1] + a[i];
}

void shorten_window(int n, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 1; i++) {
        float s = 0;
        for (int k = i - 1; k <= i + 1; k++) s += a[k];
        b[i] = s;
    }
}

void drop_cut(int n, const float *restrict a, float *restrict b) {
    for (int i = 2; i < n - 2; i++) {
        float s = 0;
        for (int k = i - 1 > 2 ? i - 1 : 2; k <= i + 1; k++) s += a[k];
        b[i] = s;
    }
}

void shift_weight(int n, const float *restrict weight, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = weight[0] * a[i] + weight[1];
}

void turn_profile(int nx, int ny, const float *restrict a, const float *restrict d, float *restrict b) {
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) b[j * nx + i] = d[j] * a[j * nx + i];
}

void drop_apart(int nx, int ny, int nz, int row, int plane, const float *restrict a, float *restrict b) {
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) b[i + j * row + k * plane] = 2 * b[i + j * row + k * plane] + a[k];
}

void swap_boundary(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i > 0 ? i - 1 : 0] + a[i < n - 1 ? i + 1 : n - 1];
}

void drop_origin(int n, int h, const float *restrict a, float *restrict b) {
    for (int i = h; i < n; i++) b[i - h] = 2 * a[i];
}

void drop_front(int n, const float *restrict a, float *restrict b) {
    float last = 1;
    for (int i = 1; i < n; i++) {
        b[i] = a[i] - last;
        last = a[i];
    }
}

void drop_kept(int n, float *restrict a, float *restrict b) {
    float last = a[0];
    for (int i = 0; i < n; i++) a[i] = 2 * a[i];
    for (int i = 1; i < n; i++) {
        b[i] = a[i] - last;
        last = a[i];
    }
}
