// derivative_y: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 0 below and 0 above along x, 4 below and 4 above along y, 0 below and 0 above along z.

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

// Reads f, writes df.
// Schedule: direct, blocks of 8x16x1 threads, 4x2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    derivative_y_step(const float* __restrict__ f, float* __restrict__ df, int nx, int ny, int nz, int pitch,
                      long long slice, float inv_dy) {
    constexpr int kCellsX = 4, kCellsY = 2;
    constexpr int kThreadsX = 8, kThreadsY = 16;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 8];
#pragma unroll
    for (int y = 0; y < kCellsY + 8; ++y)
        row[y] = static_cast<long long>(min(j + y - 4, ny + 3)) * pitch;

    float f_cells[kCellsY + 8][kCellsX];
#pragma unroll
    for (int y = 0; y < 10; ++y)
        load4(f_cells[y], f + k * slice + row[y] + i);

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        float df_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float sum = fmaf(-0.2f, f_cells[y + 6][x] - f_cells[y + 2][x],
                             0.8f * (f_cells[y + 5][x] - f_cells[y + 3][x]));
            sum = fmaf(0.03809524f, f_cells[y + 7][x] - f_cells[y + 1][x], sum);
            sum = fmaf(-0.0035714286f, f_cells[y + 8][x] - f_cells[y][x], sum);
            df_result[x] = inv_dy * sum;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx)
                store4(df + k * slice + row[y + 4] + i, df_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) df[k * slice + row[y + 4] + i + x] = df_result[x];
        }
    }
}
