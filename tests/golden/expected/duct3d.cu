// duct3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.

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

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
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

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_f_1(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i < nx - 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 1); x < nx; x += nx)
        u[k * slice + static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_f_2(float* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 1) return;
    const float value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 0); x < nx + 1; x += nx)
        u[k * slice + static_cast<long long>(j) * pitch + x] = value;
}

// Reads solid, f_0, f_2, f_1, f_4, f_3, f_6, f_5, f_8, f_7, f_10, f_9, f_12, f_11, f_14, f_13, f_16, f_15,
// f_18, f_17, writes f_0_next, f_1_next, f_2_next, f_3_next, f_4_next, f_5_next, f_6_next, f_7_next,
// f_8_next, f_9_next, f_10_next, f_11_next, f_12_next, f_13_next, f_14_next, f_15_next, f_16_next, f_17_next,
// f_18_next, velocity_x, velocity_y, velocity_z, reduces to flow.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 168 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    duct3d_step(const float* __restrict__ solid, const float* __restrict__ f_0, const float* __restrict__ f_2,
                const float* __restrict__ f_1, const float* __restrict__ f_4, const float* __restrict__ f_3,
                const float* __restrict__ f_6, const float* __restrict__ f_5, const float* __restrict__ f_8,
                const float* __restrict__ f_7, const float* __restrict__ f_10, const float* __restrict__ f_9,
                const float* __restrict__ f_12, const float* __restrict__ f_11,
                const float* __restrict__ f_14, const float* __restrict__ f_13,
                const float* __restrict__ f_16, const float* __restrict__ f_15,
                const float* __restrict__ f_18, const float* __restrict__ f_17, float* __restrict__ f_0_next,
                float* __restrict__ f_1_next, float* __restrict__ f_2_next, float* __restrict__ f_3_next,
                float* __restrict__ f_4_next, float* __restrict__ f_5_next, float* __restrict__ f_6_next,
                float* __restrict__ f_7_next, float* __restrict__ f_8_next, float* __restrict__ f_9_next,
                float* __restrict__ f_10_next, float* __restrict__ f_11_next, float* __restrict__ f_12_next,
                float* __restrict__ f_13_next, float* __restrict__ f_14_next, float* __restrict__ f_15_next,
                float* __restrict__ f_16_next, float* __restrict__ f_17_next, float* __restrict__ f_18_next,
                float* __restrict__ velocity_x, float* __restrict__ velocity_y,
                float* __restrict__ velocity_z, int nx, int ny, int nz, int pitch, long long slice,
                float force, float inv_tau, float force_2, float force_3, float force_4,
                double* __restrict__ flow_partials) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    double flow_of_thread = 0.0;
    if (i < nx && j < ny && k < nz) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        const float g_0_value = f_0[at];
        const float g_1_value = solid[at - 1] > 0.0f ? f_2[at] : f_1[at - 1];
        const float g_2_value = solid[at + 1] > 0.0f ? f_1[at] : f_2[at + 1];
        const float g_3_value = solid[at - pitch] > 0.0f ? f_4[at] : f_3[at - pitch];
        const float g_4_value = solid[at + pitch] > 0.0f ? f_3[at] : f_4[at + pitch];
        const float g_5_value = solid[at - slice] > 0.0f ? f_6[at] : f_5[at - slice];
        const float g_6_value = solid[at + slice] > 0.0f ? f_5[at] : f_6[at + slice];
        const float g_7_value = solid[at - pitch - 1] > 0.0f ? f_8[at] : f_7[at - pitch - 1];
        const float g_8_value = solid[at + pitch + 1] > 0.0f ? f_7[at] : f_8[at + pitch + 1];
        const float g_9_value = solid[at + pitch - 1] > 0.0f ? f_10[at] : f_9[at + pitch - 1];
        const float g_10_value = solid[at - pitch + 1] > 0.0f ? f_9[at] : f_10[at - pitch + 1];
        const float g_11_value = solid[at - slice - 1] > 0.0f ? f_12[at] : f_11[at - slice - 1];
        const float g_12_value = solid[at + slice + 1] > 0.0f ? f_11[at] : f_12[at + slice + 1];
        const float g_13_value = solid[at + slice - 1] > 0.0f ? f_14[at] : f_13[at + slice - 1];
        const float g_14_value = solid[at - slice + 1] > 0.0f ? f_13[at] : f_14[at - slice + 1];
        const float g_15_value = solid[at - slice - pitch] > 0.0f ? f_16[at] : f_15[at - slice - pitch];
        const float g_16_value = solid[at + slice + pitch] > 0.0f ? f_15[at] : f_16[at + slice + pitch];
        const float g_17_value = solid[at + slice - pitch] > 0.0f ? f_18[at] : f_17[at + slice - pitch];
        const float g_18_value = solid[at - slice + pitch] > 0.0f ? f_17[at] : f_18[at - slice + pitch];
        const float rho_value = g_0_value + g_1_value + g_2_value + g_3_value + g_4_value + g_5_value +
            g_6_value + g_7_value + g_8_value + g_9_value + g_10_value + g_11_value + g_12_value +
            g_13_value + g_14_value + g_15_value + g_16_value + g_17_value + g_18_value;
        const float sum = 1.0f + rho_value;
        const float u_0_value = divide(g_1_value - g_2_value + g_7_value - g_8_value + g_9_value -
                                       g_10_value + g_11_value - g_12_value + g_13_value - g_14_value, sum) +
            force;
        const float u_1_value = divide(g_3_value - g_4_value + g_7_value - g_8_value - g_9_value +
                                       g_10_value + g_15_value - g_16_value + g_17_value - g_18_value, sum);
        const float u_2_value = divide(g_5_value - g_6_value + g_11_value - g_12_value - g_13_value +
                                       g_14_value + g_15_value - g_16_value - g_17_value + g_18_value, sum);
        const float product = u_0_value * u_0_value;
        const float product_2 = u_1_value * u_1_value;
        const float product_3 = u_2_value * u_2_value;
        const float sum_2 = product + product_2 + product_3;
        const float product_4 = -3.0f * u_0_value;
        const float f_0_inside = fmaf(force_2, sum * product_4,
                                      fmaf(inv_tau,
                                           fmaf(0.33333334f, fmaf(-1.5f, sum * sum_2, rho_value), -g_0_value),
                                           g_0_value));
        const bool inside = j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1;
        const float f_0_new = inside ? f_0_inside : f_0[at];
        const float product_5 = force_3 * sum;
        const float product_6 = 3.0f * (1.0f - u_0_value);
        const float product_7 = 9.0f * u_0_value;
        const float product_8 = 3.0f * u_0_value;
        const float product_9 = 4.5f * product;
        const float product_10 = 1.5f * sum_2;
        const float f_1_inside = fmaf(inv_tau,
                                      fmaf(0.055555556f,
                                           fmaf(sum, product_8 + product_9 - product_10, rho_value),
                                           -g_1_value),
                                      fmaf(product_5, product_6 + product_7, g_1_value));
        const float f_1_new = inside ? f_1_inside : f_1[at];
        const float product_11 = 3.0f * (-1.0f - u_0_value);
        const float f_2_inside = fmaf(inv_tau,
                                      fmaf(0.055555556f,
                                           fmaf(sum, product_9 - product_8 - product_10, rho_value),
                                           -g_2_value),
                                      fmaf(product_5, product_11 + product_7, g_2_value));
        const float f_2_new = inside ? f_2_inside : f_2[at];
        const float product_12 = product_5 * product_4;
        const float product_13 = 3.0f * u_1_value;
        const float product_14 = 4.5f * product_2;
        const float f_3_inside = fmaf(inv_tau,
                                      fmaf(0.055555556f,
                                           fmaf(sum, product_13 + product_14 - product_10, rho_value),
                                           -g_3_value),
                                      g_3_value + product_12);
        const float f_3_new = inside ? f_3_inside : f_3[at];
        const float f_4_inside = fmaf(inv_tau,
                                      fmaf(0.055555556f,
                                           fmaf(sum, product_14 - product_13 - product_10, rho_value),
                                           -g_4_value),
                                      g_4_value + product_12);
        const float f_4_new = inside ? f_4_inside : f_4[at];
        const float product_15 = 3.0f * u_2_value;
        const float product_16 = 4.5f * product_3;
        const float f_5_inside = fmaf(inv_tau,
                                      fmaf(0.055555556f,
                                           fmaf(sum, product_15 + product_16 - product_10, rho_value),
                                           -g_5_value),
                                      g_5_value + product_12);
        const float f_5_new = inside ? f_5_inside : f_5[at];
        const float f_6_inside = fmaf(inv_tau,
                                      fmaf(0.055555556f,
                                           fmaf(sum, product_16 - product_15 - product_10, rho_value),
                                           -g_6_value),
                                      g_6_value + product_12);
        const float f_6_new = inside ? f_6_inside : f_6[at];
        const float product_17 = force_4 * sum;
        const float sum_3 = u_0_value + u_1_value;
        const float product_18 = 9.0f * sum_3;
        const float product_19 = 3.0f * sum_3;
        const float product_20 = 4.5f * (sum_3 * sum_3);
        const float f_7_inside = fmaf(inv_tau,
                                      fmaf(0.027777778f,
                                           fmaf(sum, product_19 + product_20 - product_10, rho_value),
                                           -g_7_value),
                                      fmaf(product_17, product_6 + product_18, g_7_value));
        const float f_7_new = inside ? f_7_inside : f_7[at];
        const float f_8_inside = fmaf(inv_tau,
                                      fmaf(0.027777778f,
                                           fmaf(sum, product_20 - product_19 - product_10, rho_value),
                                           -g_8_value),
                                      fmaf(product_17, product_11 + product_18, g_8_value));
        const float f_8_new = inside ? f_8_inside : f_8[at];
        const float difference = u_0_value - u_1_value;
        const float f_9_inside = fmaf(inv_tau,
                                      fmaf(0.027777778f,
                                           fmaf(sum,
                                                fmaf(4.5f, difference * difference, 3.0f * difference) -
                                                product_10, rho_value),
                                           -g_9_value),
                                      fmaf(product_17, fmaf(9.0f, difference, product_6), g_9_value));
        const float f_9_new = inside ? f_9_inside : f_9[at];
        const float difference_2 = u_1_value - u_0_value;
        const float f_10_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum,
                                                 fmaf(4.5f, difference_2 * difference_2,
                                                      3.0f * difference_2) - product_10,
                                                 rho_value),
                                            -g_10_value),
                                       fmaf(product_17, fmaf(-9.0f, difference_2, product_11), g_10_value));
        const float f_10_new = inside ? f_10_inside : f_10[at];
        const float sum_4 = u_0_value + u_2_value;
        const float product_21 = 9.0f * sum_4;
        const float product_22 = 3.0f * sum_4;
        const float product_23 = 4.5f * (sum_4 * sum_4);
        const float f_11_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum, product_22 + product_23 - product_10, rho_value),
                                            -g_11_value),
                                       fmaf(product_17, product_6 + product_21, g_11_value));
        const float f_11_new = inside ? f_11_inside : f_11[at];
        const float f_12_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum, product_23 - product_22 - product_10, rho_value),
                                            -g_12_value),
                                       fmaf(product_17, product_11 + product_21, g_12_value));
        const float f_12_new = inside ? f_12_inside : f_12[at];
        const float difference_3 = u_0_value - u_2_value;
        const float f_13_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum,
                                                 fmaf(4.5f, difference_3 * difference_3,
                                                      3.0f * difference_3) - product_10,
                                                 rho_value),
                                            -g_13_value),
                                       fmaf(product_17, fmaf(9.0f, difference_3, product_6), g_13_value));
        const float f_13_new = inside ? f_13_inside : f_13[at];
        const float difference_4 = u_2_value - u_0_value;
        const float f_14_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum,
                                                 fmaf(4.5f, difference_4 * difference_4,
                                                      3.0f * difference_4) - product_10,
                                                 rho_value),
                                            -g_14_value),
                                       fmaf(product_17, fmaf(-9.0f, difference_4, product_11), g_14_value));
        const float f_14_new = inside ? f_14_inside : f_14[at];
        const float product_24 = product_17 * product_4;
        const float sum_5 = u_1_value + u_2_value;
        const float product_25 = 3.0f * sum_5;
        const float product_26 = 4.5f * (sum_5 * sum_5);
        const float f_15_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum, product_25 + product_26 - product_10, rho_value),
                                            -g_15_value),
                                       g_15_value + product_24);
        const float f_15_new = inside ? f_15_inside : f_15[at];
        const float f_16_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum, product_26 - product_25 - product_10, rho_value),
                                            -g_16_value),
                                       g_16_value + product_24);
        const float f_16_new = inside ? f_16_inside : f_16[at];
        const float difference_5 = u_1_value - u_2_value;
        const float f_17_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum,
                                                 fmaf(4.5f, difference_5 * difference_5,
                                                      3.0f * difference_5) - product_10,
                                                 rho_value),
                                            -g_17_value),
                                       g_17_value + product_24);
        const float f_17_new = inside ? f_17_inside : f_17[at];
        const float difference_6 = u_2_value - u_1_value;
        const float f_18_inside = fmaf(inv_tau,
                                       fmaf(0.027777778f,
                                            fmaf(sum,
                                                 fmaf(4.5f, difference_6 * difference_6,
                                                      3.0f * difference_6) - product_10,
                                                 rho_value),
                                            -g_18_value),
                                       g_18_value + product_24);
        const float f_18_new = inside ? f_18_inside : f_18[at];
        f_0_next[at] = f_0_new;
        f_1_next[at] = f_1_new;
        f_2_next[at] = f_2_new;
        f_3_next[at] = f_3_new;
        f_4_next[at] = f_4_new;
        f_5_next[at] = f_5_new;
        f_6_next[at] = f_6_new;
        f_7_next[at] = f_7_new;
        f_8_next[at] = f_8_new;
        f_9_next[at] = f_9_new;
        f_10_next[at] = f_10_new;
        f_11_next[at] = f_11_new;
        f_12_next[at] = f_12_new;
        f_13_next[at] = f_13_new;
        f_14_next[at] = f_14_new;
        f_15_next[at] = f_15_new;
        f_16_next[at] = f_16_new;
        f_17_next[at] = f_17_new;
        f_18_next[at] = f_18_new;
        if (j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1) {
            velocity_x[at] = u_0_value;
            velocity_y[at] = u_1_value;
            velocity_z[at] = u_2_value;
            flow_of_thread += static_cast<double>(solid[at] > 0.0f ? 0.0f : u_0_value);
        }

        // Cells of f_1_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_1_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_2_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_2(f_2_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_7_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_7_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_8_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_2(f_8_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_9_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_9_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_10_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_2(f_10_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_11_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_11_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_12_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_2(f_12_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_13_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_13_next, i, j, k, nx, ny, nz, pitch, slice);

        // Cells of f_14_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_2(f_14_next, i, j, k, nx, ny, nz, pitch, slice);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double flow_of_block = block_sum(flow_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        flow_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = flow_of_block;
}

// In place of duct3d_step in steps whose results nobody reads; leaves out velocity.x, velocity.y, velocity.z,
// flow.
// Reads f_0, solid, f_2, f_1, f_4, f_3, f_6, f_5, f_8, f_7, f_10, f_9, f_12, f_11, f_14, f_13, f_16, f_15,
// f_18, f_17, writes f_0_next, f_1_next, f_2_next, f_3_next, f_4_next, f_5_next, f_6_next, f_7_next,
// f_8_next, f_9_next, f_10_next, f_11_next, f_12_next, f_13_next, f_14_next, f_15_next, f_16_next, f_17_next,
// f_18_next.
// Schedule: direct, blocks of 16x4x2 threads, 1x1x1 cells a thread.
// At least 156 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 8)
    duct3d_step_states(const float* __restrict__ f_0, const float* __restrict__ solid,
                       const float* __restrict__ f_2, const float* __restrict__ f_1,
                       const float* __restrict__ f_4, const float* __restrict__ f_3,
                       const float* __restrict__ f_6, const float* __restrict__ f_5,
                       const float* __restrict__ f_8, const float* __restrict__ f_7,
                       const float* __restrict__ f_10, const float* __restrict__ f_9,
                       const float* __restrict__ f_12, const float* __restrict__ f_11,
                       const float* __restrict__ f_14, const float* __restrict__ f_13,
                       const float* __restrict__ f_16, const float* __restrict__ f_15,
                       const float* __restrict__ f_18, const float* __restrict__ f_17,
                       float* __restrict__ f_0_next, float* __restrict__ f_1_next,
                       float* __restrict__ f_2_next, float* __restrict__ f_3_next,
                       float* __restrict__ f_4_next, float* __restrict__ f_5_next,
                       float* __restrict__ f_6_next, float* __restrict__ f_7_next,
                       float* __restrict__ f_8_next, float* __restrict__ f_9_next,
                       float* __restrict__ f_10_next, float* __restrict__ f_11_next,
                       float* __restrict__ f_12_next, float* __restrict__ f_13_next,
                       float* __restrict__ f_14_next, float* __restrict__ f_15_next,
                       float* __restrict__ f_16_next, float* __restrict__ f_17_next,
                       float* __restrict__ f_18_next, int nx, int ny, int nz, int pitch, long long slice,
                       float force, float inv_tau, float force_2, float force_3, float force_4) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const float g_0_value = f_0[at];
    const float g_1_value = solid[at - 1] > 0.0f ? f_2[at] : f_1[at - 1];
    const float g_2_value = solid[at + 1] > 0.0f ? f_1[at] : f_2[at + 1];
    const float g_3_value = solid[at - pitch] > 0.0f ? f_4[at] : f_3[at - pitch];
    const float g_4_value = solid[at + pitch] > 0.0f ? f_3[at] : f_4[at + pitch];
    const float g_5_value = solid[at - slice] > 0.0f ? f_6[at] : f_5[at - slice];
    const float g_6_value = solid[at + slice] > 0.0f ? f_5[at] : f_6[at + slice];
    const float g_7_value = solid[at - pitch - 1] > 0.0f ? f_8[at] : f_7[at - pitch - 1];
    const float g_8_value = solid[at + pitch + 1] > 0.0f ? f_7[at] : f_8[at + pitch + 1];
    const float g_9_value = solid[at + pitch - 1] > 0.0f ? f_10[at] : f_9[at + pitch - 1];
    const float g_10_value = solid[at - pitch + 1] > 0.0f ? f_9[at] : f_10[at - pitch + 1];
    const float g_11_value = solid[at - slice - 1] > 0.0f ? f_12[at] : f_11[at - slice - 1];
    const float g_12_value = solid[at + slice + 1] > 0.0f ? f_11[at] : f_12[at + slice + 1];
    const float g_13_value = solid[at + slice - 1] > 0.0f ? f_14[at] : f_13[at + slice - 1];
    const float g_14_value = solid[at - slice + 1] > 0.0f ? f_13[at] : f_14[at - slice + 1];
    const float g_15_value = solid[at - slice - pitch] > 0.0f ? f_16[at] : f_15[at - slice - pitch];
    const float g_16_value = solid[at + slice + pitch] > 0.0f ? f_15[at] : f_16[at + slice + pitch];
    const float g_17_value = solid[at + slice - pitch] > 0.0f ? f_18[at] : f_17[at + slice - pitch];
    const float g_18_value = solid[at - slice + pitch] > 0.0f ? f_17[at] : f_18[at - slice + pitch];
    const float rho_value = g_0_value + g_1_value + g_2_value + g_3_value + g_4_value + g_5_value +
        g_6_value + g_7_value + g_8_value + g_9_value + g_10_value + g_11_value + g_12_value + g_13_value +
        g_14_value + g_15_value + g_16_value + g_17_value + g_18_value;
    const float sum = 1.0f + rho_value;
    const float u_0_value = divide(g_1_value - g_2_value + g_7_value - g_8_value + g_9_value - g_10_value +
                                   g_11_value - g_12_value + g_13_value - g_14_value, sum) + force;
    const float u_1_value = divide(g_3_value - g_4_value + g_7_value - g_8_value - g_9_value + g_10_value +
                                   g_15_value - g_16_value + g_17_value - g_18_value, sum);
    const float u_2_value = divide(g_5_value - g_6_value + g_11_value - g_12_value - g_13_value + g_14_value +
                                   g_15_value - g_16_value - g_17_value + g_18_value, sum);
    const float product = u_0_value * u_0_value;
    const float product_2 = u_1_value * u_1_value;
    const float product_3 = u_2_value * u_2_value;
    const float sum_2 = product + product_2 + product_3;
    const float product_4 = -3.0f * u_0_value;
    const float f_0_inside = fmaf(force_2, sum * product_4,
                                  fmaf(inv_tau,
                                       fmaf(0.33333334f, fmaf(-1.5f, sum * sum_2, rho_value), -g_0_value),
                                       g_0_value));
    const bool inside = j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1;
    const float f_0_new = inside ? f_0_inside : f_0[at];
    const float product_5 = force_3 * sum;
    const float product_6 = 3.0f * (1.0f - u_0_value);
    const float product_7 = 9.0f * u_0_value;
    const float product_8 = 3.0f * u_0_value;
    const float product_9 = 4.5f * product;
    const float product_10 = 1.5f * sum_2;
    const float f_1_inside = fmaf(inv_tau,
                                  fmaf(0.055555556f, fmaf(sum, product_8 + product_9 - product_10, rho_value),
                                       -g_1_value),
                                  fmaf(product_5, product_6 + product_7, g_1_value));
    const float f_1_new = inside ? f_1_inside : f_1[at];
    const float product_11 = 3.0f * (-1.0f - u_0_value);
    const float f_2_inside = fmaf(inv_tau,
                                  fmaf(0.055555556f, fmaf(sum, product_9 - product_8 - product_10, rho_value),
                                       -g_2_value),
                                  fmaf(product_5, product_11 + product_7, g_2_value));
    const float f_2_new = inside ? f_2_inside : f_2[at];
    const float product_12 = product_5 * product_4;
    const float product_13 = 3.0f * u_1_value;
    const float product_14 = 4.5f * product_2;
    const float f_3_inside = fmaf(inv_tau,
                                  fmaf(0.055555556f,
                                       fmaf(sum, product_13 + product_14 - product_10, rho_value),
                                       -g_3_value),
                                  g_3_value + product_12);
    const float f_3_new = inside ? f_3_inside : f_3[at];
    const float f_4_inside = fmaf(inv_tau,
                                  fmaf(0.055555556f,
                                       fmaf(sum, product_14 - product_13 - product_10, rho_value),
                                       -g_4_value),
                                  g_4_value + product_12);
    const float f_4_new = inside ? f_4_inside : f_4[at];
    const float product_15 = 3.0f * u_2_value;
    const float product_16 = 4.5f * product_3;
    const float f_5_inside = fmaf(inv_tau,
                                  fmaf(0.055555556f,
                                       fmaf(sum, product_15 + product_16 - product_10, rho_value),
                                       -g_5_value),
                                  g_5_value + product_12);
    const float f_5_new = inside ? f_5_inside : f_5[at];
    const float f_6_inside = fmaf(inv_tau,
                                  fmaf(0.055555556f,
                                       fmaf(sum, product_16 - product_15 - product_10, rho_value),
                                       -g_6_value),
                                  g_6_value + product_12);
    const float f_6_new = inside ? f_6_inside : f_6[at];
    const float product_17 = force_4 * sum;
    const float sum_3 = u_0_value + u_1_value;
    const float product_18 = 9.0f * sum_3;
    const float product_19 = 3.0f * sum_3;
    const float product_20 = 4.5f * (sum_3 * sum_3);
    const float f_7_inside = fmaf(inv_tau,
                                  fmaf(0.027777778f,
                                       fmaf(sum, product_19 + product_20 - product_10, rho_value),
                                       -g_7_value),
                                  fmaf(product_17, product_6 + product_18, g_7_value));
    const float f_7_new = inside ? f_7_inside : f_7[at];
    const float f_8_inside = fmaf(inv_tau,
                                  fmaf(0.027777778f,
                                       fmaf(sum, product_20 - product_19 - product_10, rho_value),
                                       -g_8_value),
                                  fmaf(product_17, product_11 + product_18, g_8_value));
    const float f_8_new = inside ? f_8_inside : f_8[at];
    const float difference = u_0_value - u_1_value;
    const float f_9_inside = fmaf(inv_tau,
                                  fmaf(0.027777778f,
                                       fmaf(sum,
                                            fmaf(4.5f, difference * difference, 3.0f * difference) -
                                            product_10, rho_value),
                                       -g_9_value),
                                  fmaf(product_17, fmaf(9.0f, difference, product_6), g_9_value));
    const float f_9_new = inside ? f_9_inside : f_9[at];
    const float difference_2 = u_1_value - u_0_value;
    const float f_10_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum,
                                             fmaf(4.5f, difference_2 * difference_2, 3.0f * difference_2) -
                                             product_10, rho_value),
                                        -g_10_value),
                                   fmaf(product_17, fmaf(-9.0f, difference_2, product_11), g_10_value));
    const float f_10_new = inside ? f_10_inside : f_10[at];
    const float sum_4 = u_0_value + u_2_value;
    const float product_21 = 9.0f * sum_4;
    const float product_22 = 3.0f * sum_4;
    const float product_23 = 4.5f * (sum_4 * sum_4);
    const float f_11_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum, product_22 + product_23 - product_10, rho_value),
                                        -g_11_value),
                                   fmaf(product_17, product_6 + product_21, g_11_value));
    const float f_11_new = inside ? f_11_inside : f_11[at];
    const float f_12_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum, product_23 - product_22 - product_10, rho_value),
                                        -g_12_value),
                                   fmaf(product_17, product_11 + product_21, g_12_value));
    const float f_12_new = inside ? f_12_inside : f_12[at];
    const float difference_3 = u_0_value - u_2_value;
    const float f_13_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum,
                                             fmaf(4.5f, difference_3 * difference_3, 3.0f * difference_3) -
                                             product_10, rho_value),
                                        -g_13_value),
                                   fmaf(product_17, fmaf(9.0f, difference_3, product_6), g_13_value));
    const float f_13_new = inside ? f_13_inside : f_13[at];
    const float difference_4 = u_2_value - u_0_value;
    const float f_14_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum,
                                             fmaf(4.5f, difference_4 * difference_4, 3.0f * difference_4) -
                                             product_10, rho_value),
                                        -g_14_value),
                                   fmaf(product_17, fmaf(-9.0f, difference_4, product_11), g_14_value));
    const float f_14_new = inside ? f_14_inside : f_14[at];
    const float product_24 = product_17 * product_4;
    const float sum_5 = u_1_value + u_2_value;
    const float product_25 = 3.0f * sum_5;
    const float product_26 = 4.5f * (sum_5 * sum_5);
    const float f_15_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum, product_25 + product_26 - product_10, rho_value),
                                        -g_15_value),
                                   g_15_value + product_24);
    const float f_15_new = inside ? f_15_inside : f_15[at];
    const float f_16_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum, product_26 - product_25 - product_10, rho_value),
                                        -g_16_value),
                                   g_16_value + product_24);
    const float f_16_new = inside ? f_16_inside : f_16[at];
    const float difference_5 = u_1_value - u_2_value;
    const float f_17_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum,
                                             fmaf(4.5f, difference_5 * difference_5, 3.0f * difference_5) -
                                             product_10, rho_value),
                                        -g_17_value),
                                   g_17_value + product_24);
    const float f_17_new = inside ? f_17_inside : f_17[at];
    const float difference_6 = u_2_value - u_1_value;
    const float f_18_inside = fmaf(inv_tau,
                                   fmaf(0.027777778f,
                                        fmaf(sum,
                                             fmaf(4.5f, difference_6 * difference_6, 3.0f * difference_6) -
                                             product_10, rho_value),
                                        -g_18_value),
                                   g_18_value + product_24);
    const float f_18_new = inside ? f_18_inside : f_18[at];
    f_0_next[at] = f_0_new;
    f_1_next[at] = f_1_new;
    f_2_next[at] = f_2_new;
    f_3_next[at] = f_3_new;
    f_4_next[at] = f_4_new;
    f_5_next[at] = f_5_new;
    f_6_next[at] = f_6_new;
    f_7_next[at] = f_7_new;
    f_8_next[at] = f_8_new;
    f_9_next[at] = f_9_new;
    f_10_next[at] = f_10_new;
    f_11_next[at] = f_11_new;
    f_12_next[at] = f_12_new;
    f_13_next[at] = f_13_new;
    f_14_next[at] = f_14_new;
    f_15_next[at] = f_15_new;
    f_16_next[at] = f_16_new;
    f_17_next[at] = f_17_new;
    f_18_next[at] = f_18_new;

    // Cells of f_1_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_1_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_2_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_2(f_2_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_7_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_7_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_8_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_2(f_8_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_9_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_9_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_10_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_2(f_10_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_11_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_11_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_12_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_2(f_12_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_13_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_13_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of f_14_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_2(f_14_next, i, j, k, nx, ny, nz, pitch, slice);
}
