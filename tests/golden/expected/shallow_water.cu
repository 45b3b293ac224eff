// shallow_water: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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
// Schedule: direct, blocks of 32x8 threads, 1x1 cells a thread.
// At least 40 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    shallow_water_u(const double* __restrict__ v, const double* __restrict__ u,
                    const double* __restrict__ eta, double* __restrict__ u_next, double* __restrict__ v_next,
                    int nx, int ny, int pitch, double scale, double minus_dt, double g_over_h, double inv_h,
                    double scale_2) {
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double v_at_u_value = 0.25 * (v[at - pitch] + v[at - pitch + 1] + (v[at] + v[at + 1]));
    const double u_at_v_value = 0.25 * (u[at - 1] + u[at] + (u[at + pitch - 1] + u[at + pitch]));
    const double u_next_value = fma(minus_dt,
                                    fma(v_at_u_value,
                                        v_at_u_value > 0.0 ? inv_h * (u[at] - u[at - pitch]) :
                                        inv_h * (u[at + pitch] - u[at]),
                                        fma(u[at],
                                            u[at] > 0.0 ? inv_h * (u[at] - u[at - 1]) :
                                            inv_h * (u[at + 1] - u[at]), g_over_h * (eta[at + 1] - eta[at]))),
                                    u[at]);
    const double u_new = static_cast<double>(i) == scale ? 0.0 : u_next_value;
    const double v_next_value = fma(minus_dt,
                                    fma(v[at],
                                        v[at] > 0.0 ? inv_h * (v[at] - v[at - pitch]) :
                                        inv_h * (v[at + pitch] - v[at]),
                                        fma(u_at_v_value,
                                            u_at_v_value > 0.0 ? inv_h * (v[at] - v[at - 1]) :
                                            inv_h * (v[at + 1] - v[at]),
                                            g_over_h * (eta[at + pitch] - eta[at]))),
                                    v[at]);
    const double v_new = static_cast<double>(j) == scale_2 ? 0.0 : v_next_value;
    u_next[at] = u_new;
    v_next[at] = v_new;

    // Cells of u_next near a face are shown by halo cells, too.
    if (j < 1 || j >= ny - 1) store_images_u(u_next, i, j, nx, ny, pitch);

    // Cells of v_next near a face are shown by halo cells, too.
    if (i < 1 || i >= nx - 1) store_images_v(v_next, i, j, nx, ny, pitch);
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
    constexpr int kThreadsX = 32, kThreadsY = 8;

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
    constexpr int kThreadsX = 32, kThreadsY = 8;

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
    if (near_face || i < 1 || i >= nx - 1) store_images_eta(eta_next, i, j, nx, ny, pitch);
}
