// heat3d: CUDA kernels of a stencil, emitted by Halocline.
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

__device__ __forceinline__ void share4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

// Copies so many cells of an array in registers, those of several rows one row behind the other.
template <int kCells, typename T>
__device__ __forceinline__ void copy_cells(T* to, const T* from) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell] = from[cell];
}

// Sets so many cells of an array in registers, kStride elements apart.
template <int kCells, int kStride = 1, typename T>
__device__ __forceinline__ void fill_cells(T* to, T value) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell * kStride] = value;
}

// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

// Copies four elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy4_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// The copies since the last call become a group.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until all but the last kPending groups of this thread's copies are there.
template <int kPending>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Reads u, writes u_next.
// Schedule: direct, blocks of 32x4x4 threads, 4x2x4 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    constexpr int kCellsX = 4, kCellsY = 2, kCellsZ = 4;
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z)
        plane[z] = min(k + z - 1, nz) * slice;

    float u_cells[kCellsZ + 2][kCellsY + 2][kCellsX + 2];
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(&u_cells[0][y][1], u + plane[0] + row[y] + i);
#pragma unroll
    for (int z = 1; z < 5; ++z)
        load4(&u_cells[z][0][1], u + plane[z] + row[0] + i);
#pragma unroll
    for (int z = 1; z < 5; ++z)
#pragma unroll
        for (int y = 1; y < 3; ++y) {
            const float* u_row = u + plane[z] + row[y] + i;
            u_cells[z][y][0] = u_row[-1];
            load4(&u_cells[z][y][1], u_row);
            u_cells[z][y][5] = u_row[4];
        }
#pragma unroll
    for (int z = 1; z < 5; ++z)
        load4(&u_cells[z][3][1], u + plane[z] + row[3] + i);
#pragma unroll
    for (int y = 1; y < 3; ++y)
        load4(&u_cells[5][y][1], u + plane[5] + row[y] + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z)
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_next_result[x] = fmaf(lambda_dt,
                                        fmaf(-6.0f, u_cells[z + 1][y + 1][x + 1],
                                             u_cells[z + 1][y + 1][x] + u_cells[z + 1][y + 1][x + 2] +
                                             u_cells[z + 1][y][x + 1] + u_cells[z + 1][y + 2][x + 1] +
                                             u_cells[z][y + 1][x + 1] + u_cells[z + 2][y + 1][x + 1]),
                                        u_cells[z + 1][y + 1][x + 1]);
            if (j + y < ny && k + z < nz) {
                if (i + kCellsX <= nx)
                    store4(u_next + plane[z + 1] + row[y + 1] + i, u_next_result);
                else
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        if (i + x < nx) u_next[plane[z + 1] + row[y + 1] + i + x] = u_next_result[x];
            }
        }
}

// 4 time steps in one pass over memory. Reads u, writes u_next.
// Schedule: temporal steps=4 warps=8 cells=4x4 ahead=4 unroll=2 min_blocks=1 blocks=132.
extern "C" __global__ void __launch_bounds__(256, 1)
    heat3d_4_steps(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                   long long slice, float lambda_dt) {
    extern __shared__ double shared_memory[];
    constexpr int kSteps = 4;                 // in one pass over memory
    constexpr int kWarps = 8;                 // of a block
    constexpr int kCellsX = 4, kCellsY = 4;   // of a thread
    constexpr int kTileX = 128, kTileY = 32;  // cells of a tile
    constexpr int kOutX = 120, kOutY = 24;    // of these, the output: right after all steps
    constexpr int kRing = 5;                  // planes of the ring in shared memory
    constexpr int kRingRow = 128;             // elements of a row there, aligned as in memory

    // The same in all lanes: read from lane 0, so that the compiler knows.
    const int warp = __shfl_sync(0xffffffff, threadIdx.y, 0);
    const int lane_x = threadIdx.x * kCellsX;

    // All planes of all tiles are divided evenly among the blocks.
    // Tiles at a face have no ghost zone there.
    const int tiles_x = (nx + kOutX - 5) / kOutX;
    const int tiles_y = (ny + kOutY - 9) / kOutY;
    const int tiles = tiles_x * tiles_y;
    // Equal parts of tiles are traversed side by side.
    const int parts = gridDim.x / tiles;
    const int worker = parts * tiles == gridDim.x ? blockIdx.x % tiles * parts + blockIdx.x / tiles :
        blockIdx.x;
    const long long share_begin = static_cast<long long>(tiles) * nz * worker / gridDim.x;
    const long long share_end = static_cast<long long>(tiles) * nz * (worker + 1) / gridDim.x;
    const int first_tile = static_cast<int>(share_begin / nz);
    const int end_tile = static_cast<int>((share_end + nz - 1) / nz);

    auto& u_ring = *reinterpret_cast<float(*)[kRing * kTileY * kRingRow + 32]>(shared_memory + 8192);
    float u_planes[4][3][4][4] = {};
    auto& u_rows = *reinterpret_cast<float(*)[kSteps][2][kWarps][2][kTileX]>(shared_memory);
    for (int s = 0; s < kSteps; ++s)
        for (int line = 0; line < 2; ++line)
            share4(u_rows[s][1][warp][line] + lane_x, u_planes[0][0][0]);

#pragma unroll 1
    for (int tile = first_tile; tile < end_tile; ++tile) {
        const int out_begin = max(static_cast<int>(share_begin - static_cast<long long>(tile) * nz), 0);
        const int out_end = min(static_cast<int>(share_end - static_cast<long long>(tile) * nz), nz);
        const int tile_x = tile % tiles_x;
        const int begin_i = tile_x * kOutX;
        const int end_i = tile_x + 1 < tiles_x ? (tile_x + 1) * kOutX : nx;
        const int tile_i = min(max(begin_i - 4, 0), nx - kTileX);
        const int tile_y = tile / tiles_x;
        const int begin_j = tile_y > 0 ? tile_y * kOutY + 4 : 0;
        const int end_j = tile_y + 1 < tiles_y ? (tile_y + 1) * kOutY + 4 : ny;
        const int tile_j = min(max(begin_j - 4, 0), ny - kTileY);
        const int i = tile_i + lane_x;
        const int j = tile_j + warp * kCellsY;
        const int into_line = tile_i % 32 / kCellsX * kCellsX;
        const long long first_cell = static_cast<long long>(j) * pitch + i;
        const bool aligned = tile_i % kCellsX == 0;
        const int iterations = out_end - out_begin + 8;
        const int inner_begin = max(min(9 - out_begin, iterations), 0);
        const int inner_end = max(inner_begin, min(nz - out_begin, iterations));
        const int steady = tile_i > 0 && tile_i + kTileX < nx && tile_j > 0 && tile_j + kTileY < ny &&
            aligned ? inner_begin : inner_end;

        const auto in_ring = [&](int slot, int y) {
            return (slot * kTileY + warp * kCellsY + y) * kRingRow + into_line + lane_x;
        };
        // Copies this thread's cells of a plane to the ring, asynchronously.
        const auto fetch = [&](int slot, long long source, bool unaligned) {
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                if (unaligned)
                    for (int x = 0; x < kCellsX; ++x)
                        copy_async(u_ring, in_ring(slot, y) + x, u + source + y * pitch + x);
                else
                    copy4_async(u_ring, in_ring(slot, y), u + source + y * pitch);
        };
        __syncthreads();
#pragma unroll 1
        for (int plane = 1; plane < 5; ++plane) {
            fetch(plane - 1, min(max(out_begin + plane - 5, 0), nz - 1) * slice + first_cell, !aligned);
            commit_copies();
        }
        await_copies<3>();

        long long at = (out_begin - 5) * slice + first_cell;
        int oldest = 0;

        const auto traverse =
            [&](bool near_face, bool near_side, int begin, int end) __attribute__((always_inline)) {
#pragma unroll 2
            for (int iteration = begin; iteration < end; ++iteration) {
                const int k = out_begin + iteration - 5;
                const int now = iteration % 2;
#pragma unroll
                for (int y = 0; y < kCellsY; ++y)
                    load4(u_planes[0][2][y], u_ring + in_ring(oldest, y));
                __syncthreads();
                fetch(oldest + 4 < kRing ? oldest + 4 : oldest - kRing + 4,
                      at + (near_face ? min(max(k + 5, 0), nz - 1) - k : 5) * slice, near_side && !aligned);
                commit_copies();
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    // The next plane of u.
                    const int u_plane = k - s;
                    float u_near[6][6];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
                        copy_cells<kCellsX>(&u_near[y + 1][1], u_planes[s][1][y]);
                    load4(&u_near[0][1], u_rows[s][1 - now][max(warp - 1, 0)][1] + lane_x);
                    load4(&u_near[5][1], u_rows[s][1 - now][min(warp + 1, kWarps - 1)][0] + lane_x);
                    if (near_side && j == 0) fill_cells<kCellsX>(&u_near[0][1], 10.0f);
                    if (near_side && j + kCellsY == ny) fill_cells<kCellsX>(&u_near[5][1], 10.0f);
#pragma unroll
                    for (int y = 0; y < 4; ++y) {
                        u_near[y + 1][0] = __shfl_up_sync(0xffffffff, u_near[y + 1][4], 1);
                        u_near[y + 1][5] = __shfl_down_sync(0xffffffff, u_near[y + 1][1], 1);
                    }
                    if (near_side && i == 0) fill_cells<6, 6>(u_near[0], 10.0f);
                    if (near_side && i + kCellsX == nx) fill_cells<6, 6>(&u_near[0][5], 10.0f);
                    if (near_face && u_plane == 0) fill_cells<kCellsY * kCellsX>(u_planes[s][0][0], 10.0f);
                    if (near_face && u_plane == nz - 1)
                        fill_cells<kCellsY * kCellsX>(u_planes[s][2][0], 10.0f);
                    float u_fresh[4][4];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x)
                            u_fresh[y][x] = fmaf(lambda_dt,
                                                 fmaf(-6.0f, u_planes[s][1][y][x],
                                                      u_near[y + 1][x] + u_near[y + 1][x + 2] +
                                                      u_near[y][x + 1] + u_near[y + 2][x + 1] +
                                                      u_planes[s][0][y][x] + u_planes[s][2][y][x]),
                                                 u_planes[s][1][y][x]);
                    if (s <= 2) copy_cells<kCellsY * kCellsX>(u_planes[s + 1][2][0], u_fresh[0]);
                    if (s == 3 && u_plane >= out_begin)
#pragma unroll
                        for (int y = 0; y < kCellsY; ++y) {
                            float* to = u_next + at - 3 * slice + y * pitch;
                            if (j + y >= begin_j && j + y < end_j) {
                                if (near_side && !aligned) {
                                    for (int x = 0; x < kCellsX; ++x)
                                        if (i + x >= begin_i && i + x < end_i) to[x] = u_fresh[y][x];
                                } else if (i >= begin_i && i < end_i) {
                                    store4(to, u_fresh[y]);
                                }
                            }
                        }
                }
                // The outer rows, for the warps beside.
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    share4(u_rows[s][now][warp][0] + lane_x, u_planes[s][2][0]);
                    share4(u_rows[s][now][warp][1] + lane_x, u_planes[s][2][3]);
                }
                // Every plane moves down its queue.
#pragma unroll
                for (int level = 0; level < 4; ++level)
                    copy_cells<32>(u_planes[level][0][0], u_planes[level][1][0]);
                at += slice;
                oldest = oldest + 1 < kRing ? oldest + 1 : 0;
                await_copies<3>();
            }
        };
        // Near a face of z, at a face of x or y, in the steady state, and near a face of z again.
        // The shuffle hides the 0 from NVVM of CUDA 13.0, which unrolls the loop wrongly where it knows it.
        traverse(true, true, __shfl_sync(0xffffffff, 0, 0), inner_begin);
        traverse(false, true, inner_begin, steady);
        traverse(false, false, steady, inner_end);
        traverse(true, true, inner_end, iterations);
        await_copies<0>();
    }
}
