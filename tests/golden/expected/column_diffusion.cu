// column_diffusion: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 0 below and 0 above along x, 0 below and 0 above along y, 1 below and 1 above along z.

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

    double c_before = c[static_cast<long long>(j) * pitch + i - slice];
    double d_before = d[static_cast<long long>(j) * pitch + i - slice];
#pragma unroll 4
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
        const double sum = fma(ratio_2, c_before, 1.0 + ratio_2 + ratio);
        const double c_value = -ratio / sum;
        c[at] = c_value;
        const double d_value = fma(ratio_2, d_before, q[at] + gain_value) / sum;
        d[at] = d_value;
        c_before = c_value;
        d_before = d_value;
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

    double q_next_before = q_next[(nz - 1) * slice + static_cast<long long>(j) * pitch + i + slice];
#pragma unroll 4
    for (int k = nz - 1; k >= 0; --k) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        const double q_value = fma(-c[at], q_next_before, d[at]);
        q_next[at] = q_value;
        q_next_before = q_value;
    }
}
