// multigrid_poisson2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.
// e_1 lies on coarse(2): its array is laid out so for the cells that this leaves.
// d_1 lies on coarse(2): its array is laid out so for the cells that this leaves.
// k_1 lies on coarse(2): its array is laid out so for the cells that this leaves.
// e_2 lies on coarse(4): its array is laid out so for the cells that this leaves.
// d_2 lies on coarse(4): its array is laid out so for the cells that this leaves.
// k_2 lies on coarse(4): its array is laid out so for the cells that this leaves.
// e_3 lies on coarse(8): its array is laid out so for the cells that this leaves.
// d_3 lies on coarse(8): its array is laid out so for the cells that this leaves.
// k_3 lies on coarse(8): its array is laid out so for the cells that this leaves.
// e_4 lies on coarse(16): its array is laid out so for the cells that this leaves.
// d_4 lies on coarse(16): its array is laid out so for the cells that this leaves.
// k_4 lies on coarse(16): its array is laid out so for the cells that this leaves.
// e_5 lies on coarse(32): its array is laid out so for the cells that this leaves.
// d_5 lies on coarse(32): its array is laid out so for the cells that this leaves.
// k_5 lies on coarse(32): its array is laid out so for the cells that this leaves.

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

// Fills what lies past the faces of u along all axes in one launch: what lies past several faces is found
// from cells inside, and no axis waits for another.
extern "C" __global__ void __launch_bounds__(128)
    multigrid_poisson2d_halo_u(double* __restrict__ u, int nx, int ny, int pitch) {
    constexpr int kThreads = 128;

    const int across = blockIdx.x * kThreads + threadIdx.x;
    // The value of a cell, found from cells inside: each of these functions knows what lies past one axis'
    // faces more.
    const auto inside = [&](int i, int j) {
        return u[static_cast<long long>(j) * pitch + i];
    };
    const auto past_y = [&](int i, int j) {
        return j == -1 ? -inside(i, 0) : j == ny ? -inside(i, ny - 1) : inside(i, j);
    };
    if (blockIdx.y == 0) {
        // Along y.
        const int i = across;
        if (i >= nx) return;
        const int first = i;
        const long long last = first + static_cast<long long>(ny - 1) * pitch;
        u[first - pitch] = -u[first];
        u[last + pitch] = -u[last];
    } else {
        // Along x.
        const int j = across - 1;
        if (j >= ny + 1) return;
        const long long first = static_cast<long long>(j) * pitch;
        const long long last = first + nx - 1;
        u[first - 1] = -past_y(0, j);
        u[last + 1] = -past_y(nx - 1, j);
    }
}

// Stores a cell once more wherever the halo shows it: x antisymmetric, y antisymmetric.
__device__ inline void store_images_e_0(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y) {
        const double past_y = y != j ? -value : value;
        for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = x != i ? -past_y : past_y;
    }
}

// Reads u, f, k_0, writes d_0, e_0.
// Schedule: direct, blocks of 32x16 threads, 1x1 cells a thread.
// At least 40 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson2d_d_0(const double* __restrict__ u, const double* __restrict__ f,
                            const double* __restrict__ k_0, double* __restrict__ d_0,
                            double* __restrict__ e_0, int nx, int ny, int pitch, double minus_inv_h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 16;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double product = 2.0 * k_0[at];
    const double ratio = product * k_0[at - 1] / (k_0[at] + k_0[at - 1]);
    const double ratio_2 = product * k_0[at + 1] / (k_0[at] + k_0[at + 1]);
    const double ratio_3 = product * k_0[at - pitch] / (k_0[at] + k_0[at - pitch]);
    const double ratio_4 = product * k_0[at + pitch] / (k_0[at] + k_0[at + pitch]);
    double sum = fma(-ratio, u[at - 1], (ratio + ratio_2 + ratio_3 + ratio_4) * u[at]);
    sum = fma(-ratio_2, u[at + 1], sum);
    sum = fma(-ratio_3, u[at - pitch], sum);
    sum = fma(-ratio_4, u[at + pitch], sum);
    const double d_0_value = fma(minus_inv_h_squared, sum, f[at]);
    const double e_0_value = 0.0;
    d_0[at] = d_0_value;
    e_0[at] = e_0_value;

    // Cells of e_0 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, nx, ny, pitch);
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x16 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson2d_e_0(const double* __restrict__ k_0, const double* __restrict__ d_0,
                            double* __restrict__ e_0, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 16;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_0[at];
        const double ratio = product * k_0[at - 1] / (k_0[at] + k_0[at - 1]);
        const double ratio_2 = product * k_0[at + 1] / (k_0[at] + k_0[at + 1]);
        const double ratio_3 = product * k_0[at - pitch] / (k_0[at] + k_0[at - pitch]);
        const double ratio_4 = product * k_0[at + pitch] / (k_0[at] + k_0[at + pitch]);
        double sum = fma(ratio, e_0[at - 1], h_squared * d_0[at]);
        sum = fma(ratio_2, e_0[at + 1], sum);
        sum = fma(ratio_3, e_0[at - pitch], sum);
        sum = fma(ratio_4, e_0[at + pitch], sum);
        e_0[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, nx, ny, pitch);
    }
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x16 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson2d_e_0_2(const double* __restrict__ k_0, const double* __restrict__ d_0,
                              double* __restrict__ e_0, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 16;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_0[at];
        const double ratio = product * k_0[at - 1] / (k_0[at] + k_0[at - 1]);
        const double ratio_2 = product * k_0[at + 1] / (k_0[at] + k_0[at + 1]);
        const double ratio_3 = product * k_0[at - pitch] / (k_0[at] + k_0[at - pitch]);
        const double ratio_4 = product * k_0[at + pitch] / (k_0[at] + k_0[at + pitch]);
        double sum = fma(ratio, e_0[at - 1], h_squared * d_0[at]);
        sum = fma(ratio_2, e_0[at + 1], sum);
        sum = fma(ratio_3, e_0[at - pitch], sum);
        sum = fma(ratio_4, e_0[at + pitch], sum);
        e_0[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, nx, ny, pitch);
    }
}

// Stores a cell once more wherever the halo shows it: x clamp, y clamp.
__device__ inline void store_images_k_1(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
        for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads e_0, k_0, d_0, writes d_1, k_1, e_1.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    multigrid_poisson2d_d_1(const double* __restrict__ e_0, const double* __restrict__ k_0,
                            const double* __restrict__ d_0, double* __restrict__ d_1,
                            double* __restrict__ k_1, double* __restrict__ e_1, int nx, int ny, int pitch,
                            int pitch_1, double minus_inv_h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double value = k_0[static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double product = 2.0 * value;
    const double value_2 = k_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 - 1];
    const double ratio = product * value_2 / (value + value_2);
    const double value_3 = k_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1];
    const double sum = value + value_3;
    const double ratio_2 = product * value_3 / sum;
    const double value_4 = k_0[static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2];
    const double ratio_3 = product * value_4 / (value + value_4);
    const double value_5 = k_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2];
    const double ratio_4 = product * value_5 / (value + value_5);
    const double value_6 = e_0[static_cast<long long>(j * 2) * pitch_1 + i * 2];
    const double value_7 = e_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1];
    const double value_8 = e_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2];
    const double product_2 = 2.0 * value_3;
    const double ratio_5 = product_2 * value / (value_3 + value);
    const double value_9 = k_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 + 2];
    const double ratio_6 = product_2 * value_9 / (value_3 + value_9);
    const double value_10 = k_0[static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2 + 1];
    const double ratio_7 = product_2 * value_10 / (value_3 + value_10);
    const double value_11 = k_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1];
    const double ratio_8 = product_2 * value_11 / (value_3 + value_11);
    const double value_12 = e_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1];
    const double product_3 = 2.0 * value_5;
    const double value_13 = k_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 - 1];
    const double ratio_9 = product_3 * value_13 / (value_5 + value_13);
    const double sum_3 = value_5 + value_11;
    const double ratio_10 = product_3 * value_11 / sum_3;
    const double ratio_11 = product_3 * value / (value_5 + value);
    const double value_14 = k_0[static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2];
    const double ratio_12 = product_3 * value_14 / (value_5 + value_14);
    const double product_4 = 2.0 * value_11;
    const double ratio_13 = product_4 * value_5 / (value_11 + value_5);
    const double value_15 = k_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 2];
    const double ratio_14 = product_4 * value_15 / (value_11 + value_15);
    const double ratio_15 = product_4 * value_3 / (value_11 + value_3);
    const double value_16 = k_0[static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2 + 1];
    const double ratio_16 = product_4 * value_16 / (value_11 + value_16);
    double sum_2 = fma(-ratio, e_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 - 1],
                       (ratio + ratio_2 + ratio_3 + ratio_4) * value_6);
    sum_2 = fma(-ratio_2, value_7, sum_2);
    sum_2 = fma(-ratio_3, e_0[static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2], sum_2);
    sum_2 = fma(-ratio_4, value_8, sum_2);
    sum_2 = fma(ratio_5 + ratio_6 + ratio_7 + ratio_8, value_7, sum_2);
    sum_2 = fma(-ratio_5, value_6, sum_2);
    sum_2 = fma(-ratio_6, e_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_7, e_0[static_cast<long long>(j * 2 - 1) * pitch_1 + i * 2 + 1], sum_2);
    sum_2 = fma(-ratio_8, value_12, sum_2);
    sum_2 = fma(ratio_9 + ratio_10 + ratio_11 + ratio_12, value_8, sum_2);
    sum_2 = fma(-ratio_9, e_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 - 1], sum_2);
    sum_2 = fma(-ratio_10, value_12, sum_2);
    sum_2 = fma(-ratio_11, value_6, sum_2);
    sum_2 = fma(-ratio_12, e_0[static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2], sum_2);
    sum_2 = fma(ratio_13 + ratio_14 + ratio_15 + ratio_16, value_12, sum_2);
    sum_2 = fma(-ratio_13, value_8, sum_2);
    sum_2 = fma(-ratio_14, e_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_15, value_7, sum_2);
    sum_2 = fma(-ratio_16, e_0[static_cast<long long>(j * 2 + 2) * pitch_1 + i * 2 + 1], sum_2);
    const double d_1_value = 0.25 * fma(minus_inv_h_squared, sum_2,
                                        d_0[static_cast<long long>(j * 2) * pitch_1 + i * 2] +
                                        d_0[static_cast<long long>(j * 2) * pitch_1 + i * 2 + 1] +
                                        d_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2] +
                                        d_0[static_cast<long long>(j * 2 + 1) * pitch_1 + i * 2 + 1]);
    const double k_1_value = 0.25 * (sum + sum_3);
    const double e_1_value = 0.0;
    d_1[at] = d_1_value;
    k_1[at] = k_1_value;
    e_1[at] = e_1_value;

    // Cells of k_1 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_1, i, j, nx, ny, pitch);

    // Cells of e_1 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, nx, ny, pitch);
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 6)
    multigrid_poisson2d_e_1(const double* __restrict__ d_1, const double* __restrict__ k_1,
                            double* __restrict__ e_1, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_1[at];
        const double ratio = product * k_1[at - 1] / (k_1[at] + k_1[at - 1]);
        const double ratio_2 = product * k_1[at + 1] / (k_1[at] + k_1[at + 1]);
        const double ratio_3 = product * k_1[at - pitch] / (k_1[at] + k_1[at - pitch]);
        const double ratio_4 = product * k_1[at + pitch] / (k_1[at] + k_1[at + pitch]);
        double sum = fma(ratio, e_1[at - 1], h_squared * d_1[at]);
        sum = fma(ratio_2, e_1[at + 1], sum);
        sum = fma(ratio_3, e_1[at - pitch], sum);
        sum = fma(ratio_4, e_1[at + pitch], sum);
        e_1[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_1[at], e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, nx, ny, pitch);
    }
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 6)
    multigrid_poisson2d_e_1_2(const double* __restrict__ d_1, const double* __restrict__ k_1,
                              double* __restrict__ e_1, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_1[at];
        const double ratio = product * k_1[at - 1] / (k_1[at] + k_1[at - 1]);
        const double ratio_2 = product * k_1[at + 1] / (k_1[at] + k_1[at + 1]);
        const double ratio_3 = product * k_1[at - pitch] / (k_1[at] + k_1[at - pitch]);
        const double ratio_4 = product * k_1[at + pitch] / (k_1[at] + k_1[at + pitch]);
        double sum = fma(ratio, e_1[at - 1], h_squared * d_1[at]);
        sum = fma(ratio_2, e_1[at + 1], sum);
        sum = fma(ratio_3, e_1[at - pitch], sum);
        sum = fma(ratio_4, e_1[at + pitch], sum);
        e_1[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_1[at], e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, nx, ny, pitch);
    }
}

// Reads e_1, k_1, d_1, writes d_2, k_2, e_2.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    multigrid_poisson2d_d_2(const double* __restrict__ e_1, const double* __restrict__ k_1,
                            const double* __restrict__ d_1, double* __restrict__ d_2,
                            double* __restrict__ k_2, double* __restrict__ e_2, int nx, int ny, int pitch,
                            int pitch_2, double minus_inv_h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double value = k_1[static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double product = 2.0 * value;
    const double value_2 = k_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 - 1];
    const double ratio = product * value_2 / (value + value_2);
    const double value_3 = k_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1];
    const double sum = value + value_3;
    const double ratio_2 = product * value_3 / sum;
    const double value_4 = k_1[static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2];
    const double ratio_3 = product * value_4 / (value + value_4);
    const double value_5 = k_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2];
    const double ratio_4 = product * value_5 / (value + value_5);
    const double value_6 = e_1[static_cast<long long>(j * 2) * pitch_2 + i * 2];
    const double value_7 = e_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1];
    const double value_8 = e_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2];
    const double product_2 = 2.0 * value_3;
    const double ratio_5 = product_2 * value / (value_3 + value);
    const double value_9 = k_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 + 2];
    const double ratio_6 = product_2 * value_9 / (value_3 + value_9);
    const double value_10 = k_1[static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2 + 1];
    const double ratio_7 = product_2 * value_10 / (value_3 + value_10);
    const double value_11 = k_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1];
    const double ratio_8 = product_2 * value_11 / (value_3 + value_11);
    const double value_12 = e_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1];
    const double product_3 = 2.0 * value_5;
    const double value_13 = k_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 - 1];
    const double ratio_9 = product_3 * value_13 / (value_5 + value_13);
    const double sum_3 = value_5 + value_11;
    const double ratio_10 = product_3 * value_11 / sum_3;
    const double ratio_11 = product_3 * value / (value_5 + value);
    const double value_14 = k_1[static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2];
    const double ratio_12 = product_3 * value_14 / (value_5 + value_14);
    const double product_4 = 2.0 * value_11;
    const double ratio_13 = product_4 * value_5 / (value_11 + value_5);
    const double value_15 = k_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 2];
    const double ratio_14 = product_4 * value_15 / (value_11 + value_15);
    const double ratio_15 = product_4 * value_3 / (value_11 + value_3);
    const double value_16 = k_1[static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2 + 1];
    const double ratio_16 = product_4 * value_16 / (value_11 + value_16);
    double sum_2 = fma(-ratio, e_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 - 1],
                       (ratio + ratio_2 + ratio_3 + ratio_4) * value_6);
    sum_2 = fma(-ratio_2, value_7, sum_2);
    sum_2 = fma(-ratio_3, e_1[static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2], sum_2);
    sum_2 = fma(-ratio_4, value_8, sum_2);
    sum_2 = fma(ratio_5 + ratio_6 + ratio_7 + ratio_8, value_7, sum_2);
    sum_2 = fma(-ratio_5, value_6, sum_2);
    sum_2 = fma(-ratio_6, e_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_7, e_1[static_cast<long long>(j * 2 - 1) * pitch_2 + i * 2 + 1], sum_2);
    sum_2 = fma(-ratio_8, value_12, sum_2);
    sum_2 = fma(ratio_9 + ratio_10 + ratio_11 + ratio_12, value_8, sum_2);
    sum_2 = fma(-ratio_9, e_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 - 1], sum_2);
    sum_2 = fma(-ratio_10, value_12, sum_2);
    sum_2 = fma(-ratio_11, value_6, sum_2);
    sum_2 = fma(-ratio_12, e_1[static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2], sum_2);
    sum_2 = fma(ratio_13 + ratio_14 + ratio_15 + ratio_16, value_12, sum_2);
    sum_2 = fma(-ratio_13, value_8, sum_2);
    sum_2 = fma(-ratio_14, e_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_15, value_7, sum_2);
    sum_2 = fma(-ratio_16, e_1[static_cast<long long>(j * 2 + 2) * pitch_2 + i * 2 + 1], sum_2);
    const double d_2_value = 0.25 * fma(minus_inv_h_squared, sum_2,
                                        d_1[static_cast<long long>(j * 2) * pitch_2 + i * 2] +
                                        d_1[static_cast<long long>(j * 2) * pitch_2 + i * 2 + 1] +
                                        d_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2] +
                                        d_1[static_cast<long long>(j * 2 + 1) * pitch_2 + i * 2 + 1]);
    const double k_2_value = 0.25 * (sum + sum_3);
    const double e_2_value = 0.0;
    d_2[at] = d_2_value;
    k_2[at] = k_2_value;
    e_2[at] = e_2_value;

    // Cells of k_2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_2, i, j, nx, ny, pitch);

    // Cells of e_2 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, nx, ny, pitch);
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_2(const double* __restrict__ d_2, const double* __restrict__ k_2,
                            double* __restrict__ e_2, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_2[at];
        const double ratio = product * k_2[at - 1] / (k_2[at] + k_2[at - 1]);
        const double ratio_2 = product * k_2[at + 1] / (k_2[at] + k_2[at + 1]);
        const double ratio_3 = product * k_2[at - pitch] / (k_2[at] + k_2[at - pitch]);
        const double ratio_4 = product * k_2[at + pitch] / (k_2[at] + k_2[at + pitch]);
        double sum = fma(ratio, e_2[at - 1], h_squared * d_2[at]);
        sum = fma(ratio_2, e_2[at + 1], sum);
        sum = fma(ratio_3, e_2[at - pitch], sum);
        sum = fma(ratio_4, e_2[at + pitch], sum);
        e_2[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_2[at], e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, nx, ny, pitch);
    }
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_2_2(const double* __restrict__ d_2, const double* __restrict__ k_2,
                              double* __restrict__ e_2, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_2[at];
        const double ratio = product * k_2[at - 1] / (k_2[at] + k_2[at - 1]);
        const double ratio_2 = product * k_2[at + 1] / (k_2[at] + k_2[at + 1]);
        const double ratio_3 = product * k_2[at - pitch] / (k_2[at] + k_2[at - pitch]);
        const double ratio_4 = product * k_2[at + pitch] / (k_2[at] + k_2[at + pitch]);
        double sum = fma(ratio, e_2[at - 1], h_squared * d_2[at]);
        sum = fma(ratio_2, e_2[at + 1], sum);
        sum = fma(ratio_3, e_2[at - pitch], sum);
        sum = fma(ratio_4, e_2[at + pitch], sum);
        e_2[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_2[at], e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, nx, ny, pitch);
    }
}

// Reads e_2, k_2, d_2, writes d_3, k_3, e_3.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    multigrid_poisson2d_d_3(const double* __restrict__ e_2, const double* __restrict__ k_2,
                            const double* __restrict__ d_2, double* __restrict__ d_3,
                            double* __restrict__ k_3, double* __restrict__ e_3, int nx, int ny, int pitch,
                            int pitch_4, double minus_inv_h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double value = k_2[static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double product = 2.0 * value;
    const double value_2 = k_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 - 1];
    const double ratio = product * value_2 / (value + value_2);
    const double value_3 = k_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1];
    const double sum = value + value_3;
    const double ratio_2 = product * value_3 / sum;
    const double value_4 = k_2[static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2];
    const double ratio_3 = product * value_4 / (value + value_4);
    const double value_5 = k_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2];
    const double ratio_4 = product * value_5 / (value + value_5);
    const double value_6 = e_2[static_cast<long long>(j * 2) * pitch_4 + i * 2];
    const double value_7 = e_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1];
    const double value_8 = e_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2];
    const double product_2 = 2.0 * value_3;
    const double ratio_5 = product_2 * value / (value_3 + value);
    const double value_9 = k_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 + 2];
    const double ratio_6 = product_2 * value_9 / (value_3 + value_9);
    const double value_10 = k_2[static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2 + 1];
    const double ratio_7 = product_2 * value_10 / (value_3 + value_10);
    const double value_11 = k_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1];
    const double ratio_8 = product_2 * value_11 / (value_3 + value_11);
    const double value_12 = e_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1];
    const double product_3 = 2.0 * value_5;
    const double value_13 = k_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 - 1];
    const double ratio_9 = product_3 * value_13 / (value_5 + value_13);
    const double sum_3 = value_5 + value_11;
    const double ratio_10 = product_3 * value_11 / sum_3;
    const double ratio_11 = product_3 * value / (value_5 + value);
    const double value_14 = k_2[static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2];
    const double ratio_12 = product_3 * value_14 / (value_5 + value_14);
    const double product_4 = 2.0 * value_11;
    const double ratio_13 = product_4 * value_5 / (value_11 + value_5);
    const double value_15 = k_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 2];
    const double ratio_14 = product_4 * value_15 / (value_11 + value_15);
    const double ratio_15 = product_4 * value_3 / (value_11 + value_3);
    const double value_16 = k_2[static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2 + 1];
    const double ratio_16 = product_4 * value_16 / (value_11 + value_16);
    double sum_2 = fma(-ratio, e_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 - 1],
                       (ratio + ratio_2 + ratio_3 + ratio_4) * value_6);
    sum_2 = fma(-ratio_2, value_7, sum_2);
    sum_2 = fma(-ratio_3, e_2[static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2], sum_2);
    sum_2 = fma(-ratio_4, value_8, sum_2);
    sum_2 = fma(ratio_5 + ratio_6 + ratio_7 + ratio_8, value_7, sum_2);
    sum_2 = fma(-ratio_5, value_6, sum_2);
    sum_2 = fma(-ratio_6, e_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_7, e_2[static_cast<long long>(j * 2 - 1) * pitch_4 + i * 2 + 1], sum_2);
    sum_2 = fma(-ratio_8, value_12, sum_2);
    sum_2 = fma(ratio_9 + ratio_10 + ratio_11 + ratio_12, value_8, sum_2);
    sum_2 = fma(-ratio_9, e_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 - 1], sum_2);
    sum_2 = fma(-ratio_10, value_12, sum_2);
    sum_2 = fma(-ratio_11, value_6, sum_2);
    sum_2 = fma(-ratio_12, e_2[static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2], sum_2);
    sum_2 = fma(ratio_13 + ratio_14 + ratio_15 + ratio_16, value_12, sum_2);
    sum_2 = fma(-ratio_13, value_8, sum_2);
    sum_2 = fma(-ratio_14, e_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_15, value_7, sum_2);
    sum_2 = fma(-ratio_16, e_2[static_cast<long long>(j * 2 + 2) * pitch_4 + i * 2 + 1], sum_2);
    const double d_3_value = 0.25 * fma(minus_inv_h_squared, sum_2,
                                        d_2[static_cast<long long>(j * 2) * pitch_4 + i * 2] +
                                        d_2[static_cast<long long>(j * 2) * pitch_4 + i * 2 + 1] +
                                        d_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2] +
                                        d_2[static_cast<long long>(j * 2 + 1) * pitch_4 + i * 2 + 1]);
    const double k_3_value = 0.25 * (sum + sum_3);
    const double e_3_value = 0.0;
    d_3[at] = d_3_value;
    k_3[at] = k_3_value;
    e_3[at] = e_3_value;

    // Cells of k_3 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_3, i, j, nx, ny, pitch);

    // Cells of e_3 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, nx, ny, pitch);
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_3(const double* __restrict__ d_3, const double* __restrict__ k_3,
                            double* __restrict__ e_3, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_3[at];
        const double ratio = product * k_3[at - 1] / (k_3[at] + k_3[at - 1]);
        const double ratio_2 = product * k_3[at + 1] / (k_3[at] + k_3[at + 1]);
        const double ratio_3 = product * k_3[at - pitch] / (k_3[at] + k_3[at - pitch]);
        const double ratio_4 = product * k_3[at + pitch] / (k_3[at] + k_3[at + pitch]);
        double sum = fma(ratio, e_3[at - 1], h_squared * d_3[at]);
        sum = fma(ratio_2, e_3[at + 1], sum);
        sum = fma(ratio_3, e_3[at - pitch], sum);
        sum = fma(ratio_4, e_3[at + pitch], sum);
        e_3[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_3[at], e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, nx, ny, pitch);
    }
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_3_2(const double* __restrict__ d_3, const double* __restrict__ k_3,
                              double* __restrict__ e_3, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_3[at];
        const double ratio = product * k_3[at - 1] / (k_3[at] + k_3[at - 1]);
        const double ratio_2 = product * k_3[at + 1] / (k_3[at] + k_3[at + 1]);
        const double ratio_3 = product * k_3[at - pitch] / (k_3[at] + k_3[at - pitch]);
        const double ratio_4 = product * k_3[at + pitch] / (k_3[at] + k_3[at + pitch]);
        double sum = fma(ratio, e_3[at - 1], h_squared * d_3[at]);
        sum = fma(ratio_2, e_3[at + 1], sum);
        sum = fma(ratio_3, e_3[at - pitch], sum);
        sum = fma(ratio_4, e_3[at + pitch], sum);
        e_3[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_3[at], e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, nx, ny, pitch);
    }
}

// Reads e_3, k_3, d_3, writes d_4, k_4, e_4.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    multigrid_poisson2d_d_4(const double* __restrict__ e_3, const double* __restrict__ k_3,
                            const double* __restrict__ d_3, double* __restrict__ d_4,
                            double* __restrict__ k_4, double* __restrict__ e_4, int nx, int ny, int pitch,
                            int pitch_8, double minus_inv_h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double value = k_3[static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double product = 2.0 * value;
    const double value_2 = k_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 - 1];
    const double ratio = product * value_2 / (value + value_2);
    const double value_3 = k_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1];
    const double sum = value + value_3;
    const double ratio_2 = product * value_3 / sum;
    const double value_4 = k_3[static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2];
    const double ratio_3 = product * value_4 / (value + value_4);
    const double value_5 = k_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2];
    const double ratio_4 = product * value_5 / (value + value_5);
    const double value_6 = e_3[static_cast<long long>(j * 2) * pitch_8 + i * 2];
    const double value_7 = e_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1];
    const double value_8 = e_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2];
    const double product_2 = 2.0 * value_3;
    const double ratio_5 = product_2 * value / (value_3 + value);
    const double value_9 = k_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 + 2];
    const double ratio_6 = product_2 * value_9 / (value_3 + value_9);
    const double value_10 = k_3[static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2 + 1];
    const double ratio_7 = product_2 * value_10 / (value_3 + value_10);
    const double value_11 = k_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1];
    const double ratio_8 = product_2 * value_11 / (value_3 + value_11);
    const double value_12 = e_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1];
    const double product_3 = 2.0 * value_5;
    const double value_13 = k_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 - 1];
    const double ratio_9 = product_3 * value_13 / (value_5 + value_13);
    const double sum_3 = value_5 + value_11;
    const double ratio_10 = product_3 * value_11 / sum_3;
    const double ratio_11 = product_3 * value / (value_5 + value);
    const double value_14 = k_3[static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2];
    const double ratio_12 = product_3 * value_14 / (value_5 + value_14);
    const double product_4 = 2.0 * value_11;
    const double ratio_13 = product_4 * value_5 / (value_11 + value_5);
    const double value_15 = k_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 2];
    const double ratio_14 = product_4 * value_15 / (value_11 + value_15);
    const double ratio_15 = product_4 * value_3 / (value_11 + value_3);
    const double value_16 = k_3[static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2 + 1];
    const double ratio_16 = product_4 * value_16 / (value_11 + value_16);
    double sum_2 = fma(-ratio, e_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 - 1],
                       (ratio + ratio_2 + ratio_3 + ratio_4) * value_6);
    sum_2 = fma(-ratio_2, value_7, sum_2);
    sum_2 = fma(-ratio_3, e_3[static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2], sum_2);
    sum_2 = fma(-ratio_4, value_8, sum_2);
    sum_2 = fma(ratio_5 + ratio_6 + ratio_7 + ratio_8, value_7, sum_2);
    sum_2 = fma(-ratio_5, value_6, sum_2);
    sum_2 = fma(-ratio_6, e_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_7, e_3[static_cast<long long>(j * 2 - 1) * pitch_8 + i * 2 + 1], sum_2);
    sum_2 = fma(-ratio_8, value_12, sum_2);
    sum_2 = fma(ratio_9 + ratio_10 + ratio_11 + ratio_12, value_8, sum_2);
    sum_2 = fma(-ratio_9, e_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 - 1], sum_2);
    sum_2 = fma(-ratio_10, value_12, sum_2);
    sum_2 = fma(-ratio_11, value_6, sum_2);
    sum_2 = fma(-ratio_12, e_3[static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2], sum_2);
    sum_2 = fma(ratio_13 + ratio_14 + ratio_15 + ratio_16, value_12, sum_2);
    sum_2 = fma(-ratio_13, value_8, sum_2);
    sum_2 = fma(-ratio_14, e_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_15, value_7, sum_2);
    sum_2 = fma(-ratio_16, e_3[static_cast<long long>(j * 2 + 2) * pitch_8 + i * 2 + 1], sum_2);
    const double d_4_value = 0.25 * fma(minus_inv_h_squared, sum_2,
                                        d_3[static_cast<long long>(j * 2) * pitch_8 + i * 2] +
                                        d_3[static_cast<long long>(j * 2) * pitch_8 + i * 2 + 1] +
                                        d_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2] +
                                        d_3[static_cast<long long>(j * 2 + 1) * pitch_8 + i * 2 + 1]);
    const double k_4_value = 0.25 * (sum + sum_3);
    const double e_4_value = 0.0;
    d_4[at] = d_4_value;
    k_4[at] = k_4_value;
    e_4[at] = e_4_value;

    // Cells of k_4 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_4, i, j, nx, ny, pitch);

    // Cells of e_4 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, nx, ny, pitch);
}

// Reads e_4, d_4, k_4, writes e_4.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_4(const double* __restrict__ d_4, const double* __restrict__ k_4,
                            double* __restrict__ e_4, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_4[at];
        const double ratio = product * k_4[at - 1] / (k_4[at] + k_4[at - 1]);
        const double ratio_2 = product * k_4[at + 1] / (k_4[at] + k_4[at + 1]);
        const double ratio_3 = product * k_4[at - pitch] / (k_4[at] + k_4[at - pitch]);
        const double ratio_4 = product * k_4[at + pitch] / (k_4[at] + k_4[at + pitch]);
        double sum = fma(ratio, e_4[at - 1], h_squared * d_4[at]);
        sum = fma(ratio_2, e_4[at + 1], sum);
        sum = fma(ratio_3, e_4[at - pitch], sum);
        sum = fma(ratio_4, e_4[at + pitch], sum);
        e_4[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_4[at], e_4[at]);

        // Cells of e_4 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, nx, ny, pitch);
    }
}

// Reads e_4, d_4, k_4, writes e_4.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_4_2(const double* __restrict__ d_4, const double* __restrict__ k_4,
                              double* __restrict__ e_4, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_4[at];
        const double ratio = product * k_4[at - 1] / (k_4[at] + k_4[at - 1]);
        const double ratio_2 = product * k_4[at + 1] / (k_4[at] + k_4[at + 1]);
        const double ratio_3 = product * k_4[at - pitch] / (k_4[at] + k_4[at - pitch]);
        const double ratio_4 = product * k_4[at + pitch] / (k_4[at] + k_4[at + pitch]);
        double sum = fma(ratio, e_4[at - 1], h_squared * d_4[at]);
        sum = fma(ratio_2, e_4[at + 1], sum);
        sum = fma(ratio_3, e_4[at - pitch], sum);
        sum = fma(ratio_4, e_4[at + pitch], sum);
        e_4[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_4[at], e_4[at]);

        // Cells of e_4 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, nx, ny, pitch);
    }
}

// Reads e_4, k_4, d_4, writes d_5, k_5, e_5.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    multigrid_poisson2d_d_5(const double* __restrict__ e_4, const double* __restrict__ k_4,
                            const double* __restrict__ d_4, double* __restrict__ d_5,
                            double* __restrict__ k_5, double* __restrict__ e_5, int nx, int ny, int pitch,
                            int pitch_16, double minus_inv_h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double value = k_4[static_cast<long long>(j * 2) * pitch_16 + i * 2];
    const double product = 2.0 * value;
    const double value_2 = k_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 - 1];
    const double ratio = product * value_2 / (value + value_2);
    const double value_3 = k_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 + 1];
    const double sum = value + value_3;
    const double ratio_2 = product * value_3 / sum;
    const double value_4 = k_4[static_cast<long long>(j * 2 - 1) * pitch_16 + i * 2];
    const double ratio_3 = product * value_4 / (value + value_4);
    const double value_5 = k_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2];
    const double ratio_4 = product * value_5 / (value + value_5);
    const double value_6 = e_4[static_cast<long long>(j * 2) * pitch_16 + i * 2];
    const double value_7 = e_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 + 1];
    const double value_8 = e_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2];
    const double product_2 = 2.0 * value_3;
    const double ratio_5 = product_2 * value / (value_3 + value);
    const double value_9 = k_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 + 2];
    const double ratio_6 = product_2 * value_9 / (value_3 + value_9);
    const double value_10 = k_4[static_cast<long long>(j * 2 - 1) * pitch_16 + i * 2 + 1];
    const double ratio_7 = product_2 * value_10 / (value_3 + value_10);
    const double value_11 = k_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 + 1];
    const double ratio_8 = product_2 * value_11 / (value_3 + value_11);
    const double value_12 = e_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 + 1];
    const double product_3 = 2.0 * value_5;
    const double value_13 = k_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 - 1];
    const double ratio_9 = product_3 * value_13 / (value_5 + value_13);
    const double sum_3 = value_5 + value_11;
    const double ratio_10 = product_3 * value_11 / sum_3;
    const double ratio_11 = product_3 * value / (value_5 + value);
    const double value_14 = k_4[static_cast<long long>(j * 2 + 2) * pitch_16 + i * 2];
    const double ratio_12 = product_3 * value_14 / (value_5 + value_14);
    const double product_4 = 2.0 * value_11;
    const double ratio_13 = product_4 * value_5 / (value_11 + value_5);
    const double value_15 = k_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 + 2];
    const double ratio_14 = product_4 * value_15 / (value_11 + value_15);
    const double ratio_15 = product_4 * value_3 / (value_11 + value_3);
    const double value_16 = k_4[static_cast<long long>(j * 2 + 2) * pitch_16 + i * 2 + 1];
    const double ratio_16 = product_4 * value_16 / (value_11 + value_16);
    double sum_2 = fma(-ratio, e_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 - 1],
                       (ratio + ratio_2 + ratio_3 + ratio_4) * value_6);
    sum_2 = fma(-ratio_2, value_7, sum_2);
    sum_2 = fma(-ratio_3, e_4[static_cast<long long>(j * 2 - 1) * pitch_16 + i * 2], sum_2);
    sum_2 = fma(-ratio_4, value_8, sum_2);
    sum_2 = fma(ratio_5 + ratio_6 + ratio_7 + ratio_8, value_7, sum_2);
    sum_2 = fma(-ratio_5, value_6, sum_2);
    sum_2 = fma(-ratio_6, e_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_7, e_4[static_cast<long long>(j * 2 - 1) * pitch_16 + i * 2 + 1], sum_2);
    sum_2 = fma(-ratio_8, value_12, sum_2);
    sum_2 = fma(ratio_9 + ratio_10 + ratio_11 + ratio_12, value_8, sum_2);
    sum_2 = fma(-ratio_9, e_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 - 1], sum_2);
    sum_2 = fma(-ratio_10, value_12, sum_2);
    sum_2 = fma(-ratio_11, value_6, sum_2);
    sum_2 = fma(-ratio_12, e_4[static_cast<long long>(j * 2 + 2) * pitch_16 + i * 2], sum_2);
    sum_2 = fma(ratio_13 + ratio_14 + ratio_15 + ratio_16, value_12, sum_2);
    sum_2 = fma(-ratio_13, value_8, sum_2);
    sum_2 = fma(-ratio_14, e_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 + 2], sum_2);
    sum_2 = fma(-ratio_15, value_7, sum_2);
    sum_2 = fma(-ratio_16, e_4[static_cast<long long>(j * 2 + 2) * pitch_16 + i * 2 + 1], sum_2);
    const double d_5_value = 0.25 * fma(minus_inv_h_squared, sum_2,
                                        d_4[static_cast<long long>(j * 2) * pitch_16 + i * 2] +
                                        d_4[static_cast<long long>(j * 2) * pitch_16 + i * 2 + 1] +
                                        d_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2] +
                                        d_4[static_cast<long long>(j * 2 + 1) * pitch_16 + i * 2 + 1]);
    const double k_5_value = 0.25 * (sum + sum_3);
    const double e_5_value = 0.0;
    d_5[at] = d_5_value;
    k_5[at] = k_5_value;
    e_5[at] = e_5_value;

    // Cells of k_5 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_k_1(k_5, i, j, nx, ny, pitch);

    // Cells of e_5 near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i < 1 || i >= nx - 1) store_images_e_0(e_5, i, j, nx, ny, pitch);
}

// Reads e_5, d_5, k_5, writes e_5.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_5(const double* __restrict__ d_5, const double* __restrict__ k_5,
                            double* __restrict__ e_5, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_5[at];
        const double ratio = product * k_5[at - 1] / (k_5[at] + k_5[at - 1]);
        const double ratio_2 = product * k_5[at + 1] / (k_5[at] + k_5[at + 1]);
        const double ratio_3 = product * k_5[at - pitch] / (k_5[at] + k_5[at - pitch]);
        const double ratio_4 = product * k_5[at + pitch] / (k_5[at] + k_5[at + pitch]);
        double sum = fma(ratio, e_5[at - 1], h_squared * d_5[at]);
        sum = fma(ratio_2, e_5[at + 1], sum);
        sum = fma(ratio_3, e_5[at - pitch], sum);
        sum = fma(ratio_4, e_5[at + pitch], sum);
        e_5[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_5[at], e_5[at]);

        // Cells of e_5 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_5, i, j, nx, ny, pitch);
    }
}

// Reads e_5, d_5, k_5, writes e_5.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_5_2(const double* __restrict__ d_5, const double* __restrict__ k_5,
                              double* __restrict__ e_5, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_5[at];
        const double ratio = product * k_5[at - 1] / (k_5[at] + k_5[at - 1]);
        const double ratio_2 = product * k_5[at + 1] / (k_5[at] + k_5[at + 1]);
        const double ratio_3 = product * k_5[at - pitch] / (k_5[at] + k_5[at - pitch]);
        const double ratio_4 = product * k_5[at + pitch] / (k_5[at] + k_5[at + pitch]);
        double sum = fma(ratio, e_5[at - 1], h_squared * d_5[at]);
        sum = fma(ratio_2, e_5[at + 1], sum);
        sum = fma(ratio_3, e_5[at - pitch], sum);
        sum = fma(ratio_4, e_5[at + pitch], sum);
        e_5[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_5[at], e_5[at]);

        // Cells of e_5 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_5, i, j, nx, ny, pitch);
    }
}

// Reads e_4, e_5, writes e_4.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    multigrid_poisson2d_e_4_3(const double* __restrict__ e_5, double* __restrict__ e_4, int nx, int ny,
                              int pitch, int pitch_32) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    e_4[at] = fma(0.25,
                  fma(0.25,
                      e_5[static_cast<long long>((j + 1) / 2 - 1) * pitch_32 + (i + 1) / 2 - 1] +
                      e_5[static_cast<long long>((j + 1) / 2 - 1) * pitch_32 + (i + 1) / 2] +
                      e_5[static_cast<long long>((j + 1) / 2) * pitch_32 + (i + 1) / 2 - 1] +
                      e_5[static_cast<long long>((j + 1) / 2) * pitch_32 + (i + 1) / 2],
                      0.5 * (e_5[static_cast<long long>((j + 1) / 2 - 1) * pitch_32 + i / 2] +
                             e_5[static_cast<long long>((j + 1) / 2) * pitch_32 + i / 2])),
                  fma(0.5,
                      fma(0.25,
                          e_5[static_cast<long long>(j / 2) * pitch_32 + (i + 1) / 2 - 1] +
                          e_5[static_cast<long long>(j / 2) * pitch_32 + (i + 1) / 2],
                          0.5 * e_5[static_cast<long long>(j / 2) * pitch_32 + i / 2]),
                      e_4[at]));

    // Cells of e_4 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, nx, ny, pitch);
}

// Reads e_4, d_4, k_4, writes e_4.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_4_4(const double* __restrict__ d_4, const double* __restrict__ k_4,
                              double* __restrict__ e_4, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_4[at];
        const double ratio = product * k_4[at - 1] / (k_4[at] + k_4[at - 1]);
        const double ratio_2 = product * k_4[at + 1] / (k_4[at] + k_4[at + 1]);
        const double ratio_3 = product * k_4[at - pitch] / (k_4[at] + k_4[at - pitch]);
        const double ratio_4 = product * k_4[at + pitch] / (k_4[at] + k_4[at + pitch]);
        double sum = fma(ratio, e_4[at - 1], h_squared * d_4[at]);
        sum = fma(ratio_2, e_4[at + 1], sum);
        sum = fma(ratio_3, e_4[at - pitch], sum);
        sum = fma(ratio_4, e_4[at + pitch], sum);
        e_4[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_4[at], e_4[at]);

        // Cells of e_4 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, nx, ny, pitch);
    }
}

// Reads e_4, d_4, k_4, writes e_4.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_4_5(const double* __restrict__ d_4, const double* __restrict__ k_4,
                              double* __restrict__ e_4, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_4[at];
        const double ratio = product * k_4[at - 1] / (k_4[at] + k_4[at - 1]);
        const double ratio_2 = product * k_4[at + 1] / (k_4[at] + k_4[at + 1]);
        const double ratio_3 = product * k_4[at - pitch] / (k_4[at] + k_4[at - pitch]);
        const double ratio_4 = product * k_4[at + pitch] / (k_4[at] + k_4[at + pitch]);
        double sum = fma(ratio, e_4[at - 1], h_squared * d_4[at]);
        sum = fma(ratio_2, e_4[at + 1], sum);
        sum = fma(ratio_3, e_4[at - pitch], sum);
        sum = fma(ratio_4, e_4[at + pitch], sum);
        e_4[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_4[at], e_4[at]);

        // Cells of e_4 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_4, i, j, nx, ny, pitch);
    }
}

// Reads e_3, e_4, writes e_3.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    multigrid_poisson2d_e_3_3(const double* __restrict__ e_4, double* __restrict__ e_3, int nx, int ny,
                              int pitch, int pitch_16) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    e_3[at] = fma(0.25,
                  fma(0.25,
                      e_4[static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2 - 1] +
                      e_4[static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + (i + 1) / 2] +
                      e_4[static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2 - 1] +
                      e_4[static_cast<long long>((j + 1) / 2) * pitch_16 + (i + 1) / 2],
                      0.5 * (e_4[static_cast<long long>((j + 1) / 2 - 1) * pitch_16 + i / 2] +
                             e_4[static_cast<long long>((j + 1) / 2) * pitch_16 + i / 2])),
                  fma(0.5,
                      fma(0.25,
                          e_4[static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2 - 1] +
                          e_4[static_cast<long long>(j / 2) * pitch_16 + (i + 1) / 2],
                          0.5 * e_4[static_cast<long long>(j / 2) * pitch_16 + i / 2]),
                      e_3[at]));

    // Cells of e_3 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, nx, ny, pitch);
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_3_4(const double* __restrict__ d_3, const double* __restrict__ k_3,
                              double* __restrict__ e_3, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_3[at];
        const double ratio = product * k_3[at - 1] / (k_3[at] + k_3[at - 1]);
        const double ratio_2 = product * k_3[at + 1] / (k_3[at] + k_3[at + 1]);
        const double ratio_3 = product * k_3[at - pitch] / (k_3[at] + k_3[at - pitch]);
        const double ratio_4 = product * k_3[at + pitch] / (k_3[at] + k_3[at + pitch]);
        double sum = fma(ratio, e_3[at - 1], h_squared * d_3[at]);
        sum = fma(ratio_2, e_3[at + 1], sum);
        sum = fma(ratio_3, e_3[at - pitch], sum);
        sum = fma(ratio_4, e_3[at + pitch], sum);
        e_3[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_3[at], e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, nx, ny, pitch);
    }
}

// Reads e_3, d_3, k_3, writes e_3.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_3_5(const double* __restrict__ d_3, const double* __restrict__ k_3,
                              double* __restrict__ e_3, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_3[at];
        const double ratio = product * k_3[at - 1] / (k_3[at] + k_3[at - 1]);
        const double ratio_2 = product * k_3[at + 1] / (k_3[at] + k_3[at + 1]);
        const double ratio_3 = product * k_3[at - pitch] / (k_3[at] + k_3[at - pitch]);
        const double ratio_4 = product * k_3[at + pitch] / (k_3[at] + k_3[at + pitch]);
        double sum = fma(ratio, e_3[at - 1], h_squared * d_3[at]);
        sum = fma(ratio_2, e_3[at + 1], sum);
        sum = fma(ratio_3, e_3[at - pitch], sum);
        sum = fma(ratio_4, e_3[at + pitch], sum);
        e_3[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_3[at], e_3[at]);

        // Cells of e_3 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_3, i, j, nx, ny, pitch);
    }
}

// Reads e_2, e_3, writes e_2.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    multigrid_poisson2d_e_2_3(const double* __restrict__ e_3, double* __restrict__ e_2, int nx, int ny,
                              int pitch, int pitch_8) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    e_2[at] = fma(0.25,
                  fma(0.25,
                      e_3[static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2 - 1] +
                      e_3[static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + (i + 1) / 2] +
                      e_3[static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2 - 1] +
                      e_3[static_cast<long long>((j + 1) / 2) * pitch_8 + (i + 1) / 2],
                      0.5 * (e_3[static_cast<long long>((j + 1) / 2 - 1) * pitch_8 + i / 2] +
                             e_3[static_cast<long long>((j + 1) / 2) * pitch_8 + i / 2])),
                  fma(0.5,
                      fma(0.25,
                          e_3[static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2 - 1] +
                          e_3[static_cast<long long>(j / 2) * pitch_8 + (i + 1) / 2],
                          0.5 * e_3[static_cast<long long>(j / 2) * pitch_8 + i / 2]),
                      e_2[at]));

    // Cells of e_2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, nx, ny, pitch);
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_2_4(const double* __restrict__ d_2, const double* __restrict__ k_2,
                              double* __restrict__ e_2, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_2[at];
        const double ratio = product * k_2[at - 1] / (k_2[at] + k_2[at - 1]);
        const double ratio_2 = product * k_2[at + 1] / (k_2[at] + k_2[at + 1]);
        const double ratio_3 = product * k_2[at - pitch] / (k_2[at] + k_2[at - pitch]);
        const double ratio_4 = product * k_2[at + pitch] / (k_2[at] + k_2[at + pitch]);
        double sum = fma(ratio, e_2[at - 1], h_squared * d_2[at]);
        sum = fma(ratio_2, e_2[at + 1], sum);
        sum = fma(ratio_3, e_2[at - pitch], sum);
        sum = fma(ratio_4, e_2[at + pitch], sum);
        e_2[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_2[at], e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, nx, ny, pitch);
    }
}

// Reads e_2, d_2, k_2, writes e_2.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 12)
    multigrid_poisson2d_e_2_5(const double* __restrict__ d_2, const double* __restrict__ k_2,
                              double* __restrict__ e_2, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_2[at];
        const double ratio = product * k_2[at - 1] / (k_2[at] + k_2[at - 1]);
        const double ratio_2 = product * k_2[at + 1] / (k_2[at] + k_2[at + 1]);
        const double ratio_3 = product * k_2[at - pitch] / (k_2[at] + k_2[at - pitch]);
        const double ratio_4 = product * k_2[at + pitch] / (k_2[at] + k_2[at + pitch]);
        double sum = fma(ratio, e_2[at - 1], h_squared * d_2[at]);
        sum = fma(ratio_2, e_2[at + 1], sum);
        sum = fma(ratio_3, e_2[at - pitch], sum);
        sum = fma(ratio_4, e_2[at + pitch], sum);
        e_2[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_2[at], e_2[at]);

        // Cells of e_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_2, i, j, nx, ny, pitch);
    }
}

// Reads e_1, e_2, writes e_1.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    multigrid_poisson2d_e_1_3(const double* __restrict__ e_2, double* __restrict__ e_1, int nx, int ny,
                              int pitch, int pitch_4) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    e_1[at] = fma(0.25,
                  fma(0.25,
                      e_2[static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2 - 1] +
                      e_2[static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + (i + 1) / 2] +
                      e_2[static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2 - 1] +
                      e_2[static_cast<long long>((j + 1) / 2) * pitch_4 + (i + 1) / 2],
                      0.5 * (e_2[static_cast<long long>((j + 1) / 2 - 1) * pitch_4 + i / 2] +
                             e_2[static_cast<long long>((j + 1) / 2) * pitch_4 + i / 2])),
                  fma(0.5,
                      fma(0.25,
                          e_2[static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2 - 1] +
                          e_2[static_cast<long long>(j / 2) * pitch_4 + (i + 1) / 2],
                          0.5 * e_2[static_cast<long long>(j / 2) * pitch_4 + i / 2]),
                      e_1[at]));

    // Cells of e_1 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, nx, ny, pitch);
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 6)
    multigrid_poisson2d_e_1_4(const double* __restrict__ d_1, const double* __restrict__ k_1,
                              double* __restrict__ e_1, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_1[at];
        const double ratio = product * k_1[at - 1] / (k_1[at] + k_1[at - 1]);
        const double ratio_2 = product * k_1[at + 1] / (k_1[at] + k_1[at + 1]);
        const double ratio_3 = product * k_1[at - pitch] / (k_1[at] + k_1[at - pitch]);
        const double ratio_4 = product * k_1[at + pitch] / (k_1[at] + k_1[at + pitch]);
        double sum = fma(ratio, e_1[at - 1], h_squared * d_1[at]);
        sum = fma(ratio_2, e_1[at + 1], sum);
        sum = fma(ratio_3, e_1[at - pitch], sum);
        sum = fma(ratio_4, e_1[at + pitch], sum);
        e_1[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_1[at], e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, nx, ny, pitch);
    }
}

// Reads e_1, d_1, k_1, writes e_1.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 6)
    multigrid_poisson2d_e_1_5(const double* __restrict__ d_1, const double* __restrict__ k_1,
                              double* __restrict__ e_1, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_1[at];
        const double ratio = product * k_1[at - 1] / (k_1[at] + k_1[at - 1]);
        const double ratio_2 = product * k_1[at + 1] / (k_1[at] + k_1[at + 1]);
        const double ratio_3 = product * k_1[at - pitch] / (k_1[at] + k_1[at - pitch]);
        const double ratio_4 = product * k_1[at + pitch] / (k_1[at] + k_1[at + pitch]);
        double sum = fma(ratio, e_1[at - 1], h_squared * d_1[at]);
        sum = fma(ratio_2, e_1[at + 1], sum);
        sum = fma(ratio_3, e_1[at - pitch], sum);
        sum = fma(ratio_4, e_1[at + pitch], sum);
        e_1[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_1[at], e_1[at]);

        // Cells of e_1 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_1, i, j, nx, ny, pitch);
    }
}

// Reads e_0, e_1, writes e_0.
// Schedule: direct, blocks of 128x2 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    multigrid_poisson2d_e_0_3(const double* __restrict__ e_1, double* __restrict__ e_0, int nx, int ny,
                              int pitch, int pitch_2) {
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    e_0[at] = fma(0.25,
                  fma(0.25,
                      e_1[static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2 - 1] +
                      e_1[static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + (i + 1) / 2] +
                      e_1[static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2 - 1] +
                      e_1[static_cast<long long>((j + 1) / 2) * pitch_2 + (i + 1) / 2],
                      0.5 * (e_1[static_cast<long long>((j + 1) / 2 - 1) * pitch_2 + i / 2] +
                             e_1[static_cast<long long>((j + 1) / 2) * pitch_2 + i / 2])),
                  fma(0.5,
                      fma(0.25,
                          e_1[static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2 - 1] +
                          e_1[static_cast<long long>(j / 2) * pitch_2 + (i + 1) / 2],
                          0.5 * e_1[static_cast<long long>(j / 2) * pitch_2 + i / 2]),
                      e_0[at]));

    // Cells of e_0 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, nx, ny, pitch);
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x16 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson2d_e_0_4(const double* __restrict__ k_0, const double* __restrict__ d_0,
                              double* __restrict__ e_0, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 16;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 0) {
        const double product = 2.0 * k_0[at];
        const double ratio = product * k_0[at - 1] / (k_0[at] + k_0[at - 1]);
        const double ratio_2 = product * k_0[at + 1] / (k_0[at] + k_0[at + 1]);
        const double ratio_3 = product * k_0[at - pitch] / (k_0[at] + k_0[at - pitch]);
        const double ratio_4 = product * k_0[at + pitch] / (k_0[at] + k_0[at + pitch]);
        double sum = fma(ratio, e_0[at - 1], h_squared * d_0[at]);
        sum = fma(ratio_2, e_0[at + 1], sum);
        sum = fma(ratio_3, e_0[at - pitch], sum);
        sum = fma(ratio_4, e_0[at + pitch], sum);
        e_0[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, nx, ny, pitch);
    }
}

// Reads k_0, e_0, d_0, writes e_0.
// Schedule: direct, blocks of 32x16 threads, 1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    multigrid_poisson2d_e_0_5(const double* __restrict__ k_0, const double* __restrict__ d_0,
                              double* __restrict__ e_0, int nx, int ny, int pitch, double h_squared) {
    constexpr int kThreadsX = 32, kThreadsY = 16;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (floor_mod(wrap_add(i, j), 2) == 1) {
        const double product = 2.0 * k_0[at];
        const double ratio = product * k_0[at - 1] / (k_0[at] + k_0[at - 1]);
        const double ratio_2 = product * k_0[at + 1] / (k_0[at] + k_0[at + 1]);
        const double ratio_3 = product * k_0[at - pitch] / (k_0[at] + k_0[at - pitch]);
        const double ratio_4 = product * k_0[at + pitch] / (k_0[at] + k_0[at + pitch]);
        double sum = fma(ratio, e_0[at - 1], h_squared * d_0[at]);
        sum = fma(ratio_2, e_0[at + 1], sum);
        sum = fma(ratio_3, e_0[at - pitch], sum);
        sum = fma(ratio_4, e_0[at + pitch], sum);
        e_0[at] = fma(1.1, sum / (ratio + ratio_2 + ratio_3 + ratio_4) - e_0[at], e_0[at]);

        // Cells of e_0 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_e_0(e_0, i, j, nx, ny, pitch);
    }
}

// Reads u, e_0, writes u_next.
// Schedule: direct, blocks of 128x2 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    multigrid_poisson2d_u(const double* __restrict__ u, const double* __restrict__ e_0,
                          double* __restrict__ u_next, int nx, int ny, int pitch) {
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    u_next[at] = u[at] + e_0[at];

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_e_0(u_next, i, j, nx, ny, pitch);
}

// Reads f, k_0, u_next, reduces to rest.
// Schedule: direct, blocks of 32x8 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    multigrid_poisson2d_rest(const double* __restrict__ f, const double* __restrict__ k_0,
                             const double* __restrict__ u_next, int nx, int ny, int pitch,
                             double minus_inv_h_squared, double* __restrict__ rest_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double rest_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double product = 2.0 * k_0[at];
        const double ratio = product * k_0[at - 1] / (k_0[at] + k_0[at - 1]);
        const double ratio_2 = product * k_0[at + 1] / (k_0[at] + k_0[at + 1]);
        const double ratio_3 = product * k_0[at - pitch] / (k_0[at] + k_0[at - pitch]);
        const double ratio_4 = product * k_0[at + pitch] / (k_0[at] + k_0[at + pitch]);
        double sum = fma(-ratio, u_next[at - 1], (ratio + ratio_2 + ratio_3 + ratio_4) * u_next[at]);
        sum = fma(-ratio_2, u_next[at + 1], sum);
        sum = fma(-ratio_3, u_next[at - pitch], sum);
        sum = fma(-ratio_4, u_next[at + pitch], sum);
        const double sum_2 = fma(minus_inv_h_squared, sum, f[at]);
        rest_of_thread += sum_2 * sum_2;
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double rest_of_block = block_sum(rest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        rest_partials[blockIdx.x + gridDim.x * blockIdx.y] = rest_of_block;
}
