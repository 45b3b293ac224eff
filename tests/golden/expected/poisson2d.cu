// poisson2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// a + b, around the ends.
__device__ __forceinline__ int wrap_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

// What floor_div leaves: of b's sign; by 0 it is 0.
__device__ __forceinline__ int floor_mod(int a, int b) {
    if (b == 0 || b == -1) return 0;
    const int rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
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

// Reads u, f, writes u_before.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 17)
    poisson2d_u_before(const double* __restrict__ u, const double* __restrict__ f,
                       double* __restrict__ u_before, int nx, int ny, int pitch, double scale, double omega) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_before[at] = floor_mod(wrap_add(i, j), 2) == 0 ?
        fma(omega, u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch] + 0.000244140625 * f[at],
            scale * u[at]) : u[at];
}

// Reads u, f, u_before, writes u_next, reduces to change.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    poisson2d_u(const double* __restrict__ u, const double* __restrict__ f,
                const double* __restrict__ u_before, double* __restrict__ u_next, int nx, int ny, int pitch,
                double scale, double omega, double* __restrict__ change_partials) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double u_new = floor_mod(wrap_add(i, j), 2) == 1 ?
            fma(omega,
                u_before[at - 1] + u_before[at + 1] + u_before[at - pitch] + u_before[at + pitch] +
                0.000244140625 * f[at], scale * u_before[at]) : u_before[at];
        u_next[at] = u_new;
        change_of_thread = keep_max(change_of_thread, fabs(u_new - u[at]));
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double change_of_block = block_max(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        change_partials[blockIdx.x + gridDim.x * blockIdx.y] = change_of_block;
}

// In place of poisson2d_u in steps whose results nobody reads; leaves out change.
// Reads f, u_before, writes u_next.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    poisson2d_u_states(const double* __restrict__ f, const double* __restrict__ u_before,
                       double* __restrict__ u_next, int nx, int ny, int pitch, double scale, double omega) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_next[at] = floor_mod(wrap_add(i, j), 2) == 1 ?
        fma(omega,
            u_before[at - 1] + u_before[at + 1] + u_before[at - pitch] + u_before[at + pitch] +
            0.000244140625 * f[at], scale * u_before[at]) : u_before[at];
}
