// box3d1_symmetric: CUDA kernels of a stencil, emitted by Halocline.
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
// Schedule: streaming along the slowest axis, blocks of 32x8x1 threads, 4x4x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 1)
    box3d1_symmetric_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                          int pitch, long long slice) {
    extern __shared__ double shared_memory[];
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 32;
    constexpr int kCellsY = 4;
    constexpr int kThreadsY = 8;
    constexpr int kPlanes = 512;  // that a block traverses

    const int tile_i = blockIdx.x * kThreadsX * kCellsX;
    const int i = tile_i + threadIdx.x * kCellsX;
    const int tile_j = blockIdx.y * kThreadsY * kCellsY;
    const int j = tile_j + threadIdx.y * kCellsY;
    const int thread = threadIdx.y * kThreadsX + threadIdx.x;
    const int first_plane = blockIdx.z * kPlanes;
    const int end_plane = min(first_plane + kPlanes, nz);
    auto& u_ring = *reinterpret_cast<float(*)[16416]>(shared_memory);
    const int u_copy_row = thread / 32;
    const int u_copy_column = thread % 32 * 4;
    // Where the vectors lie that this thread copies of the halo beside the tile.
    long long u_source[1];
    int u_target[1];
    {
        const int vector = thread;
        const int ring_row = vector / 2;
        const int ring_column = (vector % 2 < 1 ? vector % 2 - 1 : vector % 2 + 31) * 4;
        u_source[0] = static_cast<long long>(min(tile_j + ring_row - 1, ny)) * pitch +
            min(tile_i + ring_column, nx / 4 * 4);
        u_target[0] = ring_row * 160 + ring_column + 32;
    }
    const int u_here = (j - tile_j + 1) * 160 + i - tile_i + 32;
    float u_queue[3][6][6] = {};
    int u_slot = 0;

    // What is read of u behind the first plane that is on its way.
#pragma unroll
    for (int slot = 0; slot < 2; ++slot)
#pragma unroll
        for (int y = 0; y < 6; ++y)
            u_queue[slot][y][0] =
                u[(first_plane + slot - 1) * slice + static_cast<long long>(min(j + y - 1, ny)) * pitch +
                  min(i, (nx - 1) / kCellsX * kCellsX) - 1];
#pragma unroll
    for (int slot = 0; slot < 2; ++slot)
        load4(&u_queue[slot][0][1],
              u + (first_plane + slot - 1) * slice + static_cast<long long>(min(j - 1, ny)) * pitch +
              min(i, (nx - 1) / kCellsX * kCellsX));
#pragma unroll
    for (int slot = 0; slot < 2; ++slot)
#pragma unroll
        for (int y = 0; y < 6; ++y)
            u_queue[slot][y][5] =
                u[(first_plane + slot - 1) * slice + static_cast<long long>(min(j + y - 1, ny)) * pitch +
                  min(i, (nx - 1) / kCellsX * kCellsX) + 4];
#pragma unroll
    for (int slot = 0; slot < 2; ++slot)
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(&u_queue[slot][y + 1][1],
                  u + (first_plane + slot - 1) * slice + static_cast<long long>(min(j + y, ny)) * pitch +
                  min(i, (nx - 1) / kCellsX * kCellsX));
#pragma unroll
    for (int slot = 0; slot < 2; ++slot)
        load4(&u_queue[slot][5][1],
              u + (first_plane + slot - 1) * slice + static_cast<long long>(min(j + 4, ny)) * pitch +
              min(i, (nx - 1) / kCellsX * kCellsX));

    // The planes of the first turn, and those that are on their way then.
    {
        const long long u_plane = (first_plane + 1) * slice;
        const int u_into = 0;
#pragma unroll
        for (int n = 0; n < 4; ++n)
            copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                        u + u_plane +
                        static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 1, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
        if (u_copy_row < 2)
            copy4_async(u_ring, u_into + (u_copy_row + 32) * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 31, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
        if (thread < 68) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
    }
    commit_copies();
    if (first_plane + 2 < end_plane + 1) {
        const long long u_plane = (first_plane + 2) * slice;
        const int u_into = 5472;
#pragma unroll
        for (int n = 0; n < 4; ++n)
            copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                        u + u_plane +
                        static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 1, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
        if (u_copy_row < 2)
            copy4_async(u_ring, u_into + (u_copy_row + 32) * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 31, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
        if (thread < 68) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
    }
    commit_copies();

#pragma unroll 3
    for (int k = first_plane; k < end_plane; ++k) {
        // All threads have what was due, and are done with the oldest planes.
        await_copies<1>();
        __syncthreads();
        if (k + 2 < end_plane) {
            const long long u_plane = (k + 3) * slice;
            const int u_into = (u_slot < 1 ? u_slot + 2 : u_slot - 1) * 5472;
#pragma unroll
            for (int n = 0; n < 4; ++n)
                copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                            u + u_plane +
                            static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 1, ny)) * pitch +
                            min(tile_i + u_copy_column, nx / 4 * 4));
            if (u_copy_row < 2)
                copy4_async(u_ring, u_into + (u_copy_row + 32) * 160 + u_copy_column + 32,
                            u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 31, ny)) * pitch +
                            min(tile_i + u_copy_column, nx / 4 * 4));
            if (thread < 68) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
        }
        commit_copies();

        const int u_at_0 = u_slot * 5472 + u_here;
#pragma unroll
        for (int y = 0; y < 6; ++y)
            u_queue[2][y][0] = u_ring[u_at_0 + (y - 1) * 160 - 1];
        load4(&u_queue[2][0][1], u_ring + u_at_0 - 160);
#pragma unroll
        for (int y = 0; y < 6; ++y)
            u_queue[2][y][5] = u_ring[u_at_0 + (y - 1) * 160 + 4];
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(&u_queue[2][y + 1][1], u_ring + u_at_0 + y * 160);
        load4(&u_queue[2][5][1], u_ring + u_at_0 + 640);

#pragma unroll
        for (int y = 0; y < 4; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                const float sum_zm1 = fmaf(0.06f, u_queue[0][y + 1][x + 1],
                                           fmaf(0.026f,
                                                u_queue[0][y][x + 1] +
                                                (u_queue[0][y + 1][x] + u_queue[0][y + 1][x + 2]) +
                                                u_queue[0][y + 2][x + 1],
                                                0.015f * (u_queue[0][y][x] + u_queue[0][y][x + 2] +
                                                          (u_queue[0][y + 2][x] +
                                                           u_queue[0][y + 2][x + 2]))));
                float sum = fmaf(0.026f,
                                 u_queue[1][y][x] + u_queue[1][y][x + 2] +
                                 (u_queue[1][y + 2][x] + u_queue[1][y + 2][x + 2]), sum_zm1);
                sum = fmaf(0.06f,
                           u_queue[1][y][x + 1] + (u_queue[1][y + 1][x] + u_queue[1][y + 1][x + 2]) +
                           u_queue[1][y + 2][x + 1], sum);
                sum = fmaf(0.208f, u_queue[1][y + 1][x + 1], sum);
                const float sum_zp1 = fmaf(0.06f, u_queue[2][y + 1][x + 1],
                                           fmaf(0.026f,
                                                u_queue[2][y][x + 1] +
                                                (u_queue[2][y + 1][x] + u_queue[2][y + 1][x + 2]) +
                                                u_queue[2][y + 2][x + 1],
                                                0.015f * (u_queue[2][y][x] + u_queue[2][y][x + 2] +
                                                          (u_queue[2][y + 2][x] +
                                                           u_queue[2][y + 2][x + 2]))));
                u_next_result[x] = sum + sum_zp1;
            }
            if (j + y < ny) {
                if (i + kCellsX <= nx)
                    store4(u_next + k * slice + static_cast<long long>(j + y) * pitch + i, u_next_result);
                else
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        if (i + x < nx)
                            u_next[k * slice + static_cast<long long>(j + y) * pitch + i + x] =
                                u_next_result[x];
            }
        }

        // Every plane moves up its queue.
#pragma unroll
        for (int slot = 0; slot < 2; ++slot)
#pragma unroll
            for (int y = 0; y < 6; ++y)
#pragma unroll
                for (int x = 0; x < 6; ++x)
                    u_queue[slot][y][x] = u_queue[slot + 1][y][x];
        u_slot = u_slot < 2 ? u_slot + 1 : u_slot - 2;
    }
}

// 3 time steps in one pass over memory. Reads u, writes u_next.
// Schedule: temporal steps=3 warps=8 cells=4x4 ahead=4 unroll=1 min_blocks=1 blocks=132.
extern "C" __global__ void __launch_bounds__(256, 1)
    box3d1_symmetric_3_steps(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                             int pitch, long long slice) {
    extern __shared__ double shared_memory[];
    constexpr int kSteps = 3;                 // in one pass over memory
    constexpr int kWarps = 8;                 // of a block
    constexpr int kCellsX = 4, kCellsY = 4;   // of a thread
    constexpr int kTileX = 128, kTileY = 32;  // cells of a tile
    constexpr int kOutX = 120, kOutY = 26;    // of these, the output: right after all steps
    constexpr int kRing = 5;                  // planes of the ring in shared memory
    constexpr int kRingRow = 128;             // elements of a row there, aligned as in memory

    // The same in all lanes: read from lane 0, so that the compiler knows.
    const int warp = __shfl_sync(0xffffffff, threadIdx.y, 0);
    const int lane_x = threadIdx.x * kCellsX;

    // All planes of all tiles are divided evenly among the blocks.
    // Tiles at a face have no ghost zone there.
    const int tiles_x = (nx + kOutX - 5) / kOutX;
    const int tiles_y = (ny + kOutY - 7) / kOutY;
    const int tiles = tiles_x * tiles_y;
    // Equal parts of tiles are traversed side by side.
    const int parts = gridDim.x / tiles;
    const int worker = parts * tiles == gridDim.x ? blockIdx.x % tiles * parts + blockIdx.x / tiles :
        blockIdx.x;
    const long long share_begin = static_cast<long long>(tiles) * nz * worker / gridDim.x;
    const long long share_end = static_cast<long long>(tiles) * nz * (worker + 1) / gridDim.x;
    const int first_tile = static_cast<int>(share_begin / nz);
    const int end_tile = static_cast<int>((share_end + nz - 1) / nz);

    auto& u_ring = *reinterpret_cast<float(*)[kRing * kTileY * kRingRow + 32]>(shared_memory + 6144);
    float u_planes[3][4][4] = {};
    float u_sums[3][2][4][4] = {};
    auto& u_rows = *reinterpret_cast<float(*)[kSteps][2][kWarps][2][kTileX]>(shared_memory);
    for (int s = 0; s < kSteps; ++s)
        for (int line = 0; line < 2; ++line)
            share4(u_rows[s][1][warp][line] + lane_x, u_planes[0][0]);

#pragma unroll 1
    for (int tile = first_tile; tile < end_tile; ++tile) {
        const int out_begin = max(static_cast<int>(share_begin - static_cast<long long>(tile) * nz), 0);
        const int out_end = min(static_cast<int>(share_end - static_cast<long long>(tile) * nz), nz);
        const int tile_x = tile % tiles_x;
        const int begin_i = tile_x * kOutX;
        const int end_i = tile_x + 1 < tiles_x ? (tile_x + 1) * kOutX : nx;
        const int tile_i = min(max(begin_i - 4, 0), nx - kTileX);
        const int tile_y = tile / tiles_x;
        const int begin_j = tile_y > 0 ? tile_y * kOutY + 3 : 0;
        const int end_j = tile_y + 1 < tiles_y ? (tile_y + 1) * kOutY + 3 : ny;
        const int tile_j = min(max(begin_j - 3, 0), ny - kTileY);
        const int i = tile_i + lane_x;
        const int j = tile_j + warp * kCellsY;
        const int into_line = tile_i % 32 / kCellsX * kCellsX;
        const long long first_cell = static_cast<long long>(j) * pitch + i;
        const bool aligned = tile_i % kCellsX == 0;
        const int iterations = out_end - out_begin + 9;
        const int inner_begin = max(min(10 - out_begin, iterations), 0);
        const int inner_end = max(inner_begin, min(nz - out_begin - 1, iterations));
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
        for (int plane = 2; plane < 6; ++plane) {
            fetch(plane - 2, min(max(out_begin + plane - 5, 0), nz - 1) * slice + first_cell, !aligned);
            commit_copies();
        }
        await_copies<3>();

        long long at = (out_begin - 5) * slice + first_cell;
        int oldest = 0;

        const auto traverse =
            [&](bool near_face, bool near_side, int begin, int end) __attribute__((always_inline)) {
#pragma unroll 1
            for (int iteration = begin; iteration < end; ++iteration) {
                const int k = out_begin + iteration - 5;
                const int now = iteration % 2;
                __syncthreads();
                fetch(oldest + 4 < kRing ? oldest + 4 : oldest - kRing + 4,
                      at + (near_face ? min(max(k + 6, 0), nz - 1) - k : 6) * slice, near_side && !aligned);
                commit_copies();
#pragma unroll
                for (int later = 0; later < kSteps; ++later) {
                    const int s = kSteps - later - 1;
                    // The next plane of u.
                    const int u_plane = k - s * 2;
                    float u_near[6][6];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
                        copy_cells<kCellsX>(&u_near[y + 1][1], u_planes[s][y]);
                    load4(&u_near[0][1], u_rows[s][1 - now][max(warp - 1, 0)][1] + lane_x);
                    load4(&u_near[5][1], u_rows[s][1 - now][min(warp + 1, kWarps - 1)][0] + lane_x);
                    if (near_side && j == 0) fill_cells<kCellsX>(&u_near[0][1], 1.0f);
                    if (near_side && j + kCellsY == ny) fill_cells<kCellsX>(&u_near[5][1], 1.0f);
#pragma unroll
                    for (int y = 0; y < 6; ++y) {
                        u_near[y][0] = __shfl_up_sync(0xffffffff, u_near[y][4], 1);
                        u_near[y][5] = __shfl_down_sync(0xffffffff, u_near[y][1], 1);
                    }
                    if (near_side && i == 0) fill_cells<6, 6>(u_near[0], 1.0f);
                    if (near_side && i + kCellsX == nx) fill_cells<6, 6>(&u_near[0][5], 1.0f);
                    float u_fresh[4][4];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x)
                            u_fresh[y][x] = u_sums[s][1][y][x] +
                                fmaf(0.06f, u_near[y + 1][x + 1],
                                     fmaf(0.026f,
                                          u_near[y][x + 1] + (u_near[y + 1][x] + u_near[y + 1][x + 2]) +
                                          u_near[y + 2][x + 1],
                                          0.015f * (u_near[y][x] + u_near[y][x + 2] +
                                                    (u_near[y + 2][x] + u_near[y + 2][x + 2]))));
                    // What this plane adds to the sums of those ahead.
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x) {
                            float sum = fmaf(0.026f,
                                             u_near[y][x] + u_near[y][x + 2] +
                                             (u_near[y + 2][x] + u_near[y + 2][x + 2]), u_sums[s][0][y][x]);
                            sum = fmaf(0.06f,
                                       u_near[y][x + 1] + (u_near[y + 1][x] + u_near[y + 1][x + 2]) +
                                       u_near[y + 2][x + 1], sum);
                            sum = fmaf(0.208f, u_near[y + 1][x + 1], sum);
                            u_sums[s][1][y][x] = sum;
                        }
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x)
                            u_sums[s][0][y][x] = fmaf(0.06f, u_near[y + 1][x + 1],
                                                      fmaf(0.026f,
                                                           u_near[y][x + 1] +
                                                           (u_near[y + 1][x] + u_near[y + 1][x + 2]) +
                                                           u_near[y + 2][x + 1],
                                                           0.015f * (u_near[y][x] + u_near[y][x + 2] +
                                                                     (u_near[y + 2][x] +
                                                                      u_near[y + 2][x + 2]))));
                    if (s <= 1) {
                        copy_cells<kCellsY * kCellsX>(u_planes[s + 1][0], u_fresh[0]);
                        if (near_face && u_plane < 0) fill_cells<kCellsY * kCellsX>(u_planes[s + 1][0], 1.0f);
                        if (near_face && u_plane >= nz)
                            fill_cells<kCellsY * kCellsX>(u_planes[s + 1][0], 1.0f);
                    }
                    if (s == 2 && u_plane >= out_begin)
#pragma unroll
                        for (int y = 0; y < kCellsY; ++y) {
                            float* to = u_next + at - 4 * slice + y * pitch;
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
                // The plane that has arrived, for the next iteration.
#pragma unroll
                for (int y = 0; y < kCellsY; ++y)
                    load4(u_planes[0][y], u_ring + in_ring(oldest, y));
                if (near_face && k + 2 < 0) fill_cells<kCellsY * kCellsX>(u_planes[0][0], 1.0f);
                if (near_face && k + 2 >= nz) fill_cells<kCellsY * kCellsX>(u_planes[0][0], 1.0f);
                // The outer rows, for the warps beside.
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    share4(u_rows[s][now][warp][0] + lane_x, u_planes[s][0]);
                    share4(u_rows[s][now][warp][1] + lane_x, u_planes[s][3]);
                }
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
