// storm_surge: CUDA kernels of a stencil, emitted by Halocline.
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

__device__ __forceinline__ void store2(double* to, const double* from) {
    __stwb(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
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

// Reads u, eta, v, writes u_next, v_next.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 40 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 11)
    storm_surge_u(const double* __restrict__ u, const double* __restrict__ eta, const double* __restrict__ v,
                  double* __restrict__ u_next, double* __restrict__ v_next, int nx, int ny, int pitch,
                  double minus_dt, double drag_wind_x, double h, double h_2, double g_over_h, double friction,
                  double scale, double drag_wind_y, double h_3) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[2];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        row[y] = static_cast<long long>(j + y) * pitch;

    double u_cells[kCellsX];
    load2(u_cells, u + row[0] + i);
    double eta_cells[2][kCellsX + 1];
    const double* eta_row = eta + row[0] + i;
    load2(eta_cells[0], eta_row);
    eta_cells[0][2] = eta_row[2];
    load2(eta_cells[1], eta + row[1] + i);
    double v_cells[kCellsX];
    load2(v_cells, v + row[0] + i);

    double u_next_result[kCellsX];
    double v_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const double value = static_cast<double>(j) * h;
        const double u_next_value = fma(minus_dt,
                                        fma(friction, u_cells[x],
                                            fma(g_over_h, eta_cells[0][x + 1] - eta_cells[0][x],
                                                -(drag_wind_x / (8.0 + 30.0 * value / h_2)))),
                                        u_cells[x]);
        const double u_new = static_cast<double>(i + x) == scale ? 0.0 : u_next_value;
        const double v_new = fma(minus_dt,
                                 fma(friction, v_cells[x],
                                     fma(g_over_h, eta_cells[1][x] - eta_cells[0][x],
                                         -(drag_wind_y / (8.0 + 30.0 * (value + h_3) / h_2)))),
                                 v_cells[x]);
        u_next_result[x] = u_new;
        v_next_result[x] = v_new;
    }
    if (i + kCellsX <= nx) {
        store2(u_next + row[0] + i, u_next_result);
        store2(v_next + row[0] + i, v_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_next[row[0] + i + x] = u_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) v_next[row[0] + i + x] = v_next_result[x];
    }
}

// Stores a cell once more wherever the halo shows it: x clamp.
__device__ inline void store_images_eta(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i < nx - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int x = i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Reads eta, u_next, v_next, writes eta_next, reduces to highest.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    storm_surge_eta(const double* __restrict__ eta, const double* __restrict__ u_next,
                    const double* __restrict__ v_next, double* __restrict__ eta_next, int nx, int ny,
                    int pitch, double minus_dt_over_h, double h, double h_2, double h_3,
                    double* __restrict__ highest_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double highest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[2];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        double eta_cells[kCellsX];
        load2(eta_cells, eta + row[1] + i);
        double u_next_cells[kCellsX + 1];
        const double* u_next_row = u_next + row[1] + i;
        u_next_cells[0] = u_next_row[-1];
        load2(&u_next_cells[1], u_next_row);
        double v_next_cells[2][kCellsX];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load2(v_next_cells[y], v_next + row[y] + i);

        double eta_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double value = static_cast<double>(j) * h;
            const double sum = 8.0 + 30.0 * value / h_2;
            double sum_2 = fma(-u_next_cells[x], sum, u_next_cells[x + 1] * sum);
            sum_2 = fma(v_next_cells[1][x], 8.0 + 30.0 * (value + h_3) / h_2, sum_2);
            sum_2 = fma(-v_next_cells[0][x], 8.0 + 30.0 * (value - h + h_3) / h_2, sum_2);
            const double eta_new = fma(minus_dt_over_h, sum_2, eta_cells[x]);
            eta_next_result[x] = eta_new;
            if (i + x < nx) highest_of_thread = keep_max(highest_of_thread, eta_new);
        }
        if (i + kCellsX <= nx)
            store2(eta_next + row[1] + i, eta_next_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) eta_next[row[1] + i + x] = eta_next_result[x];

        // Cells of eta_next near a face are shown by halo cells, too.
        if (i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (i + x >= nx - 1)
                    if (i + x < nx) store_images_eta(eta_next, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double highest_of_block = block_max(highest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        highest_partials[blockIdx.x + gridDim.x * blockIdx.y] = highest_of_block;
}

// In place of storm_surge_eta in steps whose results nobody reads; leaves out highest.
// Reads eta, u_next, v_next, writes eta_next.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    storm_surge_eta_states(const double* __restrict__ eta, const double* __restrict__ u_next,
                           const double* __restrict__ v_next, double* __restrict__ eta_next, int nx, int ny,
                           int pitch, double minus_dt_over_h, double h, double h_2, double h_3) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[2];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;

    double eta_cells[kCellsX];
    load2(eta_cells, eta + row[1] + i);
    double u_next_cells[kCellsX + 1];
    const double* u_next_row = u_next + row[1] + i;
    u_next_cells[0] = u_next_row[-1];
    load2(&u_next_cells[1], u_next_row);
    double v_next_cells[2][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load2(v_next_cells[y], v_next + row[y] + i);

    double eta_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const double value = static_cast<double>(j) * h;
        const double sum = 8.0 + 30.0 * value / h_2;
        double sum_2 = fma(-u_next_cells[x], sum, u_next_cells[x + 1] * sum);
        sum_2 = fma(v_next_cells[1][x], 8.0 + 30.0 * (value + h_3) / h_2, sum_2);
        sum_2 = fma(-v_next_cells[0][x], 8.0 + 30.0 * (value - h + h_3) / h_2, sum_2);
        eta_next_result[x] = fma(minus_dt_over_h, sum_2, eta_cells[x]);
    }
    if (i + kCellsX <= nx)
        store2(eta_next + row[1] + i, eta_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) eta_next[row[1] + i + x] = eta_next_result[x];

    // Cells of eta_next near a face are shown by halo cells, too.
    if (i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (i + x >= nx - 1)
                if (i + x < nx) store_images_eta(eta_next, i + x, j, nx, ny, pitch);
}
