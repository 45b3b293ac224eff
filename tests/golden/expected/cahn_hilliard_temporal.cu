// cahn_hilliard: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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
__device__ inline void store_images_mu(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads c, writes mu, reduces to energy.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                     float minus_gamma, float gamma, double* __restrict__ energy_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double energy_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float product = c[at] * c[at];
        const float mu_value = fmaf(minus_gamma,
                                    fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                                    fmaf(product, c[at], -c[at]));
        const float difference = product - 1.0f;
        const float difference_2 = c[at + 1] - c[at];
        const float difference_3 = c[at + pitch] - c[at];
        mu[at] = mu_value;
        energy_of_thread += static_cast<double>(fmaf(gamma,
                                                     fmaf(difference_3, difference_3,
                                                          difference_2 * difference_2),
                                                     0.25f * (difference * difference)));

        // Cells of mu near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double energy_of_block = block_sum(energy_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        energy_partials[blockIdx.x + gridDim.x * blockIdx.y] = energy_of_block;
}

// In place of cahn_hilliard_mu in steps whose results nobody reads; leaves out energy.
// Reads c, writes mu.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_mu_states(const float* __restrict__ c, float* __restrict__ mu, int nx, int ny, int pitch,
                            float minus_gamma) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    mu[at] = fmaf(minus_gamma, fmaf(-4.0f, c[at], c[at - 1] + c[at + 1] + c[at - pitch] + c[at + pitch]),
                  fmaf(c[at] * c[at], c[at], -c[at]));

    // Cells of mu near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(mu, i, j, nx, ny, pitch);
}

// Reads c, mu, writes c_next, reduces to mass.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c(const float* __restrict__ c, const float* __restrict__ mu, float* __restrict__ c_next,
                    int nx, int ny, int pitch, float dt_M, double* __restrict__ mass_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double mass_of_thread = 0.0;
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float c_new =
            fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);
        c_next[at] = c_new;
        mass_of_thread += static_cast<double>(c_new);

        // Cells of c_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double mass_of_block = block_sum(mass_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        mass_partials[blockIdx.x + gridDim.x * blockIdx.y] = mass_of_block;
}

// In place of cahn_hilliard_c in steps whose results nobody reads; leaves out mass.
// Reads c, mu, writes c_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cahn_hilliard_c_states(const float* __restrict__ c, const float* __restrict__ mu,
                           float* __restrict__ c_next, int nx, int ny, int pitch, float dt_M) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    c_next[at] =
        fmaf(dt_M, fmaf(-4.0f, mu[at], mu[at - 1] + mu[at + 1] + mu[at - pitch] + mu[at + pitch]), c[at]);

    // Cells of c_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_mu(c_next, i, j, nx, ny, pitch);
}

// 4 time steps in one pass over memory. Reads c, writes c_next.
// Schedule: temporal steps=4 warps=4 cells=4 ahead=4 unroll=3 min_blocks=4 blocks=528.
extern "C" __global__ void __launch_bounds__(128, 4)
    cahn_hilliard_4_steps(const float* __restrict__ c, float* __restrict__ c_next, int nx, int ny, int pitch,
                          float minus_gamma, float dt_M) {
    extern __shared__ double shared_memory[];
    constexpr int kSteps = 4;      // in one pass over memory
    constexpr int kWarps = 4;      // of a block
    constexpr int kCellsX = 4;     // of a thread
    constexpr int kTileX = 128;    // cells of a tile
    constexpr int kOutX = 112;     // of these, the output: right after all steps
    constexpr int kRing = 5;       // planes of the ring in shared memory
    constexpr int kRingRow = 160;  // elements of a row there, aligned as in memory

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

    auto& c_ring = *reinterpret_cast<float(*)[kRing * kWarps * kRingRow]>(shared_memory);
    float c_planes[4][3][4] = {};
    float mu_planes[4][3][4] = {};

#pragma unroll 1
    for (int tile = first_tile; tile < end_tile; ++tile) {
        const int out_begin = max(static_cast<int>(share_begin - static_cast<long long>(tile) * ny), 0);
        const int out_end = min(static_cast<int>(share_end - static_cast<long long>(tile) * ny), ny);
        const int begin_i = tile * kOutX;
        const int end_i = min(begin_i + kOutX, nx);
        const int tile_i = begin_i - 8;
        const int i = tile_i + lane_x;
        const int into_line = (tile_i + 32) % 32 / kCellsX * kCellsX;
        const int from_i = i < 0 ? i + nx : i >= nx ? i - nx : i;
        const bool aligned = nx % kCellsX == 0 || (tile_i >= 0 && tile_i + kTileX <= nx);
        const int iterations = out_end - out_begin + 16;
        const int inner_begin = max(min(17 - out_begin, iterations), 0);
        const int inner_end = max(inner_begin, min(ny - out_begin + 4, iterations));
        const int steady = nx % kCellsX == 0 ? inner_begin : inner_end;

        const auto in_ring = [&](int slot) {
            return (slot * kWarps + warp) * kRingRow + into_line + lane_x;
        };
        // Copies this thread's cells of a plane to the ring, asynchronously.
        const auto fetch = [&](int slot, long long source, bool unaligned) {
            if (unaligned)
                for (int x = 0; x < kCellsX; ++x)
                    copy_async(c_ring, in_ring(slot) + x,
                               c + source + (i + x < 0 ? i + x + nx : i + x >= nx ? i + x - nx : i + x));
            else
                copy4_async(c_ring, in_ring(slot), c + source + from_i);
        };
        __syncwarp();
#pragma unroll 1
        for (int plane = 1; plane < 5; ++plane) {
            fetch(plane - 1,
                  static_cast<long long>(out_begin + plane - 9 < 0 ? out_begin + plane + ny - 9 :
                                         out_begin + plane - 9 >= ny ? out_begin + plane - ny - 9 :
                                         out_begin + plane - 9) * pitch,
                  !aligned);
            commit_copies();
        }
        await_copies<3>();

        long long at = static_cast<long long>(out_begin - 9) * pitch;
        int oldest = 0;

        const auto traverse =
            [&](bool near_face, bool near_side, int begin, int end) __attribute__((always_inline)) {
#pragma unroll 3
            for (int iteration = begin; iteration < end; ++iteration) {
                const int k = out_begin + iteration - 9;
                load4(c_planes[0][2], c_ring + in_ring(oldest));
                fetch(oldest + 4 < kRing ? oldest + 4 : oldest - kRing + 4,
                      at +
                      (near_face ? (k + 5 < 0 ? k + ny + 5 : k + 5 >= ny ? k - ny + 5 : k + 5) - k :
                       5) * static_cast<long long>(pitch),
                      near_side && !aligned);
                commit_copies();
#pragma unroll
                for (int s = 0; s < kSteps; ++s) {
                    // The next plane of mu.
                    float c_near[6];
                    copy_cells<kCellsX>(&c_near[1], c_planes[s][1]);
                    c_near[0] = __shfl_up_sync(0xffffffff, c_near[4], 1);
                    c_near[5] = __shfl_down_sync(0xffffffff, c_near[1], 1);
                    float mu_fresh[4];
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        mu_fresh[x] = fmaf(minus_gamma,
                                           fmaf(-4.0f, c_planes[s][1][x],
                                                c_near[x] + c_near[x + 2] + c_planes[s][0][x] +
                                                c_planes[s][2][x]),
                                           fmaf(c_planes[s][1][x] * c_planes[s][1][x], c_planes[s][1][x],
                                                -c_planes[s][1][x]));
                    copy_cells<kCellsX>(mu_planes[s][2], mu_fresh);
                    // The next plane of c.
                    const int c_plane = k - s * 2 - 1;
                    float mu_near[6];
                    copy_cells<kCellsX>(&mu_near[1], mu_planes[s][1]);
                    mu_near[0] = __shfl_up_sync(0xffffffff, mu_near[4], 1);
                    mu_near[5] = __shfl_down_sync(0xffffffff, mu_near[1], 1);
                    float c_fresh[4];
#pragma unroll
                    for (int x = 0; x < kCellsX; ++x)
                        c_fresh[x] = fmaf(dt_M,
                                          fmaf(-4.0f, mu_planes[s][1][x],
                                               mu_near[x] + mu_near[x + 2] + mu_planes[s][0][x] +
                                               mu_planes[s][2][x]),
                                          c_planes[s][0][x]);
                    if (s <= 2) copy_cells<kCellsX>(c_planes[s + 1][2], c_fresh);
                    if (s == 3 && c_plane >= out_begin) {
                        float* to = c_next + at - 7 * static_cast<long long>(pitch) + i;
                        if (near_side && !aligned) {
                            for (int x = 0; x < kCellsX; ++x)
                                if (i + x >= begin_i && i + x < end_i) to[x] = c_fresh[x];
                        } else if (i >= begin_i && i < end_i) {
                            store4(to, c_fresh);
                        }
                    }
                }
                // Every plane moves down its queue.
#pragma unroll
                for (int level = 0; level < 4; ++level)
                    copy_cells<8>(c_planes[level][0], c_planes[level][1]);
#pragma unroll
                for (int level = 0; level < 4; ++level)
                    copy_cells<8>(mu_planes[level][0], mu_planes[level][1]);
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
