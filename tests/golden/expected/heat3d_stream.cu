// heat3d: CUDA kernels of a stencil, emitted by Halocline.
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
// Schedule: streaming along the slowest axis, blocks of 64x4x1 threads, 2x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 64;
    constexpr int kThreadsY = 4;
    constexpr int kPlanes = 16;  // that a block walks

    const int tile_i = blockIdx.x * kThreadsX * kCellsX;
    const int i = tile_i + threadIdx.x * kCellsX;
    const int tile_j = blockIdx.y * kThreadsY;
    const int j = tile_j + threadIdx.y;
    const int first_plane = blockIdx.z * kPlanes;
    const int end_plane = min(first_plane + kPlanes, nz);
    alignas(16) __shared__ float u_ring[2][6][136];

    // Where this thread's cells lie in a plane; past the halo, its last cells again.
    const int column = min(i, nx / kCellsX * kCellsX);
    const long long row = static_cast<long long>(min(j, ny)) * pitch;
    float u_queue[3][kCellsX];
    load2(u_queue[0], u + (first_plane - 1) * slice + row + column);
    load2(u_queue[1], u + first_plane * slice + row + column);

    for (int k = first_plane; k < end_plane; ++k) {
        load2(u_queue[2], u + (k + 1) * slice + row + column);
        // A plane of u for the neighbours, with its halo.
        {
            const int slot = k % 2;
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_ring[slot][j - tile_j + 1][i - tile_i + x + 4] = u_queue[1][x];
            }
            for (int y = threadIdx.y; y < 2; y += kThreadsY) {
                const int halo_row = y < 1 ? y : y + 4;
                for (int x = threadIdx.x; x < 136; x += kThreadsX) {
                    if (tile_i + x - 4 < nx + 2 && tile_j + halo_row - 1 < ny + 1) {
                        u_ring[slot][halo_row][x] =
                            u[k * slice + static_cast<long long>(tile_j + halo_row - 1) * pitch + tile_i + x -
                              4];
                    }
                }
            }
            for (int y = threadIdx.y; y < 4; y += kThreadsY) {
                for (int x = threadIdx.x; x < 8; x += kThreadsX) {
                    const int halo_column = x < 4 ? x : x + 128;
                    if (tile_i + halo_column - 4 < nx + 2 && tile_j + y < ny + 1) {
                        u_ring[slot][y + 1][halo_column] =
                            u[k * slice + static_cast<long long>(tile_j + y) * pitch + tile_i + halo_column -
                              4];
                    }
                }
            }
        }
        __syncthreads();

        if (i < nx && j < ny) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                const float u_new = fmaf(lambda_dt,
                                         fmaf(-6.0f, u_queue[1][x],
                                              u_ring[k % 2][j - tile_j + 1][i - tile_i + x + 3] +
                                              u_ring[k % 2][j - tile_j + 1][i - tile_i + x + 5] +
                                              u_ring[k % 2][j - tile_j][i - tile_i + x + 4] +
                                              u_ring[k % 2][j - tile_j + 2][i - tile_i + x + 4] +
                                              u_queue[0][x] + u_queue[2][x]),
                                         u_queue[1][x]);
                u_next_result[x] = u_new;
            }
            if (i + kCellsX <= nx) {
                store2(u_next + k * slice + row + column, u_next_result);
            } else {
#pragma unroll
                for (int x = 0; x < kCellsX; ++x) {
                    if (i + x < nx) u_next[k * slice + row + column + x] = u_next_result[x];
                }
            }
        }
#pragma unroll
        for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                u_queue[slot][x] = u_queue[slot + 1][x];
            }
        }
    }
}
