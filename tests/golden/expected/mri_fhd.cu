// mri_fhd: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 0 below and 0 above along x, 0 below and 0 above along y, 0 below and 0 above along z.

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// Computes columns of samples, a row a thread; runs where its rows or the params have changed.
extern "C" __global__ void __launch_bounds__(128) mri_fhd_samples(float* __restrict__ samples, int n_samples)
    {
    constexpr int kThreadsX = 128;

    const int row = blockIdx.x * kThreadsX + threadIdx.x;
    if (row >= n_samples) return;

    const long long at = static_cast<long long>(row) * 12;
    const float samples_rphi = samples[at + 3];
    const float samples_iphi = samples[at + 4];
    const float samples_rd = samples[at + 5];
    const float samples_id = samples[at + 6];
    samples[at + 7] = fmaf(samples_iphi, samples_id, samples_rphi * samples_rd);
    samples[at + 8] = fmaf(-samples_iphi, samples_rd, samples_rphi * samples_id);
}

// Writes rfhd, ifhd, sums over the rows of samples.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    mri_fhd_step(const float* __restrict__ samples, float* __restrict__ rfhd, float* __restrict__ ifhd,
                 int nx, int ny, int nz, int n_samples, int pitch, long long slice) {
    constexpr int kThreadsX = 32, kThreadsY = 4;
    constexpr int kRowsOf_samples = 256;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;

    // What the rows of the tables do not change.
    const float pos_z = static_cast<float>(k) * 0.015625f + -0.03125f;
    const float pos_y = static_cast<float>(j) * 0.015625f + -0.5f;
    const float pos_x = static_cast<float>(i) * 0.015625f + -0.5f;
    float sum_over_samples = 0.0f;
    float sum_over_samples_2 = 0.0f;

    // The rows of samples, a chunk after the other.
    alignas(16) __shared__ float samples_chunk[kRowsOf_samples * 8];
    for (int first = 0; first < n_samples; first += kRowsOf_samples) {
        const int rows = min(kRowsOf_samples, n_samples - first);
        __syncthreads();
        for (int row = threadIdx.x + kThreadsX * threadIdx.y; row < rows; row += kThreadsX * kThreadsY) {
            samples_chunk[row * 8] = samples[static_cast<long long>(first + row) * 12];
            samples_chunk[row * 8 + 1] = samples[static_cast<long long>(first + row) * 12 + 1];
            samples_chunk[row * 8 + 2] = samples[static_cast<long long>(first + row) * 12 + 2];
            samples_chunk[row * 8 + 3] = samples[static_cast<long long>(first + row) * 12 + 7];
            samples_chunk[row * 8 + 4] = samples[static_cast<long long>(first + row) * 12 + 8];
        }
        __syncthreads();
        for (int row = 0; row < rows; ++row) {
            float samples_row[5];
            load4(samples_row, samples_chunk + row * 8);
            samples_row[4] = samples_chunk[row * 8 + 4];
            const float samples_kx = samples_row[0];
            const float samples_ky = samples_row[1];
            const float samples_kz = samples_row[2];
            const float samples_rmu = samples_row[3];
            const float samples_imu = samples_row[4];
            const float of_row = fmaf(samples_ky, pos_y, samples_kz * pos_z);
            const float of_row_2 = -samples_imu;
            const float product = 6.2831855f * fmaf(samples_kx, pos_x, of_row);
            const float value = __cosf(product);
            const float value_2 = __sinf(product);
            sum_over_samples += fmaf(of_row_2, value_2, samples_rmu * value);
            sum_over_samples_2 += fmaf(samples_rmu, value_2, samples_imu * value);
        }
    }

    if (i < nx && j < ny && k < nz) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        rfhd[at] = sum_over_samples;
        ifhd[at] = sum_over_samples_2;
    }
}
