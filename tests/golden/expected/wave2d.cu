// wave2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y.

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

// Stores a cell once more wherever the halo shows it: x clamp, y clamp.
__device__ inline void store_images_u(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -2 : j; y < (j == ny - 1 ? ny + 2 : j + 1); ++y)
        for (int x = i == 0 ? -2 : i; x < (i == nx - 1 ? nx + 2 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads u, u_prev, writes u_next, reduces to height.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    wave2d_step(const float* __restrict__ u, const float* __restrict__ u_prev, float* __restrict__ u_next,
                int nx, int ny, int pitch, float c_squared_dt_dt, double* __restrict__ height_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double height_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        u_next[at] = fmaf(c_squared_dt_dt,
                          fmaf(-0.083333336f, u[at - 2] + u[at + 2] + u[at - 2 * pitch] + u[at + 2 * pitch],
                               fmaf(-5.0f, u[at],
                                    1.3333334f * (u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]))),
                          fmaf(2.0f, u[at], -u_prev[at]));
        height_of_thread = keep_max(height_of_thread, static_cast<double>(fabsf(u[at])));

        // Cells of u_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_u(u_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double height_of_block = block_max(height_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        height_partials[blockIdx.x + gridDim.x * blockIdx.y] = height_of_block;
}

// In place of wave2d_step in steps whose results nobody reads; leaves out height.
// Reads u, u_prev, writes u_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    wave2d_step_states(const float* __restrict__ u, const float* __restrict__ u_prev,
                       float* __restrict__ u_next, int nx, int ny, int pitch, float c_squared_dt_dt) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_next[at] = fmaf(c_squared_dt_dt,
                      fmaf(-0.083333336f, u[at - 2] + u[at + 2] + u[at - 2 * pitch] + u[at + 2 * pitch],
                           fmaf(-5.0f, u[at],
                                1.3333334f * (u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]))),
                      fmaf(2.0f, u[at], -u_prev[at]));

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_u(u_next, i, j, nx, ny, pitch);
}
