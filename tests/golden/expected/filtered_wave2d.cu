// filtered_wave2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(float* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
}

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

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_v_x(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 3 && i < nx - 4) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 4); x < nx + 3; x += nx)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: y periodic.
__device__ inline void store_images_v_y(float* u, int i, int j, int nx, int ny, int pitch) {
    if (j >= 3 && j < ny - 4) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 4); y < ny + 3; y += ny)
        u[static_cast<long long>(y) * pitch + i] = value;
}

// Reads v_x, p, v_y, writes v_x_next, v_y_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_v_x(const float* __restrict__ v_x, const float* __restrict__ p,
                        const float* __restrict__ v_y, float* __restrict__ v_x_next,
                        float* __restrict__ v_y_next, int nx, int ny, int pitch, float minus_dt) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    float sum = fmaf(-0.0797526f, p[at + 2] - p[at - 1], 1.1962891f * (p[at + 1] - p[at]));
    sum = fmaf(0.009570313f, p[at + 3] - p[at - 2], sum);
    sum = fmaf(-0.00069754466f, p[at + 4] - p[at - 3], sum);
    const float v_x_new = fmaf(minus_dt, sum, v_x[at]);
    float sum_2 = fmaf(-0.0797526f, p[at + 2 * pitch] - p[at - pitch], 1.1962891f * (p[at + pitch] - p[at]));
    sum_2 = fmaf(0.009570313f, p[at + 3 * pitch] - p[at - 2 * pitch], sum_2);
    sum_2 = fmaf(-0.00069754466f, p[at + 4 * pitch] - p[at - 3 * pitch], sum_2);
    const float v_y_new = fmaf(minus_dt, sum_2, v_y[at]);
    v_x_next[at] = v_x_new;
    v_y_next[at] = v_y_new;

    // Cells of v_x_next near a face are shown by halo cells, too.
    if (i < 3 || i >= nx - 4) store_images_v_x(v_x_next, i, j, nx, ny, pitch);

    // Cells of v_y_next near a face are shown by halo cells, too.
    if (j < 3 || j >= ny - 4) store_images_v_y(v_y_next, i, j, nx, ny, pitch);
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_p(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 4 && i < nx - 3 && j >= 4 && j < ny - 3) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 3); y < ny + 4; y += ny)
        for (int x = first_image(i, nx, 3); x < nx + 4; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_v_x_before(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 2 && i < nx - 2 && j >= 2 && j < ny - 2) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 2); y < ny + 2; y += ny)
        for (int x = first_image(i, nx, 2); x < nx + 2; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads p, v_x_next, v_y_next, writes p_next, v_x_before, reduces to height.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_p(const float* __restrict__ p, const float* __restrict__ v_x_next,
                      const float* __restrict__ v_y_next, float* __restrict__ p_next,
                      float* __restrict__ v_x_before, int nx, int ny, int pitch, float minus_dt_c_c,
                      double* __restrict__ height_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double height_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        float sum = fmaf(-0.0797526f,
                         v_x_next[at + 1] - v_x_next[at - 2] + v_y_next[at + pitch] -
                         v_y_next[at - 2 * pitch],
                         1.1962891f * (v_x_next[at] - v_x_next[at - 1] + v_y_next[at] -
                                       v_y_next[at - pitch]));
        sum = fmaf(0.009570313f,
                   v_x_next[at + 2] - v_x_next[at - 3] + v_y_next[at + 2 * pitch] - v_y_next[at - 3 * pitch],
                   sum);
        sum = fmaf(-0.00069754466f,
                   v_x_next[at + 3] - v_x_next[at - 4] + v_y_next[at + 3 * pitch] - v_y_next[at - 4 * pitch],
                   sum);
        const float p_new = fmaf(minus_dt_c_c, sum, p[at]);
        const float v_x_before_value = v_x_next[at];
        p_next[at] = p_new;
        v_x_before[at] = v_x_before_value;
        height_of_thread = keep_max(height_of_thread, static_cast<double>(fabsf(p_new)));

        // Cells of p_next near a face are shown by halo cells, too.
        const bool near_face = j < 4 || j >= ny - 3;
        if (near_face || i < 4 || i >= nx - 3) store_images_p(p_next, i, j, nx, ny, pitch);

        // Cells of v_x_before near a face are shown by halo cells, too.
        const bool near_face_2 = j < 2 || j >= ny - 2;
        if (near_face_2 || i < 2 || i >= nx - 2) store_images_v_x_before(v_x_before, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double height_of_block = block_max(height_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        height_partials[blockIdx.x + gridDim.x * blockIdx.y] = height_of_block;
}

// In place of filtered_wave2d_p in steps whose results nobody reads; leaves out v.x.before, height.
// Reads p, v_x_next, v_y_next, writes p_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_p_states(const float* __restrict__ p, const float* __restrict__ v_x_next,
                             const float* __restrict__ v_y_next, float* __restrict__ p_next, int nx, int ny,
                             int pitch, float minus_dt_c_c) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    float sum = fmaf(-0.0797526f,
                     v_x_next[at + 1] - v_x_next[at - 2] + v_y_next[at + pitch] - v_y_next[at - 2 * pitch],
                     1.1962891f * (v_x_next[at] - v_x_next[at - 1] + v_y_next[at] - v_y_next[at - pitch]));
    sum = fmaf(0.009570313f,
               v_x_next[at + 2] - v_x_next[at - 3] + v_y_next[at + 2 * pitch] - v_y_next[at - 3 * pitch],
               sum);
    sum = fmaf(-0.00069754466f,
               v_x_next[at + 3] - v_x_next[at - 4] + v_y_next[at + 3 * pitch] - v_y_next[at - 4 * pitch],
               sum);
    p_next[at] = fmaf(minus_dt_c_c, sum, p[at]);

    // Cells of p_next near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 3;
    if (near_face || i < 4 || i >= nx - 3) store_images_p(p_next, i, j, nx, ny, pitch);
}

// Reads v_y_next, writes v_y_before.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(64, 25)
    filtered_wave2d_v_y_before(const float* __restrict__ v_y_next, float* __restrict__ v_y_before, int nx,
                               int ny, int pitch) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    float v_y_next_cells[kCellsX];
    load2(v_y_next_cells, v_y_next + static_cast<long long>(j) * pitch + i);

    float v_y_before_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        v_y_before_result[x] = v_y_next_cells[x];
    if (i + kCellsX <= nx)
        store2(v_y_before + static_cast<long long>(j) * pitch + i, v_y_before_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) v_y_before[static_cast<long long>(j) * pitch + i + x] = v_y_before_result[x];

    // Cells of v_y_before near a face are shown by halo cells, too.
    const bool near_face = j < 2 || j >= ny - 2;
    if (near_face || i < 2 || i + 1 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 2 || i + x >= nx - 2)
                if (i + x < nx) store_images_v_x_before(v_y_before, i + x, j, nx, ny, pitch);
}

// Reads v_x_before, writes v_x_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_v_x_2(const float* __restrict__ v_x_before, float* __restrict__ v_x_next, int nx, int ny,
                          int pitch, double scale, double scale_2, double step) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (scale == scale_2 && step < 200.0) {
        const float sum = fmaf(-0.0625f,
                               fmaf(6.0f, v_x_before[at],
                                    fmaf(-4.0f, v_x_before[at - 1] + v_x_before[at + 1],
                                         v_x_before[at - 2] + v_x_before[at + 2])),
                               v_x_before[at]);
        const float sum_2 = v_x_before[at - 2 * pitch] + v_x_before[at + 2 * pitch];
        const float sum_4 = v_x_before[at - pitch] + v_x_before[at + pitch];
        float sum_3 = fmaf(-0.0625f,
                           fmaf(6.0f, sum_2,
                                fmaf(4.0f, -v_x_before[at - 2 * pitch - 1] - v_x_before[at - 2 * pitch + 1],
                                     v_x_before[at - 2 * pitch - 2] + v_x_before[at - 2 * pitch + 2]) +
                                fmaf(4.0f, -v_x_before[at + 2 * pitch - 1] - v_x_before[at + 2 * pitch + 1],
                                     v_x_before[at + 2 * pitch - 2] + v_x_before[at + 2 * pitch + 2])),
                           sum_2);
        sum_3 = fmaf(-4.0f,
                     fmaf(-0.0625f,
                          fmaf(6.0f, sum_4,
                               fmaf(4.0f, -v_x_before[at - pitch - 1] - v_x_before[at - pitch + 1],
                                    v_x_before[at - pitch - 2] + v_x_before[at - pitch + 2]) +
                               fmaf(4.0f, -v_x_before[at + pitch - 1] - v_x_before[at + pitch + 1],
                                    v_x_before[at + pitch - 2] + v_x_before[at + pitch + 2])),
                          sum_4),
                     sum_3);
        sum_3 = fmaf(6.0f, sum, sum_3);
        v_x_next[at] = fmaf(-0.0625f, sum_3, sum);

        // Cells of v_x_next near a face are shown by halo cells, too.
        if (i < 3 || i >= nx - 4) store_images_v_x(v_x_next, i, j, nx, ny, pitch);
    }
}

// Reads p_next, writes p_before.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(64, 25)
    filtered_wave2d_p_before(const float* __restrict__ p_next, float* __restrict__ p_before, int nx, int ny,
                             int pitch) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    float p_next_cells[kCellsX];
    load2(p_next_cells, p_next + static_cast<long long>(j) * pitch + i);

    float p_before_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        p_before_result[x] = p_next_cells[x];
    if (i + kCellsX <= nx)
        store2(p_before + static_cast<long long>(j) * pitch + i, p_before_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) p_before[static_cast<long long>(j) * pitch + i + x] = p_before_result[x];

    // Cells of p_before near a face are shown by halo cells, too.
    const bool near_face = j < 2 || j >= ny - 2;
    if (near_face || i < 2 || i + 1 >= nx - 2)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 2 || i + x >= nx - 2)
                if (i + x < nx) store_images_v_x_before(p_before, i + x, j, nx, ny, pitch);
}

// Reads v_y_before, writes v_y_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_v_y(const float* __restrict__ v_y_before, float* __restrict__ v_y_next, int nx, int ny,
                        int pitch, double scale, double scale_2, double step) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (scale == scale_2 && step < 200.0) {
        const float sum = fmaf(-0.0625f,
                               fmaf(6.0f, v_y_before[at],
                                    fmaf(-4.0f, v_y_before[at - 1] + v_y_before[at + 1],
                                         v_y_before[at - 2] + v_y_before[at + 2])),
                               v_y_before[at]);
        const float sum_2 = v_y_before[at - 2 * pitch] + v_y_before[at + 2 * pitch];
        const float sum_4 = v_y_before[at - pitch] + v_y_before[at + pitch];
        float sum_3 = fmaf(-0.0625f,
                           fmaf(6.0f, sum_2,
                                fmaf(4.0f, -v_y_before[at - 2 * pitch - 1] - v_y_before[at - 2 * pitch + 1],
                                     v_y_before[at - 2 * pitch - 2] + v_y_before[at - 2 * pitch + 2]) +
                                fmaf(4.0f, -v_y_before[at + 2 * pitch - 1] - v_y_before[at + 2 * pitch + 1],
                                     v_y_before[at + 2 * pitch - 2] + v_y_before[at + 2 * pitch + 2])),
                           sum_2);
        sum_3 = fmaf(-4.0f,
                     fmaf(-0.0625f,
                          fmaf(6.0f, sum_4,
                               fmaf(4.0f, -v_y_before[at - pitch - 1] - v_y_before[at - pitch + 1],
                                    v_y_before[at - pitch - 2] + v_y_before[at - pitch + 2]) +
                               fmaf(4.0f, -v_y_before[at + pitch - 1] - v_y_before[at + pitch + 1],
                                    v_y_before[at + pitch - 2] + v_y_before[at + pitch + 2])),
                          sum_4),
                     sum_3);
        sum_3 = fmaf(6.0f, sum, sum_3);
        v_y_next[at] = fmaf(-0.0625f, sum_3, sum);

        // Cells of v_y_next near a face are shown by halo cells, too.
        if (j < 3 || j >= ny - 4) store_images_v_y(v_y_next, i, j, nx, ny, pitch);
    }
}

// Reads p_before, writes p_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_p_2(const float* __restrict__ p_before, float* __restrict__ p_next, int nx, int ny,
                        int pitch, double scale, double scale_2, double step) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    if (scale == scale_2 && step < 200.0) {
        const float sum = fmaf(-0.0625f,
                               fmaf(6.0f, p_before[at],
                                    fmaf(-4.0f, p_before[at - 1] + p_before[at + 1],
                                         p_before[at - 2] + p_before[at + 2])),
                               p_before[at]);
        const float sum_2 = p_before[at - 2 * pitch] + p_before[at + 2 * pitch];
        const float sum_4 = p_before[at - pitch] + p_before[at + pitch];
        float sum_3 = fmaf(-0.0625f,
                           fmaf(6.0f, sum_2,
                                fmaf(4.0f, -p_before[at - 2 * pitch - 1] - p_before[at - 2 * pitch + 1],
                                     p_before[at - 2 * pitch - 2] + p_before[at - 2 * pitch + 2]) +
                                fmaf(4.0f, -p_before[at + 2 * pitch - 1] - p_before[at + 2 * pitch + 1],
                                     p_before[at + 2 * pitch - 2] + p_before[at + 2 * pitch + 2])),
                           sum_2);
        sum_3 = fmaf(-4.0f,
                     fmaf(-0.0625f,
                          fmaf(6.0f, sum_4,
                               fmaf(4.0f, -p_before[at - pitch - 1] - p_before[at - pitch + 1],
                                    p_before[at - pitch - 2] + p_before[at - pitch + 2]) +
                               fmaf(4.0f, -p_before[at + pitch - 1] - p_before[at + pitch + 1],
                                    p_before[at + pitch - 2] + p_before[at + pitch + 2])),
                          sum_4),
                     sum_3);
        sum_3 = fmaf(6.0f, sum, sum_3);
        p_next[at] = fmaf(-0.0625f, sum_3, sum);

        // Cells of p_next near a face are shown by halo cells, too.
        const bool near_face = j < 4 || j >= ny - 3;
        if (near_face || i < 4 || i >= nx - 3) store_images_p(p_next, i, j, nx, ny, pitch);
    }
}

// Reads p_next, p_before, reduces to removed.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
// Runs before step 200 alone.
extern "C" __global__ void __launch_bounds__(64, 24)
    filtered_wave2d_removed(const float* __restrict__ p_next, const float* __restrict__ p_before, int nx,
                            int ny, int pitch, double scale, double scale_2, double step, float scale_3,
                            double* __restrict__ removed_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double removed_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        float p_next_cells[kCellsX];
        load2(p_next_cells, p_next + static_cast<long long>(j) * pitch + i);
        float p_before_cells[kCellsX];
        load2(p_before_cells, p_before + static_cast<long long>(j) * pitch + i);

#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx)
                removed_of_thread = keep_max(removed_of_thread,
                                             static_cast<double>(scale == scale_2 && step < 200.0 ?
                                                                 fabsf(p_next_cells[x] - p_before_cells[x]) :
                                                                 scale_3));
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double removed_of_block = block_max(removed_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        removed_partials[blockIdx.x + gridDim.x * blockIdx.y] = removed_of_block;
}

// Reads v_x, p, v_y, writes v_x_next, v_y_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
// Runs from step 200 on alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_v_x_3(const float* __restrict__ v_x, const float* __restrict__ p,
                          const float* __restrict__ v_y, float* __restrict__ v_x_next,
                          float* __restrict__ v_y_next, int nx, int ny, int pitch, float scale,
                          float minus_dt) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    float sum = fmaf(-0.0797526f, p[at + 2] - p[at - 1], 1.1962891f * (p[at + 1] - p[at]));
    sum = fmaf(0.009570313f, p[at + 3] - p[at - 2], sum);
    sum = fmaf(-0.00069754466f, p[at + 4] - p[at - 3], sum);
    const float v_x_new = scale * fmaf(minus_dt, sum, v_x[at]);
    float sum_2 = fmaf(-0.0797526f, p[at + 2 * pitch] - p[at - pitch], 1.1962891f * (p[at + pitch] - p[at]));
    sum_2 = fmaf(0.009570313f, p[at + 3 * pitch] - p[at - 2 * pitch], sum_2);
    sum_2 = fmaf(-0.00069754466f, p[at + 4 * pitch] - p[at - 3 * pitch], sum_2);
    const float v_y_new = scale * fmaf(minus_dt, sum_2, v_y[at]);
    v_x_next[at] = v_x_new;
    v_y_next[at] = v_y_new;

    // Cells of v_x_next near a face are shown by halo cells, too.
    if (i < 3 || i >= nx - 4) store_images_v_x(v_x_next, i, j, nx, ny, pitch);

    // Cells of v_y_next near a face are shown by halo cells, too.
    if (j < 3 || j >= ny - 4) store_images_v_y(v_y_next, i, j, nx, ny, pitch);
}

// Reads p, v_x_next, v_y_next, writes p_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
// Runs from step 200 on alone.
extern "C" __global__ void __launch_bounds__(128, 8)
    filtered_wave2d_p_3(const float* __restrict__ p, const float* __restrict__ v_x_next,
                        const float* __restrict__ v_y_next, float* __restrict__ p_next, int nx, int ny,
                        int pitch, float minus_dt_c_c) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    float sum = fmaf(-0.0797526f,
                     v_x_next[at + 1] - v_x_next[at - 2] + v_y_next[at + pitch] - v_y_next[at - 2 * pitch],
                     1.1962891f * (v_x_next[at] - v_x_next[at - 1] + v_y_next[at] - v_y_next[at - pitch]));
    sum = fmaf(0.009570313f,
               v_x_next[at + 2] - v_x_next[at - 3] + v_y_next[at + 2 * pitch] - v_y_next[at - 3 * pitch],
               sum);
    sum = fmaf(-0.00069754466f,
               v_x_next[at + 3] - v_x_next[at - 4] + v_y_next[at + 3 * pitch] - v_y_next[at - 4 * pitch],
               sum);
    p_next[at] = fmaf(minus_dt_c_c, sum, p[at]);

    // Cells of p_next near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 3;
    if (near_face || i < 4 || i >= nx - 3) store_images_p(p_next, i, j, nx, ny, pitch);
}
