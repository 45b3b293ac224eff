// heat3d_capacity: CUDA kernels of a stencil, emitted by Halocline.
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

// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
}

__device__ __forceinline__ void store4(float* to, const float* from) {
    __stwb(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
}

// The same to shared memory.
__device__ __forceinline__ void share2(float* to, const float* from) {
    *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
}

// Copies so many cells of an array in registers, those of several rows one row behind the other.
template <int kCells, typename T>
__device__ __forceinline__ void copy_cells(T* to, const T* from) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell] = from[cell];
}

// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

// Copies two elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy2_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
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

// Right to 20 bits.
__device__ __forceinline__ double rough_inverse(double value) {
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    return inverse;
}

// The quotient, rounded to nearest. Of f64 where a GPU computes that at half the speed of f32: 53 bits hold
// more than a quotient of 24 bits needs to be rounded once, and no case is slow. `/` branches for each
// quotient, and takes a call where the dividend is 0 or far from 1.
__device__ __forceinline__ float divide(float dividend, float divisor) {
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
    const double a = dividend, b = divisor;
    double inverse = rough_inverse(b);
    const double error = fma(-b, inverse, 1.0);
    if (fabs(error) < 1) inverse = fma(error, inverse, inverse);  // to 40 bits; not of 0, infinity and NaN
    const double quotient = a * inverse;
    const double rest = fma(-b, quotient, a);  // NaN where the quotient is 0 or infinity for good
    return static_cast<float>(fabs(rest) > 0 ? fma(rest, inverse, quotient) : quotient);
#else
    return dividend / divisor;
#endif
}

// Reads Te, Cp, writes Te_next.
// Schedule: direct, blocks of 8x8x2 threads, 4x1x2 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    heat3d_capacity_step(const float* __restrict__ Te, const float* __restrict__ Cp,
                         float* __restrict__ Te_next, int nx, int ny, int nz, int pitch, long long slice,
                         float dt_lambda) {
    constexpr int kCellsX = 4, kCellsZ = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8, kThreadsZ = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = (blockIdx.z * kThreadsZ + threadIdx.z) * kCellsZ;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;
    long long plane[kCellsZ + 2];
#pragma unroll
    for (int z = 0; z < kCellsZ + 2; ++z)
        plane[z] = min(k + z - 1, nz) * slice;

    float Te_cells[kCellsZ + 2][3][kCellsX + 2];
    load4(&Te_cells[0][1][1], Te + plane[0] + row[1] + i);
#pragma unroll
    for (int z = 1; z < 3; ++z)
        load4(&Te_cells[z][0][1], Te + plane[z] + row[0] + i);
#pragma unroll
    for (int z = 1; z < 3; ++z) {
        const float* Te_row = Te + plane[z] + row[1] + i;
        Te_cells[z][1][0] = Te_row[-1];
        load4(&Te_cells[z][1][1], Te_row);
        Te_cells[z][1][5] = Te_row[4];
    }
#pragma unroll
    for (int z = 1; z < 3; ++z)
        load4(&Te_cells[z][2][1], Te + plane[z] + row[2] + i);
    load4(&Te_cells[3][1][1], Te + plane[3] + row[1] + i);
    float Cp_cells[kCellsZ][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(Cp_cells[z], Cp + plane[z + 1] + row[1] + i);

#pragma unroll
    for (int z = 0; z < kCellsZ; ++z) {
        float Te_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float Te_inside = fmaf(divide(dt_lambda, Cp_cells[z][x]),
                                         fmaf(-6.0f, Te_cells[z + 1][1][x + 1],
                                              Te_cells[z + 1][1][x] + Te_cells[z + 1][1][x + 2] +
                                              Te_cells[z + 1][0][x + 1] + Te_cells[z + 1][2][x + 1] +
                                              Te_cells[z][1][x + 1] + Te_cells[z + 2][1][x + 1]),
                                         Te_cells[z + 1][1][x + 1]);
            const bool inside = i + x >= 1 && i + x < nx - 1 && j >= 1 && j < ny - 1 && k + z >= 1 &&
                k + z < nz - 1;
            Te_next_result[x] = inside ? Te_inside : Te_cells[z + 1][1][x + 1];
        }
        if (k + z < nz) {
            if (i + kCellsX <= nx)
                store4(Te_next + plane[z + 1] + row[1] + i, Te_next_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) Te_next[plane[z + 1] + row[1] + i + x] = Te_next_result[x];
        }
    }
}

// 4 time steps in one pass over memory. Reads Te, Cp, writes Te_next.
// Schedule: temporal steps=4 warps=12 cells=2x4 ahead=3 unroll=3 min_blocks=1 blocks=132.
extern "C" __global__ void __launch_bounds__(384, 1)
    heat3d_capacity_4_steps(const float* __restrict__ Te, const float* __restrict__ Cp,
                            float* __restrict__ Te_next, int nx, int ny, int nz, int pitch, long long slice,
                            float dt_lambda) {
    extern __shared__ double shared_memory[];
    constexpr int kSteps = 4;                // in one pass over memory
    constexpr int kWarps = 12;               // of a block
    constexpr int kCellsX = 2, kCellsY = 4;  // of a thread
    constexpr int kTileX = 64, kTileY = 48;  // cells of a tile
    constexpr int kOutX = 56, kOutY = 40;    // of these, the output: right after all steps
    constexpr int kRing_Te = 4;              // planes of the ring of Te in shared memory
    constexpr int kRing_Cp = 7;              // planes of the ring of Cp in shared memory
    constexpr int kRingRow = 64;             // elements of a row there, aligned as in memory

    // The same in all lanes: read from lane 0, so that the compiler knows.
    const int warp = __shfl_sync(0xffffffff, threadIdx.y, 0);
    const int lane_x = threadIdx.x * kCellsX;

    // All planes of all tiles are divided evenly among the blocks.
    // Tiles at a face have no ghost zone there.
    // Where it saves a tenth of the tiles their outputs begin in the middle of a sector.
    const int unshifted = (nx + kOutX - 5) / kOutX;
    const int tiles_x = unshifted <= 10 ? (nx + kOutX - 9) / kOutX : unshifted;
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

    auto& Te_ring = *reinterpret_cast<float(*)[kRing_Te * kTileY * kRingRow + 32]>(shared_memory + 6144);
    auto& Cp_ring = *reinterpret_cast<float(*)[kRing_Cp * kTileY * kRingRow + 32]>(shared_memory + 12304);
    float Te_planes[4][3][4][2] = {};
    auto& Te_rows = *reinterpret_cast<float(*)[kSteps][2][kWarps][2][kTileX]>(shared_memory);
    for (int s = 0; s < kSteps; ++s)
        for (int line = 0; line < 2; ++line)
            share2(Te_rows[s][1][warp][line] + lane_x, Te_planes[0][0][0]);

#pragma unroll 1
    for (int tile = first_tile; tile < end_tile; ++tile) {
        const int out_begin = max(static_cast<int>(share_begin - static_cast<long long>(tile) * nz), 0);
        const int out_end = min(static_cast<int>(share_end - static_cast<long long>(tile) * nz), nz);
        const int tile_x = tile % tiles_x;
        const int shift_x = (tiles_x - 1) * kOutX + 60 < nx ? 4 : 0;
        const int begin_i = tile_x > 0 ? tile_x * kOutX + shift_x : 0;
        const int end_i = tile_x + 1 < tiles_x ? (tile_x + 1) * kOutX + shift_x : nx;
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
        const int inner_end = max(inner_begin, min(nz - out_begin + 1, iterations));
        const int steady = tile_i > 0 && tile_i + kTileX < nx && tile_j > 0 && tile_j + kTileY < ny &&
            aligned ? inner_begin : inner_end;

        const auto in_ring = [&](int slot, int y) {
            return (slot * kTileY + warp * kCellsY + y) * kRingRow + into_line + lane_x;
        };
        // Copies this thread's cells of a plane of Te to the ring, asynchronously.
        const auto fetch_Te = [&](int slot, long long source, bool unaligned) {
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                if (unaligned)
                    for (int x = 0; x < kCellsX; ++x)
                        copy_async(Te_ring, in_ring(slot, y) + x, Te + source + y * pitch + x);
                else
                    copy2_async(Te_ring, in_ring(slot, y), Te + source + y * pitch);
        };
        // Copies this thread's cells of a plane of Cp to the ring, asynchronously.
        const auto fetch_Cp = [&](int slot, long long source, bool unaligned) {
#pragma unroll
            for (int y = 0; y < kCellsY; ++y)
                if (unaligned)
                    for (int x = 0; x < kCellsX; ++x)
                        copy_async(Cp_ring, in_ring(slot, y) + x, Cp + source + y * pitch + x);
                else
                    copy2_async(Cp_ring, in_ring(slot, y), Cp + source + y * pitch);
        };
        __syncthreads();
#pragma unroll 1
        for (int plane = 1; plane < 4; ++plane)
            fetch_Te(plane - 1, min(max(out_begin + plane - 5, 0), nz - 1) * slice + first_cell, !aligned);
#pragma unroll 1
        for (int plane = -3; plane < 3; ++plane) {
            fetch_Cp(plane + 3, min(max(out_begin + plane - 5, 0), nz - 1) * slice + first_cell, !aligned);
            commit_copies();
        }
        await_copies<2>();

        long long at = (out_begin - 5) * slice + first_cell;
        int oldest_Te = 0;
        int oldest_Cp = 0;

        const auto traverse =
            [&](bool near_face, bool near_side, int begin, int end) __attribute__((always_inline)) {
#pragma unroll 3
            for (int iteration = begin; iteration < end; ++iteration) {
                const int k = out_begin + iteration - 5;
                const int now = iteration % 2;
#pragma unroll
                for (int y = 0; y < kCellsY; ++y)
                    load2(Te_planes[0][2][y], Te_ring + in_ring(oldest_Te, y));
                __syncthreads();
                fetch_Te(oldest_Te + 3 < kRing_Te ? oldest_Te + 3 : oldest_Te - kRing_Te + 3,
                         at + (near_face ? min(max(k + 4, 0), nz - 1) - k : 4) * slice,
                         near_side && !aligned);
                fetch_Cp(oldest_Cp + 6 < kRing_Cp ? oldest_Cp + 6 : oldest_Cp - kRing_Cp + 6,
                         at + (near_face ? min(max(k + 3, 0), nz - 1) - k : 3) * slice,
                         near_side && !aligned);
                commit_copies();
                // What all steps compute of Cp alike takes its place.
#pragma unroll
                for (int y = 0; y < kCellsY; ++y) {
                    float Cp_row[2];
                    load2(Cp_row,
                          Cp_ring +
                          in_ring(oldest_Cp + 3 < kRing_Cp ? oldest_Cp + 3 : oldest_Cp - kRing_Cp + 3, y));
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        Cp_row[x] = divide(dt_lambda, Cp_row[x]);
                    share2(Cp_ring +
                           in_ring(oldest_Cp + 3 < kRing_Cp ? oldest_Cp + 3 : oldest_Cp - kRing_Cp + 3, y),
                           Cp_row);
                }
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    // The next plane of Te.
                    const int Te_plane = k - s;
                    float Te_near[6][4];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
                        copy_cells<kCellsX>(&Te_near[y + 1][1], Te_planes[s][1][y]);
                    load2(&Te_near[0][1], Te_rows[s][1 - now][max(warp - 1, 0)][1] + lane_x);
                    load2(&Te_near[5][1], Te_rows[s][1 - now][min(warp + 1, kWarps - 1)][0] + lane_x);
#pragma unroll
                    for (int y = 0; y < 4; ++y) {
                        Te_near[y + 1][0] = __shfl_up_sync(0xffffffff, Te_near[y + 1][2], 1);
                        Te_near[y + 1][3] = __shfl_down_sync(0xffffffff, Te_near[y + 1][1], 1);
                    }
                    float Cp_near[4][2];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
                        load2(Cp_near[y],
                              Cp_ring +
                              ((oldest_Cp - s + 3 < kRing_Cp ? oldest_Cp - s + 3 :
                                oldest_Cp - s - kRing_Cp + 3) * kTileY + warp * kCellsY + y) * kRingRow +
                              into_line + lane_x);
                    float Te_fresh[4][2];
#pragma unroll
                    for (int y = 0; y < kCellsY; ++y)
#pragma unroll
                        for (int x = 0; x < kCellsX; ++x) {
                            const float Te_inside = fmaf(Cp_near[y][x],
                                                         fmaf(-6.0f, Te_planes[s][1][y][x],
                                                              Te_near[y + 1][x] + Te_near[y + 1][x + 2] +
                                                              Te_near[y][x + 1] + Te_near[y + 2][x + 1] +
                                                              Te_planes[s][0][y][x] + Te_planes[s][2][y][x]),
                                                         Te_planes[s][1][y][x]);
                            const bool inside = (!near_face && !near_side) ||
                                (i + x >= 1 && i + x < nx - 1 && j + y >= 1 && j + y < ny - 1 &&
                                 Te_plane >= 1 && Te_plane < nz - 1);
                            Te_fresh[y][x] = inside ? Te_inside : Te_planes[s][1][y][x];
                        }
                    if (s <= 2) copy_cells<kCellsY * kCellsX>(Te_planes[s + 1][2][0], Te_fresh[0]);
                    if (s == 3 && Te_plane >= out_begin)
#pragma unroll
                        for (int y = 0; y < kCellsY; ++y) {
                            float* to = Te_next + at - 3 * slice + y * pitch;
                            if (j + y >= begin_j && j + y < end_j) {
                                if (near_side && !aligned) {
                                    for (int x = 0; x < kCellsX; ++x)
                                        if (i + x >= begin_i && i + x < end_i) to[x] = Te_fresh[y][x];
                                } else if (i >= begin_i && i < end_i) {
                                    store2(to, Te_fresh[y]);
                                }
                            }
                        }
                }
                // The outer rows, for the warps beside.
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    share2(Te_rows[s][now][warp][0] + lane_x, Te_planes[s][2][0]);
                    share2(Te_rows[s][now][warp][1] + lane_x, Te_planes[s][2][3]);
                }
                // Every plane moves down its queue.
#pragma unroll
                for (int level = 0; level < 4; ++level)
                    copy_cells<16>(Te_planes[level][0][0], Te_planes[level][1][0]);
                at += slice;
                oldest_Te = oldest_Te + 1 < kRing_Te ? oldest_Te + 1 : 0;
                oldest_Cp = oldest_Cp + 1 < kRing_Cp ? oldest_Cp + 1 : 0;
                await_copies<2>();
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
