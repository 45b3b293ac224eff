// cahn_hilliard: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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
__device__ inline void store_images_mu(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads c, writes mu, reduces to energy.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                     float minus_gamma, float gamma, double* __restrict__ energy_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double energy_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float product = c[at] * c[at];
        const float mu_value = fmaf(minus_gamma,
                                    fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                                    fmaf(product, c[at], -c[at]));
        const float difference = product - 1.0f;
        const float difference_2 = c[at + 1] - c[at];
        const float difference_3 = c[at + pitch] - c[at];
        mu[at] = mu_value;
        energy_of_thread += static_cast<double>(fmaf(gamma,
                                                     fmaf(difference_3, difference_3,
                                                          difference_2 * difference_2),
                                                     0.25f * (difference * difference)));

        // Cells of mu near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double energy_of_block = block_sum(energy_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        energy_partials[blockIdx.x + gridDim.x * blockIdx.y] = energy_of_block;
}

// In place of cahn_hilliard_mu in steps whose results nobody reads; leaves out energy.
// Reads c, writes mu.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu_states(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                            float minus_gamma) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    mu[at] = fmaf(minus_gamma, fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                  fmaf(c[at] * c[at], c[at], -c[at]));

    // Cells of mu near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);
}

// Reads c, mu, writes c_next, reduces to mass.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c(const float* __restrict__ c, const float* __restrict__ mu, float* __restrict__ c_next,
                    int nx, int ny, int pitch, float dt_M, double* __restrict__ mass_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double mass_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float c_new =
            fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);
        c_next[at] = c_new;
        mass_of_thread += static_cast<double>(c_new);

        // Cells of c_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
}

// In place of cahn_hilliard_c in steps whose results nobody reads; leaves out mass.
// Reads c, mu, writes c_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c_states(const float* __restrict__ c, const float* __restrict__ mu,
                           float* __restrict__ c_next, int nx, int ny, int pitch, float dt_M) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    c_next[at] =
        fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);

    // Cells of c_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
}
