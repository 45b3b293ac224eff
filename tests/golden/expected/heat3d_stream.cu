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
// Schedule: streaming along the slowest axis, blocks of 32x16x1 threads, 4x1x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(512, 1)
    heat3d_step(const float* __restrict__ u, float* __restrict__ u_next, int nx, int ny, int nz, int pitch,
                long long slice, float lambda_dt) {
    extern __shared__ double shared_memory[];
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 32, kThreadsY = 16;
    constexpr int kPlanes = 8;  // that a block traverses

    const int tile_i = blockIdx.x * kThreadsX * kCellsX;
    const int i = tile_i + threadIdx.x * kCellsX;
    const int tile_j = blockIdx.y * kThreadsY;
    const int j = tile_j + threadIdx.y;
    const int thread = threadIdx.y * kThreadsX + threadIdx.x;
    const int first_plane = blockIdx.z * kPlanes;
    const int end_plane = min(first_plane + kPlanes, nz);
    auto& u_ring = *reinterpret_cast<float(*)[17472]>(shared_memory);
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
    float u_queue[3][4];
    int u_slot = 0;

    // What is read of u behind the first plane that is on its way.
#pragma unroll
    for (int slot = 0; slot < 2; ++slot)
        load4(u_queue[slot],
              u + (first_plane + slot - 1) * slice + static_cast<long long>(min(j, ny)) * pitch +
              min(i, (nx - 1) / kCellsX * kCellsX));

    // The planes of the first turn, and those that are on their way then.
#pragma unroll 1
    for (int slot = 0; slot < 2; ++slot) {
        const long long u_plane = (first_plane + slot) * slice;
        const int u_into = slot * 2912;
        copy4_async(u_ring, u_into + u_copy_row * 160 + u_copy_column + 32,
                    u + u_plane + static_cast<long long>(min(tile_j + u_copy_row - 1, ny)) * pitch +
                    min(tile_i + u_copy_column, nx / 4 * 4));
        if (u_copy_row < 2)
            copy4_async(u_ring, u_into + (u_copy_row + 16) * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 15, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
        if (thread < 36) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
    }
    commit_copies();
#pragma unroll 1
    for (int early = 1; early < 4; ++early) {
        if (first_plane + early + 1 < end_plane + 1) {
            const long long u_plane = (first_plane + early + 1) * slice;
            const int u_into = (early + 1) * 2912;
            copy4_async(u_ring, u_into + u_copy_row * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row - 1, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
            if (u_copy_row < 2)
                copy4_async(u_ring, u_into + (u_copy_row + 16) * 160 + u_copy_column + 32,
                            u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 15, ny)) * pitch +
                            min(tile_i + u_copy_column, nx / 4 * 4));
            if (thread < 36) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
        }
        commit_copies();
    }

#pragma unroll 3
    for (int k = first_plane; k < end_plane; ++k) {
        // All threads have what was due, and are done with the oldest planes.
        await_copies<3>();
        __syncthreads();
        if (k + 4 < end_plane) {
            const long long u_plane = (k + 5) * slice;
            const int u_into = (u_slot < 1 ? u_slot + 5 : u_slot - 1) * 2912;
            copy4_async(u_ring, u_into + u_copy_row * 160 + u_copy_column + 32,
                        u + u_plane + static_cast<long long>(min(tile_j + u_copy_row - 1, ny)) * pitch +
                        min(tile_i + u_copy_column, nx / 4 * 4));
            if (u_copy_row < 2)
                copy4_async(u_ring, u_into + (u_copy_row + 16) * 160 + u_copy_column + 32,
                            u + u_plane + static_cast<long long>(min(tile_j + u_copy_row + 15, ny)) * pitch +
                            min(tile_i + u_copy_column, nx / 4 * 4));
            if (thread < 36) copy4_async(u_ring, u_into + u_target[0], u + u_plane + u_source[0]);
        }
        commit_copies();

        float u_near[3][6];
        const int u_at_1 = (u_slot < 5 ? u_slot + 1 : u_slot - 5) * 2912 + u_here;
        load4(u_queue[2], u_ring + u_at_1);
        const int u_at_0 = u_slot * 2912 + u_here;
        load4(&u_near[0][1], u_ring + u_at_0 - 160);
        u_near[1][0] = u_ring[u_at_0 - 1];
        u_near[1][5] = u_ring[u_at_0 + 4];
        load4(&u_near[2][1], u_ring + u_at_0 + 160);
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            u_near[1][x + 1] = u_queue[1][x];

        float u_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            u_next_result[x] = fmaf(lambda_dt,
                                    fmaf(-6.0f, u_queue[1][x],
                                         u_near[1][x] + u_near[1][x + 2] + u_near[0][x + 1] +
                                         u_near[2][x + 1] + u_queue[0][x] + u_queue[2][x]),
                                    u_queue[1][x]);
        if (j < ny) {
            if (i + kCellsX <= nx)
                store4(u_next + k * slice + static_cast<long long>(j) * pitch + i, u_next_result);
            else
#pragma unroll
                for (int x = 0; x < kCellsX; ++x)
                    if (i + x < nx)
                        u_next[k * slice + static_cast<long long>(j) * pitch + i + x] = u_next_result[x];
        }

        // Every plane moves up its queue.
#pragma unroll
        for (int slot = 0; slot < 2; ++slot)
#pragma unroll
            for (int x = 0; x < 4; ++x)
                u_queue[slot][x] = u_queue[slot + 1][x];
        u_slot = u_slot < 5 ? u_slot + 1 : u_slot - 5;
    }
}
