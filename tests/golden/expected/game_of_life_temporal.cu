// game_of_life: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Sixteen neighbouring bytes as four words, the first of them lowest; `from` is aligned to all of them.
template <class Byte>
__device__ __forceinline__ void load16(unsigned* to, const Byte* from) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    to[0] = words.x;
    to[1] = words.y;
    to[2] = words.z;
    to[3] = words.w;
}

template <class Byte>
__device__ __forceinline__ void store16(Byte* to, const unsigned* words) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

// 1 in each lane of so many bits where both are equal, else 0. The highest bit of each lane is 0 in both.
__device__ __forceinline__ unsigned equal_lanes(unsigned a, unsigned b, int bits) {
    const unsigned ones = ~0u / ((1u << bits) - 1);
    return (((ones << (bits - 1)) - (a ^ b)) >> (bits - 1)) & ones;
}

// The cell at `x` of a word of four, the lowest of which is at 0.
__device__ __forceinline__ unsigned char byte_of(unsigned word, int x) {
    return static_cast<unsigned char>(word >> 8 * x);
}

// Copies so many cells of an array in registers, those of several rows one row behind the other.
template <int kCells, typename T>
__device__ __forceinline__ void copy_cells(T* to, const T* from) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell] = from[cell];
}

// Copies sixteen bytes between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy16_async(void* shared, int place, const void* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place;
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

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
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

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_alive(bool* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const bool value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads alive, writes alive_next, reduces to population.
// Schedule: direct, blocks of 128x2 threads, 1x1 cells a thread.
// At least 2 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    game_of_life_step(const bool* __restrict__ alive, bool* __restrict__ alive_next, int nx, int ny,
                      int pitch, double* __restrict__ population_partials) {
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double population_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const int around_value = (alive[at - pitch - 1] ? 1 : 0) + (alive[at - 1] ? 1 : 0) +
            (alive[at + pitch - 1] ? 1 : 0) + (alive[at - pitch] ? 1 : 0) + (alive[at] ? 1 : 0) +
            (alive[at + pitch] ? 1 : 0) + (alive[at - pitch + 1] ? 1 : 0) + (alive[at + 1] ? 1 : 0) +
            (alive[at + pitch + 1] ? 1 : 0);
        const bool alive_new = around_value == 3 || (alive[at] && around_value == 4);
        alive_next[at] = alive_new;
        population_of_thread += static_cast<double>(alive_new ? 1 : 0);

        // Cells of alive_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_alive(alive_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double population_of_block = block_sum(population_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        population_partials[blockIdx.x + gridDim.x * blockIdx.y] = population_of_block;
}

// In place of game_of_life_step in steps whose results nobody reads; leaves out population.
// Reads alive, writes alive_next.
// Schedule: direct, blocks of 128x2 threads, 1x1 cells a thread.
// At least 2 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    game_of_life_step_states(const bool* __restrict__ alive, bool* __restrict__ alive_next, int nx, int ny,
                             int pitch) {
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const int around_value = (alive[at - pitch - 1] ? 1 : 0) + (alive[at - 1] ? 1 : 0) +
        (alive[at + pitch - 1] ? 1 : 0) + (alive[at - pitch] ? 1 : 0) + (alive[at] ? 1 : 0) +
        (alive[at + pitch] ? 1 : 0) + (alive[at - pitch + 1] ? 1 : 0) + (alive[at + 1] ? 1 : 0) +
        (alive[at + pitch + 1] ? 1 : 0);
    alive_next[at] = around_value == 3 || (alive[at] && around_value == 4);

    // Cells of alive_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_alive(alive_next, i, j, nx, ny, pitch);
}

// 6 time steps in one pass over memory. Reads alive, writes alive_next.
// Schedule: temporal steps=6 warps=12 cells=16 ahead=4 unroll=3 min_blocks=1 blocks=132.
extern "C" __global__ void __launch_bounds__(384, 1)
    game_of_life_6_steps(const bool* __restrict__ alive, bool* __restrict__ alive_next, int nx, int ny,
                         int pitch) {
    extern __shared__ double shared_memory[];
    constexpr int kSteps = 6;      // in one pass over memory
    constexpr int kWarps = 12;     // of a block
    constexpr int kCellsX = 16;    // of a thread
    constexpr int kWordsX = 4;     // that hold these, four in each
    constexpr int kTileX = 512;    // cells of a tile
    constexpr int kOutX = 480;     // of these, the output: right after all steps
    constexpr int kRing = 5;       // planes of the ring in shared memory
    constexpr int kRingRow = 640;  // elements of a row there, aligned as in memory

    // The same in all lanes: read from lane 0, so that the compiler knows.
    const int warp = __shfl_sync(0xffffffff, threadIdx.y, 0);
    const int lane_x = threadIdx.x * kCellsX;

    // All rows of all tiles are divided evenly among the warps.
    const int place = blockIdx.x * kWarps + warp;
    const int all_warps = gridDim.x * kWarps;
    const int tiles_x = (nx + kOutX - 1) / kOutX;
    const int tiles = tiles_x;
    // Equal parts of tiles are traversed side by side, where few warps are left without one.
    const int parts = all_warps / tiles;
    const bool is_even = parts > 0 && all_warps % tiles < 2 * kWarps;
    const int workers = is_even ? parts * tiles : all_warps;
    const int worker = is_even ? place % tiles * parts + place / tiles : place;
    const long long share_begin = static_cast<long long>(tiles) * ny * worker / workers;
    const long long share_end = static_cast<long long>(tiles) * ny * (worker + 1) / workers;
    const int first_tile = static_cast<int>(share_begin / ny);
    const int end_tile = place < workers ? static_cast<int>((share_end + ny - 1) / ny) : 0;

    auto& alive_ring = *reinterpret_cast<bool(*)[kRing * kWarps * kRingRow]>(shared_memory);
    unsigned alive_planes[6][2][4] = {};
    unsigned alive_row_sums[6][3][4] = {};

#pragma unroll 1
    for (int tile = first_tile; tile < end_tile; ++tile) {
        const int out_begin = max(static_cast<int>(share_begin - static_cast<long long>(tile) * ny), 0);
        const int out_end = min(static_cast<int>(share_end - static_cast<long long>(tile) * ny), ny);
        const int begin_i = tile * kOutX;
        const int end_i = min(begin_i + kOutX, nx);
        const int tile_i = begin_i - 16;
        const int i = tile_i + lane_x;
        const int into_line = (tile_i + 128) % 128 / kCellsX * kCellsX;
        const int from_i = i < 0 ? i + nx : i >= nx ? i - nx : i;
        const bool aligned = nx % kCellsX == 0 || (tile_i >= 0 && tile_i + kTileX <= nx);
        const int iterations = out_end - out_begin + 12;
        const int inner_begin = max(min(13 - out_begin, iterations), 0);
        const int inner_end = max(inner_begin, min(ny - out_begin + 2, iterations));
        const int steady = nx % kCellsX == 0 ? inner_begin : inner_end;

        const auto in_ring = [&](int slot) {
            return (slot * kWarps + warp) * kRingRow + into_line + lane_x;
        };
        // Copies this thread's cells of a plane to the ring, asynchronously.
        const auto fetch = [&](int slot, long long source, bool unaligned) {
            if (unaligned)
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    alive_ring[in_ring(slot) + x] =
                        alive[source + (i + x < 0 ? i + x + nx : i + x >= nx ? i + x - nx : i + x)];
            else
                copy16_async(alive_ring, in_ring(slot), alive + source + from_i);
        };
        __syncwarp();
#pragma unroll 1
        for (int plane = 1; plane < 5; ++plane) {
            fetch(plane - 1,
                  static_cast<long long>(out_begin + plane - 7 < 0 ? out_begin + plane + ny - 7 :
                                         out_begin + plane - 7 >= ny ? out_begin + plane - ny - 7 :
                                         out_begin + plane - 7) * pitch,
                  !aligned);
            commit_copies();
        }
        await_copies<3>();

        long long at = static_cast<long long>(out_begin - 7) * pitch;
        int oldest = 0;

        const auto traverse =
            [&](bool near_face, bool near_side, int begin, int end) __attribute__((always_inline)) {
#pragma unroll 3
            for (int iteration = begin; iteration < end; ++iteration) {
                const int k = out_begin + iteration - 7;
                load16(alive_planes[0][1], alive_ring + in_ring(oldest));
                fetch(oldest + 4 < kRing ? oldest + 4 : oldest - kRing + 4,
                      at +
                      (near_face ? (k + 5 < 0 ? k + ny + 5 : k + 5 >= ny ? k - ny + 5 : k + 5) - k :
                       5) * static_cast<long long>(pitch),
                      near_side && !aligned);
                commit_copies();
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    // The next plane of alive.
                    const int alive_plane = k - s;
                    unsigned alive_near[6];
                    copy_cells<kWordsX>(&alive_near[1], alive_planes[s][1]);
                    alive_near[0] = __shfl_up_sync(0xffffffff, alive_near[4], 1);
                    alive_near[5] = __shfl_down_sync(0xffffffff, alive_near[1], 1);
                    // Sums of neighbours in the newest row, which later rows read, too.
#pragma unroll
                    for (int x = 0; x < kWordsX; ++x)
                        alive_row_sums[s][2][x] = __funnelshift_r(alive_near[x], alive_near[x + 1], 24u) +
                            alive_near[x + 1] + __funnelshift_r(alive_near[x + 1], alive_near[x + 2], 8u);
                    unsigned alive_fresh[4];
#pragma unroll
                    for (int x = 0; x < kWordsX; ++x) {
                        const unsigned around_value = alive_row_sums[s][0][x] + alive_row_sums[s][1][x] +
                            alive_row_sums[s][2][x];
                        alive_fresh[x] = equal_lanes(around_value, 0x03030303u, 8) |
                            (alive_planes[s][0][x] & equal_lanes(around_value, 0x04040404u, 8));
                    }
                    if (s <= 4) copy_cells<kWordsX>(alive_planes[s + 1][1], alive_fresh);
                    if (s == 5 && alive_plane >= out_begin) {
                        bool* to = alive_next + at - 5 * static_cast<long long>(pitch) + i;
                        if (near_side && !aligned) {
#pragma unroll
                            for (int x = 0; x < kCellsX; ++x)
                                if (i + x >= begin_i && i + x < end_i)
                                    to[x] = static_cast<bool>(byte_of(alive_fresh[x / 4], x % 4));
                        } else if (i >= begin_i && i < end_i) {
                            store16(to, alive_fresh);
                        }
                    }
                }
                // Every plane moves down its queue.
#pragma unroll
                for (int level = 0; level < 6; ++level)
                    copy_cells<4>(alive_planes[level][0], alive_planes[level][1]);
#pragma unroll
                for (int level = 0; level < 6; ++level)
                    copy_cells<8>(alive_row_sums[level][0], alive_row_sums[level][1]);
                at += static_cast<long long>(pitch);
                oldest = oldest + 1 < kRing ? oldest + 1 : 0;
                await_copies<3>();
            }
        };
        // Near a face of y, at a face of x, in the steady state, and near a face of y again.
        // The shuffle hides the 0 from NVVM of CUDA 13.0, which unrolls the loop wrongly where it knows it.
        traverse(true, true, __shfl_sync(0xffffffff, 0, 0), inner_begin);
        traverse(false, true, inner_begin, steady);
        traverse(false, false, steady, inner_end);
        traverse(true, true, inner_end, iterations);
        await_copies<0>();
    }
}
