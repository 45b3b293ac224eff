// game_of_life: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Four neighbouring bytes as one word, the first of them lowest; `from` is aligned to all of them.
template <class Byte>
__device__ __forceinline__ void load4(unsigned* to, const Byte* from) {
    *to = reinterpret_cast<const uint1*>(from)->x;
}

template <class Byte>
__device__ __forceinline__ void store4(Byte* to, unsigned word) {
    *reinterpret_cast<uint1*>(to) = make_uint1(word);
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

// Ones in the first `count` of a word's four bytes; all of them where there are more.
__device__ __forceinline__ unsigned first_bytes(int count) {
    return count < 4 ? (1u << 8 * count) - 1 : ~0u;
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
// Schedule: direct, blocks of 128x2 threads, 4x2 cells a thread.
// At least 2 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    game_of_life_step(const bool* __restrict__ alive, bool* __restrict__ alive_next, int nx, int ny,
                      int pitch, double* __restrict__ population_partials) {
    constexpr int kCellsX = 4, kCellsY = 2;
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;

    double population_of_thread = 0.0;
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[kCellsY + 2];
#pragma unroll
        for (int y = 0; y < kCellsY + 2; ++y)
            row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;

        unsigned alive_cells[kCellsY + 2][3];
#pragma unroll
        for (int y = 0; y < 4; ++y) {
            const bool* alive_row = alive + row[y] + i;
            load4(alive_cells[y], alive_row - 4);
            load4(&alive_cells[y][1], alive_row);
            load4(&alive_cells[y][2], alive_row + 4);
        }

        // Sums of neighbours in a row, which rows of cells share.
        unsigned alive_sums[kCellsY + 2];
#pragma unroll
        for (int y = 0; y < kCellsY + 2; ++y)
            alive_sums[y] = __funnelshift_r(alive_cells[y][0], alive_cells[y][1], 24u) + alive_cells[y][1] +
                __funnelshift_r(alive_cells[y][1], alive_cells[y][2], 8u);
#pragma unroll
        for (int y = 0; y < kCellsY; ++y) {
            // Four cells of the row at once, each in a byte of a word or in half of one.
            const unsigned around_value = alive_sums[y] + alive_sums[y + 1] + alive_sums[y + 2];
            const unsigned alive_new = equal_lanes(around_value, 0x03030303u, 8) |
                (alive_cells[y + 1][1] & equal_lanes(around_value, 0x04040404u, 8));
            if (j + y < ny) {
                population_of_thread +=
                    static_cast<double>(__dp4a(alive_new & first_bytes(nx - i), 0x01010101u, 0u));
                if (i + kCellsX <= nx)
                    store4(alive_next + row[y + 1] + i, alive_new);
                else
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        if (i + x < nx)
                            alive_next[row[y + 1] + i + x] = static_cast<bool>(byte_of(alive_new, x));
            }
        }

        // Cells of alive_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j + 1 >= ny - 1;
        if (near_face || i < 1 || i + 3 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 4; ++x)
                if (near_face || i + x < 1 || i + x >= nx - 1)
#pragma unroll 1
                    for (int y = 0; y < 2; ++y)
                        if (i + x < nx && j + y < ny)
                            store_images_alive(alive_next, i + x, j + y, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double population_of_block = block_sum(population_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        population_partials[blockIdx.x + gridDim.x * blockIdx.y] = population_of_block;
}

// In place of game_of_life_step in steps whose results nobody reads; leaves out population.
// Reads alive, writes alive_next.
// Schedule: direct, blocks of 128x2 threads, 4x2 cells a thread.
// At least 2 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 5)
    game_of_life_step_states(const bool* __restrict__ alive, bool* __restrict__ alive_next, int nx, int ny,
                             int pitch) {
    constexpr int kCellsX = 4, kCellsY = 2;
    constexpr int kThreadsX = 128, kThreadsY = 2;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = (blockIdx.y * kThreadsY + threadIdx.y) * kCellsY;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        row[y] = static_cast<long long>(min(j + y - 1, ny)) * pitch;

    unsigned alive_cells[kCellsY + 2][3];
#pragma unroll
    for (int y = 0; y < 4; ++y) {
        const bool* alive_row = alive + row[y] + i;
        load4(alive_cells[y], alive_row - 4);
        load4(&alive_cells[y][1], alive_row);
        load4(&alive_cells[y][2], alive_row + 4);
    }

    // Sums of neighbours in a row, which rows of cells share.
    unsigned alive_sums[kCellsY + 2];
#pragma unroll
    for (int y = 0; y < kCellsY + 2; ++y)
        alive_sums[y] = __funnelshift_r(alive_cells[y][0], alive_cells[y][1], 24u) + alive_cells[y][1] +
            __funnelshift_r(alive_cells[y][1], alive_cells[y][2], 8u);
#pragma unroll
    for (int y = 0; y < kCellsY; ++y) {
        // Four cells of the row at once, each in a byte of a word or in half of one.
        const unsigned around_value = alive_sums[y] + alive_sums[y + 1] + alive_sums[y + 2];
        const unsigned alive_new = equal_lanes(around_value, 0x03030303u, 8) |
            (alive_cells[y + 1][1] & equal_lanes(around_value, 0x04040404u, 8));
        if (j + y < ny) {
            if (i + kCellsX <= nx)
                store4(alive_next + row[y + 1] + i, alive_new);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx) alive_next[row[y + 1] + i + x] = static_cast<bool>(byte_of(alive_new, x));
        }
    }

    // Cells of alive_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j + 1 >= ny - 1;
    if (near_face || i < 1 || i + 3 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 4; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
#pragma unroll 1
                for (int y = 0; y < 2; ++y)
                    if (i + x < nx && j + y < ny) store_images_alive(alive_next, i + x, j + y, nx, ny, pitch);
}
