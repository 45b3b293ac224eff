// cavity2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

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

// Reads f_0, wall, f_3, f_1, f_4, f_2, f_7, f_5, f_8, f_6, writes f_0_next, f_1_next, f_2_next, f_3_next,
// f_4_next, f_5_next, f_6_next, f_7_next, f_8_next, velocity_x, velocity_y, reduces to fastest.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 84 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    cavity2d_step(const float* __restrict__ f_0, const float* __restrict__ wall,
                  const float* __restrict__ f_3, const float* __restrict__ f_1, const float* __restrict__ f_4,
                  const float* __restrict__ f_2, const float* __restrict__ f_7, const float* __restrict__ f_5,
                  const float* __restrict__ f_8, const float* __restrict__ f_6, float* __restrict__ f_0_next,
                  float* __restrict__ f_1_next, float* __restrict__ f_2_next, float* __restrict__ f_3_next,
                  float* __restrict__ f_4_next, float* __restrict__ f_5_next, float* __restrict__ f_6_next,
                  float* __restrict__ f_7_next, float* __restrict__ f_8_next, float* __restrict__ velocity_x,
                  float* __restrict__ velocity_y, int nx, int ny, int pitch, float lid, float lid_2,
                  float lid_3, float lid_4, float scale, double* __restrict__ fastest_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double fastest_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float g_0_value = f_0[at];
        const float g_1_value = wall[at - 1] > 0.0f ? f_3[at] + (wall[at - 1] > 1.0f ? lid : 0.0f) :
            f_1[at - 1];
        const float g_2_value = wall[at - pitch] > 0.0f ? f_4[at] : f_2[at - pitch];
        const float g_3_value = wall[at + 1] > 0.0f ? f_1[at] + (wall[at + 1] > 1.0f ? lid_2 : 0.0f) :
            f_3[at + 1];
        const float g_4_value = wall[at + pitch] > 0.0f ? f_2[at] : f_4[at + pitch];
        const float g_5_value = wall[at - pitch - 1] > 0.0f ?
            f_7[at] + (wall[at - pitch - 1] > 1.0f ? lid_3 : 0.0f) : f_5[at - pitch - 1];
        const float g_6_value = wall[at - pitch + 1] > 0.0f ?
            f_8[at] + (wall[at - pitch + 1] > 1.0f ? lid_4 : 0.0f) : f_6[at - pitch + 1];
        const float g_7_value = wall[at + pitch + 1] > 0.0f ?
            f_5[at] + (wall[at + pitch + 1] > 1.0f ? lid_4 : 0.0f) : f_7[at + pitch + 1];
        const float g_8_value = wall[at + pitch - 1] > 0.0f ?
            f_6[at] + (wall[at + pitch - 1] > 1.0f ? lid_3 : 0.0f) : f_8[at + pitch - 1];
        const float rho_value = g_0_value + g_1_value + g_2_value + g_3_value + g_4_value + g_5_value +
            g_6_value + g_7_value + g_8_value;
        const float u_0_value =
            divide(g_1_value - g_3_value + g_5_value - g_6_value - g_7_value + g_8_value, rho_value);
        const float u_1_value =
            divide(g_2_value - g_4_value + g_5_value + g_6_value - g_7_value - g_8_value, rho_value);
        const float product = u_0_value * u_0_value;
        const float product_2 = u_1_value * u_1_value;
        const float product_3 = 1.5f * (product + product_2);
        const float f_0_inside =
            fmaf(scale, fmaf(0.44444445f, rho_value * (1.0f - product_3), -g_0_value), g_0_value);
        const bool inside = i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1;
        const float f_0_new = inside ? f_0_inside : f_0[at];
        const float product_4 = 0.11111111f * rho_value;
        const float product_5 = 3.0f * u_0_value;
        const float product_6 = 4.5f * product;
        const float f_1_inside =
            fmaf(scale, fmaf(product_4, 1.0f + product_5 + product_6 - product_3, -g_1_value), g_1_value);
        const float f_1_new = inside ? f_1_inside : f_1[at];
        const float product_7 = 3.0f * u_1_value;
        const float product_8 = 4.5f * product_2;
        const float f_2_inside =
            fmaf(scale, fmaf(product_4, 1.0f + product_7 + product_8 - product_3, -g_2_value), g_2_value);
        const float f_2_new = inside ? f_2_inside : f_2[at];
        const float f_3_inside =
            fmaf(scale, fmaf(product_4, 1.0f - product_5 + product_6 - product_3, -g_3_value), g_3_value);
        const float f_3_new = inside ? f_3_inside : f_3[at];
        const float f_4_inside =
            fmaf(scale, fmaf(product_4, 1.0f - product_7 + product_8 - product_3, -g_4_value), g_4_value);
        const float f_4_new = inside ? f_4_inside : f_4[at];
        const float product_9 = 0.027777778f * rho_value;
        const float sum = u_0_value + u_1_value;
        const float product_10 = 3.0f * sum;
        const float product_11 = 4.5f * (sum * sum);
        const float f_5_inside =
            fmaf(scale, fmaf(product_9, 1.0f + product_10 + product_11 - product_3, -g_5_value), g_5_value);
        const float f_5_new = inside ? f_5_inside : f_5[at];
        const float difference = u_1_value - u_0_value;
        const float f_6_inside = fmaf(scale,
                                      fmaf(product_9,
                                           fmaf(4.5f, difference * difference, fmaf(3.0f, difference, 1.0f)) -
                                           product_3, -g_6_value),
                                      g_6_value);
        const float f_6_new = inside ? f_6_inside : f_6[at];
        const float f_7_inside =
            fmaf(scale, fmaf(product_9, 1.0f - product_10 + product_11 - product_3, -g_7_value), g_7_value);
        const float f_7_new = inside ? f_7_inside : f_7[at];
        const float difference_2 = u_0_value - u_1_value;
        const float f_8_inside = fmaf(scale,
                                      fmaf(product_9,
                                           fmaf(4.5f, difference_2 * difference_2,
                                                fmaf(3.0f, difference_2, 1.0f)) - product_3,
                                           -g_8_value),
                                      g_8_value);
        const float f_8_new = inside ? f_8_inside : f_8[at];
        f_0_next[at] = f_0_new;
        f_1_next[at] = f_1_new;
        f_2_next[at] = f_2_new;
        f_3_next[at] = f_3_new;
        f_4_next[at] = f_4_new;
        f_5_next[at] = f_5_new;
        f_6_next[at] = f_6_new;
        f_7_next[at] = f_7_new;
        f_8_next[at] = f_8_new;
        if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1) {
            velocity_x[at] = u_0_value;
            velocity_y[at] = u_1_value;
            fastest_of_thread = keep_max(fastest_of_thread, static_cast<double>(fabsf(u_0_value)));
        }
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double fastest_of_block = block_max(fastest_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        fastest_partials[blockIdx.x + gridDim.x * blockIdx.y] = fastest_of_block;
}

// In place of cavity2d_step in steps whose results nobody reads; leaves out velocity.x, velocity.y, fastest.
// Reads f_0, wall, f_3, f_1, f_4, f_2, f_7, f_5, f_8, f_6, writes f_0_next, f_1_next, f_2_next, f_3_next,
// f_4_next, f_5_next, f_6_next, f_7_next, f_8_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 76 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 5)
    cavity2d_step_states(const float* __restrict__ f_0, const float* __restrict__ wall,
                         const float* __restrict__ f_3, const float* __restrict__ f_1,
                         const float* __restrict__ f_4, const float* __restrict__ f_2,
                         const float* __restrict__ f_7, const float* __restrict__ f_5,
                         const float* __restrict__ f_8, const float* __restrict__ f_6,
                         float* __restrict__ f_0_next, float* __restrict__ f_1_next,
                         float* __restrict__ f_2_next, float* __restrict__ f_3_next,
                         float* __restrict__ f_4_next, float* __restrict__ f_5_next,
                         float* __restrict__ f_6_next, float* __restrict__ f_7_next,
                         float* __restrict__ f_8_next, int nx, int ny, int pitch, float lid, float lid_2,
                         float lid_3, float lid_4, float scale) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const float g_0_value = f_0[at];
    const float g_1_value = wall[at - 1] > 0.0f ? f_3[at] + (wall[at - 1] > 1.0f ? lid : 0.0f) : f_1[at - 1];
    const float g_2_value = wall[at - pitch] > 0.0f ? f_4[at] : f_2[at - pitch];
    const float g_3_value = wall[at + 1] > 0.0f ? f_1[at] + (wall[at + 1] > 1.0f ? lid_2 : 0.0f) :
        f_3[at + 1];
    const float g_4_value = wall[at + pitch] > 0.0f ? f_2[at] : f_4[at + pitch];
    const float g_5_value = wall[at - pitch - 1] > 0.0f ?
        f_7[at] + (wall[at - pitch - 1] > 1.0f ? lid_3 : 0.0f) : f_5[at - pitch - 1];
    const float g_6_value = wall[at - pitch + 1] > 0.0f ?
        f_8[at] + (wall[at - pitch + 1] > 1.0f ? lid_4 : 0.0f) : f_6[at - pitch + 1];
    const float g_7_value = wall[at + pitch + 1] > 0.0f ?
        f_5[at] + (wall[at + pitch + 1] > 1.0f ? lid_4 : 0.0f) : f_7[at + pitch + 1];
    const float g_8_value = wall[at + pitch - 1] > 0.0f ?
        f_6[at] + (wall[at + pitch - 1] > 1.0f ? lid_3 : 0.0f) : f_8[at + pitch - 1];
    const float rho_value = g_0_value + g_1_value + g_2_value + g_3_value + g_4_value + g_5_value +
        g_6_value + g_7_value + g_8_value;
    const float u_0_value =
        divide(g_1_value - g_3_value + g_5_value - g_6_value - g_7_value + g_8_value, rho_value);
    const float u_1_value =
        divide(g_2_value - g_4_value + g_5_value + g_6_value - g_7_value - g_8_value, rho_value);
    const float product = u_0_value * u_0_value;
    const float product_2 = u_1_value * u_1_value;
    const float product_3 = 1.5f * (product + product_2);
    const float f_0_inside =
        fmaf(scale, fmaf(0.44444445f, rho_value * (1.0f - product_3), -g_0_value), g_0_value);
    const bool inside = i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1;
    const float f_0_new = inside ? f_0_inside : f_0[at];
    const float product_4 = 0.11111111f * rho_value;
    const float product_5 = 3.0f * u_0_value;
    const float product_6 = 4.5f * product;
    const float f_1_inside =
        fmaf(scale, fmaf(product_4, 1.0f + product_5 + product_6 - product_3, -g_1_value), g_1_value);
    const float f_1_new = inside ? f_1_inside : f_1[at];
    const float product_7 = 3.0f * u_1_value;
    const float product_8 = 4.5f * product_2;
    const float f_2_inside =
        fmaf(scale, fmaf(product_4, 1.0f + product_7 + product_8 - product_3, -g_2_value), g_2_value);
    const float f_2_new = inside ? f_2_inside : f_2[at];
    const float f_3_inside =
        fmaf(scale, fmaf(product_4, 1.0f - product_5 + product_6 - product_3, -g_3_value), g_3_value);
    const float f_3_new = inside ? f_3_inside : f_3[at];
    const float f_4_inside =
        fmaf(scale, fmaf(product_4, 1.0f - product_7 + product_8 - product_3, -g_4_value), g_4_value);
    const float f_4_new = inside ? f_4_inside : f_4[at];
    const float product_9 = 0.027777778f * rho_value;
    const float sum = u_0_value + u_1_value;
    const float product_10 = 3.0f * sum;
    const float product_11 = 4.5f * (sum * sum);
    const float f_5_inside =
        fmaf(scale, fmaf(product_9, 1.0f + product_10 + product_11 - product_3, -g_5_value), g_5_value);
    const float f_5_new = inside ? f_5_inside : f_5[at];
    const float difference = u_1_value - u_0_value;
    const float f_6_inside = fmaf(scale,
                                  fmaf(product_9,
                                       fmaf(4.5f, difference * difference, fmaf(3.0f, difference, 1.0f)) -
                                       product_3, -g_6_value),
                                  g_6_value);
    const float f_6_new = inside ? f_6_inside : f_6[at];
    const float f_7_inside =
        fmaf(scale, fmaf(product_9, 1.0f - product_10 + product_11 - product_3, -g_7_value), g_7_value);
    const float f_7_new = inside ? f_7_inside : f_7[at];
    const float difference_2 = u_0_value - u_1_value;
    const float f_8_inside = fmaf(scale,
                                  fmaf(product_9,
                                       fmaf(4.5f, difference_2 * difference_2,
                                            fmaf(3.0f, difference_2, 1.0f)) - product_3,
                                       -g_8_value),
                                  g_8_value);
    const float f_8_new = inside ? f_8_inside : f_8[at];
    f_0_next[at] = f_0_new;
    f_1_next[at] = f_1_new;
    f_2_next[at] = f_2_new;
    f_3_next[at] = f_3_new;
    f_4_next[at] = f_4_new;
    f_5_next[at] = f_5_new;
    f_6_next[at] = f_6_new;
    f_7_next[at] = f_7_new;
    f_8_next[at] = f_8_new;
}
