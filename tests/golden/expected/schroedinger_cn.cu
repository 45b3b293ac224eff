// schroedinger_cn: CUDA kernels of a stencil, emitted by Halocline.
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

// Reads kick_re, kick_im, psi_re, psi_im, writes kicked_re, kicked_im.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 17)
    schroedinger_cn_kicked_re(const double* __restrict__ kick_re, const double* __restrict__ kick_im,
                              const double* __restrict__ psi_re, const double* __restrict__ psi_im,
                              double* __restrict__ kicked_re, double* __restrict__ kicked_im, int nx, int ny,
                              int pitch) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double kicked_re_value = fma(-kick_im[at], psi_im[at], kick_re[at] * psi_re[at]);
    const double kicked_im_value = fma(kick_im[at], psi_re[at], kick_re[at] * psi_im[at]);
    kicked_re[at] = kicked_re_value;
    kicked_im[at] = kicked_im_value;
}

// Reads c_re, c_im, kicked_re, kicked_im, d_re, d_im, writes c_re, c_im, d_re, d_im.
// Schedule: direct, blocks of 1x32 threads, 1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 25)
    schroedinger_cn_c_re(const double* __restrict__ kicked_re, const double* __restrict__ kicked_im,
                         double* __restrict__ c_re, double* __restrict__ c_im, double* __restrict__ d_re,
                         double* __restrict__ d_im, int nx, int ny, int pitch, double minus_dt_over_h_squared,
                         double dt_over_h_squared, double dt_over_h_squared_2, double scale) {
    constexpr int kThreadsY = 32;

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (j >= ny) return;

    double c_re_before = c_re[static_cast<long long>(j) * pitch - 1];
    double c_im_before = c_im[static_cast<long long>(j) * pitch - 1];
    double d_re_before = d_re[static_cast<long long>(j) * pitch - 1];
    double d_im_before = d_im[static_cast<long long>(j) * pitch - 1];
#pragma unroll 4
    for (int i = 0; i < nx; ++i) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double sum = fma(dt_over_h_squared_2, c_re_before, dt_over_h_squared);
        const double sum_2 = fma(minus_dt_over_h_squared, c_im_before, scale);
        const double sum_3 = fma(sum, sum, sum_2 * sum_2);
        const double c_re_value = minus_dt_over_h_squared * (sum / sum_3);
        c_re[at] = c_re_value;
        const double c_im_value = minus_dt_over_h_squared * (sum_2 / sum_3);
        c_im[at] = c_im_value;
        const double sum_4 = fma(minus_dt_over_h_squared,
                                 fma(-2.0, kicked_im[at], kicked_im[at - 1] + kicked_im[at + 1]) +
                                 d_im_before, kicked_re[at]);
        const double sum_5 = fma(dt_over_h_squared_2,
                                 fma(-2.0, kicked_re[at], kicked_re[at - 1] + kicked_re[at + 1]) +
                                 d_re_before, kicked_im[at]);
        const double value = -sum;
        const double d_re_value = fma(-sum_5, value, sum_4 * sum_2) / sum_3;
        d_re[at] = d_re_value;
        const double d_im_value = fma(sum_5, sum_2, sum_4 * value) / sum_3;
        d_im[at] = d_im_value;
        c_re_before = c_re_value;
        c_im_before = c_im_value;
        d_re_before = d_re_value;
        d_im_before = d_im_value;
    }
}

// Reads d_re, d_im, c_re, c_im, middle_re, middle_im, writes middle_re, middle_im.
// Schedule: direct, blocks of 1x32 threads, 1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    schroedinger_cn_middle_re(const double* __restrict__ d_re, const double* __restrict__ d_im,
                              const double* __restrict__ c_re, const double* __restrict__ c_im,
                              double* __restrict__ middle_re, double* __restrict__ middle_im, int nx, int ny,
                              int pitch) {
    constexpr int kThreadsY = 32;

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (j >= ny) return;

    double middle_re_before = middle_re[static_cast<long long>(j) * pitch + nx];
    double middle_im_before = middle_im[static_cast<long long>(j) * pitch + nx];
#pragma unroll 4
    for (int i = nx - 1; i >= 0; --i) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double value = -c_re[at];
        const double middle_re_value =
            fma(c_im[at], middle_im_before, fma(value, middle_re_before, d_re[at]));
        middle_re[at] = middle_re_value;
        const double middle_im_value =
            fma(-c_im[at], middle_re_before, fma(value, middle_im_before, d_im[at]));
        middle_im[at] = middle_im_value;
        middle_re_before = middle_re_value;
        middle_im_before = middle_im_value;
    }
}

// Reads c_re, c_im, middle_re, middle_im, d_re, d_im, writes c_re, c_im, d_re, d_im.
// Schedule: direct, blocks of 32x1 threads, 1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 25)
    schroedinger_cn_c_re_2(const double* __restrict__ middle_re, const double* __restrict__ middle_im,
                           double* __restrict__ c_re, double* __restrict__ c_im, double* __restrict__ d_re,
                           double* __restrict__ d_im, int nx, int ny, int pitch,
                           double minus_dt_over_h_squared, double dt_over_h_squared,
                           double dt_over_h_squared_2, double scale) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    double c_re_before = c_re[i - pitch];
    double c_im_before = c_im[i - pitch];
    double d_re_before = d_re[i - pitch];
    double d_im_before = d_im[i - pitch];
#pragma unroll 4
    for (int j = 0; j < ny; ++j) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double sum = fma(dt_over_h_squared_2, c_re_before, dt_over_h_squared);
        const double sum_2 = fma(minus_dt_over_h_squared, c_im_before, scale);
        const double sum_3 = fma(sum, sum, sum_2 * sum_2);
        const double c_re_value = minus_dt_over_h_squared * (sum / sum_3);
        c_re[at] = c_re_value;
        const double c_im_value = minus_dt_over_h_squared * (sum_2 / sum_3);
        c_im[at] = c_im_value;
        const double sum_4 = fma(minus_dt_over_h_squared,
                                 fma(-2.0, middle_im[at], middle_im[at - pitch] + middle_im[at + pitch]) +
                                 d_im_before, middle_re[at]);
        const double sum_5 = fma(dt_over_h_squared_2,
                                 fma(-2.0, middle_re[at], middle_re[at - pitch] + middle_re[at + pitch]) +
                                 d_re_before, middle_im[at]);
        const double value = -sum;
        const double d_re_value = fma(-sum_5, value, sum_4 * sum_2) / sum_3;
        d_re[at] = d_re_value;
        const double d_im_value = fma(sum_5, sum_2, sum_4 * value) / sum_3;
        d_im[at] = d_im_value;
        c_re_before = c_re_value;
        c_im_before = c_im_value;
        d_re_before = d_re_value;
        d_im_before = d_im_value;
    }
}

// Reads d_re, d_im, c_re, c_im, last_re, last_im, writes last_re, last_im.
// Schedule: direct, blocks of 32x1 threads, 1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    schroedinger_cn_last_re(const double* __restrict__ d_re, const double* __restrict__ d_im,
                            const double* __restrict__ c_re, const double* __restrict__ c_im,
                            double* __restrict__ last_re, double* __restrict__ last_im, int nx, int ny,
                            int pitch) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    double last_re_before = last_re[static_cast<long long>(ny - 1) * pitch + i + pitch];
    double last_im_before = last_im[static_cast<long long>(ny - 1) * pitch + i + pitch];
#pragma unroll 4
    for (int j = ny - 1; j >= 0; --j) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double value = -c_re[at];
        const double last_re_value = fma(c_im[at], last_im_before, fma(value, last_re_before, d_re[at]));
        last_re[at] = last_re_value;
        const double last_im_value = fma(-c_im[at], last_re_before, fma(value, last_im_before, d_im[at]));
        last_im[at] = last_im_value;
        last_re_before = last_re_value;
        last_im_before = last_im_value;
    }
}

// Reads kick_re, kick_im, last_re, last_im, writes psi_re_next, psi_im_next, density, reduces to probability.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 56 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    schroedinger_cn_psi_re(const double* __restrict__ kick_re, const double* __restrict__ kick_im,
                           const double* __restrict__ last_re, const double* __restrict__ last_im,
                           double* __restrict__ psi_re_next, double* __restrict__ psi_im_next,
                           double* __restrict__ density, int nx, int ny, int pitch, double h_squared,
                           double* __restrict__ probability_partials) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double probability_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double psi_re_new = fma(-kick_im[at], last_im[at], kick_re[at] * last_re[at]);
        const double psi_im_new = fma(kick_im[at], last_re[at], kick_re[at] * last_im[at]);
        const double density_value = fma(psi_im_new, psi_im_new, psi_re_new * psi_re_new);
        psi_re_next[at] = psi_re_new;
        psi_im_next[at] = psi_im_new;
        density[at] = density_value;
        probability_of_thread += h_squared * density_value;
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double probability_of_block = block_sum(probability_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        probability_partials[blockIdx.x + gridDim.x * blockIdx.y] = probability_of_block;
}

// In place of schroedinger_cn_psi.re in steps whose results nobody reads; leaves out density, probability.
// Reads kick_re, kick_im, last_re, last_im, writes psi_re_next, psi_im_next.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    schroedinger_cn_psi_re_states(const double* __restrict__ kick_re, const double* __restrict__ kick_im,
                                  const double* __restrict__ last_re, const double* __restrict__ last_im,
                                  double* __restrict__ psi_re_next, double* __restrict__ psi_im_next, int nx,
                                  int ny, int pitch) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double psi_re_new = fma(-kick_im[at], last_im[at], kick_re[at] * last_re[at]);
    const double psi_im_new = fma(kick_im[at], last_re[at], kick_re[at] * last_im[at]);
    psi_re_next[at] = psi_re_new;
    psi_im_next[at] = psi_im_new;
}
