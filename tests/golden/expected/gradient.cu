// gradient: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y, 4 below and 4 above along z.

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

// Reads f, writes fx, fy, fz, reduces to steepest.
// Schedule: direct, blocks of 8x8x4 threads, 4x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    gradient_step(const float* __restrict__ f, float* __restrict__ fx, float* __restrict__ fy,
                  float* __restrict__ fz, int nx, int ny, int nz, int pitch, long long slice,
                  double* __restrict__ steepest_partials) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    double steepest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny && k < nz) {
        // Where the rows of this thread's window start.
        long long row[9];
#pragma unroll
        for (int y = 0; y < 9; ++y)
            row[y] = static_cast<long long>(j + y - 4) * pitch;
        long long plane[9];
#pragma unroll
        for (int z = 0; z < 9; ++z)
            plane[z] = (k + z - 4) * slice;

        float f_cells[9][9][kCellsX + 8];
#pragma unroll
        for (int z = 0; z < 4; ++z)
            load4(&f_cells[z][4][4], f + plane[z] + row[4] + i);
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(&f_cells[4][y][4], f + plane[4] + row[y] + i);
        const float* f_row = f + plane[4] + row[4] + i;
        load4(f_cells[4][4], f_row - 4);
        load4(&f_cells[4][4][4], f_row);
        load4(&f_cells[4][4][8], f_row + 4);
#pragma unroll
        for (int y = 5; y < 9; ++y)
            load4(&f_cells[4][y][4], f + plane[4] + row[y] + i);
#pragma unroll
        for (int z = 5; z < 9; ++z)
            load4(&f_cells[z][4][4], f + plane[z] + row[4] + i);

        float fx_result[kCellsX];
        float fy_result[kCellsX];
        float fz_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float fx_value = fmaf(-12.6f, f_cells[4][4][x + 6] - f_cells[4][4][x + 2],
                                  50.4f * (f_cells[4][4][x + 5] - f_cells[4][4][x + 3]));
            fx_value = fmaf(2.4f, f_cells[4][4][x + 7] - f_cells[4][4][x + 1], fx_value);
            fx_value = fmaf(-0.225f, f_cells[4][4][x + 8] - f_cells[4][4][x], fx_value);
            float fy_value = fmaf(-12.6f, f_cells[4][6][x + 4] - f_cells[4][2][x + 4],
                                  50.4f * (f_cells[4][5][x + 4] - f_cells[4][3][x + 4]));
            fy_value = fmaf(2.4f, f_cells[4][7][x + 4] - f_cells[4][1][x + 4], fy_value);
            fy_value = fmaf(-0.225f, f_cells[4][8][x + 4] - f_cells[4][0][x + 4], fy_value);
            float fz_value = fmaf(-12.6f, f_cells[6][4][x + 4] - f_cells[2][4][x + 4],
                                  50.4f * (f_cells[5][4][x + 4] - f_cells[3][4][x + 4]));
            fz_value = fmaf(2.4f, f_cells[7][4][x + 4] - f_cells[1][4][x + 4], fz_value);
            fz_value = fmaf(-0.225f, f_cells[8][4][x + 4] - f_cells[0][4][x + 4], fz_value);
            fx_result[x] = fx_value;
            fy_result[x] = fy_value;
            fz_result[x] = fz_value;
            if (i + x < nx)
                steepest_of_thread = keep_max(steepest_of_thread,
                                              static_cast<double>(fmaf(fz_value, fz_value,
                                                                       fmaf(fy_value, fy_value,
                                                                            fx_value * fx_value))));
        }
        if (i + kCellsX <= nx) {
            store4(fx + plane[4] + row[4] + i, fx_result);
            store4(fy + plane[4] + row[4] + i, fy_result);
            store4(fz + plane[4] + row[4] + i, fz_result);
        } else {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) fx[plane[4] + row[4] + i + x] = fx_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) fy[plane[4] + row[4] + i + x] = fy_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) fz[plane[4] + row[4] + i + x] = fz_result[x];
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double steepest_of_block = block_max(steepest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        steepest_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = steepest_of_block;
}
