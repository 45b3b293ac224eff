// column_diffusion: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 0 below and 0 above along x, 0 below and 0 above along y, 1 below and 1 above along z.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(double* to, const double* from) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
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

// Reads emission, c, q, d, writes c, d.
// Schedule: direct, blocks of 32x1x1 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    column_diffusion_c(const double* __restrict__ emission, const double* __restrict__ q,
                       double* __restrict__ c, double* __restrict__ d, int nx, int ny, int nz, int pitch,
                       long long slice, double dt_source_over_dz, double dz, double dz_2, double dt,
                       double dz_squared) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y;
    if (i >= nx || j >= ny) return;

    for (int k = 0; k < nz; ++k) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        const double value = static_cast<double>(k);
        const double gain_value = value == 0.0 ? dt_source_over_dz * emission[at] : 0.0;
        const double product = dz * (value + 1.0);
        const double difference = 1.0 - product / dz_2;
        const double ratio = 0.12 * product * (difference * difference) * dt / dz_squared;
        const double product_2 = dz * value;
        const double difference_2 = 1.0 - product_2 / dz_2;
        const double ratio_2 = 0.12 * product_2 * (difference_2 * difference_2) * dt / dz_squared;
        const double sum = fma(ratio_2, c[at - slice], 1.0 + ratio_2 + ratio);
        c[at] = -ratio / sum;
        d[at] = fma(ratio_2, d[at - slice], q[at] + gain_value) / sum;
    }
}

// Reads d, c, q_next, writes q_next.
// Schedule: direct, blocks of 32x1x1 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    column_diffusion_q(const double* __restrict__ d, const double* __restrict__ c,
                       double* __restrict__ q_next, int nx, int ny, int nz, int pitch, long long slice) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y;
    if (i >= nx || j >= ny) return;

    for (int k = nz - 1; k >= 0; --k) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        q_next[at] = fma(-c[at], q_next[at + slice], d[at]);
    }
}

// Reads q_next, reduces to total.
// Schedule: direct, blocks of 16x8x1 threads, 2x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    column_diffusion_total(const double* __restrict__ q_next, int nx, int ny, int nz, int pitch,
                           long long slice, double* __restrict__ total_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 16, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;

    double total_of_thread = 0.0;
    if (i < nx && j < ny && k < nz) {
        double q_next_cells[kCellsX];
        load2(q_next_cells, q_next + k * slice + static_cast<long long>(j) * pitch + i);

#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) total_of_thread += q_next_cells[x];
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double total_of_block = block_sum(total_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        total_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = total_of_block;
}
