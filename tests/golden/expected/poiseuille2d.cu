// poiseuille2d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
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

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_f_1(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i < nx - 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 1); x < nx; x += nx)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Stores a cell once more wherever the halo shows it: x periodic.
__device__ inline void store_images_f_3(double* u, int i, int j, int nx, int ny, int pitch) {
    if (i >= 1) return;
    const double value = u[static_cast<long long>(j) * pitch + i];
    for (int x = first_image(i, nx, 0); x < nx + 1; x += nx)
        u[static_cast<long long>(j) * pitch + x] = value;
}

// Reads solid, f_0, f_3, f_1, f_4, f_2, f_7, f_5, f_8, f_6, writes f_0_next, f_1_next, f_2_next, f_3_next,
// f_4_next, f_5_next, f_6_next, f_7_next, f_8_next, density, velocity_x, velocity_y, reduces to speed.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 176 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    poiseuille2d_step(const double* __restrict__ solid, const double* __restrict__ f_0,
                      const double* __restrict__ f_3, const double* __restrict__ f_1,
                      const double* __restrict__ f_4, const double* __restrict__ f_2,
                      const double* __restrict__ f_7, const double* __restrict__ f_5,
                      const double* __restrict__ f_8, const double* __restrict__ f_6,
                      double* __restrict__ f_0_next, double* __restrict__ f_1_next,
                      double* __restrict__ f_2_next, double* __restrict__ f_3_next,
                      double* __restrict__ f_4_next, double* __restrict__ f_5_next,
                      double* __restrict__ f_6_next, double* __restrict__ f_7_next,
                      double* __restrict__ f_8_next, double* __restrict__ density,
                      double* __restrict__ velocity_x, double* __restrict__ velocity_y, int nx, int ny,
                      int pitch, double force, double inv_tau, double force_2, double force_3, double force_4,
                      double* __restrict__ speed_partials) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double speed_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const double g_0_value = f_0[at];
        const double g_1_value = solid[at - 1] > 0.0 ? f_3[at] : f_1[at - 1];
        const double g_2_value = solid[at - pitch] > 0.0 ? f_4[at] : f_2[at - pitch];
        const double g_3_value = solid[at + 1] > 0.0 ? f_1[at] : f_3[at + 1];
        const double g_4_value = solid[at + pitch] > 0.0 ? f_2[at] : f_4[at + pitch];
        const double g_5_value = solid[at - pitch - 1] > 0.0 ? f_7[at] : f_5[at - pitch - 1];
        const double g_6_value = solid[at - pitch + 1] > 0.0 ? f_8[at] : f_6[at - pitch + 1];
        const double g_7_value = solid[at + pitch + 1] > 0.0 ? f_5[at] : f_7[at + pitch + 1];
        const double g_8_value = solid[at + pitch - 1] > 0.0 ? f_6[at] : f_8[at + pitch - 1];
        const double rho_value = g_0_value + g_1_value + g_2_value + g_3_value + g_4_value + g_5_value +
            g_6_value + g_7_value + g_8_value;
        const double u_0_value =
            (g_1_value - g_3_value + g_5_value - g_6_value - g_7_value + g_8_value) / rho_value + force;
        const double u_1_value =
            (g_2_value - g_4_value + g_5_value + g_6_value - g_7_value - g_8_value) / rho_value;
        const double product = u_0_value * u_0_value;
        const double product_2 = u_1_value * u_1_value;
        const double product_3 = 1.5 * (product + product_2);
        const double product_4 = -3.0 * u_0_value;
        const double f_0_inside = fma(force_2, rho_value * product_4,
                                      fma(inv_tau,
                                          fma(0.4444444444444444, rho_value * (1.0 - product_3), -g_0_value),
                                          g_0_value));
        const bool inside = j >= 1 && j < ny - 1;
        const double f_0_new = inside ? f_0_inside : f_0[at];
        const double product_5 = force_3 * rho_value;
        const double product_6 = 3.0 * (1.0 - u_0_value);
        const double product_7 = 9.0 * u_0_value;
        const double product_8 = 0.1111111111111111 * rho_value;
        const double product_9 = 3.0 * u_0_value;
        const double product_10 = 4.5 * product;
        const double f_1_inside = fma(inv_tau,
                                      fma(product_8, 1.0 + product_9 + product_10 - product_3, -g_1_value),
                                      fma(product_5, product_6 + product_7, g_1_value));
        const double f_1_new = inside ? f_1_inside : f_1[at];
        const double product_11 = product_5 * product_4;
        const double product_12 = 3.0 * u_1_value;
        const double product_13 = 4.5 * product_2;
        const double f_2_inside = fma(inv_tau,
                                      fma(product_8, 1.0 + product_12 + product_13 - product_3, -g_2_value),
                                      g_2_value + product_11);
        const double f_2_new = inside ? f_2_inside : f_2[at];
        const double product_14 = 3.0 * (-1.0 - u_0_value);
        const double f_3_inside = fma(inv_tau,
                                      fma(product_8, 1.0 - product_9 + product_10 - product_3, -g_3_value),
                                      fma(product_5, product_14 + product_7, g_3_value));
        const double f_3_new = inside ? f_3_inside : f_3[at];
        const double f_4_inside = fma(inv_tau,
                                      fma(product_8, 1.0 - product_12 + product_13 - product_3, -g_4_value),
                                      g_4_value + product_11);
        const double f_4_new = inside ? f_4_inside : f_4[at];
        const double product_15 = force_4 * rho_value;
        const double sum = u_0_value + u_1_value;
        const double product_16 = 9.0 * sum;
        const double product_17 = 0.027777777777777776 * rho_value;
        const double product_18 = 3.0 * sum;
        const double product_19 = 4.5 * (sum * sum);
        const double f_5_inside = fma(inv_tau,
                                      fma(product_17, 1.0 + product_18 + product_19 - product_3, -g_5_value),
                                      fma(product_15, product_6 + product_16, g_5_value));
        const double f_5_new = inside ? f_5_inside : f_5[at];
        const double difference = u_1_value - u_0_value;
        const double f_6_inside = fma(inv_tau,
                                      fma(product_17,
                                          fma(4.5, difference * difference, fma(3.0, difference, 1.0)) -
                                          product_3, -g_6_value),
                                      fma(product_15, fma(-9.0, difference, product_14), g_6_value));
        const double f_6_new = inside ? f_6_inside : f_6[at];
        const double f_7_inside = fma(inv_tau,
                                      fma(product_17, 1.0 - product_18 + product_19 - product_3, -g_7_value),
                                      fma(product_15, product_14 + product_16, g_7_value));
        const double f_7_new = inside ? f_7_inside : f_7[at];
        const double difference_2 = u_0_value - u_1_value;
        const double f_8_inside = fma(inv_tau,
                                      fma(product_17,
                                          fma(4.5, difference_2 * difference_2, fma(3.0, difference_2, 1.0)) -
                                          product_3, -g_8_value),
                                      fma(product_15, fma(9.0, difference_2, product_6), g_8_value));
        const double f_8_new = inside ? f_8_inside : f_8[at];
        f_0_next[at] = f_0_new;
        f_1_next[at] = f_1_new;
        f_2_next[at] = f_2_new;
        f_3_next[at] = f_3_new;
        f_4_next[at] = f_4_new;
        f_5_next[at] = f_5_new;
        f_6_next[at] = f_6_new;
        f_7_next[at] = f_7_new;
        f_8_next[at] = f_8_new;
        if (j >= 1 && j < ny - 1) {
            density[at] = rho_value;
            velocity_x[at] = u_0_value;
            velocity_y[at] = u_1_value;
            speed_of_thread = keep_max(speed_of_thread, solid[at] > 0.0 ? 0.0 : u_0_value);
        }

        // Cells of f_1_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_1_next, i, j, nx, ny, pitch);

        // Cells of f_3_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_3(f_3_next, i, j, nx, ny, pitch);

        // Cells of f_5_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_5_next, i, j, nx, ny, pitch);

        // Cells of f_6_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_3(f_6_next, i, j, nx, ny, pitch);

        // Cells of f_7_next near a face are shown by halo cells, too.
        if (i < 1) store_images_f_3(f_7_next, i, j, nx, ny, pitch);

        // Cells of f_8_next near a face are shown by halo cells, too.
        if (i >= nx - 1) store_images_f_1(f_8_next, i, j, nx, ny, pitch);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double speed_of_block = block_max(speed_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        speed_partials[blockIdx.x + gridDim.x * blockIdx.y] = speed_of_block;
}

// In place of poiseuille2d_step in steps whose results nobody reads; leaves out density, velocity.x,
// velocity.y, speed.
// Reads f_0, solid, f_3, f_1, f_4, f_2, f_7, f_5, f_8, f_6, writes f_0_next, f_1_next, f_2_next, f_3_next,
// f_4_next, f_5_next, f_6_next, f_7_next, f_8_next.
// Schedule: direct, blocks of 8x8 threads, 1x1 cells a thread.
// At least 152 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(64, 16)
    poiseuille2d_step_states(const double* __restrict__ f_0, const double* __restrict__ solid,
                             const double* __restrict__ f_3, const double* __restrict__ f_1,
                             const double* __restrict__ f_4, const double* __restrict__ f_2,
                             const double* __restrict__ f_7, const double* __restrict__ f_5,
                             const double* __restrict__ f_8, const double* __restrict__ f_6,
                             double* __restrict__ f_0_next, double* __restrict__ f_1_next,
                             double* __restrict__ f_2_next, double* __restrict__ f_3_next,
                             double* __restrict__ f_4_next, double* __restrict__ f_5_next,
                             double* __restrict__ f_6_next, double* __restrict__ f_7_next,
                             double* __restrict__ f_8_next, int nx, int ny, int pitch, double force,
                             double inv_tau, double force_2, double force_3, double force_4) {
    constexpr int kThreadsX = 8, kThreadsY = 8;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const double g_0_value = f_0[at];
    const double g_1_value = solid[at - 1] > 0.0 ? f_3[at] : f_1[at - 1];
    const double g_2_value = solid[at - pitch] > 0.0 ? f_4[at] : f_2[at - pitch];
    const double g_3_value = solid[at + 1] > 0.0 ? f_1[at] : f_3[at + 1];
    const double g_4_value = solid[at + pitch] > 0.0 ? f_2[at] : f_4[at + pitch];
    const double g_5_value = solid[at - pitch - 1] > 0.0 ? f_7[at] : f_5[at - pitch - 1];
    const double g_6_value = solid[at - pitch + 1] > 0.0 ? f_8[at] : f_6[at - pitch + 1];
    const double g_7_value = solid[at + pitch + 1] > 0.0 ? f_5[at] : f_7[at + pitch + 1];
    const double g_8_value = solid[at + pitch - 1] > 0.0 ? f_6[at] : f_8[at + pitch - 1];
    const double rho_value = g_0_value + g_1_value + g_2_value + g_3_value + g_4_value + g_5_value +
        g_6_value + g_7_value + g_8_value;
    const double u_0_value =
        (g_1_value - g_3_value + g_5_value - g_6_value - g_7_value + g_8_value) / rho_value + force;
    const double u_1_value =
        (g_2_value - g_4_value + g_5_value + g_6_value - g_7_value - g_8_value) / rho_value;
    const double product = u_0_value * u_0_value;
    const double product_2 = u_1_value * u_1_value;
    const double product_3 = 1.5 * (product + product_2);
    const double product_4 = -3.0 * u_0_value;
    const double f_0_inside = fma(force_2, rho_value * product_4,
                                  fma(inv_tau,
                                      fma(0.4444444444444444, rho_value * (1.0 - product_3), -g_0_value),
                                      g_0_value));
    const bool inside = j >= 1 && j < ny - 1;
    const double f_0_new = inside ? f_0_inside : f_0[at];
    const double product_5 = force_3 * rho_value;
    const double product_6 = 3.0 * (1.0 - u_0_value);
    const double product_7 = 9.0 * u_0_value;
    const double product_8 = 0.1111111111111111 * rho_value;
    const double product_9 = 3.0 * u_0_value;
    const double product_10 = 4.5 * product;
    const double f_1_inside = fma(inv_tau,
                                  fma(product_8, 1.0 + product_9 + product_10 - product_3, -g_1_value),
                                  fma(product_5, product_6 + product_7, g_1_value));
    const double f_1_new = inside ? f_1_inside : f_1[at];
    const double product_11 = product_5 * product_4;
    const double product_12 = 3.0 * u_1_value;
    const double product_13 = 4.5 * product_2;
    const double f_2_inside = fma(inv_tau,
                                  fma(product_8, 1.0 + product_12 + product_13 - product_3, -g_2_value),
                                  g_2_value + product_11);
    const double f_2_new = inside ? f_2_inside : f_2[at];
    const double product_14 = 3.0 * (-1.0 - u_0_value);
    const double f_3_inside = fma(inv_tau,
                                  fma(product_8, 1.0 - product_9 + product_10 - product_3, -g_3_value),
                                  fma(product_5, product_14 + product_7, g_3_value));
    const double f_3_new = inside ? f_3_inside : f_3[at];
    const double f_4_inside = fma(inv_tau,
                                  fma(product_8, 1.0 - product_12 + product_13 - product_3, -g_4_value),
                                  g_4_value + product_11);
    const double f_4_new = inside ? f_4_inside : f_4[at];
    const double product_15 = force_4 * rho_value;
    const double sum = u_0_value + u_1_value;
    const double product_16 = 9.0 * sum;
    const double product_17 = 0.027777777777777776 * rho_value;
    const double product_18 = 3.0 * sum;
    const double product_19 = 4.5 * (sum * sum);
    const double f_5_inside = fma(inv_tau,
                                  fma(product_17, 1.0 + product_18 + product_19 - product_3, -g_5_value),
                                  fma(product_15, product_6 + product_16, g_5_value));
    const double f_5_new = inside ? f_5_inside : f_5[at];
    const double difference = u_1_value - u_0_value;
    const double f_6_inside = fma(inv_tau,
                                  fma(product_17,
                                      fma(4.5, difference * difference, fma(3.0, difference, 1.0)) -
                                      product_3, -g_6_value),
                                  fma(product_15, fma(-9.0, difference, product_14), g_6_value));
    const double f_6_new = inside ? f_6_inside : f_6[at];
    const double f_7_inside = fma(inv_tau,
                                  fma(product_17, 1.0 - product_18 + product_19 - product_3, -g_7_value),
                                  fma(product_15, product_14 + product_16, g_7_value));
    const double f_7_new = inside ? f_7_inside : f_7[at];
    const double difference_2 = u_0_value - u_1_value;
    const double f_8_inside = fma(inv_tau,
                                  fma(product_17,
                                      fma(4.5, difference_2 * difference_2, fma(3.0, difference_2, 1.0)) -
                                      product_3, -g_8_value),
                                  fma(product_15, fma(9.0, difference_2, product_6), g_8_value));
    const double f_8_new = inside ? f_8_inside : f_8[at];
    f_0_next[at] = f_0_new;
    f_1_next[at] = f_1_new;
    f_2_next[at] = f_2_new;
    f_3_next[at] = f_3_new;
    f_4_next[at] = f_4_new;
    f_5_next[at] = f_5_new;
    f_6_next[at] = f_6_new;
    f_7_next[at] = f_7_new;
    f_8_next[at] = f_8_new;

    // Cells of f_1_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_1_next, i, j, nx, ny, pitch);

    // Cells of f_3_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_3(f_3_next, i, j, nx, ny, pitch);

    // Cells of f_5_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_5_next, i, j, nx, ny, pitch);

    // Cells of f_6_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_3(f_6_next, i, j, nx, ny, pitch);

    // Cells of f_7_next near a face are shown by halo cells, too.
    if (i < 1) store_images_f_3(f_7_next, i, j, nx, ny, pitch);

    // Cells of f_8_next near a face are shown by halo cells, too.
    if (i >= nx - 1) store_images_f_1(f_8_next, i, j, nx, ny, pitch);
}
