// gray_scott: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(float* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
}

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
}

// The lesser of two; NaN where either is.
__device__ __forceinline__ double keep_min(double a, double b) {
    return a < b || a != a ? a : b;
}

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
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

// The least of the block's threads; thread 0 gets it.
__device__ inline double block_min(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_min(value, __shfl_down_sync(~0u, value, lanes));
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = of_warp[thread < warps ? thread : 0];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_min(value, __shfl_down_sync(~0u, value, lanes));
    return value;
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

// Stores a cell once more wherever the halo shows it: x periodic, y periodic.
__device__ inline void store_images_u(float* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) return;
    const float value = u[static_cast<long long>(j) * pitch + i];
    for (int y = first_image(j, ny, 1); y < ny + 1; y += ny)
        for (int x = first_image(i, nx, 1); x < nx + 1; x += nx)
            u[static_cast<long long>(y) * pitch + x] = value;
}

// Reads u, v, writes u_next, v_next, reduces to total, reduces to gain, reduces to lowest, reduces to
// highest.
// Schedule: direct, blocks of 32x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    gray_scott_step(const float* __restrict__ u, const float* __restrict__ v, float* __restrict__ u_next,
                    float* __restrict__ v_next, int nx, int ny, int pitch, float dt, float Du, float F,
                    float Dv, float scale, double* __restrict__ total_partials,
                    double* __restrict__ gain_partials, double* __restrict__ lowest_partials,
                    double* __restrict__ highest_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double total_of_thread = 0.0;
    double gain_of_thread = 0.0;
    double lowest_of_thread = __longlong_as_double(0x7ff0000000000000LL);
    double highest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        float u_cells[3][kCellsX + 2];
        load2(&u_cells[0][1], u + row[0] + i);
        const float* u_row = u + row[1] + i;
        u_cells[1][0] = u_row[-1];
        load2(&u_cells[1][1], u_row);
        u_cells[1][3] = u_row[2];
        load2(&u_cells[2][1], u + row[2] + i);
        float v_cells[3][kCellsX + 2];
        load2(&v_cells[0][1], v + row[0] + i);
        const float* v_row = v + row[1] + i;
        v_cells[1][0] = v_row[-1];
        load2(&v_cells[1][1], v_row);
        v_cells[1][3] = v_row[2];
        load2(&v_cells[2][1], v + row[2] + i);

        float u_next_result[kCellsX];
        float v_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const float reaction_value = u_cells[1][x + 1] * (v_cells[1][x + 1] * v_cells[1][x + 1]);
            const float product = F * (1.0f - u_cells[1][x + 1]);
            const float u_new = fmaf(dt,
                                     fmaf(Du,
                                          fmaf(-4.0f, u_cells[1][x + 1],
                                               u_cells[1][x] + u_cells[1][x + 2] + u_cells[0][x + 1] +
                                               u_cells[2][x + 1]),
                                          -reaction_value) + product,
                                     u_cells[1][x + 1]);
            const float product_2 = scale * v_cells[1][x + 1];
            const float v_new = fmaf(dt,
                                     fmaf(Dv,
                                          fmaf(-4.0f, v_cells[1][x + 1],
                                               v_cells[1][x] + v_cells[1][x + 2] + v_cells[0][x + 1] +
                                               v_cells[2][x + 1]),
                                          reaction_value) - product_2,
                                     v_cells[1][x + 1]);
            u_next_result[x] = u_new;
            v_next_result[x] = v_new;
            if (i + x < nx) {
                total_of_thread += static_cast<double>(u_new + v_new);
                gain_of_thread += static_cast<double>(product - product_2);
                lowest_of_thread =
                    keep_min(lowest_of_thread, static_cast<double>(u_new < v_new ? u_new : v_new));
                highest_of_thread =
                    keep_max(highest_of_thread, static_cast<double>(u_new > v_new ? u_new : v_new));
            }
        }
        if (i + kCellsX <= nx) {
            store2(u_next + row[1] + i, u_next_result);
            store2(v_next + row[1] + i, v_next_result);
        } else {
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) u_next[row[1] + i + x] = u_next_result[x];
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) v_next[row[1] + i + x] = v_next_result[x];
        }

        // Cells of u_next near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1;
        if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face || i + x < 1 || i + x >= nx - 1)
                    if (i + x < nx) store_images_u(u_next, i + x, j, nx, ny, pitch);

        // Cells of v_next near a face are shown by halo cells, too.
        const bool near_face_2 = j < 1 || j >= ny - 1;
        if (near_face_2 || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
            for (int x = 0; x < 2; ++x)
                if (near_face_2 || i + x < 1 || i + x >= nx - 1)
                    if (i + x < nx) store_images_u(v_next, i + x, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double total_of_block = block_sum(total_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        total_partials[blockIdx.x + gridDim.x * blockIdx.y] = total_of_block;
    const double gain_of_block = block_sum(gain_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        gain_partials[blockIdx.x + gridDim.x * blockIdx.y] = gain_of_block;
    const double lowest_of_block = block_min(lowest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        lowest_partials[blockIdx.x + gridDim.x * blockIdx.y] = lowest_of_block;
    const double highest_of_block = block_max(highest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        highest_partials[blockIdx.x + gridDim.x * blockIdx.y] = highest_of_block;
}

// In place of gray_scott_step in steps whose results nobody reads; leaves out total, gain, lowest, highest.
// Reads u, v, writes u_next, v_next.
// Schedule: direct, blocks of 32x8 threads, 2x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    gray_scott_step_states(const float* __restrict__ u, const float* __restrict__ v,
                           float* __restrict__ u_next, float* __restrict__ v_next, int nx, int ny, int pitch,
                           float dt, float Du, float F, float Dv, float scale) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 32, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;

    float u_cells[3][kCellsX + 2];
    load2(&u_cells[0][1], u + row[0] + i);
    const float* u_row = u + row[1] + i;
    u_cells[1][0] = u_row[-1];
    load2(&u_cells[1][1], u_row);
    u_cells[1][3] = u_row[2];
    load2(&u_cells[2][1], u + row[2] + i);
    float v_cells[3][kCellsX + 2];
    load2(&v_cells[0][1], v + row[0] + i);
    const float* v_row = v + row[1] + i;
    v_cells[1][0] = v_row[-1];
    load2(&v_cells[1][1], v_row);
    v_cells[1][3] = v_row[2];
    load2(&v_cells[2][1], v + row[2] + i);

    float u_next_result[kCellsX];
    float v_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float reaction_value = u_cells[1][x + 1] * (v_cells[1][x + 1] * v_cells[1][x + 1]);
        const float u_new = fmaf(dt,
                                 fmaf(Du,
                                      fmaf(-4.0f, u_cells[1][x + 1],
                                           u_cells[1][x] + u_cells[1][x + 2] + u_cells[0][x + 1] +
                                           u_cells[2][x + 1]),
                                      -reaction_value) + F * (1.0f - u_cells[1][x + 1]),
                                 u_cells[1][x + 1]);
        const float v_new = fmaf(dt,
                                 fmaf(Dv,
                                      fmaf(-4.0f, v_cells[1][x + 1],
                                           v_cells[1][x] + v_cells[1][x + 2] + v_cells[0][x + 1] +
                                           v_cells[2][x + 1]),
                                      reaction_value) - scale * v_cells[1][x + 1],
                                 v_cells[1][x + 1]);
        u_next_result[x] = u_new;
        v_next_result[x] = v_new;
    }
    if (i + kCellsX <= nx) {
        store2(u_next + row[1] + i, u_next_result);
        store2(v_next + row[1] + i, v_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) u_next[row[1] + i + x] = u_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) v_next[row[1] + i + x] = v_next_result[x];
    }

    // Cells of u_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1;
    if (near_face || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_u(u_next, i + x, j, nx, ny, pitch);

    // Cells of v_next near a face are shown by halo cells, too.
    const bool near_face_2 = j < 1 || j >= ny - 1;
    if (near_face_2 || i < 1 || i + 1 >= nx - 1)
#pragma unroll 1
        for (int x = 0; x < 2; ++x)
            if (near_face_2 || i + x < 1 || i + x >= nx - 1)
                if (i + x < nx) store_images_u(v_next, i + x, j, nx, ny, pitch);
}
