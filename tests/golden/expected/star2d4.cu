// star2d4: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y.

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

// Reads u, writes u_next.
// Schedule: direct, blocks of 64x4 threads, 4x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    star2d4_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int pitch) {
    constexpr int kCellsX = 4, kCellsY = 4;
    constexpr int kThreadsX = 64, kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 8];
#pragma unroll
    for (int y = 0; y < kCellsY + 8; ++y)
        row[y] = static_cast<long long>(min(j + y - 4, ny + 3)) * pitch;

    float u_cells[kCellsY + 8][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&u_cells[y][4], u + row[y] + i);
#pragma unroll
    for (int y = 4; y < 8; ++y) {
        const float* u_row = u + row[y] + i;
        load4(u_cells[y], u_row - 4);
        load4(&u_cells[y][4], u_row);
        load4(&u_cells[y][8], u_row + 4);
    }
#pragma unroll
    for (int y = 8; y < 12; ++y)
        load4(&u_cells[y][4], u + row[y] + i);

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        float u_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float u_new = fmaf(0.091f, u_cells[y + 4][x + 3], 0.193f * u_cells[y + 4][x + 4]);
            u_new = fmaf(0.094f, u_cells[y + 4][x + 5], u_new);
            u_new = fmaf(0.097f, u_cells[y + 3][x + 4], u_new);
            u_new = fmaf(0.099f, u_cells[y + 5][x + 4], u_new);
            u_new = fmaf(0.052f, u_cells[y + 4][x + 2], u_new);
            u_new = fmaf(0.055f, u_cells[y + 4][x + 6], u_new);
            u_new = fmaf(0.057f, u_cells[y + 2][x + 4], u_new);
            u_new = fmaf(0.059f, u_cells[y + 6][x + 4], u_new);
            u_new = fmaf(0.031f, u_cells[y + 4][x + 1], u_new);
            u_new = fmaf(0.033f, u_cells[y + 4][x + 7], u_new);
            u_new = fmaf(0.035f, u_cells[y + 1][x + 4], u_new);
            u_new = fmaf(0.037f, u_cells[y + 7][x + 4], u_new);
            u_new = fmaf(0.014f, u_cells[y + 4][x], u_new);
            u_new = fmaf(0.016f, u_cells[y + 4][x + 8], u_new);
            u_new = fmaf(0.018f, u_cells[y][x + 4], u_new);
            u_new = fmaf(0.019f, u_cells[y + 8][x + 4], u_new);
            u_next_result[x] = u_new;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx)
                store4(u_next + row[y + 4] + i, u_next_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) u_next[row[y + 4] + i + x] = u_next_result[x];
        }
    }
}
