// heat3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.

// Copies four elements between aligned places.
__device__ __forceinline__ void copy4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// Reads u, writes u_next.
// Schedule: shared-memory tiles, blocks of 32x4x1 threads, 1x2x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    constexpr int kTileX = 32;
    constexpr int kThreadsX = 32;
    constexpr int kTileY = 8;
    constexpr int kThreadsY = 4;
    constexpr int kTileZ = 4;

    alignas(16) __shared__ float u_tile[6][10][40];

    // The tile's first cell.
    const int tile_i = blockIdx.x * kTileX;
    const int tile_j = blockIdx.y * kTileY;
    const int tile_k = blockIdx.z * kTileZ;

    // Load the tile of u and its halo.
    for (int z = 0; z < min(kTileZ + 2, nz - tile_k + 2); ++z)
        for (int y = threadIdx.y; y < min(kTileY + 2, ny - tile_j + 2); y += kThreadsY)
            for (int x = threadIdx.x * 4; x < min(kTileX + 8, nx - tile_i + 5); x += kThreadsX * 4)
                copy4(&u_tile[z][y][x],
                      u + (tile_k + z - 1) * slice + static_cast<long long>(tile_j + y - 1) * pitch + tile_i +
                      x - 4);
    __syncthreads();

#pragma unroll
    for (int z = 0; z < kTileZ; ++z)
#pragma unroll
        for (int y = threadIdx.y; y < kTileY; y += kThreadsY) {
            const int i = tile_i + threadIdx.x;
            const int j = tile_j + y;
            const int k = tile_k + z;
            if (i < nx && j < ny && k < nz) {
                const long long at = k * slice + static_cast<long long>(j) * pitch + i;
                u_next[at] = fmaf(lambda_dt,
                                  fmaf(-6.0f, u_tile[z + 1][y + 1][threadIdx.x + 4],
                                       u_tile[z + 1][y + 1][threadIdx.x + 3] +
                                       u_tile[z + 1][y + 1][threadIdx.x + 5] +
                                       u_tile[z + 1][y][threadIdx.x + 4] +
                                       u_tile[z + 1][y + 2][threadIdx.x + 4] +
                                       u_tile[z][y + 1][threadIdx.x + 4] +
                                       u_tile[z + 2][y + 1][threadIdx.x + 4]),
                                  u_tile[z + 1][y + 1][threadIdx.x + 4]);
            }
        }
}
