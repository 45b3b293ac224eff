// swift_hohenberg: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y.

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
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

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_u(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 2 && i < nx - 2 && j >= 2 && j < ny - 2) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 2; y += ny)
        for (int x = first_image(i, nx, 2); x < nx + 2; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads u, writes u_next, reduces to strength.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    swift_hohenberg_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int pitch,
                         float dt, float scale, float scale_2, float inv_h_squared, float minus_inv_h_squared,
                         float inv_h_squared_h_h, float minus_inv_h_squared_h_h, double scale_3,
                         double* __restrict__ strength_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double strength_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float sum = u[at - 1] + u[at + 1];
        const float sum_2 = u[at - pitch] + u[at + pitch];
        const float sum_3 = sum + sum_2;
        float sum_4 = fmaf(-2.0f,
                           fmaf(minus_inv_h_squared, fmaf(minus_inv_h_squared, u[at], inv_h_squared * sum),
                                fmaf(inv_h_squared,
                                     fmaf(inv_h_squared,
                                          u[at - pitch - 1] + u[at - pitch + 1] +
                                          (u[at + pitch - 1] + u[at + pitch + 1]),
                                          fmaf(minus_inv_h_squared, sum_2, sum_3)),
                                     scale_2 * u[at])),
                           scale * u[at]);
        sum_4 = fmaf(inv_h_squared_h_h, sum_3, sum_4);
        sum_4 = fmaf(minus_inv_h_squared_h_h, u[at - 2] + u[at + 2] + u[at - 2 * pitch] + u[at + 2 * pitch],
                     sum_4);
        sum_4 = fmaf(-(u[at] * u[at]), u[at], sum_4);
        const float u_new = fmaf(dt, sum_4, u[at]);
        u_next[at] = u_new;
        strength_of_thread += scale_3 * static_cast<double>(u_new * u_new);

        // Cells of u_next near a face are shown by halo cells, too.
        const bool near_face = j < 2 || j >= ny - 2;
        if (near_face || i < 2 || i >= nx - 2) store_images_u(u_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double strength_of_block = block_sum(strength_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        strength_partials[blockIdx.x + gridDim.x * blockIdx.y] = strength_of_block;
}

// In place of swift_hohenberg_step in steps whose results nobody reads; leaves out strength.
// Reads u, writes u_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 10)
    swift_hohenberg_step_states(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny,
                                int pitch, float dt, float scale, float scale_2, float inv_h_squared,
                                float minus_inv_h_squared, float inv_h_squared_h_h,
                                float minus_inv_h_squared_h_h) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const float sum = u[at - 1] + u[at + 1];
    const float sum_2 = u[at - pitch] + u[at + pitch];
    const float sum_3 = sum + sum_2;
    float sum_4 = fmaf(-2.0f,
                       fmaf(minus_inv_h_squared, fmaf(minus_inv_h_squared, u[at], inv_h_squared * sum),
                            fmaf(inv_h_squared,
                                 fmaf(inv_h_squared,
                                      u[at - pitch - 1] + u[at - pitch + 1] +
                                      (u[at + pitch - 1] + u[at + pitch + 1]),
                                      fmaf(minus_inv_h_squared, sum_2, sum_3)),
                                 scale_2 * u[at])),
                       scale * u[at]);
    sum_4 = fmaf(inv_h_squared_h_h, sum_3, sum_4);
    sum_4 =
        fmaf(minus_inv_h_squared_h_h, u[at - 2] + u[at + 2] + u[at - 2 * pitch] + u[at + 2 * pitch], sum_4);
    sum_4 = fmaf(-(u[at] * u[at]), u[at], sum_4);
    u_next[at] = fmaf(dt, sum_4, u[at]);

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 2 || j >= ny - 2;
    if (near_face || i < 2 || i >= nx - 2) store_images_u(u_next, i, j, nx, ny, pitch);
}
