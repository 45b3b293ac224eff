// heat2d_adi: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(double* to, const double* from) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// Four neighbouring elements as two pairs; `from` is aligned to a pair.
__device__ __forceinline__ void load4(double* to, const double* from) {
    const double2 low = *reinterpret_cast<const double2*>(from);
    const double2 high = *reinterpret_cast<const double2*>(from + 2);
    to[0] = low.x;
    to[1] = low.y;
    to[2] = high.x;
    to[3] = high.y;
}

__device__ __forceinline__ void store4(double* to, const double* from) {
    __stwb(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
    __stwb(reinterpret_cast<double2*>(to + 2), make_double2(from[2], from[3]));
}

// Copies so many cells of an array in registers, those of several rows one row behind the other.
template <int kCells, typename T>
__device__ __forceinline__ void copy_cells(T* to, const T* from) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell] = from[cell];
}

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
}

// The greatest of the block's threads; thread 0 gets it.
__device__ inline double block_max(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_max(value, __shfl_down_sync(~0u, value, lanes));
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = of_warp[thread < warps ? thread : 0];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_max(value, __shfl_down_sync(~0u, value, lanes));
    return value;
}

// Reads c, u, d, writes c, d.
// Schedule: direct, blocks of 32x4 threads, 4x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 7)
    heat2d_adi_c(const double* __restrict__ u, double* __restrict__ c, double* __restrict__ d, int nx, int ny,
                 int pitch, double scale, double kappa_dt_over_h_squared, double scale_2) {
    constexpr int kParts = 32;  // of a stretch of the line
    constexpr int kPartCells = 4;
    constexpr int kThreadsY = 4;

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int walked = threadIdx.y * kParts + threadIdx.x;
    double c_carried = walked < kThreadsY && j - threadIdx.y + walked < ny ?
        c[static_cast<long long>(j - threadIdx.y + walked) * pitch - 1] : 0.0;
    __shared__ double c_part_a[160];
    __shared__ double c_part_b[160];
    __shared__ double c_part_c[160];
    __shared__ double c_part_d[160];
    double d_carried = walked < kThreadsY && j - threadIdx.y + walked < ny ?
        d[static_cast<long long>(j - threadIdx.y + walked) * pitch - 1] : 0.0;
    __shared__ double d_part_a[160];
    __shared__ double d_part_b[160];

    double u_fetched[4];
    // Loads the thread's cells of a stretch.
    const auto fetch = [&](int at_stretch) __attribute__((always_inline)) {
        const int fetch_begin = at_stretch + threadIdx.x * kPartCells;
        if (j < ny && fetch_begin < nx) load4(u_fetched, u + static_cast<long long>(j) * pitch + fetch_begin);
    };
    fetch(0);
#pragma unroll 1
    for (int done = 0; done < nx; done += kParts * kPartCells) {
        const int part_begin = done + threadIdx.x * kPartCells;
        double u_here[4];
        copy_cells<4>(u_here, u_fetched);
        fetch(done + kParts * kPartCells);

        double c_cells[4];
        // What the thread's cells make of the value v before them: (a*v + b) / (c*v + d).
        double c_a = 1.0;
        double c_b = 0.0;
        double c_c = 0.0;
        double c_d = 1.0;
#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (j < ny && part_begin + n < nx) {
                const double c_a_next = scale * c_c;
                const double c_c_next = fma(kappa_dt_over_h_squared, c_a, scale_2 * c_c);
                const double c_b_next = scale * c_d;
                const double c_d_next = fma(kappa_dt_over_h_squared, c_b, scale_2 * c_d);
                c_a = c_a_next;
                c_b = c_b_next;
                c_c = c_c_next;
                c_d = c_d_next;
            }
        const double c_scale = 1.0 / (fabs(c_c) + fabs(c_d));
        c_a = c_a * c_scale;
        c_b = c_b * c_scale;
        c_c = c_c * c_scale;
        c_d = c_d * c_scale;
        c_part_a[threadIdx.x * 5 + threadIdx.y] = c_a;
        c_part_b[threadIdx.x * 5 + threadIdx.y] = c_b;
        c_part_c[threadIdx.x * 5 + threadIdx.y] = c_c;
        c_part_d[threadIdx.x * 5 + threadIdx.y] = c_d;
        __syncthreads();
        if (walked < kThreadsY) {
            // Goes along the line, and leaves each part what comes to it.
            double c_over = 1.0;
#pragma unroll 1
            for (int p = 0; p < min(kParts, (nx - done + 3) / kPartCells); p += 8) {
#pragma unroll
                for (int q = 0; q < 8; ++q) {
                    const double c_came = c_carried;
                    const double c_came_over = c_over;
                    c_carried = fma(c_part_a[(p + q) * 5 + walked], c_came,
                                    c_part_b[(p + q) * 5 + walked] * c_came_over);
                    c_over = fma(c_part_c[(p + q) * 5 + walked], c_came,
                                 c_part_d[(p + q) * 5 + walked] * c_came_over);
                    c_part_c[(p + q) * 5 + walked] = c_came_over;
                    c_part_a[(p + q) * 5 + walked] = c_came;
                }
                c_carried = c_carried / c_over;
                c_over = 1.0;
            }
        }
        __syncthreads();
        // From what comes to the part each cell is computed by the statement itself.
        const double c_start =
            c_part_a[threadIdx.x * 5 + threadIdx.y] / c_part_c[threadIdx.x * 5 + threadIdx.y];
        {
            double c_before = c_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (j < ny && part_begin + n < nx) {
                    c_cells[n] = scale / fma(kappa_dt_over_h_squared, c_before, scale_2);
                    c_before = c_cells[n];
                }
        }

        double d_cells[4];
        // What the thread's cells make of the value v before them: a*v + b.
        double d_a = 1.0;
        double d_b = 0.0;
        {
            double c_before = c_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (j < ny && part_begin + n < nx) {
                    const int i = part_begin + n;
                    const long long at = static_cast<long long>(j) * pitch + i;
                    const double ratio = 1.0 / fma(kappa_dt_over_h_squared, c_before, scale_2);
                    const double d_cell_a = kappa_dt_over_h_squared * ratio;
                    const double d_cell_b = ((u_here[n] * -2.0 +
                                              (u[at - pitch] + u[at + pitch])) * kappa_dt_over_h_squared +
                                             u_here[n]) * ratio;
                    d_b = fma(d_cell_a, d_b, d_cell_b);
                    d_a = d_cell_a * d_a;
                    c_before = c_cells[n];
                }
        }
        d_part_a[threadIdx.x * 5 + threadIdx.y] = d_a;
        d_part_b[threadIdx.x * 5 + threadIdx.y] = d_b;
        __syncthreads();
        if (walked < kThreadsY)
            // Goes along the line, and leaves each part what comes to it.
#pragma unroll 1
            for (int p = 0; p < min(kParts, (nx - done + 3) / kPartCells); p += 8)
#pragma unroll
                for (int q = 0; q < 8; ++q) {
                    const double d_came = d_carried;
                    d_carried = fma(d_part_a[(p + q) * 5 + walked], d_came, d_part_b[(p + q) * 5 + walked]);
                    d_part_a[(p + q) * 5 + walked] = d_came;
                }
        __syncthreads();
        // From what comes to the part each cell is computed by the statement itself.
        const double d_start = d_part_a[threadIdx.x * 5 + threadIdx.y];
        {
            double c_before = c_start;
            double d_before = d_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (j < ny && part_begin + n < nx) {
                    const int i = part_begin + n;
                    const long long at = static_cast<long long>(j) * pitch + i;
                    d_cells[n] = fma(kappa_dt_over_h_squared,
                                     fma(-2.0, u_here[n], u[at - pitch] + u[at + pitch] + d_before),
                                     u_here[n]) / fma(kappa_dt_over_h_squared, c_before, scale_2);
                    d_before = d_cells[n];
                    c_before = c_cells[n];
                }
        }

        if (j < ny && part_begin + kPartCells <= nx) {
            store4(c + static_cast<long long>(j) * pitch + part_begin, c_cells);
            store4(d + static_cast<long long>(j) * pitch + part_begin, d_cells);
        } else {
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (j < ny && part_begin + n < nx) {
                    const int i = part_begin + n;
                    const long long at = static_cast<long long>(j) * pitch + i;
                    c[at] = c_cells[n];
                    d[at] = d_cells[n];
                }
        }
    }
}

// Reads d, c, middle, writes middle.
// Schedule: direct, blocks of 32x4 threads, 4x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    heat2d_adi_middle(const double* __restrict__ d, const double* __restrict__ c, double* __restrict__ middle,
                      int nx, int ny, int pitch) {
    constexpr int kParts = 32;  // of a stretch of the line
    constexpr int kPartCells = 4;
    constexpr int kThreadsY = 4;

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int walked = threadIdx.y * kParts + threadIdx.x;
    double middle_carried = walked < kThreadsY && j - threadIdx.y + walked < ny ?
        middle[static_cast<long long>(j - threadIdx.y + walked) * pitch + nx] : 0.0;
    __shared__ double middle_part_a[160];
    __shared__ double middle_part_b[160];

    double d_fetched[4];
    double c_fetched[4];
    // Loads the thread's cells of a stretch.
    const auto fetch = [&](int at_stretch) __attribute__((always_inline)) {
        const int fetch_begin = (nx + 3) / kPartCells * kPartCells - kPartCells -
            (at_stretch + threadIdx.x * kPartCells);
        if (j < ny && fetch_begin >= 0 && fetch_begin < nx) {
            load4(c_fetched, c + static_cast<long long>(j) * pitch + fetch_begin);
            load4(d_fetched, d + static_cast<long long>(j) * pitch + fetch_begin);
        }
    };
    fetch(0);
#pragma unroll 1
    for (int done = 0; done < nx; done += kParts * kPartCells) {
        const int part_begin = (nx + 3) / kPartCells * kPartCells - kPartCells -
            (done + threadIdx.x * kPartCells);
        double c_here[4];
        copy_cells<4>(c_here, c_fetched);
        double d_here[4];
        copy_cells<4>(d_here, d_fetched);
        fetch(done + kParts * kPartCells);

        double middle_cells[4];
        // What the thread's cells make of the value v before them: a*v + b.
        double middle_a = 1.0;
        double middle_b = 0.0;
#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (j < ny && part_begin >= 0 && part_begin - n + 3 < nx) {
                const double middle_cell_a = -c_here[3 - n];
                const double middle_cell_b = d_here[3 - n];
                middle_b = fma(middle_cell_a, middle_b, middle_cell_b);
                middle_a = middle_cell_a * middle_a;
            }
        middle_part_a[threadIdx.x * 5 + threadIdx.y] = middle_a;
        middle_part_b[threadIdx.x * 5 + threadIdx.y] = middle_b;
        __syncthreads();
        if (walked < kThreadsY)
            // Goes along the line, and leaves each part what comes to it.
#pragma unroll 1
            for (int p = 0; p < min(kParts, (nx - done + 3) / kPartCells); p += 8)
#pragma unroll
                for (int q = 0; q < 8; ++q) {
                    const double middle_came = middle_carried;
                    middle_carried = fma(middle_part_a[(p + q) * 5 + walked], middle_came,
                                         middle_part_b[(p + q) * 5 + walked]);
                    middle_part_a[(p + q) * 5 + walked] = middle_came;
                }
        __syncthreads();
        // From what comes to the part each cell is computed by the statement itself.
        const double middle_start = middle_part_a[threadIdx.x * 5 + threadIdx.y];
        {
            double middle_before = middle_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (j < ny && part_begin >= 0 && part_begin - n + 3 < nx) {
                    middle_cells[3 - n] = fma(-c_here[3 - n], middle_before, d_here[3 - n]);
                    middle_before = middle_cells[3 - n];
                }
        }

        if (j < ny && part_begin >= 0 && part_begin + kPartCells <= nx)
            store4(middle + static_cast<long long>(j) * pitch + part_begin, middle_cells);
        else
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (j < ny && part_begin >= 0 && part_begin - n + 3 < nx) {
                    const int i = part_begin - n + 3;
                    const long long at = static_cast<long long>(j) * pitch + i;
                    middle[at] = middle_cells[3 - n];
                }
    }
}

// Reads middle, c, d, writes c, d.
// Schedule: direct, blocks of 8x32 threads, 1x4 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    heat2d_adi_c_2(const double* __restrict__ middle, double* __restrict__ c, double* __restrict__ d, int nx,
                   int ny, int pitch, double scale, double kappa_dt_over_h_squared, double scale_2) {
    constexpr int kParts = 32;  // of a stretch of the line
    constexpr int kPartCells = 4;
    constexpr int kThreadsX = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    double c_carried = threadIdx.y == 0 && i < nx ? c[i - pitch] : 0.0;
    __shared__ double c_part_a[256];
    __shared__ double c_part_b[256];
    __shared__ double c_part_c[256];
    __shared__ double c_part_d[256];
    double d_carried = threadIdx.y == 0 && i < nx ? d[i - pitch] : 0.0;
    __shared__ double d_part_a[256];
    __shared__ double d_part_b[256];

    double middle_fetched[4];
    // Loads the thread's cells of a stretch.
    const auto fetch = [&](int at_stretch) __attribute__((always_inline)) {
        const int fetch_begin = at_stretch + threadIdx.y * kPartCells;
#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (i < nx && fetch_begin + n < ny) {
                const int j = fetch_begin + n;
                const long long at = static_cast<long long>(j) * pitch + i;
                middle_fetched[n] = middle[at];
            }
    };
    fetch(0);
#pragma unroll 1
    for (int done = 0; done < ny; done += kParts * kPartCells) {
        const int part_begin = done + threadIdx.y * kPartCells;
        double middle_here[4];
        copy_cells<4>(middle_here, middle_fetched);
        fetch(done + kParts * kPartCells);

        double c_cells[4];
        // What the thread's cells make of the value v before them: (a*v + b) / (c*v + d).
        double c_a = 1.0;
        double c_b = 0.0;
        double c_c = 0.0;
        double c_d = 1.0;
#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (i < nx && part_begin + n < ny) {
                const double c_a_next = scale * c_c;
                const double c_c_next = fma(kappa_dt_over_h_squared, c_a, scale_2 * c_c);
                const double c_b_next = scale * c_d;
                const double c_d_next = fma(kappa_dt_over_h_squared, c_b, scale_2 * c_d);
                c_a = c_a_next;
                c_b = c_b_next;
                c_c = c_c_next;
                c_d = c_d_next;
            }
        const double c_scale = 1.0 / (fabs(c_c) + fabs(c_d));
        c_a = c_a * c_scale;
        c_b = c_b * c_scale;
        c_c = c_c * c_scale;
        c_d = c_d * c_scale;
        c_part_a[threadIdx.y * 8 + threadIdx.x] = c_a;
        c_part_b[threadIdx.y * 8 + threadIdx.x] = c_b;
        c_part_c[threadIdx.y * 8 + threadIdx.x] = c_c;
        c_part_d[threadIdx.y * 8 + threadIdx.x] = c_d;
        __syncthreads();
        if (threadIdx.y == 0) {
            // Goes along the line, and leaves each part what comes to it.
            double c_over = 1.0;
#pragma unroll 1
            for (int p = 0; p < min(kParts, (ny - done + 3) / kPartCells); p += 8) {
#pragma unroll
                for (int q = 0; q < 8; ++q) {
                    const double c_came = c_carried;
                    const double c_came_over = c_over;
                    c_carried = fma(c_part_a[(p + q) * 8 + threadIdx.x], c_came,
                                    c_part_b[(p + q) * 8 + threadIdx.x] * c_came_over);
                    c_over = fma(c_part_c[(p + q) * 8 + threadIdx.x], c_came,
                                 c_part_d[(p + q) * 8 + threadIdx.x] * c_came_over);
                    c_part_c[(p + q) * 8 + threadIdx.x] = c_came_over;
                    c_part_a[(p + q) * 8 + threadIdx.x] = c_came;
                }
                c_carried = c_carried / c_over;
                c_over = 1.0;
            }
        }
        __syncthreads();
        // From what comes to the part each cell is computed by the statement itself.
        const double c_start =
            c_part_a[threadIdx.y * 8 + threadIdx.x] / c_part_c[threadIdx.y * 8 + threadIdx.x];
        {
            double c_before = c_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (i < nx && part_begin + n < ny) {
                    c_cells[n] = scale / fma(kappa_dt_over_h_squared, c_before, scale_2);
                    c_before = c_cells[n];
                }
        }

        double d_cells[4];
        // What the thread's cells make of the value v before them: a*v + b.
        double d_a = 1.0;
        double d_b = 0.0;
        {
            double c_before = c_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (i < nx && part_begin + n < ny) {
                    const int j = part_begin + n;
                    const long long at = static_cast<long long>(j) * pitch + i;
                    const double ratio = 1.0 / fma(kappa_dt_over_h_squared, c_before, scale_2);
                    const double d_cell_a = kappa_dt_over_h_squared * ratio;
                    const double d_cell_b = ((middle_here[n] * -2.0 +
                                              (middle[at - 1] + middle[at + 1])) * kappa_dt_over_h_squared +
                                             middle_here[n]) * ratio;
                    d_b = fma(d_cell_a, d_b, d_cell_b);
                    d_a = d_cell_a * d_a;
                    c_before = c_cells[n];
                }
        }
        d_part_a[threadIdx.y * 8 + threadIdx.x] = d_a;
        d_part_b[threadIdx.y * 8 + threadIdx.x] = d_b;
        __syncthreads();
        if (threadIdx.y == 0)
            // Goes along the line, and leaves each part what comes to it.
#pragma unroll 1
            for (int p = 0; p < min(kParts, (ny - done + 3) / kPartCells); p += 8)
#pragma unroll
                for (int q = 0; q < 8; ++q) {
                    const double d_came = d_carried;
                    d_carried =
                        fma(d_part_a[(p + q) * 8 + threadIdx.x], d_came, d_part_b[(p + q) * 8 + threadIdx.x]);
                    d_part_a[(p + q) * 8 + threadIdx.x] = d_came;
                }
        __syncthreads();
        // From what comes to the part each cell is computed by the statement itself.
        const double d_start = d_part_a[threadIdx.y * 8 + threadIdx.x];
        {
            double c_before = c_start;
            double d_before = d_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (i < nx && part_begin + n < ny) {
                    const int j = part_begin + n;
                    const long long at = static_cast<long long>(j) * pitch + i;
                    d_cells[n] = fma(kappa_dt_over_h_squared,
                                     fma(-2.0, middle_here[n], middle[at - 1] + middle[at + 1] + d_before),
                                     middle_here[n]) / fma(kappa_dt_over_h_squared, c_before, scale_2);
                    d_before = d_cells[n];
                    c_before = c_cells[n];
                }
        }

#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (i < nx && part_begin + n < ny) {
                const int j = part_begin + n;
                const long long at = static_cast<long long>(j) * pitch + i;
                c[at] = c_cells[n];
                d[at] = d_cells[n];
            }
    }
}

// Reads d, c, u_next, writes u_next.
// Schedule: direct, blocks of 4x32 threads, 1x4 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    heat2d_adi_u(const double* __restrict__ d, const double* __restrict__ c, double* __restrict__ u_next,
                 int nx, int ny, int pitch) {
    constexpr int kParts = 32;  // of a stretch of the line
    constexpr int kPartCells = 4;
    constexpr int kThreadsX = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    double u_next_carried = threadIdx.y == 0 && i < nx ?
        u_next[static_cast<long long>(ny - 1) * pitch + i + pitch] : 0.0;
    __shared__ double u_next_part_a[128];
    __shared__ double u_next_part_b[128];

    double d_fetched[4];
    double c_fetched[4];
    // Loads the thread's cells of a stretch.
    const auto fetch = [&](int at_stretch) __attribute__((always_inline)) {
        const int fetch_begin = at_stretch + threadIdx.y * kPartCells;
#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (i < nx && fetch_begin + n < ny) {
                const int j = ny - (fetch_begin + n) - 1;
                const long long at = static_cast<long long>(j) * pitch + i;
                c_fetched[n] = c[at];
                d_fetched[n] = d[at];
            }
    };
    fetch(0);
#pragma unroll 1
    for (int done = 0; done < ny; done += kParts * kPartCells) {
        const int part_begin = done + threadIdx.y * kPartCells;
        double c_here[4];
        copy_cells<4>(c_here, c_fetched);
        double d_here[4];
        copy_cells<4>(d_here, d_fetched);
        fetch(done + kParts * kPartCells);

        double u_next_cells[4];
        // What the thread's cells make of the value v before them: a*v + b.
        double u_next_a = 1.0;
        double u_next_b = 0.0;
#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (i < nx && part_begin + n < ny) {
                const double u_next_cell_a = -c_here[n];
                const double u_next_cell_b = d_here[n];
                u_next_b = fma(u_next_cell_a, u_next_b, u_next_cell_b);
                u_next_a = u_next_cell_a * u_next_a;
            }
        u_next_part_a[threadIdx.y * 4 + threadIdx.x] = u_next_a;
        u_next_part_b[threadIdx.y * 4 + threadIdx.x] = u_next_b;
        __syncthreads();
        if (threadIdx.y == 0)
            // Goes along the line, and leaves each part what comes to it.
#pragma unroll 1
            for (int p = 0; p < min(kParts, (ny - done + 3) / kPartCells); p += 8)
#pragma unroll
                for (int q = 0; q < 8; ++q) {
                    const double u_next_came = u_next_carried;
                    u_next_carried = fma(u_next_part_a[(p + q) * 4 + threadIdx.x], u_next_came,
                                         u_next_part_b[(p + q) * 4 + threadIdx.x]);
                    u_next_part_a[(p + q) * 4 + threadIdx.x] = u_next_came;
                }
        __syncthreads();
        // From what comes to the part each cell is computed by the statement itself.
        const double u_next_start = u_next_part_a[threadIdx.y * 4 + threadIdx.x];
        {
            double u_next_before = u_next_start;
#pragma unroll
            for (int n = 0; n < kPartCells; ++n)
                if (i < nx && part_begin + n < ny) {
                    u_next_cells[n] = fma(-c_here[n], u_next_before, d_here[n]);
                    u_next_before = u_next_cells[n];
                }
        }

#pragma unroll
        for (int n = 0; n < kPartCells; ++n)
            if (i < nx && part_begin + n < ny) {
                const int j = ny - (part_begin + n) - 1;
                const long long at = static_cast<long long>(j) * pitch + i;
                u_next[at] = u_next_cells[n];
            }
    }
}

// Reads u_next, reduces to warmest.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    heat2d_adi_warmest(const double* __restrict__ u_next, int nx, int ny, int pitch,
                       double* __restrict__ warmest_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double warmest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        double u_next_cells[kCellsX];
        load2(u_next_cells, u_next + static_cast<long long>(j) * pitch + i);

#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) warmest_of_thread = keep_max(warmest_of_thread, u_next_cells[x]);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double warmest_of_block = block_max(warmest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        warmest_partials[blockIdx.x + gridDim.x * blockIdx.y] = warmest_of_block;
}
