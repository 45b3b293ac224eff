// star3d4: CUDA kernels of a stencil, emitted by Halocline.
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
#ifdef __CUDACC__
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(to)), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3])
                 : "memory");
#else
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
#endif
}

// Reads u, writes u_next.
// Schedule: direct, blocks of 32x4x4 threads, 4x2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    star3d4_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                 long long slice) {
    constexpr int kCellsX = 4;
    constexpr int kCellsY = 2;
    constexpr int kThreadsX = 32;
    constexpr int kThreadsY = 4;
    constexpr int kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 8];
#pragma unroll
    for (int y = 0; y < kCellsY + 8; ++y) {
        row[y] = static_cast<long long>(min(j + y - 4, ny + 3)) * pitch;
    }
    long long plane[9];
#pragma unroll
    for (int z = 0; z < 9; ++z) {
        plane[z] = (k + z - 4) * slice;
    }

    float u_cells[9][kCellsY + 8][kCellsX + 8];
#pragma unroll
    for (int z = 0; z < 4; ++z) {
#pragma unroll
        for (int y = 4; y < 6; ++y) {
            load4(&u_cells[z][y][4], u + plane[z] + row[y] + i);
        }
    }
#pragma unroll
    for (int y = 0; y < 4; ++y) {
        load4(&u_cells[4][y][4], u + plane[4] + row[y] + i);
    }
#pragma unroll
    for (int y = 4; y < 6; ++y) {
        const float* u_row = u + plane[4] + row[y] + i;
        load4(u_cells[4][y], u_row - 4);
        load4(&u_cells[4][y][4], u_row);
        load4(&u_cells[4][y][8], u_row + 4);
    }
#pragma unroll
    for (int y = 6; y < 10; ++y) {
        load4(&u_cells[4][y][4], u + plane[4] + row[y] + i);
    }
#pragma unroll
    for (int z = 5; z < 9; ++z) {
#pragma unroll
        for (int y = 4; y < 6; ++y) {
            load4(&u_cells[z][y][4], u + plane[z] + row[y] + i);
        }
    }

#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        float u_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            float u_new = fmaf(0.061f, u_cells[4][y + 4][x + 3], 0.23f * u_cells[4][y + 4][x + 4]);
            u_new = fmaf(0.063f, u_cells[4][y + 4][x + 5], u_new);
            u_new = fmaf(0.065f, u_cells[4][y + 3][x + 4], u_new);
            u_new = fmaf(0.067f, u_cells[4][y + 5][x + 4], u_new);
            u_new = fmaf(0.069f, u_cells[3][y + 4][x + 4], u_new);
            u_new = fmaf(0.071f, u_cells[5][y + 4][x + 4], u_new);
            u_new = fmaf(0.031f, u_cells[4][y + 4][x + 2], u_new);
            u_new = fmaf(0.033f, u_cells[4][y + 4][x + 6], u_new);
            u_new = fmaf(0.035f, u_cells[4][y + 2][x + 4], u_new);
            u_new = fmaf(0.037f, u_cells[4][y + 6][x + 4], u_new);
            u_new = fmaf(0.039f, u_cells[2][y + 4][x + 4], u_new);
            u_new = fmaf(0.041f, u_cells[6][y + 4][x + 4], u_new);
            u_new = fmaf(0.016f, u_cells[4][y + 4][x + 1], u_new);
            u_new = fmaf(0.017f, u_cells[4][y + 4][x + 7], u_new);
            u_new = fmaf(0.018f, u_cells[4][y + 1][x + 4], u_new);
            u_new = fmaf(0.019f, u_cells[4][y + 7][x + 4], u_new);
            u_new = fmaf(0.021f, u_cells[1][y + 4][x + 4], u_new);
            u_new = fmaf(0.022f, u_cells[7][y + 4][x + 4], u_new);
            u_new = fmaf(0.005f, u_cells[4][y + 4][x], u_new);
            u_new = fmaf(0.006f, u_cells[4][y + 4][x + 8], u_new);
            u_new = fmaf(0.007f, u_cells[4][y][x + 4], u_new);
            u_new = fmaf(0.008f, u_cells[4][y + 8][x + 4], u_new);
            u_new = fmaf(0.009f, u_cells[0][y + 4][x + 4], u_new);
            u_new = fmaf(0.01f, u_cells[8][y + 4][x + 4], u_new);
            u_next_result[x] = u_new;
        }
        if (j + y < ny) {
            if (i + kCellsX <= nx) {
                store4(u_next + plane[4] + row[y + 4] + i, u_next_result);
            } else {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x) {
                    if (i + x < nx) u_next[plane[4] + row[y + 4] + i + x] = u_next_result[x];
                }
            }
        }
    }
}
