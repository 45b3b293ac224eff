// heat3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.

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
// Schedule: direct, blocks of 32x4x4 threads, 4x2x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    constexpr int kCellsX = 4, kCellsY = 2, kCellsZ = 4;
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z)
        plane[z] = min(k + z - 1, nz) * slice;

    float u_cells[kCellsZ + 2][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(&u_cells[0][y][1], u + plane[0] + row[y] + i);
#pragma unroll
    for (int z = 1; z < 5; ++z)
        load4(&u_cells[z][0][1], u + plane[z] + row[0] + i);
#pragma unroll
    for (int z = 1; z < 5; ++z)
#pragma unroll
        for (int y = 1; y < 3; ++y) {
            const float* u_row = u + plane[z] + row[y] + i;
            u_cells[z][y][0] = u_row[-1];
            load4(&u_cells[z][y][1], u_row);
            u_cells[z][y][5] = u_row[4];
        }
#pragma unroll
    for (int z = 1; z < 5; ++z)
        load4(&u_cells[z][3][1], u + plane[z] + row[3] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(&u_cells[5][y][1], u + plane[5] + row[y] + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z)
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_next_result[x] = fmaf(lambda_dt,
                                        fmaf(-6.0f, u_cells[z + 1][y + 1][x + 1],
                                             u_cells[z + 1][y + 1][x] + u_cells[z + 1][y + 1][x + 2] +
                                             u_cells[z + 1][y][x + 1] + u_cells[z + 1][y + 2][x + 1] +
                                             u_cells[z][y + 1][x + 1] + u_cells[z + 2][y + 1][x + 1]),
                                        u_cells[z + 1][y + 1][x + 1]);
            if (j + y < ny && k + z < nz) {
                if (i + kCellsX <= nx)
                    store4(u_next + plane[z + 1] + row[y + 1] + i, u_next_result);
                else
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        if (i + x < nx) u_next[plane[z + 1] + row[y + 1] + i + x] = u_next_result[x];
            }
        }
}
