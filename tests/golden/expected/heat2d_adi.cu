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
// Schedule: direct, blocks of 1x32 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    heat2d_adi_c(const double* __restrict__ u, double* __restrict__ c, double* __restrict__ d, int nx, int ny,
                 int pitch, double scale, double scale_2, double kappa_dt_over_h_squared) {
    constexpr int kThreadsY = 32;

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (j >= ny) return;

    for (int i = 0; i < nx; ++i) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double sum = fma(kappa_dt_over_h_squared, c[at - 1], scale_2);
        c[at] = scale / sum;
        d[at] = fma(kappa_dt_over_h_squared, fma(-2.0, u[at], u[at - pitch] + u[at + pitch] + d[at - 1]),
                    u[at]) / sum;
    }
}

// Reads d, c, middle, writes middle.
// Schedule: direct, blocks of 1x32 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    heat2d_adi_middle(const double* __restrict__ d, const double* __restrict__ c, double* __restrict__ middle,
                      int nx, int ny, int pitch) {
    constexpr int kThreadsY = 32;

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (j >= ny) return;

    for (int i = nx - 1; i >= 0; --i) {
        const long long at = static_cast<long long>(j) * pitch + i;
        middle[at] = fma(-c[at], middle[at + 1], d[at]);
    }
}

// Reads middle, c, d, writes c, d.
// Schedule: direct, blocks of 32x1 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    heat2d_adi_c_2(const double* __restrict__ middle, double* __restrict__ c, double* __restrict__ d, int nx,
                   int ny, int pitch, double scale, double scale_2, double kappa_dt_over_h_squared) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    for (int j = 0; j < ny; ++j) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double sum = fma(kappa_dt_over_h_squared, c[at - pitch], scale_2);
        c[at] = scale / sum;
        d[at] = fma(kappa_dt_over_h_squared,
                    fma(-2.0, middle[at], middle[at - 1] + middle[at + 1] + d[at - pitch]), middle[at]) / sum;
    }
}

// Reads d, c, u_next, writes u_next.
// Schedule: direct, blocks of 32x1 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    heat2d_adi_u(const double* __restrict__ d, const double* __restrict__ c, double* __restrict__ u_next,
                 int nx, int ny, int pitch) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    for (int j = ny - 1; j >= 0; --j) {
        const long long at = static_cast<long long>(j) * pitch + i;
        u_next[at] = fma(-c[at], u_next[at + pitch], d[at]);
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
