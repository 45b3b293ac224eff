// box3d1_symmetric: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(float* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
#ifdef __CUDACC__
    asm volatile("st.global.v2.f32 [%0], {%1, %2};"
                 :
                 : "l"(__cvta_generic_to_global(to)), "f"(from[0]), "f"(from[1])
                 : "memory");
#else
    *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
#endif
}

// Reads u, writes u_next.
// Schedule: direct, blocks of 32x4x1 threads, 2x2x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    box3d1_symmetric_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                          int pitch, long long slice) {
    constexpr int kCellsX = 2;
    constexpr int kCellsY = 2;
    constexpr int kCellsZ = 4;
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y) {
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    }
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z) {
        plane[z] = min(k + z - 1, nz) * slice;
    }

    float u_cells[kCellsZ + 2][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int z = 0; z < 6; ++z) {
#pragma unroll
        for (int y = 0; y < 4; ++y) {
            const float* u_row = u + plane[z] + row[y] + i;
            u_cells[z][y][0] = u_row[-1];
            load2(&u_cells[z][y][1], u_row);
            u_cells[z][y][3] = u_row[2];
        }
    }

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                const float sum_zm1 = fmaf(0.06f, u_cells[z][y + 1][x + 1],
                                           fmaf(0.026f,
                                                u_cells[z][y][x + 1] +
                                                (u_cells[z][y + 1][x] + u_cells[z][y + 1][x + 2]) +
                                                u_cells[z][y + 2][x + 1],
                                                0.015f * (u_cells[z][y][x] + u_cells[z][y][x + 2] +
                                                          (u_cells[z][y + 2][x] +
                                                           u_cells[z][y + 2][x + 2]))));
                float sum = fmaf(0.026f,
                                 u_cells[z + 1][y][x] + u_cells[z + 1][y][x + 2] +
                                 (u_cells[z + 1][y + 2][x] + u_cells[z + 1][y + 2][x + 2]), sum_zm1);
                sum = fmaf(0.06f,
                           u_cells[z + 1][y][x + 1] +
                           (u_cells[z + 1][y + 1][x] + u_cells[z + 1][y + 1][x + 2]) +
                           u_cells[z + 1][y + 2][x + 1], sum);
                sum = fmaf(0.208f, u_cells[z + 1][y + 1][x + 1], sum);
                const float sum_zp1 = fmaf(0.06f, u_cells[z + 2][y + 1][x + 1],
                                           fmaf(0.026f,
                                                u_cells[z + 2][y][x + 1] +
                                                (u_cells[z + 2][y + 1][x] + u_cells[z + 2][y + 1][x + 2]) +
                                                u_cells[z + 2][y + 2][x + 1],
                                                0.015f * (u_cells[z + 2][y][x] + u_cells[z + 2][y][x + 2] +
                                                          (u_cells[z + 2][y + 2][x] +
                                                           u_cells[z + 2][y + 2][x + 2]))));
                const float u_new = sum + sum_zp1;
                u_next_result[x] = u_new;
            }
            if (j + y < ny && k + z < nz) {
                if (i + kCellsX <= nx) {
                    store2(u_next + plane[z + 1] + row[y + 1] + i, u_next_result);
                } else {
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x) {
                        if (i + x < nx) u_next[plane[z + 1] + row[y + 1] + i + x] = u_next_result[x];
                    }
                }
            }
        }
    }
}
