// burgers2d: CUDA kernels of a stencil, emitted by Halocline.
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

// Reads u, reduces to fastest.
// Schedule: direct, blocks of 64x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    burgers2d_fastest(const double* __restrict__ u, int nx, int ny, int pitch,
                      double* __restrict__ fastest_partials) {
    constexpr int kThreadsX = 64, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double fastest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        fastest_of_thread = keep_max(fastest_of_thread, fabs(u[at]));
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double fastest_of_block = block_max(fastest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        fastest_partials[blockIdx.x + gridDim.x * blockIdx.y] = fastest_of_block;
}

// Stores fastest of the first step as if the step before had found it.
extern "C" __global__ void __launch_bounds__(1024)
    burgers2d_first_fastest(const double* __restrict__ fastest_partials, int n_fastest,
                            double* __restrict__ fastest_ahead_partials, int n_fastest_ahead) {
    double fastest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    for (int part = threadIdx.x; part < n_fastest; part += 1024)
        fastest_of_thread = keep_max(fastest_of_thread, fastest_partials[part]);
    __shared__ double fastest_of_block[1];
    const double found = block_max(fastest_of_thread);
    if (threadIdx.x == 0) fastest_of_block[0] = found;
    __syncthreads();
    for (int part = threadIdx.x; part < n_fastest_ahead; part += 1024)
        fastest_ahead_partials[part] = fastest_of_block[0];
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_u(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Scalars of the kernels that follow in the step, of what the blocks have found before.
extern "C" __global__ void __launch_bounds__(1024)
    burgers2d_scalars(const double* __restrict__ fastest_ahead_partials, int n_fastest_ahead,
                      const double* __restrict__ elapsed_partials, int n_elapsed, double cfl, double h,
                      double end, double* __restrict__ scalars) {
    double fastest_ahead_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    for (int part = threadIdx.x; part < n_fastest_ahead; part += 1024)
        fastest_ahead_of_thread = keep_max(fastest_ahead_of_thread, fastest_ahead_partials[part]);
    const double fastest_ahead = block_max(fastest_ahead_of_thread);
    double elapsed_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    for (int part = threadIdx.x; part < n_elapsed; part += 1024)
        elapsed_of_thread = keep_max(elapsed_of_thread, elapsed_partials[part]);
    const double elapsed = block_max(elapsed_of_thread);

    if (threadIdx.x == 0) {
        const double value = fmin(cfl * h / fastest_ahead, end - elapsed);
        scalars[0] = -(value / h);
        scalars[1] = -(0.5 * fastest_ahead);
        scalars[2] = value;
    }
}

// Reads u, clock, writes u_next, clock_next, reduces to elapsed, reduces to mass, reduces to fastest_ahead.
// Schedule: direct, blocks of 64x4 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    burgers2d_u(const double* __restrict__ u, const double* __restrict__ clock, double* __restrict__ u_next,
                double* __restrict__ clock_next, int nx, int ny, int pitch,
                const double* __restrict__ scalars, double* __restrict__ elapsed_partials,
                double* __restrict__ mass_partials, double* __restrict__ fastest_ahead_partials) {
    constexpr int kThreadsX = 64, kThreadsY = 4;

    const double minus_inv_h = scalars[0];
    const double minus_fastest_ahead = scalars[1];
    const double scale = scalars[2];
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double elapsed_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    double mass_of_thread = 0.0;
    double fastest_ahead_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        double sum = fma(-u[at - 1], u[at - 1], u[at + 1] * u[at + 1]);
        sum = fma(u[at + pitch], u[at + pitch], sum);
        sum = fma(-u[at - pitch], u[at - pitch], sum);
        const double u_new = fma(minus_inv_h,
                                 fma(minus_fastest_ahead,
                                     fma(-4.0, u[at], u[at + 1] + u[at - 1] + u[at + pitch] + u[at - pitch]),
                                     0.25 * sum),
                                 u[at]);
        const double clock_new = clock[at] + scale;
        u_next[at] = u_new;
        clock_next[at] = clock_new;
        elapsed_of_thread = keep_max(elapsed_of_thread, clock_new);
        mass_of_thread += u_new;
        fastest_ahead_of_thread = keep_max(fastest_ahead_of_thread, fabs(u_new));

        // Cells of u_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_u(u_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double elapsed_of_block = block_max(elapsed_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        elapsed_partials[blockIdx.x + gridDim.x * blockIdx.y] = elapsed_of_block;
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
    const double fastest_ahead_of_block = block_max(fastest_ahead_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        fastest_ahead_partials[blockIdx.x + gridDim.x * blockIdx.y] = fastest_ahead_of_block;
}

// In place of burgers2d_u in steps whose results nobody reads; leaves out mass.
// Reads u, clock, writes u_next, clock_next, reduces to elapsed, reduces to fastest_ahead.
// Schedule: direct, blocks of 64x4 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    burgers2d_u_states(const double* __restrict__ u, const double* __restrict__ clock,
                       double* __restrict__ u_next, double* __restrict__ clock_next, int nx, int ny,
                       int pitch, const double* __restrict__ scalars, double* __restrict__ elapsed_partials,
                       double* __restrict__ fastest_ahead_partials) {
    constexpr int kThreadsX = 64, kThreadsY = 4;

    const double minus_inv_h = scalars[0];
    const double minus_fastest_ahead = scalars[1];
    const double scale = scalars[2];
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double elapsed_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    double fastest_ahead_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        double sum = fma(-u[at - 1], u[at - 1], u[at + 1] * u[at + 1]);
        sum = fma(u[at + pitch], u[at + pitch], sum);
        sum = fma(-u[at - pitch], u[at - pitch], sum);
        const double u_new = fma(minus_inv_h,
                                 fma(minus_fastest_ahead,
                                     fma(-4.0, u[at], u[at + 1] + u[at - 1] + u[at + pitch] + u[at - pitch]),
                                     0.25 * sum),
                                 u[at]);
        const double clock_new = clock[at] + scale;
        u_next[at] = u_new;
        clock_next[at] = clock_new;
        elapsed_of_thread = keep_max(elapsed_of_thread, clock_new);
        fastest_ahead_of_thread = keep_max(fastest_ahead_of_thread, fabs(u_new));

        // Cells of u_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_u(u_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double elapsed_of_block = block_max(elapsed_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        elapsed_partials[blockIdx.x + gridDim.x * blockIdx.y] = elapsed_of_block;
    const double fastest_ahead_of_block = block_max(fastest_ahead_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        fastest_ahead_partials[blockIdx.x + gridDim.x * blockIdx.y] = fastest_ahead_of_block;
}
