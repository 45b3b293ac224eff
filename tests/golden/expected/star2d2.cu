// star2d2: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y.

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
// Schedule: direct, blocks of 128x2 threads, 4x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    star2d2_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int pitch) {
    constexpr int kCellsX = 4, kCellsY = 4;
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 4];
#pragma unroll
    for (int y = 0; y < kCellsY + 4; ++y)
        row[y] = static_cast<long long>(min(j + y - 2, ny + 1)) * pitch;

    float u_cells[kCellsY + 4][kCellsX + 4];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(&u_cells[y][2], u + row[y] + i);
#pragma unroll
    for (int y = 2; y < 6; ++y) {
        const float* u_row = u + row[y] + i;
        u_cells[y][1] = u_row[-1];
        u_cells[y][0] = u_row[-2];
        load4(&u_cells[y][2], u_row);
        u_cells[y][6] = u_row[4];
        u_cells[y][7] = u_row[5];
    }
#pragma unroll
    for (int y = 6; y < 8; ++y)
        load4(&u_cells[y][2], u + row[y] + i);

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        float u_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float u_new = fmaf(0.14f, u_cells[y + 2][x + 1], 0.2f * u_cells[y + 2][x + 2]);
            u_new = fmaf(0.15f, u_cells[y + 2][x + 3], u_new);
            u_new = fmaf(0.16f, u_cells[y + 1][x + 2], u_new);
            u_new = fmaf(0.17f, u_cells[y + 3][x + 2], u_new);
            u_new = fmaf(0.03f, u_cells[y + 2][x], u_new);
            u_new = fmaf(0.04f, u_cells[y + 2][x + 4], u_new);
            u_new = fmaf(0.05f, u_cells[y][x + 2], u_new);
            u_new = fmaf(0.06f, u_cells[y + 4][x + 2], u_new);
            u_next_result[x] = u_new;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx)
                store4(u_next + row[y + 2] + i, u_next_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) u_next[row[y + 2] + i + x] = u_next_result[x];
        }
    }
}
