// eikonal2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along z.

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

// Stores a cell once more wherever the halo shows it: x clamp, z clamp.
__device__ inline void store_images_T(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
        for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Writes T.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 24)
    eikonal2d_T(double* __restrict__ T, int nx, int nz, int pitch, double h, double shot, double h_2) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= nz) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    T[at] = fabs(static_cast<double>(i) * h - shot) < h_2 && static_cast<double>(j) == 0.0 ? 0.0 : 1000000.0;

    // Cells of T near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_T(T, i, j, nx, nz, pitch);
}

// Reads T, writes T_next, reduces to change.
// Schedule: direct, blocks of 32x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    eikonal2d_T_next(const double* __restrict__ T, double* __restrict__ T_next, int nx, int nz, int pitch,
                     double h, double top, double gain, double* __restrict__ change_partials,
                     const long long* __restrict__ over) {
    constexpr int kThreadsX = 32, kThreadsY = 8;

    if (over[0] != 0) return;
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < nz) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double a_value = T[at - 1] < T[at + 1] ? T[at - 1] : T[at + 1];
        const double b_value = T[at - pitch] < T[at + pitch] ? T[at - pitch] : T[at + pitch];
        const double apart_value = fabs(a_value - b_value);
        const double ratio = h / (top + gain * (static_cast<double>(j) * h));
        double choice = (a_value < b_value ? a_value : b_value) + ratio;
        if (apart_value < ratio) {
            const double operand = fma(-apart_value, apart_value, 2.0 * (ratio * ratio));
            choice = 0.5 * (a_value + b_value + sqrt(operand > 0.0 ? operand : 0.0));
        }
        const double T_next_value = T[at] < choice ? T[at] : choice;
        T_next[at] = T_next_value;
        change_of_thread = keep_max(change_of_thread, T[at] - T_next_value);

        // Cells of T_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_T(T_next, i, j, nx, nz, pitch);
    }

    // One partial result a block; what a condition reads is combined after each iteration.
    const double change_of_block = block_max(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        change_partials[blockIdx.x + gridDim.x * blockIdx.y] = change_of_block;
}

// Reads T_next, writes T.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    eikonal2d_T_2(const double* __restrict__ T_next, double* __restrict__ T, int nx, int nz, int pitch,
                  const long long* __restrict__ over) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    if (over[0] != 0) return;
    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= nz) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    T[at] = T_next[at];

    // Cells of T near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_T(T, i, j, nx, nz, pitch);
}

// Ends the iterations where change < tol, and counts them.
// Words of `iterations`: whether they are over, whether their number is even, their number
// in this step and in all, the most of a step, and steps that ended without the condition.
extern "C" __global__ void __launch_bounds__(256)
    eikonal2d_until_change(double tol, int n_change, double* __restrict__ change_partials,
                           long long* __restrict__ iterations) {
    const bool over = iterations[0] != 0;
    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    for (int part = threadIdx.x; part < (over ? 0 : n_change); part += 256)
        change_of_thread = keep_max(change_of_thread, change_partials[part]);
    const double change = block_max(change_of_thread);

    if (threadIdx.x == 0 && !over) {
        change_partials[n_change] = change;
        const bool holds = change < tol;
        const long long number = iterations[2] + 1;
        iterations[2] = number;
        iterations[1] = number % 2 == 0 ? 1 : 0;
        iterations[3] += 1;
        if (number > iterations[4]) iterations[4] = number;
        if (holds)
            iterations[0] = 1;
        else if (number == 2000)
            iterations[5] += 1;
    }
}
