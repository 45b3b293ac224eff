// shallow_water: CUDA kernels of a stencil, emitted by Halocline.
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
    asm volatile("st.global.v2.f64 [%0], {%1, %2};"
                 :
                 : "l"(__cvta_generic_to_global(to)), "d"(from[0]), "d"(from[1])
                 : "memory");
}

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
}

// The sum over the block's threads, always in the same order; thread 0 gets it.
__device__ inline double block_sum(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = thread < warps ? of_warp[thread] : 0.0;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    return value;
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

// Stores a cell once more wherever the halo shows it: y clamp.
__device__ inline void store_images_u(double* u, int i, int j, int nx, int ny, int pitch) {
    if (j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
        u[static_cast<long long>(y) * pitch + i] = value;
}

// Stores a cell once more wherever the halo shows it: x clamp.
__device__ inline void store_images_v(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Reads v, u, eta, writes u_next, v_next.
// Schedule: direct, blocks of 8x8 threads, 2x2 cells a thread.
// At least 40 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    shallow_water_u(const double* __restrict__ v, const double* __restrict__ u,
                    const double* __restrict__ eta, double* __restrict__ u_next, double* __restrict__ v_next,
                    int nx, int ny, int pitch, double minus_dt, double g_over_h, double inv_h, double scale,
                    double scale_2) {
    constexpr int kCellsX = 2;
    constexpr int kCellsY = 2;
    constexpr int kThreadsX = 8;
    constexpr int kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;

    double v_cells[kCellsY + 2][kCellsX + 2];
    const double* v_row = v + row[0] + i;
    load2(&v_cells[0][1], v_row);
    v_cells[0][3] = v_row[2];
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        const double* v_row_2 = v + row[y] + i;
        v_cells[y][0] = v_row_2[-1];
        load2(&v_cells[y][1], v_row_2);
        v_cells[y][3] = v_row_2[2];
    }
    load2(&v_cells[3][1], v + row[3] + i);
    double u_cells[kCellsY + 2][kCellsX + 2];
    load2(&u_cells[0][1], u + row[0] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y) {
        const double* u_row = u + row[y] + i;
        u_cells[y][0] = u_row[-1];
        load2(&u_cells[y][1], u_row);
        u_cells[y][3] = u_row[2];
    }
    const double* u_row_2 = u + row[3] + i;
    u_cells[3][0] = u_row_2[-1];
    load2(&u_cells[3][1], u_row_2);
    double eta_cells[kCellsY + 1][kCellsX + 1];
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        const double* eta_row = eta + row[y + 1] + i;
        load2(eta_cells[y], eta_row);
        eta_cells[y][2] = eta_row[2];
    }
    load2(eta_cells[2], eta + row[3] + i);

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        double u_next_result[kCellsX];
        double v_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const double v_at_u_value = 0.25 * (v_cells[y][x + 1] + v_cells[y][x + 2] +
                                                (v_cells[y + 1][x + 1] + v_cells[y + 1][x + 2]));
            const double u_at_v_value = 0.25 * (u_cells[y + 1][x] + u_cells[y + 1][x + 1] +
                                                (u_cells[y + 2][x] + u_cells[y + 2][x + 1]));
            const double u_next_value = fma(minus_dt,
                                            fma(v_at_u_value,
                                                v_at_u_value > 0.0 ?
                                                inv_h * (u_cells[y + 1][x + 1] - u_cells[y][x + 1]) :
                                                inv_h * (u_cells[y + 2][x + 1] - u_cells[y + 1][x + 1]),
                                                fma(u_cells[y + 1][x + 1],
                                                    u_cells[y + 1][x + 1] > 0.0 ?
                                                    inv_h * (u_cells[y + 1][x + 1] - u_cells[y + 1][x]) :
                                                    inv_h * (u_cells[y + 1][x + 2] - u_cells[y + 1][x + 1]),
                                                    g_over_h * (eta_cells[y][x + 1] - eta_cells[y][x]))),
                                            u_cells[y + 1][x + 1]);
            const double v_next_value = fma(minus_dt,
                                            fma(v_cells[y + 1][x + 1],
                                                v_cells[y + 1][x + 1] > 0.0 ?
                                                inv_h * (v_cells[y + 1][x + 1] - v_cells[y][x + 1]) :
                                                inv_h * (v_cells[y + 2][x + 1] - v_cells[y + 1][x + 1]),
                                                fma(u_at_v_value,
                                                    u_at_v_value > 0.0 ?
                                                    inv_h * (v_cells[y + 1][x + 1] - v_cells[y + 1][x]) :
                                                    inv_h * (v_cells[y + 1][x + 2] - v_cells[y + 1][x + 1]),
                                                    g_over_h * (eta_cells[y + 1][x] - eta_cells[y][x]))),
                                            v_cells[y + 1][x + 1]);
            const double u_new = static_cast<double>(i + x) == scale ? 0.0 : u_next_value;
            const double v_new = static_cast<double>(j + y) == scale_2 ? 0.0 : v_next_value;
            u_next_result[x] = u_new;
            v_next_result[x] = v_new;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx) {
                store2(u_next + row[y + 1] + i, u_next_result);
                store2(v_next + row[y + 1] + i, v_next_result);
            } else {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) u_next[row[y + 1] + i + x] = u_next_result[x];
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) v_next[row[y + 1] + i + x] = v_next_result[x];
            }
        }
    }

    // Cells of u_next near a face are shown by halo cells, too.
    if (j < 1 || j + 1 >= ny - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
#pragma unroll 1
            for (int y = 0; y < 2; ++y)
                if (i + x < nx && j + y < ny) store_images_u(u_next, i + x, j + y, nx, ny, pitch);

    // Cells of v_next near a face are shown by halo cells, too.
    if (i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (i + x < 1 || i + x >= nx - 1)
#pragma unroll 1
                for (int y = 0; y < 2; ++y)
                    if (i + x < nx && j + y < ny) store_images_v(v_next, i + x, j + y, nx, ny, pitch);
}

// Stores a cell once more wherever the halo shows it: x clamp, y clamp.
__device__ inline void store_images_eta(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
        for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads eta, u_next, v_next, writes eta_next, reduces to volume, reduces to highest.
// Schedule: direct, blocks of 32x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    shallow_water_eta(const double* __restrict__ eta, const double* __restrict__ u_next,
                      const double* __restrict__ v_next, double* __restrict__ eta_next, int nx, int ny,
                      int pitch, double minus_dt_over_h, double depth, double* __restrict__ volume_partials,
                      double* __restrict__ highest_partials) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double volume_of_thread = 0.0;
    double highest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double sum = depth + eta[at];
        double sum_2 =
            fma(-u_next[at - 1], depth + eta[at - 1] + sum, u_next[at] * (sum + eta[at + 1] + depth));
        sum_2 = fma(v_next[at], sum + eta[at + pitch] + depth, sum_2);
        sum_2 = fma(-v_next[at - pitch], depth + eta[at - pitch] + sum, sum_2);
        const double eta_new = fma(minus_dt_over_h, sum_2, eta[at]);
        eta_next[at] = eta_new;
        volume_of_thread += eta_new;
        highest_of_thread = keep_max(highest_of_thread, eta_new);

        // Cells of eta_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_eta(eta_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double volume_of_block = block_sum(volume_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        volume_partials[blockIdx.x + gridDim.x * blockIdx.y] = volume_of_block;
    const double highest_of_block = block_max(highest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        highest_partials[blockIdx.x + gridDim.x * blockIdx.y] = highest_of_block;
}

// In place of shallow_water_eta in steps whose results nobody reads; leaves out volume, highest.
// Reads eta, u_next, v_next, writes eta_next.
// Schedule: direct, blocks of 32x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    shallow_water_eta_states(const double* __restrict__ eta, const double* __restrict__ u_next,
                             const double* __restrict__ v_next, double* __restrict__ eta_next, int nx, int ny,
                             int pitch, double minus_dt_over_h, double depth) {
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double sum = depth + eta[at];
    double sum_2 = fma(-u_next[at - 1], depth + eta[at - 1] + sum, u_next[at] * (sum + eta[at + 1] + depth));
    sum_2 = fma(v_next[at], sum + eta[at + pitch] + depth, sum_2);
    sum_2 = fma(-v_next[at - pitch], depth + eta[at - pitch] + sum, sum_2);
    eta_next[at] = fma(minus_dt_over_h, sum_2, eta[at]);

    // Cells of eta_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) {
        store_images_eta(eta_next, i, j, nx, ny, pitch);
    }
}
