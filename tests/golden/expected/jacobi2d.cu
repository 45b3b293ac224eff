// jacobi2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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

// Reads u, writes u_next, reduces to change.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 19)
    jacobi2d_step(const double* __restrict__ u, double* __restrict__ u_next, int nx, int ny, int pitch,
                  double* __restrict__ change_partials) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double change_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double u_new = 0.25 * (u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]);
        const double difference = u_new - u[at];
        u_next[at] = u_new;
        change_of_thread += difference * difference;
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double change_of_block = block_sum(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        change_partials[blockIdx.x + gridDim.x * blockIdx.y] = change_of_block;
}

// In place of jacobi2d_step in steps whose results nobody reads; leaves out change.
// Reads u, writes u_next.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 19)
    jacobi2d_step_states(const double* __restrict__ u, double* __restrict__ u_next, int nx, int ny, int pitch)
    {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_next[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]);
}
