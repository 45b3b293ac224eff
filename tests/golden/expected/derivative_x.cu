// derivative_x: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 0 below and 0 above along y, 0 below and 0 above along z.

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
// Schedule: direct, blocks of 16x8x1 threads, 4x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 9)
    derivative_x_step(const float* __restrict__ f, float* __restrict__ df, int nx, int ny, int nz, int pitch,
                      long long slice, float inv_dx) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 16, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    float f_cells[kCellsX + 8];
    const float* f_row = f + k * slice + static_cast<long long>(j) * pitch + i;
    load4(f_cells, f_row - 4);
    load4(&f_cells[4], f_row);
    load4(&f_cells[8], f_row + 4);

    float df_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        float sum = fmaf(-0.2f, f_cells[x + 6] - f_cells[x + 2], 0.8f * (f_cells[x + 5] - f_cells[x + 3]));
        sum = fmaf(0.03809524f, f_cells[x + 7] - f_cells[x + 1], sum);
        sum = fmaf(-0.0035714286f, f_cells[x + 8] - f_cells[x], sum);
        df_result[x] = inv_dx * sum;
    }
    if (i + kCellsX <= nx)
        store4(df + k * slice + static_cast<long long>(j) * pitch + i, df_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) df[k * slice + static_cast<long long>(j) * pitch + i + x] = df_result[x];
}
