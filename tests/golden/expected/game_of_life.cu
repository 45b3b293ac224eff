// game_of_life: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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
