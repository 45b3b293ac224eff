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

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
}

// The greater of two; NaN where either is.
__device__ __forceinline__ float keep_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float greatest;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
    return greatest;
#else
    return a > b || a != a ? a : b;
#endif
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

// 3 time steps in one pass over memory. Reads u, writes u_next, reduces to change.
// Schedule: temporal steps=3 warps=8 cells=4x2 ahead=4 unroll=1 min_blocks=1 blocks=132.
extern "C" __global__ void __launch_bounds__(256, 1)
    heat3d_until_3_steps(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz,
                         int pitch, long long slice, float lambda_dt, double* __restrict__ change_partials) {
    extern __shared__ double shared_memory[];
    constexpr int kSteps = 3;                 // in one pass over memory
    constexpr int kWarps = 8;                 // of a block
    constexpr int kCellsX = 4, kCellsY = 2;   // of a thread
    constexpr int kTileX = 128, kTileY = 16;  // cells of a tile
    constexpr int kOutX = 120, kOutY = 10;    // of these, the output: right after all steps
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
    float u_planes[3][3][2][4] = {};
    auto& u_rows = *reinterpret_cast<float(*)[kSteps][2][kWarps][2][kTileX]>(shared_memory);
    for (int s = 0; s < kSteps; ++s)
        for (int line = 0; line < 2; ++line)
            share4(u_rows[s][1][warp][line] + lane_x, u_planes[0][0][0]);
    // What a thread's cells come to, by step.
    float change_of_thread[3];
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
        change_of_thread[s] = -__int_as_float(0x7f800000);

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
        const bool own_columns = i >= begin_i && i < end_i;
        const int iterations = out_end - out_begin + 6;
        const int inner_begin = max(min(7 - out_begin, iterations), 0);
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
        for (int plane = 1; plane < 5; ++plane) {
            fetch(plane - 1, min(max(out_begin + plane - 4, 0), nz - 1) * slice + first_cell, !aligned);
            commit_copies();
        }
        await_copies<3>();

        long long at = (out_begin - 4) * slice + first_cell;
        int oldest = 0;

        const auto traverse =
            [&](bool near_face, bool near_side, int begin, int end) __attribute__((always_inline)) {
#pragma unroll 1
            for (int iteration = begin; iteration < end; ++iteration) {
                const int k = out_begin + iteration - 4;
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
                    // The next plane of u, and what it adds to change.
                    const int u_plane = k - s;
                    float u_near[4][6];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
                        copy_cells<kCellsX>(&u_near[y + 1][1], u_planes[s][1][y]);
                    load4(&u_near[0][1], u_rows[s][1 - now][max(warp - 1, 0)][1] + lane_x);
                    load4(&u_near[3][1], u_rows[s][1 - now][min(warp + 1, kWarps - 1)][0] + lane_x);
                    if (near_side && j == 0) fill_cells<kCellsX>(&u_near[0][1], 10.0f);
                    if (near_side && j + kCellsY == ny) fill_cells<kCellsX>(&u_near[3][1], 10.0f);
#pragma unroll
                    for (int y = 0; y < 2; ++y) {
                        u_near[y + 1][0] = __shfl_up_sync(0xffffffff, u_near[y + 1][4], 1);
                        u_near[y + 1][5] = __shfl_down_sync(0xffffffff, u_near[y + 1][1], 1);
                    }
                    if (near_side && i == 0) fill_cells<4, 6>(u_near[0], 20.0f);
                    if (near_side && i + kCellsX == nx) fill_cells<4, 6>(&u_near[0][5], 10.0f);
                    if (near_face && u_plane == 0) fill_cells<kCellsY * kCellsX>(u_planes[s][0][0], 10.0f);
                    if (near_face && u_plane == nz - 1)
                        fill_cells<kCellsY * kCellsX>(u_planes[s][2][0], 10.0f);
                    float u_fresh[2][4];
                    const bool u_counts = u_plane >= out_begin && u_plane < out_end;
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y) {
                        float change_of_row = change_of_thread[s];
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x) {
                            const float u_new = fmaf(lambda_dt,
                                                     fmaf(-6.0f, u_planes[s][1][y][x],
                                                          u_near[y + 1][x] + u_near[y + 1][x + 2] +
                                                          u_near[y][x + 1] + u_near[y + 2][x + 1] +
                                                          u_planes[s][0][y][x] + u_planes[s][2][y][x]),
                                                     u_planes[s][1][y][x]);
                            u_fresh[y][x] = u_new;
                            change_of_row = keep_max_f32(change_of_row,
                                                         !near_side || (i + x >= begin_i && i + x < end_i) ?
                                                         fabsf(u_new - u_planes[s][1][y][x]) :
                                                         -__int_as_float(0x7f800000));
                        }
                        change_of_thread[s] = u_counts && (near_side || own_columns) && j + y >= begin_j &&
                            j + y < end_j ? change_of_row : change_of_thread[s];
                    }
                    if (s <= 1) copy_cells<kCellsY * kCellsX>(u_planes[s + 1][2][0], u_fresh[0]);
                    if (s == 2 && u_plane >= out_begin)
#pragma unroll
                        for (int y = 0; y < kCellsY; ++y) {
                            float* to = u_next + at - 2 * slice + y * pitch;
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
                    share4(u_rows[s][now][warp][1] + lane_x, u_planes[s][2][1]);
                }
                // Every plane moves down its queue.
#pragma unroll
                for (int level = 0; level < 3; ++level)
                    copy_cells<16>(u_planes[level][0][0], u_planes[level][1][0]);
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

    // One partial result a step and block; those of a step are combined in the blocks' order.
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
        const double change_of_block = block_max(static_cast<double>(change_of_thread[s]));
        if (warp + lane_x == 0) change_partials[s * gridDim.x + blockIdx.x] = change_of_block;
    }
}
