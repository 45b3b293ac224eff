// heat_solid: CUDA kernels of a stencil, emitted by Halocline.
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

// Reads T, solid, writes T_next, reduces to warmest.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 17)
    heat_solid_step(const float* __restrict__ T, const float* __restrict__ solid, float* __restrict__ T_next,
                    int nx, int ny, int pitch, float hot, float dt, float kappa, float minus_speed,
                    double* __restrict__ warmest_partials) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double warmest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        // Where the rows of this thread's window start.
        long long row[3];
#pragma unroll
        for (int y = 0; y < 3; ++y)
            row[y] = static_cast<long long>(j + y - 1) * pitch;

        float T_cells[3][kCellsX + 2];
        load4(&T_cells[0][1], T + row[0] + i);
        const float* T_row = T + row[1] + i;
        T_cells[1][0] = T_row[-1];
        load4(&T_cells[1][1], T_row);
        T_cells[1][5] = T_row[4];
        load4(&T_cells[2][1], T + row[2] + i);
        float solid_cells[kCellsX];
        load4(solid_cells, solid + row[1] + i);

        float T_next_result[kCellsX];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x) {
            const bool holds = solid_cells[x] == 0.0f;
            const float T_new = solid_cells[x] == 1.0f ? hot : holds ?
                fmaf(dt,
                     fmaf(minus_speed, T_cells[1][x + 1] - T_cells[1][x],
                          kappa * fmaf(-4.0f, T_cells[1][x + 1],
                                       T_cells[1][x] + T_cells[1][x + 2] + T_cells[0][x + 1] +
                                       T_cells[2][x + 1])),
                     T_cells[1][x + 1]) : T_cells[1][x + 1];
            T_next_result[x] = T_new;
            if (i + x < nx && holds)
                warmest_of_thread = keep_max(warmest_of_thread, static_cast<double>(T_new));
        }
        if (i + kCellsX <= nx)
            store4(T_next + row[1] + i, T_next_result);
        else
#pragma unroll
            for (int x = 0; x < kCellsX; ++x)
                if (i + x < nx) T_next[row[1] + i + x] = T_next_result[x];
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double warmest_of_block = block_max(warmest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        warmest_partials[blockIdx.x + gridDim.x * blockIdx.y] = warmest_of_block;
}

// In place of heat_solid_step in steps whose results nobody reads; leaves out warmest.
// Reads T, solid, writes T_next.
// Schedule: direct, blocks of 8x8 threads, 4x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 17)
    heat_solid_step_states(const float* __restrict__ T, const float* __restrict__ solid,
                           float* __restrict__ T_next, int nx, int ny, int pitch, float hot, float dt,
                           float kappa, float minus_speed) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[3];
#pragma unroll
    for (int y = 0; y < 3; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;

    float T_cells[3][kCellsX + 2];
    load4(&T_cells[0][1], T + row[0] + i);
    const float* T_row = T + row[1] + i;
    T_cells[1][0] = T_row[-1];
    load4(&T_cells[1][1], T_row);
    T_cells[1][5] = T_row[4];
    load4(&T_cells[2][1], T + row[2] + i);
    float solid_cells[kCellsX];
    load4(solid_cells, solid + row[1] + i);

    float T_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x)
        T_next_result[x] = solid_cells[x] == 1.0f ? hot : solid_cells[x] == 0.0f ?
            fmaf(dt,
                 fmaf(minus_speed, T_cells[1][x + 1] - T_cells[1][x],
                      kappa * fmaf(-4.0f, T_cells[1][x + 1],
                                   T_cells[1][x] + T_cells[1][x + 2] + T_cells[0][x + 1] +
                                   T_cells[2][x + 1])),
                 T_cells[1][x + 1]) : T_cells[1][x + 1];
    if (i + kCellsX <= nx)
        store4(T_next + row[1] + i, T_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) T_next[row[1] + i + x] = T_next_result[x];
}

// Fills what lies past the faces of T along all axes in one launch: what lies past several faces is found
// from cells inside, and no axis waits for another.
extern "C" __global__ void __launch_bounds__(128)
    heat_solid_halo_T(float* __restrict__ T_next, int nx, int ny, int pitch) {
    constexpr int kThreads = 128;

    const int across = blockIdx.x * kThreads + threadIdx.x;
    // The value of a cell, found from cells inside: each of these functions knows what lies past one axis'
    // faces more.
    const auto inside = [&](int i, int j) {
        return T_next[static_cast<long long>(j) * pitch + i];
    };
    const auto past_y = [&](int i, int j) {
        return j == -1 ? inside(i, 0) : j == ny ? inside(i, ny - 1) : inside(i, j);
    };
    if (blockIdx.y == 0) {
        // Along y.
        const int i = across;
        if (i >= nx) return;
        const int first = i;
        const long long last = first + static_cast<long long>(ny - 1) * pitch;
        T_next[first - pitch] = T_next[first];
        T_next[last + pitch] = T_next[last];
    } else {
        // Along x.
        const int j = across - 1;
        if (j >= ny + 1) return;
        const long long first = static_cast<long long>(j) * pitch;
        const long long last = first + nx - 1;
        {
            const float ratio = divide(static_cast<float>(j), 96.0f);
            T_next[first - 1] = 0.2f * (ratio * ratio);
        }
        T_next[last + 1] = fmaf(2.0f, past_y(nx - 1, j), -past_y(nx - 2, j));
    }
}
