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
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

// Reads u, writes u_next.
// Schedule: streaming along the slowest axis, blocks of 64x4x1 threads, 4x2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    star3d4_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                 long long slice) {
    constexpr int kCellsX = 4;
    constexpr int kCellsY = 2;
    constexpr int kThreadsX = 64;
    constexpr int kThreadsY = 4;

    const int tile_i = blockIdx.x * kThreadsX * kCellsX;
    const int i = tile_i + threadIdx.x * kCellsX;
    const int tile_j = blockIdx.y * kThreadsY * kCellsY;
    const int j = tile_j + threadIdx.y * kCellsY;
    alignas(16) __shared__ float u_ring[2][16][264];

    // Where this thread's cells lie in a plane; past the halo, its last cells again.
    const int column = min(i, (nx + 3) / kCellsX * kCellsX);
    long long row[kCellsY];
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        row[y] = static_cast<long long>(min(j + y, ny + 3)) * pitch;
    }
    float u_queue[9][kCellsY][kCellsX];
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[0][y], u + -4 * slice + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[1][y], u + -3 * slice + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[2][y], u + -2 * slice + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[3][y], u + -1 * slice + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[4][y], u + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[5][y], u + slice + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[6][y], u + 2 * slice + row[y] + column);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
        load4(u_queue[7][y], u + 3 * slice + row[y] + column);
    }

    for (int k = 0; k < nz; ++k) {
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            load4(u_queue[8][y], u + (k + 4) * slice + row[y] + column);
        }
        // A plane of u for the neighbours, with its halo.
        {
            const int slot = k % 2;
#pragma unroll
            for (int y = 0; y < 2; ++y) {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x) {
                    u_ring[slot][j - tile_j + y + 4][i - tile_i + x + 4] = u_queue[4][y][x];
                }
            }
            for (int y = threadIdx.y; y < 8; y += kThreadsY) {
                const int halo_row = y < 4 ? y : y + 8;
                for (int x = threadIdx.x; x < 264; x += kThreadsX) {
                    if (tile_i + x - 4 < nx + 7 && tile_j + halo_row - 4 < ny + 4) {
                        u_ring[slot][halo_row][x] =
                            u[k * slice + static_cast<long long>(tile_j + halo_row - 4) * pitch + tile_i + x -
                              4];
                    }
                }
            }
            for (int y = threadIdx.y; y < 8; y += kThreadsY) {
                for (int x = threadIdx.x; x < 8; x += kThreadsX) {
                    const int halo_column = x < 4 ? x : x + 256;
                    if (tile_i + halo_column - 4 < nx + 7 && tile_j + y < ny + 4) {
                        u_ring[slot][y + 4][halo_column] =
                            u[k * slice + static_cast<long long>(tile_j + y) * pitch + tile_i + halo_column -
                              4];
                    }
                }
            }
        }
        __syncthreads();

        if (i < nx && j < ny) {
#pragma unroll
            for (int y = 0; y < 2; ++y) {
                if (j + y < ny) {
                    float u_next_result[kCellsX];
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x) {
                        float u_new = fmaf(0.061f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 3],
                                           0.23f * u_queue[4][y][x]);
                        u_new = fmaf(0.063f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 5], u_new);
                        u_new = fmaf(0.065f, u_ring[k % 2][j - tile_j + y + 3][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.067f, u_ring[k % 2][j - tile_j + y + 5][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.069f, u_queue[3][y][x], u_new);
                        u_new = fmaf(0.071f, u_queue[5][y][x], u_new);
                        u_new = fmaf(0.031f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 2], u_new);
                        u_new = fmaf(0.033f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 6], u_new);
                        u_new = fmaf(0.035f, u_ring[k % 2][j - tile_j + y + 2][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.037f, u_ring[k % 2][j - tile_j + y + 6][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.039f, u_queue[2][y][x], u_new);
                        u_new = fmaf(0.041f, u_queue[6][y][x], u_new);
                        u_new = fmaf(0.016f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 1], u_new);
                        u_new = fmaf(0.017f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 7], u_new);
                        u_new = fmaf(0.018f, u_ring[k % 2][j - tile_j + y + 1][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.019f, u_ring[k % 2][j - tile_j + y + 7][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.021f, u_queue[1][y][x], u_new);
                        u_new = fmaf(0.022f, u_queue[7][y][x], u_new);
                        u_new = fmaf(0.005f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x], u_new);
                        u_new = fmaf(0.006f, u_ring[k % 2][j - tile_j + y + 4][i - tile_i + x + 8], u_new);
                        u_new = fmaf(0.007f, u_ring[k % 2][j - tile_j + y][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.008f, u_ring[k % 2][j - tile_j + y + 8][i - tile_i + x + 4], u_new);
                        u_new = fmaf(0.009f, u_queue[0][y][x], u_new);
                        u_new = fmaf(0.01f, u_queue[8][y][x], u_new);
                        u_next_result[x] = u_new;
                    }
                    if (i + kCellsX <= nx) {
                        store4(u_next + k * slice + row[y] + column, u_next_result);
                    } else {
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x) {
                            if (i + x < nx) u_next[k * slice + row[y] + column + x] = u_next_result[x];
                        }
                    }
                }
            }
        }
#pragma unroll
        for (int slot = 0; slot < 8; ++slot) {
#pragma unroll
            for (int y = 0; y < 2; ++y) {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x) {
                    u_queue[slot][y][x] = u_queue[slot + 1][y][x];
                }
            }
        }
    }
}
