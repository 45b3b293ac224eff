// liouville: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y, 2 below and 2 above along u, 2 below and
// 2 above along v.

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

// Reads f, f_prev, writes f_next, reduces to particles.
// Schedule: direct, blocks of 16x4x2x1 threads, 4x1x2x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    liouville_step(const float* __restrict__ f, const float* __restrict__ f_prev, float* __restrict__ f_next,
                   int nx, int ny, int nu, int pitch, long long slice, long long volume, float minus_dt,
                   double* __restrict__ particles_partials) {
    constexpr int kCellsX = 4, kCellsZ = 2;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int plane_blocks = (nu + 3) / 4;
    const int k = (blockIdx.z % plane_blocks * kThreadsZ + threadIdx.z) * kCellsZ;
    const int l = blockIdx.z / plane_blocks;

    double particles_of_thread = 0.0;
    if (i < nx && j < ny && k < nu) {
        // Where the rows of this thread's window start.
        long long row[5];
#pragma unroll
        for (int y = 0; y < 5; ++y)
            row[y] = static_cast<long long>(j + y - 2) * pitch;
        long long plane[kCellsZ + 4];
#pragma unroll
        for (int z = 0; z < kCellsZ + 4; ++z)
            plane[z] = min(k + z - 2, nu + 1) * slice;

        float f_cells[5][kCellsZ + 4][5][kCellsX + 4];
#pragma unroll
        for (int z = 2; z < 4; ++z)
            load4(&f_cells[0][z][2][2], f + (l - 2) * volume + plane[z] + row[2] + i);
#pragma unroll
        for (int z = 2; z < 4; ++z)
            load4(&f_cells[1][z][2][2], f + (l - 1) * volume + plane[z] + row[2] + i);
#pragma unroll
        for (int z = 0; z < 2; ++z)
            load4(&f_cells[2][z][2][2], f + l * volume + plane[z] + row[2] + i);
#pragma unroll
        for (int z = 2; z < 4; ++z)
#pragma unroll
            for (int y = 0; y < 2; ++y)
                load4(&f_cells[2][z][y][2], f + l * volume + plane[z] + row[y] + i);
#pragma unroll
        for (int z = 2; z < 4; ++z) {
            const float* f_row = f + l * volume + plane[z] + row[2] + i;
            f_cells[2][z][2][1] = f_row[-1];
            f_cells[2][z][2][0] = f_row[-2];
            load4(&f_cells[2][z][2][2], f_row);
            f_cells[2][z][2][6] = f_row[4];
            f_cells[2][z][2][7] = f_row[5];
        }
#pragma unroll
        for (int z = 2; z < 4; ++z)
#pragma unroll
            for (int y = 3; y < 5; ++y)
                load4(&f_cells[2][z][y][2], f + l * volume + plane[z] + row[y] + i);
#pragma unroll
        for (int z = 4; z < 6; ++z)
            load4(&f_cells[2][z][2][2], f + l * volume + plane[z] + row[2] + i);
#pragma unroll
        for (int z = 2; z < 4; ++z)
            load4(&f_cells[3][z][2][2], f + (l + 1) * volume + plane[z] + row[2] + i);
#pragma unroll
        for (int z = 2; z < 4; ++z)
            load4(&f_cells[4][z][2][2], f + (l + 2) * volume + plane[z] + row[2] + i);
        float f_prev_cells[kCellsZ][kCellsX];
#pragma unroll
        for (int z = 0; z < 2; ++z)
            load4(f_prev_cells[z], f_prev + l * volume + plane[z + 2] + row[2] + i);

#pragma unroll
        for (int z = 0; z < kCellsZ; ++z) {
            float f_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                float change_value = fmaf(static_cast<float>(l) * 0.25f + -4.0f,
                                          fmaf(-0.33333334f,
                                               f_cells[2][z + 2][4][x + 2] - f_cells[2][z + 2][0][x + 2],
                                               2.6666667f * (f_cells[2][z + 2][3][x + 2] -
                                                             f_cells[2][z + 2][1][x + 2])),
                                          (static_cast<float>(k + z) * 0.25f + -4.0f) * fmaf(-0.33333334f,
                                                                                             f_cells[2][z +
                                                                                                        2][2][x +
                                                                                                              4] -
                                                                                             f_cells[2][z +
                                                                                                        2][2][x],
                                                                                             2.6666667f * (f_cells[2][z +
                                                                                                                      2][2][x +
                                                                                                                            3] -
                                                                                                           f_cells[2][z +
                                                                                                                      2][2][x +
                                                                                                                            1])));
                change_value = fmaf(-(static_cast<float>(i + x) * 0.25f + -4.0f),
                                    fmaf(-0.33333334f, f_cells[2][z + 4][2][x + 2] - f_cells[2][z][2][x + 2],
                                         2.6666667f * (f_cells[2][z + 3][2][x + 2] -
                                                       f_cells[2][z + 1][2][x + 2])),
                                    change_value);
                change_value = fmaf(-(static_cast<float>(j) * 0.25f + -4.0f),
                                    fmaf(-0.33333334f,
                                         f_cells[4][z + 2][2][x + 2] - f_cells[0][z + 2][2][x + 2],
                                         2.6666667f * (f_cells[3][z + 2][2][x + 2] -
                                                       f_cells[1][z + 2][2][x + 2])),
                                    change_value);
                const float f_new = fmaf(minus_dt, change_value, f_prev_cells[z][x]);
                f_next_result[x] = f_new;
                if (i + x < nx && k + z < nu) particles_of_thread += static_cast<double>(f_new);
            }
            if (k + z < nu) {
                if (i + kCellsX <= nx)
                    store4(f_next + l * volume + plane[z + 2] + row[2] + i, f_next_result);
                else
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        if (i + x < nx) f_next[l * volume + plane[z + 2] + row[2] + i + x] = f_next_result[x];
            }
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double particles_of_block = block_sum(particles_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        particles_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] =
            particles_of_block;
}

// In place of liouville_step in steps whose results nobody reads; leaves out particles.
// Reads f, f_prev, writes f_next.
// Schedule: direct, blocks of 16x4x2x1 threads, 4x1x2x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    liouville_step_states(const float* __restrict__ f, const float* __restrict__ f_prev,
                          float* __restrict__ f_next, int nx, int ny, int nu, int pitch, long long slice,
                          long long volume, float minus_dt) {
    constexpr int kCellsX = 4, kCellsZ = 2;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int plane_blocks = (nu + 3) / 4;
    const int k = (blockIdx.z % plane_blocks * kThreadsZ + threadIdx.z) * kCellsZ;
    const int l = blockIdx.z / plane_blocks;
    if (i >= nx || j >= ny || k >= nu) return;

    // Where the rows of this thread's window start.
    long long row[5];
#pragma unroll
    for (int y = 0; y < 5; ++y)
        row[y] = static_cast<long long>(j + y - 2) * pitch;
    long long plane[kCellsZ + 4];
#pragma unroll
    for (int z = 0; z < kCellsZ + 4; ++z)
        plane[z] = min(k + z - 2, nu + 1) * slice;

    float f_cells[5][kCellsZ + 4][5][kCellsX + 4];
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&f_cells[0][z][2][2], f + (l - 2) * volume + plane[z] + row[2] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&f_cells[1][z][2][2], f + (l - 1) * volume + plane[z] + row[2] + i);
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(&f_cells[2][z][2][2], f + l * volume + plane[z] + row[2] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load4(&f_cells[2][z][y][2], f + l * volume + plane[z] + row[y] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z) {
        const float* f_row = f + l * volume + plane[z] + row[2] + i;
        f_cells[2][z][2][1] = f_row[-1];
        f_cells[2][z][2][0] = f_row[-2];
        load4(&f_cells[2][z][2][2], f_row);
        f_cells[2][z][2][6] = f_row[4];
        f_cells[2][z][2][7] = f_row[5];
    }
#pragma unroll
    for (int z = 2; z < 4; ++z)
#pragma unroll
        for (int y = 3; y < 5; ++y)
            load4(&f_cells[2][z][y][2], f + l * volume + plane[z] + row[y] + i);
#pragma unroll
    for (int z = 4; z < 6; ++z)
        load4(&f_cells[2][z][2][2], f + l * volume + plane[z] + row[2] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&f_cells[3][z][2][2], f + (l + 1) * volume + plane[z] + row[2] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&f_cells[4][z][2][2], f + (l + 2) * volume + plane[z] + row[2] + i);
    float f_prev_cells[kCellsZ][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(f_prev_cells[z], f_prev + l * volume + plane[z + 2] + row[2] + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
        float f_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float change_value = fmaf(static_cast<float>(l) * 0.25f + -4.0f,
                                      fmaf(-0.33333334f,
                                           f_cells[2][z + 2][4][x + 2] - f_cells[2][z + 2][0][x + 2],
                                           2.6666667f * (f_cells[2][z + 2][3][x + 2] -
                                                         f_cells[2][z + 2][1][x + 2])),
                                      (static_cast<float>(k + z) * 0.25f + -4.0f) * fmaf(-0.33333334f,
                                                                                         f_cells[2][z +
                                                                                                    2][2][x +
                                                                                                          4] -
                                                                                         f_cells[2][z +
                                                                                                    2][2][x],
                                                                                         2.6666667f * (f_cells[2][z +
                                                                                                                  2][2][x +
                                                                                                                        3] -
                                                                                                       f_cells[2][z +
                                                                                                                  2][2][x +
                                                                                                                        1])));
            change_value = fmaf(-(static_cast<float>(i + x) * 0.25f + -4.0f),
                                fmaf(-0.33333334f, f_cells[2][z + 4][2][x + 2] - f_cells[2][z][2][x + 2],
                                     2.6666667f * (f_cells[2][z + 3][2][x + 2] -
                                                   f_cells[2][z + 1][2][x + 2])),
                                change_value);
            change_value = fmaf(-(static_cast<float>(j) * 0.25f + -4.0f),
                                fmaf(-0.33333334f, f_cells[4][z + 2][2][x + 2] - f_cells[0][z + 2][2][x + 2],
                                     2.6666667f * (f_cells[3][z + 2][2][x + 2] -
                                                   f_cells[1][z + 2][2][x + 2])),
                                change_value);
            f_next_result[x] = fmaf(minus_dt, change_value, f_prev_cells[z][x]);
        }
        if (k + z < nu) {
            if (i + kCellsX <= nx)
                store4(f_next + l * volume + plane[z + 2] + row[2] + i, f_next_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) f_next[l * volume + plane[z + 2] + row[2] + i + x] = f_next_result[x];
        }
    }
}
