// fin: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x.

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

// Reads T, writes T_next.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    fin_T(const double* __restrict__ T, double* __restrict__ T_next, int nx, double dt, double scale,
          double inv_h_squared) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    const int at = i;
    T_next[at] = fma(dt, fma(inv_h_squared, T[at - 1] + T[at + 1], scale * T[at]), T[at]);
}

// Fills what lies past the faces of T along x.
extern "C" __global__ void __launch_bounds__(1)
    fin_halo_T_x(double* __restrict__ T_next, int nx, double minus_h_tip) {
    const int last = nx - 1;
    T_next[-1] = 1.0;
    T_next[last + 1] = fma(minus_h_tip, T_next[last], T_next[last - 1]);
}

// Writes T_next.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32) fin_T_2(double* __restrict__ T_next, int nx) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= 1) return;

    const int at = i;
    T_next[at] = 1.0;
}

// Reads T, T_next, reduces to change, reduces to heat.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    fin_change(const double* __restrict__ T, const double* __restrict__ T_next, int nx,
               double* __restrict__ change_partials, double* __restrict__ heat_partials) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;

    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    double heat_of_thread = 0.0;
    if (i < nx) {
        const int at = i;
        change_of_thread = keep_max(change_of_thread, fabs(T_next[at] - T[at]));
        if (i >= 1) heat_of_thread += T_next[at];
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double change_of_block = block_max(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) change_partials[blockIdx.x] = change_of_block;
    const double heat_of_block = block_sum(heat_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) heat_partials[blockIdx.x] = heat_of_block;
}
