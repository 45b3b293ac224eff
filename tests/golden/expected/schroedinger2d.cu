// schroedinger2d: CUDA kernels of a stencil, emitted by Halocline.
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

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
}

__device__ __forceinline__ void store4(float* to, const float* from) {
    __stwb(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
}

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
__device__ inline void store_images_k1_re(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 4 && i < nx - 4 && j >= 4 && j < ny - 4) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 4); y < ny + 4; y += ny)
        for (int x = first_image(i, nx, 4); x < nx + 4; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads psi_re, psi_im, potential, writes k1_re, k1_im.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    schroedinger2d_k1_re(const float* __restrict__ psi_re, const float* __restrict__ psi_im,
                         const float* __restrict__ potential, float* __restrict__ k1_re,
                         float* __restrict__ k1_im, int nx, int ny, int pitch) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;

    float psi_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&psi_re_cells[y][4], psi_re + row[y] + i);
    const float* psi_re_row = psi_re + row[4] + i;
    load4(psi_re_cells[4], psi_re_row - 4);
    load4(&psi_re_cells[4][4], psi_re_row);
    load4(&psi_re_cells[4][8], psi_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&psi_re_cells[y][4], psi_re + row[y] + i);
    float psi_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&psi_im_cells[y][4], psi_im + row[y] + i);
    const float* psi_im_row = psi_im + row[4] + i;
    load4(psi_im_cells[4], psi_im_row - 4);
    load4(&psi_im_cells[4][4], psi_im_row);
    load4(&psi_im_cells[4][8], psi_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&psi_im_cells[y][4], psi_im + row[y] + i);
    float potential_cells[kCellsX];
    load4(potential_cells, potential + row[4] + i);

    float k1_re_result[kCellsX];
    float k1_im_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        float sum = fmaf(-91.111115f, psi_im_cells[4][x + 4],
                         25.6f * (psi_im_cells[4][x + 3] + psi_im_cells[4][x + 5] + psi_im_cells[3][x + 4] +
                                  psi_im_cells[5][x + 4]));
        sum = fmaf(-3.2f,
                   psi_im_cells[4][x + 2] + psi_im_cells[4][x + 6] + psi_im_cells[2][x + 4] +
                   psi_im_cells[6][x + 4], sum);
        sum = fmaf(0.4063492f,
                   psi_im_cells[4][x + 1] + psi_im_cells[4][x + 7] + psi_im_cells[1][x + 4] +
                   psi_im_cells[7][x + 4], sum);
        sum = fmaf(-0.028571429f,
                   psi_im_cells[4][x] + psi_im_cells[4][x + 8] + psi_im_cells[0][x + 4] +
                   psi_im_cells[8][x + 4], sum);
        const float value = -potential_cells[x];
        const float k1_re_value = -fmaf(value, psi_im_cells[4][x + 4], 0.5f * sum);
        float sum_2 = fmaf(-91.111115f, psi_re_cells[4][x + 4],
                           25.6f * (psi_re_cells[4][x + 3] + psi_re_cells[4][x + 5] + psi_re_cells[3][x + 4] +
                                    psi_re_cells[5][x + 4]));
        sum_2 = fmaf(-3.2f,
                     psi_re_cells[4][x + 2] + psi_re_cells[4][x + 6] + psi_re_cells[2][x + 4] +
                     psi_re_cells[6][x + 4], sum_2);
        sum_2 = fmaf(0.4063492f,
                     psi_re_cells[4][x + 1] + psi_re_cells[4][x + 7] + psi_re_cells[1][x + 4] +
                     psi_re_cells[7][x + 4], sum_2);
        sum_2 = fmaf(-0.028571429f,
                     psi_re_cells[4][x] + psi_re_cells[4][x + 8] + psi_re_cells[0][x + 4] +
                     psi_re_cells[8][x + 4], sum_2);
        const float k1_im_value = fmaf(value, psi_re_cells[4][x + 4], 0.5f * sum_2);
        k1_re_result[x] = k1_re_value;
        k1_im_result[x] = k1_im_value;
    }
    if (i + kCellsX <= nx) {
        store4(k1_re + row[4] + i, k1_re_result);
        store4(k1_im + row[4] + i, k1_im_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) k1_re[row[4] + i + x] = k1_re_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) k1_im[row[4] + i + x] = k1_im_result[x];
    }

    // Cells of k1_re near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4;
    if (near_face || i < 4 || i + 3 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(k1_re, i + x, j, nx, ny, pitch);

    // Cells of k1_im near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4;
    if (near_face_2 || i < 4 || i + 3 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face_2 || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(k1_im, i + x, j, nx, ny, pitch);
}

// Reads psi_re, psi_im, potential, k1_re, k1_im, writes k2_re, k2_im.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 28 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    schroedinger2d_k2_re(const float* __restrict__ psi_re, const float* __restrict__ psi_im,
                         const float* __restrict__ potential, const float* __restrict__ k1_re,
                         const float* __restrict__ k1_im, float* __restrict__ k2_re,
                         float* __restrict__ k2_im, int nx, int ny, int pitch, float dt) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;

    float psi_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&psi_re_cells[y][4], psi_re + row[y] + i);
    const float* psi_re_row = psi_re + row[4] + i;
    load4(psi_re_cells[4], psi_re_row - 4);
    load4(&psi_re_cells[4][4], psi_re_row);
    load4(&psi_re_cells[4][8], psi_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&psi_re_cells[y][4], psi_re + row[y] + i);
    float psi_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&psi_im_cells[y][4], psi_im + row[y] + i);
    const float* psi_im_row = psi_im + row[4] + i;
    load4(psi_im_cells[4], psi_im_row - 4);
    load4(&psi_im_cells[4][4], psi_im_row);
    load4(&psi_im_cells[4][8], psi_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&psi_im_cells[y][4], psi_im + row[y] + i);
    float potential_cells[kCellsX];
    load4(potential_cells, potential + row[4] + i);
    float k1_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&k1_re_cells[y][4], k1_re + row[y] + i);
    const float* k1_re_row = k1_re + row[4] + i;
    load4(k1_re_cells[4], k1_re_row - 4);
    load4(&k1_re_cells[4][4], k1_re_row);
    load4(&k1_re_cells[4][8], k1_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&k1_re_cells[y][4], k1_re + row[y] + i);
    float k1_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&k1_im_cells[y][4], k1_im + row[y] + i);
    const float* k1_im_row = k1_im + row[4] + i;
    load4(k1_im_cells[4], k1_im_row - 4);
    load4(&k1_im_cells[4][4], k1_im_row);
    load4(&k1_im_cells[4][8], k1_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&k1_im_cells[y][4], k1_im + row[y] + i);

    float k2_re_result[kCellsX];
    float k2_im_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float sum = fmaf(dt, k1_im_cells[4][x + 4], psi_im_cells[4][x + 4]);
        float sum_2 = fmaf(-91.111115f, sum,
                           25.6f * fmaf(dt,
                                        k1_im_cells[4][x + 3] + k1_im_cells[4][x + 5] +
                                        k1_im_cells[3][x + 4] + k1_im_cells[5][x + 4],
                                        psi_im_cells[4][x + 3] + psi_im_cells[4][x + 5] +
                                        psi_im_cells[3][x + 4] + psi_im_cells[5][x + 4]));
        sum_2 = fmaf(-3.2f,
                     fmaf(dt,
                          k1_im_cells[4][x + 2] + k1_im_cells[4][x + 6] + k1_im_cells[2][x + 4] +
                          k1_im_cells[6][x + 4],
                          psi_im_cells[4][x + 2] + psi_im_cells[4][x + 6] + psi_im_cells[2][x + 4] +
                          psi_im_cells[6][x + 4]),
                     sum_2);
        sum_2 = fmaf(0.4063492f,
                     fmaf(dt,
                          k1_im_cells[4][x + 1] + k1_im_cells[4][x + 7] + k1_im_cells[1][x + 4] +
                          k1_im_cells[7][x + 4],
                          psi_im_cells[4][x + 1] + psi_im_cells[4][x + 7] + psi_im_cells[1][x + 4] +
                          psi_im_cells[7][x + 4]),
                     sum_2);
        sum_2 = fmaf(-0.028571429f,
                     fmaf(dt,
                          k1_im_cells[4][x] + k1_im_cells[4][x + 8] + k1_im_cells[0][x + 4] +
                          k1_im_cells[8][x + 4],
                          psi_im_cells[4][x] + psi_im_cells[4][x + 8] + psi_im_cells[0][x + 4] +
                          psi_im_cells[8][x + 4]),
                     sum_2);
        const float value = -potential_cells[x];
        const float k2_re_value = -fmaf(value, sum, 0.5f * sum_2);
        const float sum_3 = fmaf(dt, k1_re_cells[4][x + 4], psi_re_cells[4][x + 4]);
        float sum_4 = fmaf(-91.111115f, sum_3,
                           25.6f * fmaf(dt,
                                        k1_re_cells[4][x + 3] + k1_re_cells[4][x + 5] +
                                        k1_re_cells[3][x + 4] + k1_re_cells[5][x + 4],
                                        psi_re_cells[4][x + 3] + psi_re_cells[4][x + 5] +
                                        psi_re_cells[3][x + 4] + psi_re_cells[5][x + 4]));
        sum_4 = fmaf(-3.2f,
                     fmaf(dt,
                          k1_re_cells[4][x + 2] + k1_re_cells[4][x + 6] + k1_re_cells[2][x + 4] +
                          k1_re_cells[6][x + 4],
                          psi_re_cells[4][x + 2] + psi_re_cells[4][x + 6] + psi_re_cells[2][x + 4] +
                          psi_re_cells[6][x + 4]),
                     sum_4);
        sum_4 = fmaf(0.4063492f,
                     fmaf(dt,
                          k1_re_cells[4][x + 1] + k1_re_cells[4][x + 7] + k1_re_cells[1][x + 4] +
                          k1_re_cells[7][x + 4],
                          psi_re_cells[4][x + 1] + psi_re_cells[4][x + 7] + psi_re_cells[1][x + 4] +
                          psi_re_cells[7][x + 4]),
                     sum_4);
        sum_4 = fmaf(-0.028571429f,
                     fmaf(dt,
                          k1_re_cells[4][x] + k1_re_cells[4][x + 8] + k1_re_cells[0][x + 4] +
                          k1_re_cells[8][x + 4],
                          psi_re_cells[4][x] + psi_re_cells[4][x + 8] + psi_re_cells[0][x + 4] +
                          psi_re_cells[8][x + 4]),
                     sum_4);
        const float k2_im_value = fmaf(value, sum_3, 0.5f * sum_4);
        k2_re_result[x] = k2_re_value;
        k2_im_result[x] = k2_im_value;
    }
    if (i + kCellsX <= nx) {
        store4(k2_re + row[4] + i, k2_re_result);
        store4(k2_im + row[4] + i, k2_im_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) k2_re[row[4] + i + x] = k2_re_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) k2_im[row[4] + i + x] = k2_im_result[x];
    }

    // Cells of k2_re near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4;
    if (near_face || i < 4 || i + 3 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(k2_re, i + x, j, nx, ny, pitch);

    // Cells of k2_im near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4;
    if (near_face_2 || i < 4 || i + 3 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face_2 || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(k2_im, i + x, j, nx, ny, pitch);
}

// Reads psi_re, psi_im, potential, k2_re, k2_im, writes k3_re, k3_im.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 28 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 8)
    schroedinger2d_k3_re(const float* __restrict__ psi_re, const float* __restrict__ psi_im,
                         const float* __restrict__ potential, const float* __restrict__ k2_re,
                         const float* __restrict__ k2_im, float* __restrict__ k3_re,
                         float* __restrict__ k3_im, int nx, int ny, int pitch, float dt) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;

    float psi_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&psi_re_cells[y][4], psi_re + row[y] + i);
    const float* psi_re_row = psi_re + row[4] + i;
    load4(psi_re_cells[4], psi_re_row - 4);
    load4(&psi_re_cells[4][4], psi_re_row);
    load4(&psi_re_cells[4][8], psi_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&psi_re_cells[y][4], psi_re + row[y] + i);
    float psi_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&psi_im_cells[y][4], psi_im + row[y] + i);
    const float* psi_im_row = psi_im + row[4] + i;
    load4(psi_im_cells[4], psi_im_row - 4);
    load4(&psi_im_cells[4][4], psi_im_row);
    load4(&psi_im_cells[4][8], psi_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&psi_im_cells[y][4], psi_im + row[y] + i);
    float potential_cells[kCellsX];
    load4(potential_cells, potential + row[4] + i);
    float k2_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&k2_re_cells[y][4], k2_re + row[y] + i);
    const float* k2_re_row = k2_re + row[4] + i;
    load4(k2_re_cells[4], k2_re_row - 4);
    load4(&k2_re_cells[4][4], k2_re_row);
    load4(&k2_re_cells[4][8], k2_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&k2_re_cells[y][4], k2_re + row[y] + i);
    float k2_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&k2_im_cells[y][4], k2_im + row[y] + i);
    const float* k2_im_row = k2_im + row[4] + i;
    load4(k2_im_cells[4], k2_im_row - 4);
    load4(&k2_im_cells[4][4], k2_im_row);
    load4(&k2_im_cells[4][8], k2_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&k2_im_cells[y][4], k2_im + row[y] + i);

    float k3_re_result[kCellsX];
    float k3_im_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float sum = fmaf(dt, k2_im_cells[4][x + 4], psi_im_cells[4][x + 4]);
        float sum_2 = fmaf(-91.111115f, sum,
                           25.6f * fmaf(dt,
                                        k2_im_cells[4][x + 3] + k2_im_cells[4][x + 5] +
                                        k2_im_cells[3][x + 4] + k2_im_cells[5][x + 4],
                                        psi_im_cells[4][x + 3] + psi_im_cells[4][x + 5] +
                                        psi_im_cells[3][x + 4] + psi_im_cells[5][x + 4]));
        sum_2 = fmaf(-3.2f,
                     fmaf(dt,
                          k2_im_cells[4][x + 2] + k2_im_cells[4][x + 6] + k2_im_cells[2][x + 4] +
                          k2_im_cells[6][x + 4],
                          psi_im_cells[4][x + 2] + psi_im_cells[4][x + 6] + psi_im_cells[2][x + 4] +
                          psi_im_cells[6][x + 4]),
                     sum_2);
        sum_2 = fmaf(0.4063492f,
                     fmaf(dt,
                          k2_im_cells[4][x + 1] + k2_im_cells[4][x + 7] + k2_im_cells[1][x + 4] +
                          k2_im_cells[7][x + 4],
                          psi_im_cells[4][x + 1] + psi_im_cells[4][x + 7] + psi_im_cells[1][x + 4] +
                          psi_im_cells[7][x + 4]),
                     sum_2);
        sum_2 = fmaf(-0.028571429f,
                     fmaf(dt,
                          k2_im_cells[4][x] + k2_im_cells[4][x + 8] + k2_im_cells[0][x + 4] +
                          k2_im_cells[8][x + 4],
                          psi_im_cells[4][x] + psi_im_cells[4][x + 8] + psi_im_cells[0][x + 4] +
                          psi_im_cells[8][x + 4]),
                     sum_2);
        const float value = -potential_cells[x];
        const float k3_re_value = -fmaf(value, sum, 0.5f * sum_2);
        const float sum_3 = fmaf(dt, k2_re_cells[4][x + 4], psi_re_cells[4][x + 4]);
        float sum_4 = fmaf(-91.111115f, sum_3,
                           25.6f * fmaf(dt,
                                        k2_re_cells[4][x + 3] + k2_re_cells[4][x + 5] +
                                        k2_re_cells[3][x + 4] + k2_re_cells[5][x + 4],
                                        psi_re_cells[4][x + 3] + psi_re_cells[4][x + 5] +
                                        psi_re_cells[3][x + 4] + psi_re_cells[5][x + 4]));
        sum_4 = fmaf(-3.2f,
                     fmaf(dt,
                          k2_re_cells[4][x + 2] + k2_re_cells[4][x + 6] + k2_re_cells[2][x + 4] +
                          k2_re_cells[6][x + 4],
                          psi_re_cells[4][x + 2] + psi_re_cells[4][x + 6] + psi_re_cells[2][x + 4] +
                          psi_re_cells[6][x + 4]),
                     sum_4);
        sum_4 = fmaf(0.4063492f,
                     fmaf(dt,
                          k2_re_cells[4][x + 1] + k2_re_cells[4][x + 7] + k2_re_cells[1][x + 4] +
                          k2_re_cells[7][x + 4],
                          psi_re_cells[4][x + 1] + psi_re_cells[4][x + 7] + psi_re_cells[1][x + 4] +
                          psi_re_cells[7][x + 4]),
                     sum_4);
        sum_4 = fmaf(-0.028571429f,
                     fmaf(dt,
                          k2_re_cells[4][x] + k2_re_cells[4][x + 8] + k2_re_cells[0][x + 4] +
                          k2_re_cells[8][x + 4],
                          psi_re_cells[4][x] + psi_re_cells[4][x + 8] + psi_re_cells[0][x + 4] +
                          psi_re_cells[8][x + 4]),
                     sum_4);
        const float k3_im_value = fmaf(value, sum_3, 0.5f * sum_4);
        k3_re_result[x] = k3_re_value;
        k3_im_result[x] = k3_im_value;
    }
    if (i + kCellsX <= nx) {
        store4(k3_re + row[4] + i, k3_re_result);
        store4(k3_im + row[4] + i, k3_im_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) k3_re[row[4] + i + x] = k3_re_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) k3_im[row[4] + i + x] = k3_im_result[x];
    }

    // Cells of k3_re near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4;
    if (near_face || i < 4 || i + 3 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(k3_re, i + x, j, nx, ny, pitch);

    // Cells of k3_im near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4;
    if (near_face_2 || i < 4 || i + 3 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face_2 || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(k3_im, i + x, j, nx, ny, pitch);
}

// Reads psi_re, psi_im, potential, k1_re, k1_im, k2_re, k2_im, k3_re, k3_im, writes psi_re_next, psi_im_next,
// density, reduces to probability.
// Schedule: direct, blocks of 32x4 threads, 2x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    schroedinger2d_psi_re(const float* __restrict__ psi_re, const float* __restrict__ psi_im,
                          const float* __restrict__ potential, const float* __restrict__ k1_re,
                          const float* __restrict__ k1_im, const float* __restrict__ k2_re,
                          const float* __restrict__ k2_im, const float* __restrict__ k3_re,
                          const float* __restrict__ k3_im, float* __restrict__ psi_re_next,
                          float* __restrict__ psi_im_next, float* __restrict__ density, int nx, int ny,
                          int pitch, float dt, float dt_2, double* __restrict__ probability_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double probability_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[9];
#pragma unroll
        for (int y = 0; y < 9; ++y)
            row[y] = static_cast<long long>(j + y - 4) * pitch;

        float psi_re_cells[9][kCellsX + 8];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(&psi_re_cells[y][4], psi_re + row[y] + i);
        const float* psi_re_row = psi_re + row[4] + i;
        load2(&psi_re_cells[4][2], psi_re_row - 2);
        load2(psi_re_cells[4], psi_re_row - 4);
        load2(&psi_re_cells[4][4], psi_re_row);
        load2(&psi_re_cells[4][6], psi_re_row + 2);
        load2(&psi_re_cells[4][8], psi_re_row + 4);
#pragma unroll
        for (int y = 5; y < 9; ++y)
            load2(&psi_re_cells[y][4], psi_re + row[y] + i);
        float psi_im_cells[9][kCellsX + 8];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(&psi_im_cells[y][4], psi_im + row[y] + i);
        const float* psi_im_row = psi_im + row[4] + i;
        load2(&psi_im_cells[4][2], psi_im_row - 2);
        load2(psi_im_cells[4], psi_im_row - 4);
        load2(&psi_im_cells[4][4], psi_im_row);
        load2(&psi_im_cells[4][6], psi_im_row + 2);
        load2(&psi_im_cells[4][8], psi_im_row + 4);
#pragma unroll
        for (int y = 5; y < 9; ++y)
            load2(&psi_im_cells[y][4], psi_im + row[y] + i);
        float potential_cells[kCellsX];
        load2(potential_cells, potential + row[4] + i);
        float k1_re_cells[kCellsX];
        load2(k1_re_cells, k1_re + row[4] + i);
        float k1_im_cells[kCellsX];
        load2(k1_im_cells, k1_im + row[4] + i);
        float k2_re_cells[kCellsX];
        load2(k2_re_cells, k2_re + row[4] + i);
        float k2_im_cells[kCellsX];
        load2(k2_im_cells, k2_im + row[4] + i);
        float k3_re_cells[9][kCellsX + 8];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(&k3_re_cells[y][4], k3_re + row[y] + i);
        const float* k3_re_row = k3_re + row[4] + i;
        load2(&k3_re_cells[4][2], k3_re_row - 2);
        load2(k3_re_cells[4], k3_re_row - 4);
        load2(&k3_re_cells[4][4], k3_re_row);
        load2(&k3_re_cells[4][6], k3_re_row + 2);
        load2(&k3_re_cells[4][8], k3_re_row + 4);
#pragma unroll
        for (int y = 5; y < 9; ++y)
            load2(&k3_re_cells[y][4], k3_re + row[y] + i);
        float k3_im_cells[9][kCellsX + 8];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(&k3_im_cells[y][4], k3_im + row[y] + i);
        const float* k3_im_row = k3_im + row[4] + i;
        load2(&k3_im_cells[4][2], k3_im_row - 2);
        load2(k3_im_cells[4], k3_im_row - 4);
        load2(&k3_im_cells[4][4], k3_im_row);
        load2(&k3_im_cells[4][6], k3_im_row + 2);
        load2(&k3_im_cells[4][8], k3_im_row + 4);
#pragma unroll
        for (int y = 5; y < 9; ++y)
            load2(&k3_im_cells[y][4], k3_im + row[y] + i);

        float psi_re_next_result[kCellsX];
        float psi_im_next_result[kCellsX];
        float density_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float sum = fmaf(dt, k3_im_cells[4][x + 4], psi_im_cells[4][x + 4]);
            float sum_2 = fmaf(-91.111115f, sum,
                               25.6f * fmaf(dt,
                                            k3_im_cells[4][x + 3] + k3_im_cells[4][x + 5] +
                                            k3_im_cells[3][x + 4] + k3_im_cells[5][x + 4],
                                            psi_im_cells[4][x + 3] + psi_im_cells[4][x + 5] +
                                            psi_im_cells[3][x + 4] + psi_im_cells[5][x + 4]));
            sum_2 = fmaf(-3.2f,
                         fmaf(dt,
                              k3_im_cells[4][x + 2] + k3_im_cells[4][x + 6] + k3_im_cells[2][x + 4] +
                              k3_im_cells[6][x + 4],
                              psi_im_cells[4][x + 2] + psi_im_cells[4][x + 6] + psi_im_cells[2][x + 4] +
                              psi_im_cells[6][x + 4]),
                         sum_2);
            sum_2 = fmaf(0.4063492f,
                         fmaf(dt,
                              k3_im_cells[4][x + 1] + k3_im_cells[4][x + 7] + k3_im_cells[1][x + 4] +
                              k3_im_cells[7][x + 4],
                              psi_im_cells[4][x + 1] + psi_im_cells[4][x + 7] + psi_im_cells[1][x + 4] +
                              psi_im_cells[7][x + 4]),
                         sum_2);
            sum_2 = fmaf(-0.028571429f,
                         fmaf(dt,
                              k3_im_cells[4][x] + k3_im_cells[4][x + 8] + k3_im_cells[0][x + 4] +
                              k3_im_cells[8][x + 4],
                              psi_im_cells[4][x] + psi_im_cells[4][x + 8] + psi_im_cells[0][x + 4] +
                              psi_im_cells[8][x + 4]),
                         sum_2);
            const float value = -potential_cells[x];
            const float k4_re_value = -fmaf(value, sum, 0.5f * sum_2);
            const float sum_3 = fmaf(dt, k3_re_cells[4][x + 4], psi_re_cells[4][x + 4]);
            float sum_4 = fmaf(-91.111115f, sum_3,
                               25.6f * fmaf(dt,
                                            k3_re_cells[4][x + 3] + k3_re_cells[4][x + 5] +
                                            k3_re_cells[3][x + 4] + k3_re_cells[5][x + 4],
                                            psi_re_cells[4][x + 3] + psi_re_cells[4][x + 5] +
                                            psi_re_cells[3][x + 4] + psi_re_cells[5][x + 4]));
            sum_4 = fmaf(-3.2f,
                         fmaf(dt,
                              k3_re_cells[4][x + 2] + k3_re_cells[4][x + 6] + k3_re_cells[2][x + 4] +
                              k3_re_cells[6][x + 4],
                              psi_re_cells[4][x + 2] + psi_re_cells[4][x + 6] + psi_re_cells[2][x + 4] +
                              psi_re_cells[6][x + 4]),
                         sum_4);
            sum_4 = fmaf(0.4063492f,
                         fmaf(dt,
                              k3_re_cells[4][x + 1] + k3_re_cells[4][x + 7] + k3_re_cells[1][x + 4] +
                              k3_re_cells[7][x + 4],
                              psi_re_cells[4][x + 1] + psi_re_cells[4][x + 7] + psi_re_cells[1][x + 4] +
                              psi_re_cells[7][x + 4]),
                         sum_4);
            sum_4 = fmaf(-0.028571429f,
                         fmaf(dt,
                              k3_re_cells[4][x] + k3_re_cells[4][x + 8] + k3_re_cells[0][x + 4] +
                              k3_re_cells[8][x + 4],
                              psi_re_cells[4][x] + psi_re_cells[4][x + 8] + psi_re_cells[0][x + 4] +
                              psi_re_cells[8][x + 4]),
                         sum_4);
            const float k4_im_value = fmaf(value, sum_3, 0.5f * sum_4);
            const float psi_re_new = fmaf(dt_2,
                                          fmaf(2.0f, k2_re_cells[x] + k3_re_cells[4][x + 4],
                                               k1_re_cells[x] + k4_re_value),
                                          psi_re_cells[4][x + 4]);
            const float psi_im_new = fmaf(dt_2,
                                          fmaf(2.0f, k2_im_cells[x] + k3_im_cells[4][x + 4],
                                               k1_im_cells[x] + k4_im_value),
                                          psi_im_cells[4][x + 4]);
            const float density_value = fmaf(psi_im_new, psi_im_new, psi_re_new * psi_re_new);
            psi_re_next_result[x] = psi_re_new;
            psi_im_next_result[x] = psi_im_new;
            density_result[x] = density_value;
            if (i + x < nx) probability_of_thread += static_cast<double>(0.0625f * density_value);
        }
        if (i + kCellsX <= nx) {
            store2(psi_re_next + row[4] + i, psi_re_next_result);
            store2(psi_im_next + row[4] + i, psi_im_next_result);
            store2(density + row[4] + i, density_result);
        } else {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) psi_re_next[row[4] + i + x] = psi_re_next_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) psi_im_next[row[4] + i + x] = psi_im_next_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) density[row[4] + i + x] = density_result[x];
        }

        // Cells of psi_re_next near a face are shown by halo cells, too.
        const bool near_face = j < 4 || j >= ny - 4;
        if (near_face || i < 4 || i + 1 >= nx - 4)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x < 4 || i + x >= nx - 4)
                    if (i + x < nx) store_images_k1_re(psi_re_next, i + x, j, nx, ny, pitch);

        // Cells of psi_im_next near a face are shown by halo cells, too.
        const bool near_face_2 = j < 4 || j >= ny - 4;
        if (near_face_2 || i < 4 || i + 1 >= nx - 4)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face_2 || i + x < 4 || i + x >= nx - 4)
                    if (i + x < nx) store_images_k1_re(psi_im_next, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double probability_of_block = block_sum(probability_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        probability_partials[blockIdx.x + gridDim.x * blockIdx.y] = probability_of_block;
}

// In place of schroedinger2d_psi.re in steps whose results nobody reads; leaves out density, probability.
// Reads psi_re, psi_im, potential, k1_re, k1_im, k2_re, k2_im, k3_re, k3_im, writes psi_re_next, psi_im_next.
// Schedule: direct, blocks of 32x4 threads, 2x1 cells a thread.
// At least 44 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    schroedinger2d_psi_re_states(const float* __restrict__ psi_re, const float* __restrict__ psi_im,
                                 const float* __restrict__ potential, const float* __restrict__ k1_re,
                                 const float* __restrict__ k1_im, const float* __restrict__ k2_re,
                                 const float* __restrict__ k2_im, const float* __restrict__ k3_re,
                                 const float* __restrict__ k3_im, float* __restrict__ psi_re_next,
                                 float* __restrict__ psi_im_next, int nx, int ny, int pitch, float dt,
                                 float dt_2) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;

    float psi_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(&psi_re_cells[y][4], psi_re + row[y] + i);
    const float* psi_re_row = psi_re + row[4] + i;
    load2(&psi_re_cells[4][2], psi_re_row - 2);
    load2(psi_re_cells[4], psi_re_row - 4);
    load2(&psi_re_cells[4][4], psi_re_row);
    load2(&psi_re_cells[4][6], psi_re_row + 2);
    load2(&psi_re_cells[4][8], psi_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load2(&psi_re_cells[y][4], psi_re + row[y] + i);
    float psi_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(&psi_im_cells[y][4], psi_im + row[y] + i);
    const float* psi_im_row = psi_im + row[4] + i;
    load2(&psi_im_cells[4][2], psi_im_row - 2);
    load2(psi_im_cells[4], psi_im_row - 4);
    load2(&psi_im_cells[4][4], psi_im_row);
    load2(&psi_im_cells[4][6], psi_im_row + 2);
    load2(&psi_im_cells[4][8], psi_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load2(&psi_im_cells[y][4], psi_im + row[y] + i);
    float potential_cells[kCellsX];
    load2(potential_cells, potential + row[4] + i);
    float k1_re_cells[kCellsX];
    load2(k1_re_cells, k1_re + row[4] + i);
    float k1_im_cells[kCellsX];
    load2(k1_im_cells, k1_im + row[4] + i);
    float k2_re_cells[kCellsX];
    load2(k2_re_cells, k2_re + row[4] + i);
    float k2_im_cells[kCellsX];
    load2(k2_im_cells, k2_im + row[4] + i);
    float k3_re_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(&k3_re_cells[y][4], k3_re + row[y] + i);
    const float* k3_re_row = k3_re + row[4] + i;
    load2(&k3_re_cells[4][2], k3_re_row - 2);
    load2(k3_re_cells[4], k3_re_row - 4);
    load2(&k3_re_cells[4][4], k3_re_row);
    load2(&k3_re_cells[4][6], k3_re_row + 2);
    load2(&k3_re_cells[4][8], k3_re_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load2(&k3_re_cells[y][4], k3_re + row[y] + i);
    float k3_im_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(&k3_im_cells[y][4], k3_im + row[y] + i);
    const float* k3_im_row = k3_im + row[4] + i;
    load2(&k3_im_cells[4][2], k3_im_row - 2);
    load2(k3_im_cells[4], k3_im_row - 4);
    load2(&k3_im_cells[4][4], k3_im_row);
    load2(&k3_im_cells[4][6], k3_im_row + 2);
    load2(&k3_im_cells[4][8], k3_im_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load2(&k3_im_cells[y][4], k3_im + row[y] + i);

    float psi_re_next_result[kCellsX];
    float psi_im_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float sum = fmaf(dt, k3_im_cells[4][x + 4], psi_im_cells[4][x + 4]);
        float sum_2 = fmaf(-91.111115f, sum,
                           25.6f * fmaf(dt,
                                        k3_im_cells[4][x + 3] + k3_im_cells[4][x + 5] +
                                        k3_im_cells[3][x + 4] + k3_im_cells[5][x + 4],
                                        psi_im_cells[4][x + 3] + psi_im_cells[4][x + 5] +
                                        psi_im_cells[3][x + 4] + psi_im_cells[5][x + 4]));
        sum_2 = fmaf(-3.2f,
                     fmaf(dt,
                          k3_im_cells[4][x + 2] + k3_im_cells[4][x + 6] + k3_im_cells[2][x + 4] +
                          k3_im_cells[6][x + 4],
                          psi_im_cells[4][x + 2] + psi_im_cells[4][x + 6] + psi_im_cells[2][x + 4] +
                          psi_im_cells[6][x + 4]),
                     sum_2);
        sum_2 = fmaf(0.4063492f,
                     fmaf(dt,
                          k3_im_cells[4][x + 1] + k3_im_cells[4][x + 7] + k3_im_cells[1][x + 4] +
                          k3_im_cells[7][x + 4],
                          psi_im_cells[4][x + 1] + psi_im_cells[4][x + 7] + psi_im_cells[1][x + 4] +
                          psi_im_cells[7][x + 4]),
                     sum_2);
        sum_2 = fmaf(-0.028571429f,
                     fmaf(dt,
                          k3_im_cells[4][x] + k3_im_cells[4][x + 8] + k3_im_cells[0][x + 4] +
                          k3_im_cells[8][x + 4],
                          psi_im_cells[4][x] + psi_im_cells[4][x + 8] + psi_im_cells[0][x + 4] +
                          psi_im_cells[8][x + 4]),
                     sum_2);
        const float value = -potential_cells[x];
        const float k4_re_value = -fmaf(value, sum, 0.5f * sum_2);
        const float sum_3 = fmaf(dt, k3_re_cells[4][x + 4], psi_re_cells[4][x + 4]);
        float sum_4 = fmaf(-91.111115f, sum_3,
                           25.6f * fmaf(dt,
                                        k3_re_cells[4][x + 3] + k3_re_cells[4][x + 5] +
                                        k3_re_cells[3][x + 4] + k3_re_cells[5][x + 4],
                                        psi_re_cells[4][x + 3] + psi_re_cells[4][x + 5] +
                                        psi_re_cells[3][x + 4] + psi_re_cells[5][x + 4]));
        sum_4 = fmaf(-3.2f,
                     fmaf(dt,
                          k3_re_cells[4][x + 2] + k3_re_cells[4][x + 6] + k3_re_cells[2][x + 4] +
                          k3_re_cells[6][x + 4],
                          psi_re_cells[4][x + 2] + psi_re_cells[4][x + 6] + psi_re_cells[2][x + 4] +
                          psi_re_cells[6][x + 4]),
                     sum_4);
        sum_4 = fmaf(0.4063492f,
                     fmaf(dt,
                          k3_re_cells[4][x + 1] + k3_re_cells[4][x + 7] + k3_re_cells[1][x + 4] +
                          k3_re_cells[7][x + 4],
                          psi_re_cells[4][x + 1] + psi_re_cells[4][x + 7] + psi_re_cells[1][x + 4] +
                          psi_re_cells[7][x + 4]),
                     sum_4);
        sum_4 = fmaf(-0.028571429f,
                     fmaf(dt,
                          k3_re_cells[4][x] + k3_re_cells[4][x + 8] + k3_re_cells[0][x + 4] +
                          k3_re_cells[8][x + 4],
                          psi_re_cells[4][x] + psi_re_cells[4][x + 8] + psi_re_cells[0][x + 4] +
                          psi_re_cells[8][x + 4]),
                     sum_4);
        const float k4_im_value = fmaf(value, sum_3, 0.5f * sum_4);
        const float psi_re_new = fmaf(dt_2,
                                      fmaf(2.0f, k2_re_cells[x] + k3_re_cells[4][x + 4],
                                           k1_re_cells[x] + k4_re_value),
                                      psi_re_cells[4][x + 4]);
        const float psi_im_new = fmaf(dt_2,
                                      fmaf(2.0f, k2_im_cells[x] + k3_im_cells[4][x + 4],
                                           k1_im_cells[x] + k4_im_value),
                                      psi_im_cells[4][x + 4]);
        psi_re_next_result[x] = psi_re_new;
        psi_im_next_result[x] = psi_im_new;
    }
    if (i + kCellsX <= nx) {
        store2(psi_re_next + row[4] + i, psi_re_next_result);
        store2(psi_im_next + row[4] + i, psi_im_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) psi_re_next[row[4] + i + x] = psi_re_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) psi_im_next[row[4] + i + x] = psi_im_next_result[x];
    }

    // Cells of psi_re_next near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4;
    if (near_face || i < 4 || i + 1 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(psi_re_next, i + x, j, nx, ny, pitch);

    // Cells of psi_im_next near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4;
    if (near_face_2 || i < 4 || i + 1 >= nx - 4)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face_2 || i + x < 4 || i + x >= nx - 4)
                if (i + x < nx) store_images_k1_re(psi_im_next, i + x, j, nx, ny, pitch);
}
