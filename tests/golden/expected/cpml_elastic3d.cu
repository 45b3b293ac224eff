// cpml_elastic3d: CUDA kernels of a stencil, emitted by Halocline.
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

// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
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

// Reads pull_xx, s_xx, pull_xy, s_xy, pull_xz, s_xz, v_x, pull_yx, pull_yy, s_yy, pull_yz, s_yz, v_y,
// pull_zx, pull_zy, pull_zz, s_zz, v_z, writes pull_xx_next, pull_xy_next, pull_xz_next, v_x_next,
// pull_yx_next, pull_yy_next, pull_yz_next, v_y_next, pull_zx_next, pull_zy_next, pull_zz_next, v_z_next.
// Schedule: direct, blocks of 16x4x4 threads, 2x1x1 cells a thread.
// At least 120 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    cpml_elastic3d_pull_xx(const float* __restrict__ pull_xx, const float* __restrict__ s_xx,
                           const float* __restrict__ pull_xy, const float* __restrict__ s_xy,
                           const float* __restrict__ pull_xz, const float* __restrict__ s_xz,
                           const float* __restrict__ v_x, const float* __restrict__ pull_yx,
                           const float* __restrict__ pull_yy, const float* __restrict__ s_yy,
                           const float* __restrict__ pull_yz, const float* __restrict__ s_yz,
                           const float* __restrict__ v_y, const float* __restrict__ pull_zx,
                           const float* __restrict__ pull_zy, const float* __restrict__ pull_zz,
                           const float* __restrict__ s_zz, const float* __restrict__ v_z,
                           float* __restrict__ pull_xx_next, float* __restrict__ pull_xy_next,
                           float* __restrict__ pull_xz_next, float* __restrict__ v_x_next,
                           float* __restrict__ pull_yx_next, float* __restrict__ pull_yy_next,
                           float* __restrict__ pull_yz_next, float* __restrict__ v_y_next,
                           float* __restrict__ pull_zx_next, float* __restrict__ pull_zy_next,
                           float* __restrict__ pull_zz_next, float* __restrict__ v_z_next, int nx, int ny,
                           int nz, int pitch, long long slice, float cp_over_width, float width, float h,
                           float h_2, float scale, float f0, float dt, float inv_h, float minus_inv_h,
                           float scale_2, float scale_3, float dt_over_rho) {
    constexpr int kCellsX = 2;
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

    float pull_xx_cells[kCellsX];
    load2(pull_xx_cells, pull_xx + plane[2] + row[2] + i);
    float s_xx_cells[kCellsX + 3];
    const float* s_xx_row = s_xx + plane[2] + row[2] + i;
    s_xx_cells[0] = s_xx_row[-1];
    load2(&s_xx_cells[1], s_xx_row);
    load2(&s_xx_cells[3], s_xx_row + 2);
    float pull_xy_cells[kCellsX];
    load2(pull_xy_cells, pull_xy + plane[2] + row[2] + i);
    float s_xy_cells[4][kCellsX + 3];
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load2(&s_xy_cells[y][2], s_xy + plane[2] + row[y] + i);
    const float* s_xy_row = s_xy + plane[2] + row[2] + i;
    load2(s_xy_cells[2], s_xy_row - 2);
    load2(&s_xy_cells[2][2], s_xy_row);
    s_xy_cells[2][4] = s_xy_row[2];
    load2(&s_xy_cells[3][2], s_xy + plane[2] + row[3] + i);
    float pull_xz_cells[kCellsX];
    load2(pull_xz_cells, pull_xz + plane[2] + row[2] + i);
    float s_xz_cells[4][kCellsX + 3];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load2(&s_xz_cells[z][2], s_xz + plane[z] + row[2] + i);
    const float* s_xz_row = s_xz + plane[2] + row[2] + i;
    load2(s_xz_cells[2], s_xz_row - 2);
    load2(&s_xz_cells[2][2], s_xz_row);
    s_xz_cells[2][4] = s_xz_row[2];
    load2(&s_xz_cells[3][2], s_xz + plane[3] + row[2] + i);
    float v_x_cells[kCellsX];
    load2(v_x_cells, v_x + plane[2] + row[2] + i);
    float pull_yx_cells[kCellsX];
    load2(pull_yx_cells, pull_yx + plane[2] + row[2] + i);
    float pull_yy_cells[kCellsX];
    load2(pull_yy_cells, pull_yy + plane[2] + row[2] + i);
    float s_yy_cells[4][kCellsX];
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(s_yy_cells[y], s_yy + plane[2] + row[y + 1] + i);
    float pull_yz_cells[kCellsX];
    load2(pull_yz_cells, pull_yz + plane[2] + row[2] + i);
    float s_yz_cells[4][4][kCellsX];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load2(s_yz_cells[z][2], s_yz + plane[z] + row[2] + i);
#pragma unroll
    for (int y = 0; y < 4; ++y)
        load2(s_yz_cells[2][y], s_yz + plane[2] + row[y] + i);
    load2(s_yz_cells[3][2], s_yz + plane[3] + row[2] + i);
    float v_y_cells[kCellsX];
    load2(v_y_cells, v_y + plane[2] + row[2] + i);
    float pull_zx_cells[kCellsX];
    load2(pull_zx_cells, pull_zx + plane[2] + row[2] + i);
    float pull_zy_cells[kCellsX];
    load2(pull_zy_cells, pull_zy + plane[2] + row[2] + i);
    float pull_zz_cells[kCellsX];
    load2(pull_zz_cells, pull_zz + plane[2] + row[2] + i);
    float s_zz_cells[4][kCellsX];
#pragma unroll
    for (int z = 0; z < 4; ++z)
        load2(s_zz_cells[z], s_zz + plane[z + 1] + row[2] + i);
    float v_z_cells[kCellsX];
    load2(v_z_cells, v_z + plane[2] + row[2] + i);

    float pull_xx_next_result[kCellsX];
    float pull_xy_next_result[kCellsX];
    float pull_xz_next_result[kCellsX];
    float v_x_next_result[kCellsX];
    float pull_yx_next_result[kCellsX];
    float pull_yy_next_result[kCellsX];
    float pull_yz_next_result[kCellsX];
    float v_y_next_result[kCellsX];
    float pull_zx_next_result[kCellsX];
    float pull_zy_next_result[kCellsX];
    float pull_zz_next_result[kCellsX];
    float v_z_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float value = static_cast<float>(i + x) * h;
        const float sum = value + h_2;
        const float operand = width - sum;
        const float operand_2 = sum - scale;
        const float operand_3 = divide(operand > operand_2 ? operand : operand_2, width);
        const float bound = 0.0f > operand_3 ? 0.0f : operand_3;
        const float product = cp_over_width * (bound * bound);
        const float operand_4 = 1.0f - bound;
        const float sum_2 = product + f0 * (0.0f > operand_4 ? 0.0f : operand_4);
        const float value_2 = tanhf(0.5f * (sum_2 * dt));
        const float ratio = divide(-2.0f * value_2, 1.0f + value_2);
        const float sum_3 = fmaf(minus_inv_h, s_xx_cells[x + 3] - s_xx_cells[x],
                                 inv_h * (s_xx_cells[x + 2] - s_xx_cells[x + 1]));
        const float pull_xx_new =
            fmaf(divide(product * ratio, sum_2), sum_3, (1.0f + ratio) * pull_xx_cells[x]);
        const float value_3 = static_cast<float>(j) * h;
        const float operand_5 = width - value_3;
        const float operand_6 = value_3 - scale_2;
        const float operand_7 = divide(operand_5 > operand_6 ? operand_5 : operand_6, width);
        const float bound_2 = 0.0f > operand_7 ? 0.0f : operand_7;
        const float product_2 = cp_over_width * (bound_2 * bound_2);
        const float operand_8 = 1.0f - bound_2;
        const float sum_4 = product_2 + f0 * (0.0f > operand_8 ? 0.0f : operand_8);
        const float value_4 = tanhf(0.5f * (sum_4 * dt));
        const float ratio_2 = divide(-2.0f * value_4, 1.0f + value_4);
        const float sum_5 = 1.0f + ratio_2;
        const float ratio_3 = divide(product_2 * ratio_2, sum_4);
        const float sum_6 = fmaf(minus_inv_h, s_xy_cells[3][x + 2] - s_xy_cells[0][x + 2],
                                 inv_h * (s_xy_cells[2][x + 2] - s_xy_cells[1][x + 2]));
        const float pull_xy_new = fmaf(ratio_3, sum_6, sum_5 * pull_xy_cells[x]);
        const float value_5 = static_cast<float>(k) * h;
        const float operand_9 = width - value_5;
        const float operand_10 = value_5 - scale_3;
        const float operand_11 = divide(operand_9 > operand_10 ? operand_9 : operand_10, width);
        const float bound_3 = 0.0f > operand_11 ? 0.0f : operand_11;
        const float product_3 = cp_over_width * (bound_3 * bound_3);
        const float operand_12 = 1.0f - bound_3;
        const float sum_7 = product_3 + f0 * (0.0f > operand_12 ? 0.0f : operand_12);
        const float value_6 = tanhf(0.5f * (sum_7 * dt));
        const float ratio_4 = divide(-2.0f * value_6, 1.0f + value_6);
        const float sum_8 = 1.0f + ratio_4;
        const float ratio_5 = divide(product_3 * ratio_4, sum_7);
        const float sum_9 = fmaf(minus_inv_h, s_xz_cells[3][x + 2] - s_xz_cells[0][x + 2],
                                 inv_h * (s_xz_cells[2][x + 2] - s_xz_cells[1][x + 2]));
        const float pull_xz_new = fmaf(ratio_5, sum_9, sum_8 * pull_xz_cells[x]);
        const float v_x_new =
            fmaf(dt_over_rho, sum_3 + pull_xx_new + sum_6 + pull_xy_new + sum_9 + pull_xz_new, v_x_cells[x]);
        const float operand_13 = width - value;
        const float operand_14 = value - scale;
        const float operand_15 = divide(operand_13 > operand_14 ? operand_13 : operand_14, width);
        const float bound_4 = 0.0f > operand_15 ? 0.0f : operand_15;
        const float product_4 = cp_over_width * (bound_4 * bound_4);
        const float operand_16 = 1.0f - bound_4;
        const float sum_10 = product_4 + f0 * (0.0f > operand_16 ? 0.0f : operand_16);
        const float value_7 = tanhf(0.5f * (sum_10 * dt));
        const float ratio_6 = divide(-2.0f * value_7, 1.0f + value_7);
        const float sum_11 = 1.0f + ratio_6;
        const float ratio_7 = divide(product_4 * ratio_6, sum_10);
        const float sum_12 = fmaf(minus_inv_h, s_xy_cells[2][x + 3] - s_xy_cells[2][x],
                                  inv_h * (s_xy_cells[2][x + 2] - s_xy_cells[2][x + 1]));
        const float pull_yx_new = fmaf(ratio_7, sum_12, sum_11 * pull_yx_cells[x]);
        const float sum_13 = value_3 + h_2;
        const float operand_17 = width - sum_13;
        const float operand_18 = sum_13 - scale_2;
        const float operand_19 = divide(operand_17 > operand_18 ? operand_17 : operand_18, width);
        const float bound_5 = 0.0f > operand_19 ? 0.0f : operand_19;
        const float product_5 = cp_over_width * (bound_5 * bound_5);
        const float operand_20 = 1.0f - bound_5;
        const float sum_14 = product_5 + f0 * (0.0f > operand_20 ? 0.0f : operand_20);
        const float value_8 = tanhf(0.5f * (sum_14 * dt));
        const float ratio_8 = divide(-2.0f * value_8, 1.0f + value_8);
        const float sum_15 = fmaf(minus_inv_h, s_yy_cells[3][x] - s_yy_cells[0][x],
                                  inv_h * (s_yy_cells[2][x] - s_yy_cells[1][x]));
        const float pull_yy_new =
            fmaf(divide(product_5 * ratio_8, sum_14), sum_15, (1.0f + ratio_8) * pull_yy_cells[x]);
        const float sum_16 = fmaf(minus_inv_h, s_yz_cells[3][2][x] - s_yz_cells[0][2][x],
                                  inv_h * (s_yz_cells[2][2][x] - s_yz_cells[1][2][x]));
        const float pull_yz_new = fmaf(ratio_5, sum_16, sum_8 * pull_yz_cells[x]);
        const float v_y_new = fmaf(dt_over_rho,
                                   sum_12 + pull_yx_new + sum_15 + pull_yy_new + sum_16 + pull_yz_new,
                                   v_y_cells[x]);
        const float sum_17 = fmaf(minus_inv_h, s_xz_cells[2][x + 3] - s_xz_cells[2][x],
                                  inv_h * (s_xz_cells[2][x + 2] - s_xz_cells[2][x + 1]));
        const float pull_zx_new = fmaf(ratio_7, sum_17, sum_11 * pull_zx_cells[x]);
        const float sum_18 = fmaf(minus_inv_h, s_yz_cells[2][3][x] - s_yz_cells[2][0][x],
                                  inv_h * (s_yz_cells[2][2][x] - s_yz_cells[2][1][x]));
        const float pull_zy_new = fmaf(ratio_3, sum_18, sum_5 * pull_zy_cells[x]);
        const float sum_19 = value_5 + h_2;
        const float operand_21 = width - sum_19;
        const float operand_22 = sum_19 - scale_3;
        const float operand_23 = divide(operand_21 > operand_22 ? operand_21 : operand_22, width);
        const float bound_6 = 0.0f > operand_23 ? 0.0f : operand_23;
        const float product_6 = cp_over_width * (bound_6 * bound_6);
        const float operand_24 = 1.0f - bound_6;
        const float sum_20 = product_6 + f0 * (0.0f > operand_24 ? 0.0f : operand_24);
        const float value_9 = tanhf(0.5f * (sum_20 * dt));
        const float ratio_9 = divide(-2.0f * value_9, 1.0f + value_9);
        const float sum_21 = fmaf(minus_inv_h, s_zz_cells[3][x] - s_zz_cells[0][x],
                                  inv_h * (s_zz_cells[2][x] - s_zz_cells[1][x]));
        const float pull_zz_new =
            fmaf(divide(product_6 * ratio_9, sum_20), sum_21, (1.0f + ratio_9) * pull_zz_cells[x]);
        const float v_z_new = fmaf(dt_over_rho,
                                   sum_17 + pull_zx_new + sum_18 + pull_zy_new + sum_21 + pull_zz_new,
                                   v_z_cells[x]);
        pull_xx_next_result[x] = pull_xx_new;
        pull_xy_next_result[x] = pull_xy_new;
        pull_xz_next_result[x] = pull_xz_new;
        v_x_next_result[x] = v_x_new;
        pull_yx_next_result[x] = pull_yx_new;
        pull_yy_next_result[x] = pull_yy_new;
        pull_yz_next_result[x] = pull_yz_new;
        v_y_next_result[x] = v_y_new;
        pull_zx_next_result[x] = pull_zx_new;
        pull_zy_next_result[x] = pull_zy_new;
        pull_zz_next_result[x] = pull_zz_new;
        v_z_next_result[x] = v_z_new;
    }
    if (i + kCellsX <= nx) {
        store2(pull_xx_next + plane[2] + row[2] + i, pull_xx_next_result);
        store2(pull_xy_next + plane[2] + row[2] + i, pull_xy_next_result);
        store2(pull_xz_next + plane[2] + row[2] + i, pull_xz_next_result);
        store2(v_x_next + plane[2] + row[2] + i, v_x_next_result);
        store2(pull_yx_next + plane[2] + row[2] + i, pull_yx_next_result);
        store2(pull_yy_next + plane[2] + row[2] + i, pull_yy_next_result);
        store2(pull_yz_next + plane[2] + row[2] + i, pull_yz_next_result);
        store2(v_y_next + plane[2] + row[2] + i, v_y_next_result);
        store2(pull_zx_next + plane[2] + row[2] + i, pull_zx_next_result);
        store2(pull_zy_next + plane[2] + row[2] + i, pull_zy_next_result);
        store2(pull_zz_next + plane[2] + row[2] + i, pull_zz_next_result);
        store2(v_z_next + plane[2] + row[2] + i, v_z_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_xx_next[plane[2] + row[2] + i + x] = pull_xx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_xy_next[plane[2] + row[2] + i + x] = pull_xy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_xz_next[plane[2] + row[2] + i + x] = pull_xz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) v_x_next[plane[2] + row[2] + i + x] = v_x_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_yx_next[plane[2] + row[2] + i + x] = pull_yx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_yy_next[plane[2] + row[2] + i + x] = pull_yy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_yz_next[plane[2] + row[2] + i + x] = pull_yz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) v_y_next[plane[2] + row[2] + i + x] = v_y_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_zx_next[plane[2] + row[2] + i + x] = pull_zx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_zy_next[plane[2] + row[2] + i + x] = pull_zy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) pull_zz_next[plane[2] + row[2] + i + x] = pull_zz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) v_z_next[plane[2] + row[2] + i + x] = v_z_next_result[x];
    }
}

// Reads s_xx, s_xy, s_xz, s_yy, s_yz, s_zz, stretch_x, v_x_next, stretch_y, v_y_next, stretch_z, v_z_next,
// shear_xy, shear_yx, shear_xz, shear_zx, shear_yz, shear_zy, writes stretch_x_next, stretch_y_next,
// stretch_z_next, s_xx_next, s_yy_next, s_zz_next, shear_xy_next, shear_yx_next, s_xy_next, shear_xz_next,
// shear_zx_next, s_xz_next, shear_yz_next, shear_zy_next, s_yz_next.
// Schedule: direct, blocks of 16x8x2 threads, 2x1x1 cells a thread.
// At least 132 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    cpml_elastic3d_stretch_x(const float* __restrict__ s_xx, const float* __restrict__ s_xy,
                             const float* __restrict__ s_xz, const float* __restrict__ s_yy,
                             const float* __restrict__ s_yz, const float* __restrict__ s_zz,
                             const float* __restrict__ stretch_x, const float* __restrict__ v_x_next,
                             const float* __restrict__ stretch_y, const float* __restrict__ v_y_next,
                             const float* __restrict__ stretch_z, const float* __restrict__ v_z_next,
                             const float* __restrict__ shear_xy, const float* __restrict__ shear_yx,
                             const float* __restrict__ shear_xz, const float* __restrict__ shear_zx,
                             const float* __restrict__ shear_yz, const float* __restrict__ shear_zy,
                             float* __restrict__ stretch_x_next, float* __restrict__ stretch_y_next,
                             float* __restrict__ stretch_z_next, float* __restrict__ s_xx_next,
                             float* __restrict__ s_yy_next, float* __restrict__ s_zz_next,
                             float* __restrict__ shear_xy_next, float* __restrict__ shear_yx_next,
                             float* __restrict__ s_xy_next, float* __restrict__ shear_xz_next,
                             float* __restrict__ shear_zx_next, float* __restrict__ s_xz_next,
                             float* __restrict__ shear_yz_next, float* __restrict__ shear_zy_next,
                             float* __restrict__ s_yz_next, int nx, int ny, int nz, int pitch,
                             long long slice, float cp_over_width, float width, float h, float scale,
                             float f0, float dt, float inv_h, float minus_inv_h, float scale_2, float scale_3,
                             float scale_4, float rho_cs_cs, float h_2, float rho_cs_cs_dt) {
    constexpr int kCellsX = 2;
    constexpr int kThreadsX = 16, kThreadsY = 8, kThreadsZ = 2;

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

    float s_xx_cells[kCellsX];
    load2(s_xx_cells, s_xx + plane[2] + row[2] + i);
    float s_xy_cells[kCellsX];
    load2(s_xy_cells, s_xy + plane[2] + row[2] + i);
    float s_xz_cells[kCellsX];
    load2(s_xz_cells, s_xz + plane[2] + row[2] + i);
    float s_yy_cells[kCellsX];
    load2(s_yy_cells, s_yy + plane[2] + row[2] + i);
    float s_yz_cells[kCellsX];
    load2(s_yz_cells, s_yz + plane[2] + row[2] + i);
    float s_zz_cells[kCellsX];
    load2(s_zz_cells, s_zz + plane[2] + row[2] + i);
    float stretch_x_cells[kCellsX];
    load2(stretch_x_cells, stretch_x + plane[2] + row[2] + i);
    float v_x_next_cells[4][4][kCellsX + 3];
    load2(&v_x_next_cells[0][1][2], v_x_next + plane[1] + row[2] + i);
    load2(&v_x_next_cells[1][0][2], v_x_next + plane[2] + row[1] + i);
    const float* v_x_next_row = v_x_next + plane[2] + row[2] + i;
    load2(v_x_next_cells[1][1], v_x_next_row - 2);
    load2(&v_x_next_cells[1][1][2], v_x_next_row);
    v_x_next_cells[1][1][4] = v_x_next_row[2];
#pragma unroll
    for (int y = 2; y < 4; ++y)
        load2(&v_x_next_cells[1][y][2], v_x_next + plane[2] + row[y + 1] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load2(&v_x_next_cells[z][1][2], v_x_next + plane[z + 1] + row[2] + i);
    float stretch_y_cells[kCellsX];
    load2(stretch_y_cells, stretch_y + plane[2] + row[2] + i);
    float v_y_next_cells[4][4][kCellsX + 3];
    load2(&v_y_next_cells[0][2][1], v_y_next + plane[1] + row[2] + i);
#pragma unroll
    for (int y = 0; y < 2; ++y)
        load2(&v_y_next_cells[1][y][1], v_y_next + plane[2] + row[y] + i);
    const float* v_y_next_row = v_y_next + plane[2] + row[2] + i;
    v_y_next_cells[1][2][0] = v_y_next_row[-1];
    load2(&v_y_next_cells[1][2][1], v_y_next_row);
    load2(&v_y_next_cells[1][2][3], v_y_next_row + 2);
    load2(&v_y_next_cells[1][3][1], v_y_next + plane[2] + row[3] + i);
#pragma unroll
    for (int z = 2; z < 4; ++z)
        load2(&v_y_next_cells[z][2][1], v_y_next + plane[z + 1] + row[2] + i);
    float stretch_z_cells[kCellsX];
    load2(stretch_z_cells, stretch_z + plane[2] + row[2] + i);
    float v_z_next_cells[4][4][kCellsX + 3];
#pragma unroll
    for (int z = 0; z < 2; ++z)
        load2(&v_z_next_cells[z][1][1], v_z_next + plane[z] + row[2] + i);
    load2(&v_z_next_cells[2][0][1], v_z_next + plane[2] + row[1] + i);
    const float* v_z_next_row = v_z_next + plane[2] + row[2] + i;
    v_z_next_cells[2][1][0] = v_z_next_row[-1];
    load2(&v_z_next_cells[2][1][1], v_z_next_row);
    load2(&v_z_next_cells[2][1][3], v_z_next_row + 2);
#pragma unroll
    for (int y = 2; y < 4; ++y)
        load2(&v_z_next_cells[2][y][1], v_z_next + plane[2] + row[y + 1] + i);
    load2(&v_z_next_cells[3][1][1], v_z_next + plane[3] + row[2] + i);
    float shear_xy_cells[kCellsX];
    load2(shear_xy_cells, shear_xy + plane[2] + row[2] + i);
    float shear_yx_cells[kCellsX];
    load2(shear_yx_cells, shear_yx + plane[2] + row[2] + i);
    float shear_xz_cells[kCellsX];
    load2(shear_xz_cells, shear_xz + plane[2] + row[2] + i);
    float shear_zx_cells[kCellsX];
    load2(shear_zx_cells, shear_zx + plane[2] + row[2] + i);
    float shear_yz_cells[kCellsX];
    load2(shear_yz_cells, shear_yz + plane[2] + row[2] + i);
    float shear_zy_cells[kCellsX];
    load2(shear_zy_cells, shear_zy + plane[2] + row[2] + i);

    float stretch_x_next_result[kCellsX];
    float stretch_y_next_result[kCellsX];
    float stretch_z_next_result[kCellsX];
    float s_xx_next_result[kCellsX];
    float s_yy_next_result[kCellsX];
    float s_zz_next_result[kCellsX];
    float shear_xy_next_result[kCellsX];
    float shear_yx_next_result[kCellsX];
    float s_xy_next_result[kCellsX];
    float shear_xz_next_result[kCellsX];
    float shear_zx_next_result[kCellsX];
    float s_xz_next_result[kCellsX];
    float shear_yz_next_result[kCellsX];
    float shear_zy_next_result[kCellsX];
    float s_yz_next_result[kCellsX];
#pragma unroll
    for (int x = 0; x < kCellsX; ++x) {
        const float value = static_cast<float>(i + x) * h;
        const float operand = width - value;
        const float operand_2 = value - scale;
        const float operand_3 = divide(operand > operand_2 ? operand : operand_2, width);
        const float bound = 0.0f > operand_3 ? 0.0f : operand_3;
        const float product = cp_over_width * (bound * bound);
        const float operand_4 = 1.0f - bound;
        const float sum = product + f0 * (0.0f > operand_4 ? 0.0f : operand_4);
        const float value_2 = tanhf(0.5f * (sum * dt));
        const float ratio = divide(-2.0f * value_2, 1.0f + value_2);
        const float sum_2 = fmaf(minus_inv_h, v_x_next_cells[1][1][x + 3] - v_x_next_cells[1][1][x],
                                 inv_h * (v_x_next_cells[1][1][x + 2] - v_x_next_cells[1][1][x + 1]));
        const float stretch_x_new =
            fmaf(divide(product * ratio, sum), sum_2, (1.0f + ratio) * stretch_x_cells[x]);
        const float e_x_value = sum_2 + stretch_x_new;
        const float value_3 = static_cast<float>(j) * h;
        const float operand_5 = width - value_3;
        const float operand_6 = value_3 - scale_2;
        const float operand_7 = divide(operand_5 > operand_6 ? operand_5 : operand_6, width);
        const float bound_2 = 0.0f > operand_7 ? 0.0f : operand_7;
        const float product_2 = cp_over_width * (bound_2 * bound_2);
        const float operand_8 = 1.0f - bound_2;
        const float sum_3 = product_2 + f0 * (0.0f > operand_8 ? 0.0f : operand_8);
        const float value_4 = tanhf(0.5f * (sum_3 * dt));
        const float ratio_2 = divide(-2.0f * value_4, 1.0f + value_4);
        const float sum_4 = fmaf(minus_inv_h, v_y_next_cells[1][3][x + 1] - v_y_next_cells[1][0][x + 1],
                                 inv_h * (v_y_next_cells[1][2][x + 1] - v_y_next_cells[1][1][x + 1]));
        const float stretch_y_new =
            fmaf(divide(product_2 * ratio_2, sum_3), sum_4, (1.0f + ratio_2) * stretch_y_cells[x]);
        const float e_y_value = sum_4 + stretch_y_new;
        const float value_5 = static_cast<float>(k) * h;
        const float operand_9 = width - value_5;
        const float operand_10 = value_5 - scale_3;
        const float operand_11 = divide(operand_9 > operand_10 ? operand_9 : operand_10, width);
        const float bound_3 = 0.0f > operand_11 ? 0.0f : operand_11;
        const float product_3 = cp_over_width * (bound_3 * bound_3);
        const float operand_12 = 1.0f - bound_3;
        const float sum_5 = product_3 + f0 * (0.0f > operand_12 ? 0.0f : operand_12);
        const float value_6 = tanhf(0.5f * (sum_5 * dt));
        const float ratio_3 = divide(-2.0f * value_6, 1.0f + value_6);
        const float sum_6 = fmaf(minus_inv_h, v_z_next_cells[3][1][x + 1] - v_z_next_cells[0][1][x + 1],
                                 inv_h * (v_z_next_cells[2][1][x + 1] - v_z_next_cells[1][1][x + 1]));
        const float stretch_z_new =
            fmaf(divide(product_3 * ratio_3, sum_5), sum_6, (1.0f + ratio_3) * stretch_z_cells[x]);
        const float e_z_value = sum_6 + stretch_z_new;
        const float product_4 = scale_4 * (e_x_value + e_y_value + e_z_value);
        const float s_xx_new = fmaf(dt, fmaf(rho_cs_cs, e_x_value, product_4), s_xx_cells[x]);
        const float s_yy_new = fmaf(dt, fmaf(rho_cs_cs, e_y_value, product_4), s_yy_cells[x]);
        const float s_zz_new = fmaf(dt, fmaf(rho_cs_cs, e_z_value, product_4), s_zz_cells[x]);
        const float sum_7 = value_3 + h_2;
        const float operand_13 = width - sum_7;
        const float operand_14 = sum_7 - scale_2;
        const float operand_15 = divide(operand_13 > operand_14 ? operand_13 : operand_14, width);
        const float bound_4 = 0.0f > operand_15 ? 0.0f : operand_15;
        const float product_5 = cp_over_width * (bound_4 * bound_4);
        const float operand_16 = 1.0f - bound_4;
        const float sum_8 = product_5 + f0 * (0.0f > operand_16 ? 0.0f : operand_16);
        const float value_7 = tanhf(0.5f * (sum_8 * dt));
        const float ratio_4 = divide(-2.0f * value_7, 1.0f + value_7);
        const float sum_9 = 1.0f + ratio_4;
        const float ratio_5 = divide(product_5 * ratio_4, sum_8);
        const float sum_10 = fmaf(minus_inv_h, v_x_next_cells[1][3][x + 2] - v_x_next_cells[1][0][x + 2],
                                  inv_h * (v_x_next_cells[1][2][x + 2] - v_x_next_cells[1][1][x + 2]));
        const float shear_xy_new = fmaf(ratio_5, sum_10, sum_9 * shear_xy_cells[x]);
        const float sum_11 = value + h_2;
        const float operand_17 = width - sum_11;
        const float operand_18 = sum_11 - scale;
        const float operand_19 = divide(operand_17 > operand_18 ? operand_17 : operand_18, width);
        const float bound_5 = 0.0f > operand_19 ? 0.0f : operand_19;
        const float product_6 = cp_over_width * (bound_5 * bound_5);
        const float operand_20 = 1.0f - bound_5;
        const float sum_12 = product_6 + f0 * (0.0f > operand_20 ? 0.0f : operand_20);
        const float value_8 = tanhf(0.5f * (sum_12 * dt));
        const float ratio_6 = divide(-2.0f * value_8, 1.0f + value_8);
        const float sum_13 = 1.0f + ratio_6;
        const float ratio_7 = divide(product_6 * ratio_6, sum_12);
        const float sum_14 = fmaf(minus_inv_h, v_y_next_cells[1][2][x + 3] - v_y_next_cells[1][2][x],
                                  inv_h * (v_y_next_cells[1][2][x + 2] - v_y_next_cells[1][2][x + 1]));
        const float shear_yx_new = fmaf(ratio_7, sum_14, sum_13 * shear_yx_cells[x]);
        const float s_xy_new =
            fmaf(rho_cs_cs_dt, sum_10 + shear_xy_new + sum_14 + shear_yx_new, s_xy_cells[x]);
        const float sum_15 = value_5 + h_2;
        const float operand_21 = width - sum_15;
        const float operand_22 = sum_15 - scale_3;
        const float operand_23 = divide(operand_21 > operand_22 ? operand_21 : operand_22, width);
        const float bound_6 = 0.0f > operand_23 ? 0.0f : operand_23;
        const float product_7 = cp_over_width * (bound_6 * bound_6);
        const float operand_24 = 1.0f - bound_6;
        const float sum_16 = product_7 + f0 * (0.0f > operand_24 ? 0.0f : operand_24);
        const float value_9 = tanhf(0.5f * (sum_16 * dt));
        const float ratio_8 = divide(-2.0f * value_9, 1.0f + value_9);
        const float sum_17 = 1.0f + ratio_8;
        const float ratio_9 = divide(product_7 * ratio_8, sum_16);
        const float sum_18 = fmaf(minus_inv_h, v_x_next_cells[3][1][x + 2] - v_x_next_cells[0][1][x + 2],
                                  inv_h * (v_x_next_cells[2][1][x + 2] - v_x_next_cells[1][1][x + 2]));
        const float shear_xz_new = fmaf(ratio_9, sum_18, sum_17 * shear_xz_cells[x]);
        const float sum_19 = fmaf(minus_inv_h, v_z_next_cells[2][1][x + 3] - v_z_next_cells[2][1][x],
                                  inv_h * (v_z_next_cells[2][1][x + 2] - v_z_next_cells[2][1][x + 1]));
        const float shear_zx_new = fmaf(ratio_7, sum_19, sum_13 * shear_zx_cells[x]);
        const float s_xz_new =
            fmaf(rho_cs_cs_dt, sum_18 + shear_xz_new + sum_19 + shear_zx_new, s_xz_cells[x]);
        const float sum_20 = fmaf(minus_inv_h, v_y_next_cells[3][2][x + 1] - v_y_next_cells[0][2][x + 1],
                                  inv_h * (v_y_next_cells[2][2][x + 1] - v_y_next_cells[1][2][x + 1]));
        const float shear_yz_new = fmaf(ratio_9, sum_20, sum_17 * shear_yz_cells[x]);
        const float sum_21 = fmaf(minus_inv_h, v_z_next_cells[2][3][x + 1] - v_z_next_cells[2][0][x + 1],
                                  inv_h * (v_z_next_cells[2][2][x + 1] - v_z_next_cells[2][1][x + 1]));
        const float shear_zy_new = fmaf(ratio_5, sum_21, sum_9 * shear_zy_cells[x]);
        const float s_yz_new =
            fmaf(rho_cs_cs_dt, sum_20 + shear_yz_new + sum_21 + shear_zy_new, s_yz_cells[x]);
        stretch_x_next_result[x] = stretch_x_new;
        stretch_y_next_result[x] = stretch_y_new;
        stretch_z_next_result[x] = stretch_z_new;
        s_xx_next_result[x] = s_xx_new;
        s_yy_next_result[x] = s_yy_new;
        s_zz_next_result[x] = s_zz_new;
        shear_xy_next_result[x] = shear_xy_new;
        shear_yx_next_result[x] = shear_yx_new;
        s_xy_next_result[x] = s_xy_new;
        shear_xz_next_result[x] = shear_xz_new;
        shear_zx_next_result[x] = shear_zx_new;
        s_xz_next_result[x] = s_xz_new;
        shear_yz_next_result[x] = shear_yz_new;
        shear_zy_next_result[x] = shear_zy_new;
        s_yz_next_result[x] = s_yz_new;
    }
    if (i + kCellsX <= nx) {
        store2(stretch_x_next + plane[2] + row[2] + i, stretch_x_next_result);
        store2(stretch_y_next + plane[2] + row[2] + i, stretch_y_next_result);
        store2(stretch_z_next + plane[2] + row[2] + i, stretch_z_next_result);
        store2(s_xx_next + plane[2] + row[2] + i, s_xx_next_result);
        store2(s_yy_next + plane[2] + row[2] + i, s_yy_next_result);
        store2(s_zz_next + plane[2] + row[2] + i, s_zz_next_result);
        store2(shear_xy_next + plane[2] + row[2] + i, shear_xy_next_result);
        store2(shear_yx_next + plane[2] + row[2] + i, shear_yx_next_result);
        store2(s_xy_next + plane[2] + row[2] + i, s_xy_next_result);
        store2(shear_xz_next + plane[2] + row[2] + i, shear_xz_next_result);
        store2(shear_zx_next + plane[2] + row[2] + i, shear_zx_next_result);
        store2(s_xz_next + plane[2] + row[2] + i, s_xz_next_result);
        store2(shear_yz_next + plane[2] + row[2] + i, shear_yz_next_result);
        store2(shear_zy_next + plane[2] + row[2] + i, shear_zy_next_result);
        store2(s_yz_next + plane[2] + row[2] + i, s_yz_next_result);
    } else {
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) stretch_x_next[plane[2] + row[2] + i + x] = stretch_x_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) stretch_y_next[plane[2] + row[2] + i + x] = stretch_y_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) stretch_z_next[plane[2] + row[2] + i + x] = stretch_z_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) s_xx_next[plane[2] + row[2] + i + x] = s_xx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) s_yy_next[plane[2] + row[2] + i + x] = s_yy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) s_zz_next[plane[2] + row[2] + i + x] = s_zz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) shear_xy_next[plane[2] + row[2] + i + x] = shear_xy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) shear_yx_next[plane[2] + row[2] + i + x] = shear_yx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) s_xy_next[plane[2] + row[2] + i + x] = s_xy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) shear_xz_next[plane[2] + row[2] + i + x] = shear_xz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) shear_zx_next[plane[2] + row[2] + i + x] = shear_zx_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) s_xz_next[plane[2] + row[2] + i + x] = s_xz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) shear_yz_next[plane[2] + row[2] + i + x] = shear_yz_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) shear_zy_next[plane[2] + row[2] + i + x] = shear_zy_next_result[x];
#pragma unroll
        for (int x = 0; x < kCellsX; ++x)
            if (i + x < nx) s_yz_next[plane[2] + row[2] + i + x] = s_yz_next_result[x];
    }
}
