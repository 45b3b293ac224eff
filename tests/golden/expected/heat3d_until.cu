// heat3d_until: CUDA kernels of a stencil, emitted by Halocline.
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

// Reads u, writes u_next, reduces to change.
// Schedule: direct, blocks of 16x4x4 threads, 4x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    heat3d_until_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                      int pitch, long long slice, float lambda_dt, double* __restrict__ change_partials) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny && k < nz) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;
        long long plane[3];
#pragma unroll
        for (int z = 0; z < 3; ++z)
            plane[z] = (k + z - 1) * slice;

        float u_cells[3][3][kCellsX + 2];
        load4(&u_cells[0][1][1], u + plane[0] + row[1] + i);
        load4(&u_cells[1][0][1], u + plane[1] + row[0] + i);
        const float* u_row = u + plane[1] + row[1] + i;
        u_cells[1][1][0] = u_row[-1];
        load4(&u_cells[1][1][1], u_row);
        u_cells[1][1][5] = u_row[4];
        load4(&u_cells[1][2][1], u + plane[1] + row[2] + i);
        load4(&u_cells[2][1][1], u + plane[2] + row[1] + i);

        float u_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float u_new = fmaf(lambda_dt,
                                     fmaf(-6.0f, u_cells[1][1][x + 1],
                                          u_cells[1][1][x] + u_cells[1][1][x + 2] + u_cells[1][0][x + 1] +
                                          u_cells[1][2][x + 1] + u_cells[0][1][x + 1] + u_cells[2][1][x + 1]),
                                     u_cells[1][1][x + 1]);
            u_next_result[x] = u_new;
            if (i + x < nx)
                change_of_thread =
                    keep_max(change_of_thread, static_cast<double>(fabsf(u_new - u_cells[1][1][x + 1])));
        }
        if (i + kCellsX <= nx)
            store4(u_next + plane[1] + row[1] + i, u_next_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) u_next[plane[1] + row[1] + i + x] = u_next_result[x];
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double change_of_block = block_max(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        change_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = change_of_block;
}

// In place of heat3d_until_step in steps whose results nobody reads; leaves out change.
// Reads u, writes u_next.
// Schedule: direct, blocks of 16x4x4 threads, 4x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    heat3d_until_step_states(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                             int pitch, long long slice, float lambda_dt) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;
    long long plane[3];
#pragma unroll
    for (int z = 0; z < 3; ++z)
        plane[z] = (k + z - 1) * slice;

    float u_cells[3][3][kCellsX + 2];
    load4(&u_cells[0][1][1], u + plane[0] + row[1] + i);
    load4(&u_cells[1][0][1], u + plane[1] + row[0] + i);
    const float* u_row = u + plane[1] + row[1] + i;
    u_cells[1][1][0] = u_row[-1];
    load4(&u_cells[1][1][1], u_row);
    u_cells[1][1][5] = u_row[4];
    load4(&u_cells[1][2][1], u + plane[1] + row[2] + i);
    load4(&u_cells[2][1][1], u + plane[2] + row[1] + i);

    float u_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        u_next_result[x] = fmaf(lambda_dt,
                                fmaf(-6.0f, u_cells[1][1][x + 1],
                                     u_cells[1][1][x] + u_cells[1][1][x + 2] + u_cells[1][0][x + 1] +
                                     u_cells[1][2][x + 1] + u_cells[0][1][x + 1] + u_cells[2][1][x + 1]),
                                u_cells[1][1][x + 1]);
    if (i + kCellsX <= nx)
        store4(u_next + plane[1] + row[1] + i, u_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_next[plane[1] + row[1] + i + x] = u_next_result[x];
}
