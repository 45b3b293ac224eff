// star3d2: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y, 2 below and 2 above along z.

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
    star3d2_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
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
    auto& u_ring = *reinterpret_cast<float(*)[28960]>(shared_memory);
    const int u_copy_row = thread / 32;
    const int u_copy_column = thread % 32 * 4;
    // Where the vectors lie that this thread copies of the halo beside the tile.
    long long u_source[1];
    int u_target[1];
    {
        const int vector = thread;
        const int ring_row = vector / 2;
        const int ring_column = (vector % 2 < 1 ? vector % 2 - 1 : vector % 2 + 31) * 4;
        u_source[0] = static_cast<long long>(min(tile_j + ring_row - 2, ny + 1)) * pitch +
            min(tile_i + ring_column, (nx + 1) / 4 * 4);
        u_target[0] = ring_row * 160 + ring_column + 32;
    }
    const int u_here = (j - tile_j + 2) * 160 + i - tile_i + 32;
    float u_queue[5][4][4];
    int u_slot = 0;

    // What is read of u behind the first plane that is on its way.
#pragma unroll
    for (int slot = 0; slot < 4; ++slot)
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(u_queue[slot][y],
                  u + (first_plane + slot - 2) * slice + static_cast<long long>(min(j + y, ny + 1)) * pitch +
                  min(i, (nx - 1) / kCellsX * kCellsX));

    // The planes of the first turn, and those that are on their way then.
#pragma unroll 1
    for (int slot = 0; slot < 3; ++slot) {
        const long long u_plane = (first_plane + slot) * slice;
        const int u_into = slot * 5792;
#pragma unroll
        for (int n = 0; n < 4; ++n)
            copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                        u + u_plane +
                        static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 2, ny + 1)) * pitch +
                        min(tile_i + u_copy_column, (nx + 1) / 4 * 4));
        if (u_copy_row < 4)
            copy4_async(u_ring, u_into + (u_copy_row + 32) * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 30, ny + 1)) * pitch +
                        min(tile_i + u_copy_column, (nx + 1) / 4 * 4));
        if (thread < 72) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
    }
    commit_copies();
    if (first_plane + 3 < end_plane + 2) {
        const long long u_plane = (first_plane + 3) * slice;
        const int u_into = 17376;
#pragma unroll
        for (int n = 0; n < 4; ++n)
            copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                        u + u_plane +
                        static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 2, ny + 1)) * pitch +
                        min(tile_i + u_copy_column, (nx + 1) / 4 * 4));
        if (u_copy_row < 4)
            copy4_async(u_ring, u_into + (u_copy_row + 32) * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 30, ny + 1)) * pitch +
                        min(tile_i + u_copy_column, (nx + 1) / 4 * 4));
        if (thread < 72) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
    }
    commit_copies();

#pragma unroll 5
    for (int k = first_plane; k < end_plane; ++k) {
        // All threads have what was due, and are done with the oldest planes.
        await_copies<1>();
        __syncthreads();
        if (k + 2 < end_plane) {
            const long long u_plane = (k + 4) * slice;
            const int u_into = (u_slot < 1 ? u_slot + 4 : u_slot - 1) * 5792;
#pragma unroll
            for (int n = 0; n < 4; ++n)
                copy4_async(u_ring, u_into + (u_copy_row + n * 8) * 160 + u_copy_column + 32,
                            u + u_plane +
                            static_cast<long long>(min(tile_j + u_copy_row + n * 8 - 2, ny + 1)) * pitch +
                            min(tile_i + u_copy_column, (nx + 1) / 4 * 4));
            if (u_copy_row < 4)
                copy4_async(u_ring, u_into + (u_copy_row + 32) * 160 + u_copy_column + 32,
                            u + u_plane +
                            static_cast<long long>(min(tile_j + u_copy_row + 30, ny + 1)) * pitch +
                            min(tile_i + u_copy_column, (nx + 1) / 4 * 4));
            if (thread < 72) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
        }
        commit_copies();

        float u_near[8][8];
        const int u_at_2 = (u_slot < 3 ? u_slot + 2 : u_slot - 3) * 5792 + u_here;
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load4(u_queue[4][y], u_ring + u_at_2 + y * 160);
        const int u_at_0 = u_slot * 5792 + u_here;
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load4(&u_near[y][2], u_ring + u_at_0 + (y - 2) * 160);
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(u_near[y + 2], u_ring + u_at_0 + y * 160 - 2);
#pragma unroll
        for (int y = 0; y < 4; ++y)
            load2(&u_near[y + 2][6], u_ring + u_at_0 + y * 160 + 4);
#pragma unroll
        for (int y = 0; y < 2; ++y)
            load4(&u_near[y + 6][2], u_ring + u_at_0 + (y + 4) * 160);
#pragma unroll
        for (int y = 0; y < 4; ++y)
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                u_near[y + 2][x + 2] = u_queue[2][y][x];

#pragma unroll
        for (int y = 0; y < 4; ++y) {
            float u_next_result[kCellsX];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x) {
                float u_new = fmaf(0.081f, u_near[y + 2][x + 1], 0.256f * u_queue[2][y][x]);
                u_new = fmaf(0.084f, u_near[y + 2][x + 3], u_new);
                u_new = fmaf(0.087f, u_near[y + 1][x + 2], u_new);
                u_new = fmaf(0.089f, u_near[y + 3][x + 2], u_new);
                u_new = fmaf(0.092f, u_queue[1][y][x], u_new);
                u_new = fmaf(0.095f, u_queue[3][y][x], u_new);
                u_new = fmaf(0.031f, u_near[y + 2][x], u_new);
                u_new = fmaf(0.033f, u_near[y + 2][x + 4], u_new);
                u_new = fmaf(0.035f, u_near[y][x + 2], u_new);
                u_new = fmaf(0.037f, u_near[y + 4][x + 2], u_new);
                u_new = fmaf(0.039f, u_queue[0][y][x], u_new);
                u_new = fmaf(0.041f, u_queue[4][y][x], u_new);
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
        for (int slot = 0; slot < 4; ++slot)
#pragma unroll
            for (int y = 0; y < 4; ++y)
#pragma unroll
                for (int x = 0; x < 4; ++x)
                    u_queue[slot][y][x] = u_queue[slot + 1][y][x];
        u_slot = u_slot < 4 ? u_slot + 1 : u_slot - 4;
    }
}
