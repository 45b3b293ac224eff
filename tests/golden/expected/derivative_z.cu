// derivative_z: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 0 below and 0 above along x, 0 below and 0 above along y, 4 below and 4 above along z.

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

// Reads f, writes df.
// Schedule: direct, blocks of 16x4x4 threads, 2x1x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    derivative_z_step(const float* __restrict__ f, float* __restrict__ df, int nx, int ny, int nz, int pitch,
                      long long slice) {
    constexpr int kCellsX = 2, kCellsZ = 4;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long plane[kCellsZ + 8];
#pragma unroll
    for (int z = 0; z < kCellsZ + 8; ++z)
        plane[z] = min(k + z - 4, nz + 3) * slice;

    float f_cells[kCellsZ + 8][kCellsX];
#pragma unroll
    for (int z = 0; z < 12; ++z)
        load2(f_cells[z], f + plane[z] + static_cast<long long>(j) * pitch + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
        float df_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float df_value = fmaf(-12.6f, f_cells[z + 6][x] - f_cells[z + 2][x],
                                  50.4f * (f_cells[z + 5][x] - f_cells[z + 3][x]));
            df_value = fmaf(2.4f, f_cells[z + 7][x] - f_cells[z + 1][x], df_value);
            df_value = fmaf(-0.225f, f_cells[z + 8][x] - f_cells[z][x], df_value);
            df_result[x] = df_value;
        }
        if (k + z < nz) {
            if (i + kCellsX <= nx)
                store2(df + plane[z + 4] + static_cast<long long>(j) * pitch + i, df_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx)
                        df[plane[z + 4] + static_cast<long long>(j) * pitch + i + x] = df_result[x];
        }
    }
}
