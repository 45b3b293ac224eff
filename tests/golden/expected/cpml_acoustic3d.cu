// cpml_acoustic3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y, 2 below and 2 above along z.

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

// Reads psi_x, p, psi_y, psi_z, writes psi_x_next, psi_y_next, psi_z_next.
// Schedule: direct, blocks of 16x4x4 threads, 4x1x1 cells a thread.
// At least 28 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    cpml_acoustic3d_psi_x(const float* __restrict__ psi_x, const float* __restrict__ p,
                          const float* __restrict__ psi_y, const float* __restrict__ psi_z,
                          float* __restrict__ psi_x_next, float* __restrict__ psi_y_next,
                          float* __restrict__ psi_z_next, int nx, int ny, int nz, int pitch, long long slice,
                          float c_over_width, float width, float h, float h_2, float scale, float f0,
                          float dt, float inv_h, float minus_inv_h, float scale_2, float scale_3) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[4];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        row[y] = static_cast<long long>(j + y - 1) * pitch;
    long long plane[4];
#pragma unroll
    for (int z = 0; z < 4; ++z)
        plane[z] = (k + z - 1) * slice;

    float psi_x_cells[kCellsX];
    load4(psi_x_cells, psi_x + plane[1] + row[1] + i);
    float p_cells[4][4][kCellsX + 3];
    load4(&p_cells[0][1][1], p + plane[0] + row[1] + i);
    load4(&p_cells[1][0][1], p + plane[1] + row[0] + i);
    const float* p_row = p + plane[1] + row[1] + i;
    p_cells[1][1][0] = p_row[-1];
    load4(&p_cells[1][1][1], p_row);
    p_cells[1][1][5] = p_row[4];
    p_cells[1][1][6] = p_row[5];
#pragma unroll
    for (int y = 2; y < 4; ++y)
        load4(&p_cells[1][y][1], p + plane[1] + row[y] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load4(&p_cells[z][1][1], p + plane[z] + row[1] + i);
    float psi_y_cells[kCellsX];
    load4(psi_y_cells, psi_y + plane[1] + row[1] + i);
    float psi_z_cells[kCellsX];
    load4(psi_z_cells, psi_z + plane[1] + row[1] + i);

    float psi_x_next_result[kCellsX];
    float psi_y_next_result[kCellsX];
    float psi_z_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float sum = static_cast<float>(i + x) * h + h_2;
        const float operand = width - sum;
        const float operand_2 = sum - scale;
        const float operand_3 = divide(operand > operand_2 ? operand : operand_2, width);
        const float bound = 0.0f > operand_3 ? 0.0f : operand_3;
        const float product = c_over_width * (bound * bound);
        const float operand_4 = 1.0f - bound;
        const float sum_2 = product + f0 * (0.0f > operand_4 ? 0.0f : operand_4);
        const float value = tanhf(0.5f * (sum_2 * dt));
        const float ratio = divide(-2.0f * value, 1.0f + value);
        const float psi_x_new = fmaf(divide(product * ratio, sum_2),
                                     fmaf(minus_inv_h, p_cells[1][1][x + 3] - p_cells[1][1][x],
                                          inv_h * (p_cells[1][1][x + 2] - p_cells[1][1][x + 1])),
                                     (1.0f + ratio) * psi_x_cells[x]);
        const float sum_3 = static_cast<float>(j) * h + h_2;
        const float operand_5 = width - sum_3;
        const float operand_6 = sum_3 - scale_2;
        const float operand_7 = divide(operand_5 > operand_6 ? operand_5 : operand_6, width);
        const float bound_2 = 0.0f > operand_7 ? 0.0f : operand_7;
        const float product_2 = c_over_width * (bound_2 * bound_2);
        const float operand_8 = 1.0f - bound_2;
        const float sum_4 = product_2 + f0 * (0.0f > operand_8 ? 0.0f : operand_8);
        const float value_2 = tanhf(0.5f * (sum_4 * dt));
        const float ratio_2 = divide(-2.0f * value_2, 1.0f + value_2);
        const float psi_y_new = fmaf(divide(product_2 * ratio_2, sum_4),
                                     fmaf(minus_inv_h, p_cells[1][3][x + 1] - p_cells[1][0][x + 1],
                                          inv_h * (p_cells[1][2][x + 1] - p_cells[1][1][x + 1])),
                                     (1.0f + ratio_2) * psi_y_cells[x]);
        const float sum_5 = static_cast<float>(k) * h + h_2;
        const float operand_9 = width - sum_5;
        const float operand_10 = sum_5 - scale_3;
        const float operand_11 = divide(operand_9 > operand_10 ? operand_9 : operand_10, width);
        const float bound_3 = 0.0f > operand_11 ? 0.0f : operand_11;
        const float product_3 = c_over_width * (bound_3 * bound_3);
        const float operand_12 = 1.0f - bound_3;
        const float sum_6 = product_3 + f0 * (0.0f > operand_12 ? 0.0f : operand_12);
        const float value_3 = tanhf(0.5f * (sum_6 * dt));
        const float ratio_3 = divide(-2.0f * value_3, 1.0f + value_3);
        const float psi_z_new = fmaf(divide(product_3 * ratio_3, sum_6),
                                     fmaf(minus_inv_h, p_cells[3][1][x + 1] - p_cells[0][1][x + 1],
                                          inv_h * (p_cells[2][1][x + 1] - p_cells[1][1][x + 1])),
                                     (1.0f + ratio_3) * psi_z_cells[x]);
        psi_x_next_result[x] = psi_x_new;
        psi_y_next_result[x] = psi_y_new;
        psi_z_next_result[x] = psi_z_new;
    }
    if (i + kCellsX <= nx) {
        store4(psi_x_next + plane[1] + row[1] + i, psi_x_next_result);
        store4(psi_y_next + plane[1] + row[1] + i, psi_y_next_result);
        store4(psi_z_next + plane[1] + row[1] + i, psi_z_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) psi_x_next[plane[1] + row[1] + i + x] = psi_x_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) psi_y_next[plane[1] + row[1] + i + x] = psi_y_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) psi_z_next[plane[1] + row[1] + i + x] = psi_z_next_result[x];
    }
}

// Reads p, zeta_x, psi_x_next, zeta_y, psi_y_next, zeta_z, psi_z_next, p_prev, writes zeta_x_next,
// zeta_y_next, zeta_z_next, p_next.
// Schedule: direct, blocks of 16x4x4 threads, 4x1x1 cells a thread.
// At least 48 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    cpml_acoustic3d_zeta_x(const float* __restrict__ p, const float* __restrict__ zeta_x,
                           const float* __restrict__ psi_x_next, const float* __restrict__ zeta_y,
                           const float* __restrict__ psi_y_next, const float* __restrict__ zeta_z,
                           const float* __restrict__ psi_z_next, const float* __restrict__ p_prev,
                           float* __restrict__ zeta_x_next, float* __restrict__ zeta_y_next,
                           float* __restrict__ zeta_z_next, float* __restrict__ p_next, int nx, int ny,
                           int nz, int pitch, long long slice, float c_over_width, float width, float h,
                           float scale, float f0, float dt, float inv_h_squared, float inv_h_squared_2,
                           float minus_inv_h_squared, float inv_h, float minus_inv_h, float scale_2,
                           float scale_3, float c_squared_dt_dt) {
    constexpr int kCellsX = 4;
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = (blockIdx.x * kThreadsX + threadIdx.x) * kCellsX;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    // Where the rows of this thread's window start.
    long long row[5];
#pragma unroll
    for (int y = 0; y < 5; ++y)
        row[y] = static_cast<long long>(j + y - 2) * pitch;
    long long plane[5];
#pragma unroll
    for (int z = 0; z < 5; ++z)
        plane[z] = (k + z - 2) * slice;

    float p_cells[5][5][kCellsX + 4];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load4(&p_cells[z][2][2], p + plane[z] + row[2] + i);
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load4(&p_cells[2][y][2], p + plane[2] + row[y] + i);
    const float* p_row = p + plane[2] + row[2] + i;
    p_cells[2][2][1] = p_row[-1];
    p_cells[2][2][0] = p_row[-2];
    load4(&p_cells[2][2][2], p_row);
    p_cells[2][2][6] = p_row[4];
    p_cells[2][2][7] = p_row[5];
#pragma unroll
    for (int y = 3; y < 5; ++y)
        load4(&p_cells[2][y][2], p + plane[2] + row[y] + i);
#pragma unroll
    for (int z = 3; z < 5; ++z)
        load4(&p_cells[z][2][2], p + plane[z] + row[2] + i);
    float zeta_x_cells[kCellsX];
    load4(zeta_x_cells, zeta_x + plane[2] + row[2] + i);
    float psi_x_next_cells[kCellsX + 3];
    const float* psi_x_next_row = psi_x_next + plane[2] + row[2] + i;
    psi_x_next_cells[1] = psi_x_next_row[-1];
    psi_x_next_cells[0] = psi_x_next_row[-2];
    load4(&psi_x_next_cells[2], psi_x_next_row);
    psi_x_next_cells[6] = psi_x_next_row[4];
    float zeta_y_cells[kCellsX];
    load4(zeta_y_cells, zeta_y + plane[2] + row[2] + i);
    float psi_y_next_cells[4][kCellsX];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load4(psi_y_next_cells[y], psi_y_next + plane[2] + row[y] + i);
    float zeta_z_cells[kCellsX];
    load4(zeta_z_cells, zeta_z + plane[2] + row[2] + i);
    float psi_z_next_cells[4][kCellsX];
#pragma unroll
    for (int z = 0; z < 4; ++z)
        load4(psi_z_next_cells[z], psi_z_next + plane[z] + row[2] + i);
    float p_prev_cells[kCellsX];
    load4(p_prev_cells, p_prev + plane[2] + row[2] + i);

    float zeta_x_next_result[kCellsX];
    float zeta_y_next_result[kCellsX];
    float zeta_z_next_result[kCellsX];
    float p_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float value = static_cast<float>(i + x) * h;
        const float operand = width - value;
        const float operand_2 = value - scale;
        const float operand_3 = divide(operand > operand_2 ? operand : operand_2, width);
        const float bound = 0.0f > operand_3 ? 0.0f : operand_3;
        const float product = c_over_width * (bound * bound);
        const float operand_4 = 1.0f - bound;
        const float sum = product + f0 * (0.0f > operand_4 ? 0.0f : operand_4);
        const float value_2 = tanhf(0.5f * (sum * dt));
        const float ratio = divide(-2.0f * value_2, 1.0f + value_2);
        const float value_3 = -(inv_h_squared * p_cells[2][2][x + 2]);
        float sum_2 = fmaf(inv_h_squared_2, p_cells[2][2][x + 1] + p_cells[2][2][x + 3], value_3);
        sum_2 = fmaf(minus_inv_h_squared, p_cells[2][2][x] + p_cells[2][2][x + 4], sum_2);
        sum_2 = fmaf(inv_h, psi_x_next_cells[x + 2] - psi_x_next_cells[x + 1], sum_2);
        sum_2 = fmaf(minus_inv_h, psi_x_next_cells[x + 3] - psi_x_next_cells[x], sum_2);
        const float zeta_x_new = fmaf(divide(product * ratio, sum), sum_2, (1.0f + ratio) * zeta_x_cells[x]);
        const float value_4 = static_cast<float>(j) * h;
        const float operand_5 = width - value_4;
        const float operand_6 = value_4 - scale_2;
        const float operand_7 = divide(operand_5 > operand_6 ? operand_5 : operand_6, width);
        const float bound_2 = 0.0f > operand_7 ? 0.0f : operand_7;
        const float product_2 = c_over_width * (bound_2 * bound_2);
        const float operand_8 = 1.0f - bound_2;
        const float sum_3 = product_2 + f0 * (0.0f > operand_8 ? 0.0f : operand_8);
        const float value_5 = tanhf(0.5f * (sum_3 * dt));
        const float ratio_2 = divide(-2.0f * value_5, 1.0f + value_5);
        float sum_4 = fmaf(inv_h_squared_2, p_cells[2][1][x + 2] + p_cells[2][3][x + 2], value_3);
        sum_4 = fmaf(minus_inv_h_squared, p_cells[2][0][x + 2] + p_cells[2][4][x + 2], sum_4);
        sum_4 = fmaf(inv_h, psi_y_next_cells[2][x] - psi_y_next_cells[1][x], sum_4);
        sum_4 = fmaf(minus_inv_h, psi_y_next_cells[3][x] - psi_y_next_cells[0][x], sum_4);
        const float zeta_y_new =
            fmaf(divide(product_2 * ratio_2, sum_3), sum_4, (1.0f + ratio_2) * zeta_y_cells[x]);
        const float value_6 = static_cast<float>(k) * h;
        const float operand_9 = width - value_6;
        const float operand_10 = value_6 - scale_3;
        const float operand_11 = divide(operand_9 > operand_10 ? operand_9 : operand_10, width);
        const float bound_3 = 0.0f > operand_11 ? 0.0f : operand_11;
        const float product_3 = c_over_width * (bound_3 * bound_3);
        const float operand_12 = 1.0f - bound_3;
        const float sum_5 = product_3 + f0 * (0.0f > operand_12 ? 0.0f : operand_12);
        const float value_7 = tanhf(0.5f * (sum_5 * dt));
        const float ratio_3 = divide(-2.0f * value_7, 1.0f + value_7);
        float sum_6 = fmaf(inv_h_squared_2, p_cells[1][2][x + 2] + p_cells[3][2][x + 2], value_3);
        sum_6 = fmaf(minus_inv_h_squared, p_cells[0][2][x + 2] + p_cells[4][2][x + 2], sum_6);
        sum_6 = fmaf(inv_h, psi_z_next_cells[2][x] - psi_z_next_cells[1][x], sum_6);
        sum_6 = fmaf(minus_inv_h, psi_z_next_cells[3][x] - psi_z_next_cells[0][x], sum_6);
        const float zeta_z_new =
            fmaf(divide(product_3 * ratio_3, sum_5), sum_6, (1.0f + ratio_3) * zeta_z_cells[x]);
        const float p_new = fmaf(c_squared_dt_dt,
                                 sum_2 + zeta_x_new + sum_4 + zeta_y_new + sum_6 + zeta_z_new,
                                 fmaf(2.0f, p_cells[2][2][x + 2], -p_prev_cells[x]));
        zeta_x_next_result[x] = zeta_x_new;
        zeta_y_next_result[x] = zeta_y_new;
        zeta_z_next_result[x] = zeta_z_new;
        p_next_result[x] = p_new;
    }
    if (i + kCellsX <= nx) {
        store4(zeta_x_next + plane[2] + row[2] + i, zeta_x_next_result);
        store4(zeta_y_next + plane[2] + row[2] + i, zeta_y_next_result);
        store4(zeta_z_next + plane[2] + row[2] + i, zeta_z_next_result);
        store4(p_next + plane[2] + row[2] + i, p_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) zeta_x_next[plane[2] + row[2] + i + x] = zeta_x_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) zeta_y_next[plane[2] + row[2] + i + x] = zeta_y_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) zeta_z_next[plane[2] + row[2] + i + x] = zeta_z_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) p_next[plane[2] + row[2] + i + x] = p_next_result[x];
    }
}
