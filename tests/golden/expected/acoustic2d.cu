// acoustic2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y.

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

// Reads p, p_prev, v, writes p_next.
// Schedule: direct, blocks of 8x16 threads, 4x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 4)
    acoustic2d_p(const float* __restrict__ p, const float* __restrict__ p_prev, const float* __restrict__ v,
                 float* __restrict__ p_next, int nx, int ny, int pitch, float scale, float scale_2, float dt)
    {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 8, kThreadsY = 16;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    // Where the rows of this thread's window start.
    long long row[9];
#pragma unroll
    for (int y = 0; y < 9; ++y)
        row[y] = static_cast<long long>(j + y - 4) * pitch;

    float p_cells[9][kCellsX + 8];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(&p_cells[y][4], p + row[y] + i);
    const float* p_row = p + row[4] + i;
    load4(p_cells[4], p_row - 4);
    load4(&p_cells[4][4], p_row);
    load4(&p_cells[4][8], p_row + 4);
#pragma unroll
    for (int y = 5; y < 9; ++y)
        load4(&p_cells[y][4], p + row[y] + i);
    float p_prev_cells[kCellsX];
    load4(p_prev_cells, p_prev + row[4] + i);
    float v_cells[kCellsX];
    load4(v_cells, v + row[4] + i);

    float p_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float value = static_cast<float>(i + x);
        const float operand = scale - value;
        const float operand_2 = 1.0f - divide(value < operand ? value : operand, 30.0f);
        const float bound = 0.0f > operand_2 ? 0.0f : operand_2;
        const float value_2 = static_cast<float>(j);
        const float operand_3 = scale_2 - value_2;
        const float operand_4 = 1.0f - divide(value_2 < operand_3 ? value_2 : operand_3, 30.0f);
        const float bound_2 = 0.0f > operand_4 ? 0.0f : operand_4;
        const float product = expf(-0.1f * (bound * bound)) * expf(-0.1f * (bound_2 * bound_2));
        const float product_2 = dt * v_cells[x];
        float sum = fmaf(-0.22777778f, p_cells[4][x + 4],
                         0.064f * (p_cells[4][x + 3] + p_cells[4][x + 5] + p_cells[3][x + 4] +
                                   p_cells[5][x + 4]));
        sum =
            fmaf(-0.008f, p_cells[4][x + 2] + p_cells[4][x + 6] + p_cells[2][x + 4] + p_cells[6][x + 4], sum);
        sum = fmaf(0.001015873f,
                   p_cells[4][x + 1] + p_cells[4][x + 7] + p_cells[1][x + 4] + p_cells[7][x + 4], sum);
        sum = fmaf(-7.142857e-05f, p_cells[4][x] + p_cells[4][x + 8] + p_cells[0][x + 4] + p_cells[8][x + 4],
                   sum);
        p_next_result[x] = product * fmaf(product_2 * product_2, sum,
                                          fmaf(-product, p_prev_cells[x], 2.0f * p_cells[4][x + 4]));
    }
    if (i + kCellsX <= nx)
        store4(p_next + row[4] + i, p_next_result);
    else
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) p_next[row[4] + i + x] = p_next_result[x];
}

// Adds what is injected at shots to p: a thread for each cell that they touch.
extern "C" __global__ void __launch_bounds__(128)
    acoustic2d_inject_shots(const float* __restrict__ v, const int* __restrict__ shots_x,
                            const int* __restrict__ shots_y, const int* __restrict__ shots_point,
                            const double* __restrict__ shots_wavelet, const double* __restrict__ shots_weight,
                            const int* __restrict__ shots_begin, float* __restrict__ p_next,
                            int n_shots_cells, int pitch, float dt_squared) {
    constexpr int kThreads = 128;

    const int cell = blockIdx.x * kThreads + threadIdx.x;
    if (cell >= n_shots_cells) return;

    const int i = shots_x[cell];
    const int j = shots_y[cell];
    const long long at = static_cast<long long>(j) * pitch + i;
    float sum = p_next[at];
    for (int entry = shots_begin[cell]; entry < shots_begin[cell + 1]; ++entry) {
        const int point = shots_point[entry];
        const float value = dt_squared * (v[at] * v[at] * static_cast<float>(shots_wavelet[point]));
        sum += static_cast<float>(shots_weight[entry]) * value;
    }
    p_next[at] = sum;
}

// Samples phones.trace: a block for each point.
extern "C" __global__ void __launch_bounds__(128)
    acoustic2d_sample_phones(const float* __restrict__ p, const int* __restrict__ phones_x,
                             const int* __restrict__ phones_y, const double* __restrict__ phones_weight,
                             const int* __restrict__ phones_begin, double* __restrict__ phones_trace,
                             int pitch) {
    constexpr int kThreads = 128;
    constexpr int kTerms = 512;

    const int point = blockIdx.x;
    __shared__ float terms[kTerms];
    const int end = phones_begin[point + 1];
    float sum = 0.0f;
    for (int first = phones_begin[point]; first < end; first += kTerms) {
        const int count = end - first < kTerms ? end - first : kTerms;
        for (int place = threadIdx.x; place < count; place += kThreads) {
            const int entry = first + place;
            const int i = phones_x[entry];
            const int j = phones_y[entry];
            const long long at = static_cast<long long>(j) * pitch + i;
            terms[place] = static_cast<float>(phones_weight[entry]) * p[at];
        }
        __syncthreads();
        if (threadIdx.x == 0)
#pragma unroll 16
            for (int place = 0; place < count; ++place)
                sum += terms[place];
        __syncthreads();
    }
    if (threadIdx.x == 0) phones_trace[point] = static_cast<double>(sum);
}
