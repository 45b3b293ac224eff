// star3d4: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y, 4 below and 4 above along z.

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
    star3d4_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                 long long slice) {
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
    auto& u_ring = *reinterpret_cast<float(*)[51456]>(shared_memory);
    const int u_copy_row = thread / 32;
    const int u_copy_column = thread % 32 * 4;
    // Where the vectors lie that this thread copies of the halo beside the tile.
    long long u_source[1];
    int u_target[1];
    {
        const int vector = thread;
        const int ring_row = vector / 2;
        const int ring_column = (vector % 2 < 1 ? vector % 2 - 1 : vector % 2 + 31) * 4;
        u_source[0] = static_cast<long long>(min(tile_j + ring_row - 4, ny + 3)) * pitch +
            min(tile_i + ring_column, (nx + 3) / 4 * 4);
        u_target[0] = ring_row * 160 + ring_column + 32;
    }
    const int u_here = (j - tile_j + 4) * 160 + i - tile_i + 32;
    float u_queue[9][4][4];
    int u_slot = 0;

    // What is read of u behind the first plane that is on its way.
#pragma unroll
    for (int slot = 0; slot < 8; ++slot)
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(u_queue[slot][y],
                  u + (first_plane + slot - 4) * slice + static_cast<long long>(min(j + y, ny + 3)) * pitch +
                  min(i, (nx - 1) / kCellsX * kCellsX));

    // The planes of the first turn, and those that are on their way then.
#pragma unroll 1
    for (int slot = 0; slot < 5; ++slot) {
        const long long u_plane = (first_plane + slot) * slice;
        const int u_into = slot * 6432;
#pragma unroll
        for (int n = 0; n < 5; ++n)
            copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                        u + u_plane +
                        static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 4, ny + 3)) * pitch +
                        min(tile_i + u_copy_column, (nx + 3) / 4 * 4));
        if (thread < 80) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
    }
    commit_copies();
#pragma unroll 1
    for (int early = 1; early < 3; ++early) {
        if (first_plane + early + 4 < end_plane + 4) {
            const long long u_plane = (first_plane + early + 4) * slice;
            const int u_into = (early + 4) * 6432;
#pragma unroll
            for (int n = 0; n < 5; ++n)
                copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                            u + u_plane +
                            static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 4, ny + 3)) * pitch +
                            min(tile_i + u_copy_column, (nx + 3) / 4 * 4));
            if (thread < 80) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
        }
        commit_copies();
    }

#pragma unroll 1
    for (int k = first_plane; k < end_plane; ++k) {
        // All threads have what was due, and are done with the oldest planes.
        await_copies<2>();
        __syncthreads();
        if (k + 3 < end_plane) {
            const long long u_plane = (k + 7) * slice;
            const int u_into = (u_slot < 1 ? u_slot + 7 : u_slot - 1) * 6432;
#pragma unroll
            for (int n = 0; n < 5; ++n)
                copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                            u + u_plane +
                            static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 4, ny + 3)) * pitch +
                            min(tile_i + u_copy_column, (nx + 3) / 4 * 4));
            if (thread < 80) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
        }
        commit_copies();

        float u_near[12][12];
        const int u_at_4 = (u_slot < 4 ? u_slot + 4 : u_slot - 4) * 6432 + u_here;
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(u_queue[8][y], u_ring + u_at_4 + y * 160);
        const int u_at_0 = u_slot * 6432 + u_here;
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(&u_near[y][4], u_ring + u_at_0 + (y - 4) * 160);
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(u_near[y + 4], u_ring + u_at_0 + y * 160 - 4);
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(&u_near[y + 4][8], u_ring + u_at_0 + y * 160 + 4);
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(&u_near[y + 8][4], u_ring + u_at_0 + (y + 4) * 160);
#pragma unroll
        for (int y = 0; y < 4; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_near[y + 4][x + 4] = u_queue[4][y][x];

#pragma unroll
        for (int y = 0; y < 4; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                float u_new = fmaf(0.061f, u_near[y + 4][x + 3], 0.23f * u_queue[4][y][x]);
                u_new = fmaf(0.063f, u_near[y + 4][x + 5], u_new);
                u_new = fmaf(0.065f, u_near[y + 3][x + 4], u_new);
                u_new = fmaf(0.067f, u_near[y + 5][x + 4], u_new);
                u_new = fmaf(0.069f, u_queue[3][y][x], u_new);
                u_new = fmaf(0.071f, u_queue[5][y][x], u_new);
                u_new = fmaf(0.031f, u_near[y + 4][x + 2], u_new);
                u_new = fmaf(0.033f, u_near[y + 4][x + 6], u_new);
                u_new = fmaf(0.035f, u_near[y + 2][x + 4], u_new);
                u_new = fmaf(0.037f, u_near[y + 6][x + 4], u_new);
                u_new = fmaf(0.039f, u_queue[2][y][x], u_new);
                u_new = fmaf(0.041f, u_queue[6][y][x], u_new);
                u_new = fmaf(0.016f, u_near[y + 4][x + 1], u_new);
                u_new = fmaf(0.017f, u_near[y + 4][x + 7], u_new);
                u_new = fmaf(0.018f, u_near[y + 1][x + 4], u_new);
                u_new = fmaf(0.019f, u_near[y + 7][x + 4], u_new);
                u_new = fmaf(0.021f, u_queue[1][y][x], u_new);
                u_new = fmaf(0.022f, u_queue[7][y][x], u_new);
                u_new = fmaf(0.005f, u_near[y + 4][x], u_new);
                u_new = fmaf(0.006f, u_near[y + 4][x + 8], u_new);
                u_new = fmaf(0.007f, u_near[y][x + 4], u_new);
                u_new = fmaf(0.008f, u_near[y + 8][x + 4], u_new);
                u_new = fmaf(0.009f, u_queue[0][y][x], u_new);
                u_new = fmaf(0.01f, u_queue[8][y][x], u_new);
                u_next_result[x] = u_new;
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
        for (int slot = 0; slot < 8; ++slot)
#pragma unroll
            for (int y = 0; y < 4; ++y)
#pragma unroll
                for (int x = 0; x < 4; ++x)
                    u_queue[slot][y][x] = u_queue[slot + 1][y][x];
        u_slot = u_slot < 7 ? u_slot + 1 : u_slot - 7;
    }
}
