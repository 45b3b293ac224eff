// maxwell2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

__device__ __forceinline__ void store4(float* to, const float* from) {
    __stwb(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
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

// Stores a cell once more wherever the halo shows it: y clamp.
__device__ inline void store_images_hx(float* u, int i, int j, int nx, int ny, int pitch) {
    if (j >= 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = j == 0 ? -1 : j; y < j + 1; ++y)
        u[static_cast<long long>(y) * pitch + i] = value;
}

// Stores a cell once more wherever the halo shows it: x clamp.
__device__ inline void store_images_hy(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int x = i == 0 ? -1 : i; x < i + 1; ++x)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Reads hx, ez, hy, writes hx_next, hy_next.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 20 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    maxwell2d_hx(const float* __restrict__ hx, const float* __restrict__ ez, const float* __restrict__ hy,
                 float* __restrict__ hx_next, float* __restrict__ hy_next, int nx, int ny, int pitch,
                 float minus_dt, float dt) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[2];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        row[y] = static_cast<long long>(j + y) * pitch;

    float hx_cells[kCellsX];
    load4(hx_cells, hx + row[0] + i);
    float ez_cells[2][kCellsX + 1];
    const float* ez_row = ez + row[0] + i;
    load4(ez_cells[0], ez_row);
    ez_cells[0][4] = ez_row[4];
    load4(ez_cells[1], ez + row[1] + i);
    float hy_cells[kCellsX];
    load4(hy_cells, hy + row[0] + i);

    float hx_next_result[kCellsX];
    float hy_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float hx_new = fmaf(minus_dt, ez_cells[1][x] - ez_cells[0][x], hx_cells[x]);
        const float hy_new = fmaf(dt, ez_cells[0][x + 1] - ez_cells[0][x], hy_cells[x]);
        hx_next_result[x] = hx_new;
        hy_next_result[x] = hy_new;
    }
    if (i + kCellsX <= nx) {
        store4(hx_next + row[0] + i, hx_next_result);
        store4(hy_next + row[0] + i, hy_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) hx_next[row[0] + i + x] = hx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) hy_next[row[0] + i + x] = hy_next_result[x];
    }

    // Cells of hx_next near a face are shown by halo cells, too.
    if (j < 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (i + x < nx) store_images_hx(hx_next, i + x, j, nx, ny, pitch);

    // Cells of hy_next near a face are shown by halo cells, too.
    if (i < 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (i + x < 1)
                if (i + x < nx) store_images_hy(hy_next, i + x, j, nx, ny, pitch);
}

// Reads ez, hy_next, hx_next, writes ez_next, reduces to brightest.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    maxwell2d_ez(const float* __restrict__ ez, const float* __restrict__ hy_next,
                 const float* __restrict__ hx_next, float* __restrict__ ez_next, int nx, int ny, int pitch,
                 float dt, float scale, float scale_2, double* __restrict__ brightest_partials) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double brightest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[2];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        float ez_cells[kCellsX];
        load4(ez_cells, ez + row[1] + i);
        float hy_next_cells[kCellsX + 1];
        const float* hy_next_row = hy_next + row[1] + i;
        hy_next_cells[0] = hy_next_row[-1];
        load4(&hy_next_cells[1], hy_next_row);
        float hx_next_cells[2][kCellsX];
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load4(hx_next_cells[y], hx_next + row[y] + i);

        float ez_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float ez_new = fmaf(dt,
                                      fmaf(scale_2, hx_next_cells[1][x] - hx_next_cells[0][x],
                                           scale * (hy_next_cells[x + 1] - hy_next_cells[x])),
                                      ez_cells[x]);
            ez_next_result[x] = ez_new;
            if (i + x < nx)
                brightest_of_thread = keep_max(brightest_of_thread, static_cast<double>(fabsf(ez_new)));
        }
        if (i + kCellsX <= nx)
            store4(ez_next + row[1] + i, ez_next_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) ez_next[row[1] + i + x] = ez_next_result[x];
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double brightest_of_block = block_max(brightest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        brightest_partials[blockIdx.x + gridDim.x * blockIdx.y] = brightest_of_block;
}

// In place of maxwell2d_ez in steps whose results nobody reads; leaves out brightest.
// Reads ez, hy_next, hx_next, writes ez_next.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    maxwell2d_ez_states(const float* __restrict__ ez, const float* __restrict__ hy_next,
                        const float* __restrict__ hx_next, float* __restrict__ ez_next, int nx, int ny,
                        int pitch, float dt, float scale, float scale_2) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[2];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;

    float ez_cells[kCellsX];
    load4(ez_cells, ez + row[1] + i);
    float hy_next_cells[kCellsX + 1];
    const float* hy_next_row = hy_next + row[1] + i;
    hy_next_cells[0] = hy_next_row[-1];
    load4(&hy_next_cells[1], hy_next_row);
    float hx_next_cells[2][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(hx_next_cells[y], hx_next + row[y] + i);

    float ez_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        ez_next_result[x] = fmaf(dt,
                                 fmaf(scale_2, hx_next_cells[1][x] - hx_next_cells[0][x],
                                      scale * (hy_next_cells[x + 1] - hy_next_cells[x])),
                                 ez_cells[x]);
    if (i + kCellsX <= nx)
        store4(ez_next + row[1] + i, ez_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) ez_next[row[1] + i + x] = ez_next_result[x];
}
