// heat2d_adi: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(double* to, const double* from) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}

// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(double* shared, int place, const double* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 8;
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

// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
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

// Reads c, u, d, writes c, d.
// Schedule: direct, blocks of 1x32 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    heat2d_adi_c(const double* __restrict__ u, double* __restrict__ c, double* __restrict__ d, int nx, int ny,
                 int pitch, double scale, double scale_2, double kappa_dt_over_h_squared) {
    constexpr int kThreadsY = 32;
    constexpr int kChunk = 32;  // cells of a line at a time

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int lane = threadIdx.y;
    const int first_line = j - lane;
    __shared__ double u_lines[(kThreadsY + 2) * 33];
    __shared__ double c_lines[kThreadsY * 33];
    __shared__ double d_lines[kThreadsY * 33];
    double c_before = j < ny ? c[static_cast<long long>(j) * pitch - 1] : 0.0;
    double d_before = j < ny ? d[static_cast<long long>(j) * pitch - 1] : 0.0;

    // Copies a chunk of the lines to shared memory, row by row, asynchronously.
    const auto fetch = [&](int chunk) {
        const int first = chunk * kChunk;
        const int last = min(first + kChunk, nx);
#pragma unroll 8
        for (int line = 0; line < kThreadsY + 2; ++line)
            if (first_line + line - 1 < ny + 1 && lane < last - first)
                copy_async(u_lines, line * 33 + lane,
                           u + static_cast<long long>(first_line + line - 1) * pitch + first + lane);
        commit_copies();
    };
    fetch(0);
#pragma unroll 1
    for (int chunk = 0; chunk < (nx + 31) / kChunk; ++chunk) {
        const int first = chunk * kChunk;
        const int last = min(first + kChunk, nx);
        await_copies<0>();
        __syncwarp();
        if (j < ny)
            for (int i = first; i < last; ++i) {
                const double sum = fma(kappa_dt_over_h_squared, c_before, scale_2);
                const double c_value = scale / sum;
                c_lines[lane * 33 + i - first] = c_value;
                const double d_value = fma(kappa_dt_over_h_squared,
                                           fma(-2.0, u_lines[(lane + 1) * 33 + i - first],
                                               u_lines[lane * 33 + i - first] +
                                               u_lines[(lane + 2) * 33 + i - first] + d_before),
                                           u_lines[(lane + 1) * 33 + i - first]) / sum;
                d_lines[lane * 33 + i - first] = d_value;
                c_before = c_value;
                d_before = d_value;
            }
        __syncwarp();
        if (chunk + 1 < (nx + 31) / kChunk) fetch(chunk + 1);
#pragma unroll 8
        for (int line = 0; line < kThreadsY; ++line)
            if (first_line + line < ny && first + lane < last) {
                c[static_cast<long long>(first_line + line) * pitch + first + lane] =
                    c_lines[line * 33 + lane];
                d[static_cast<long long>(first_line + line) * pitch + first + lane] =
                    d_lines[line * 33 + lane];
            }
        __syncwarp();
    }
}

// Reads d, c, middle, writes middle.
// Schedule: direct, blocks of 1x32 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    heat2d_adi_middle(const double* __restrict__ d, const double* __restrict__ c, double* __restrict__ middle,
                      int nx, int ny, int pitch) {
    constexpr int kThreadsY = 32;
    constexpr int kChunk = 32;  // cells of a line at a time

    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int lane = threadIdx.y;
    const int first_line = j - lane;
    __shared__ double middle_lines[kThreadsY * 33];
    __shared__ double c_lines[kThreadsY * 33];
    __shared__ double d_lines[kThreadsY * 33];
    double middle_before = j < ny ? middle[static_cast<long long>(j) * pitch + nx] : 0.0;

    // Copies a chunk of the lines to shared memory, row by row, asynchronously.
    const auto fetch = [&](int chunk) {
        const int first = chunk * kChunk;
        const int last = min(first + kChunk, nx);
#pragma unroll 8
        for (int line = 0; line < kThreadsY; ++line)
            if (first_line + line < ny && lane < last - first)
                copy_async(c_lines, line * 33 + lane,
                           c + static_cast<long long>(first_line + line) * pitch + first + lane);
#pragma unroll 8
        for (int line = 0; line < kThreadsY; ++line)
            if (first_line + line < ny && lane < last - first)
                copy_async(d_lines, line * 33 + lane,
                           d + static_cast<long long>(first_line + line) * pitch + first + lane);
        commit_copies();
    };
    fetch((nx + 31) / kChunk - 1);
#pragma unroll 1
    for (int chunk = (nx + 31) / kChunk - 1; chunk >= 0; --chunk) {
        const int first = chunk * kChunk;
        const int last = min(first + kChunk, nx);
        await_copies<0>();
        __syncwarp();
        if (j < ny)
            for (int i = last - 1; i >= first; --i) {
                const double middle_value =
                    fma(-c_lines[lane * 33 + i - first], middle_before, d_lines[lane * 33 + i - first]);
                middle_lines[lane * 33 + i - first] = middle_value;
                middle_before = middle_value;
            }
        __syncwarp();
        if (chunk - 1 >= 0) fetch(chunk - 1);
#pragma unroll 8
        for (int line = 0; line < kThreadsY; ++line)
            if (first_line + line < ny && first + lane < last)
                middle[static_cast<long long>(first_line + line) * pitch + first + lane] =
                    middle_lines[line * 33 + lane];
        __syncwarp();
    }
}

// Reads middle, c, d, writes c, d.
// Schedule: direct, blocks of 32x1 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    heat2d_adi_c_2(const double* __restrict__ middle, double* __restrict__ c, double* __restrict__ d, int nx,
                   int ny, int pitch, double scale, double scale_2, double kappa_dt_over_h_squared) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    double c_before = c[i - pitch];
    double d_before = d[i - pitch];
#pragma unroll 4
    for (int j = 0; j < ny; ++j) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double sum = fma(kappa_dt_over_h_squared, c_before, scale_2);
        const double c_value = scale / sum;
        c[at] = c_value;
        const double d_value = fma(kappa_dt_over_h_squared,
                                   fma(-2.0, middle[at], middle[at - 1] + middle[at + 1] + d_before),
                                   middle[at]) / sum;
        d[at] = d_value;
        c_before = c_value;
        d_before = d_value;
    }
}

// Reads d, c, u_next, writes u_next.
// Schedule: direct, blocks of 32x1 threads, 1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    heat2d_adi_u(const double* __restrict__ d, const double* __restrict__ c, double* __restrict__ u_next,
                 int nx, int ny, int pitch) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    double u_next_before = u_next[static_cast<long long>(ny - 1) * pitch + i + pitch];
#pragma unroll 4
    for (int j = ny - 1; j >= 0; --j) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double u_value = fma(-c[at], u_next_before, d[at]);
        u_next[at] = u_value;
        u_next_before = u_value;
    }
}

// Reads u_next, reduces to warmest.
// Schedule: direct, blocks of 8x8 threads, 2x1 cells a thread.
// At least 8 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 22)
    heat2d_adi_warmest(const double* __restrict__ u_next, int nx, int ny, int pitch,
                       double* __restrict__ warmest_partials) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double warmest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        double u_next_cells[kCellsX];
        load2(u_next_cells, u_next + static_cast<long long>(j) * pitch + i);

#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) warmest_of_thread = keep_max(warmest_of_thread, u_next_cells[x]);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double warmest_of_block = block_max(warmest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        warmest_partials[blockIdx.x + gridDim.x * blockIdx.y] = warmest_of_block;
}
