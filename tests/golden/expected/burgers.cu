// burgers: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 3 below and 2 above along x.

// Reads u, writes u1.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 28)
    burgers_u1(const double* __restrict__ u, double* __restrict__ u1, int nx, double dt, double nu,
               double inv_h_squared, double minus_inv_h_squared, double minus_inv_h_squared_2,
               double minus_inv_h) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    const int at = i;
    const double product = u[at - 1] * u[at - 1];
    const double product_2 = u[at - 2] * u[at - 2];
    const double product_3 = u[at] * u[at];
    const double sum = fma(0.5, product_2 + product_3, -product);
    const double sum_2 = fma(1.0833333333333333, sum * sum, 1e-06);
    const double product_4 = 0.5 * product_2;
    const double product_5 = 1.5 * product_3;
    const double sum_3 = fma(-2.0, product, product_4) + product_5;
    const double sum_4 = fma(0.25, sum_3 * sum_3, sum_2);
    const double ratio = 0.1 / (sum_4 * sum_4);
    const double product_6 = u[at + 1] * u[at + 1];
    const double sum_5 = fma(0.5, product + product_6, -product_3);
    const double sum_6 = fma(1.0833333333333333, sum_5 * sum_5, 1e-06);
    const double difference = product - product_6;
    const double sum_7 = fma(0.0625, difference * difference, sum_6);
    const double ratio_2 = 0.6 / (sum_7 * sum_7);
    const double product_7 = 2.5 * product_3;
    const double product_8 = u[at + 2] * u[at + 2];
    const double sum_8 = fma(0.5, product_3 + product_8, -product_6);
    const double product_9 = 0.5 * product_8;
    const double sum_9 = fma(-2.0, product_6, product_5) + product_9;
    const double sum_10 = fma(0.25, sum_9 * sum_9, fma(1.0833333333333333, sum_8 * sum_8, 1e-06));
    const double ratio_3 = 0.3 / (sum_10 * sum_10);
    const double product_10 = u[at - 3] * u[at - 3];
    const double sum_11 = fma(0.5, product_10 + product, -product_2);
    const double product_11 = 1.5 * product;
    const double sum_12 = fma(-2.0, product_2, 0.5 * product_10) + product_11;
    const double sum_13 = fma(0.25, sum_12 * sum_12, fma(1.0833333333333333, sum_11 * sum_11, 1e-06));
    const double ratio_4 = 0.1 / (sum_13 * sum_13);
    const double difference_2 = product_2 - product_3;
    const double sum_14 = fma(0.0625, difference_2 * difference_2, sum_2);
    const double ratio_5 = 0.6 / (sum_14 * sum_14);
    const double product_12 = 0.5 * product_6;
    const double sum_15 = fma(-2.0, product_3, product_11) + product_12;
    const double sum_16 = fma(0.25, sum_15 * sum_15, sum_6);
    const double ratio_6 = 0.3 / (sum_16 * sum_16);
    u1[at] = fma(dt,
                 fma(minus_inv_h,
                     fma(ratio_3, fma(2.5, product_6, product_3) - product_9,
                         fma(ratio_2, fma(-0.5, product, product_7) + product_6,
                             ratio * fma(5.5, product_3, fma(-3.5, product, product_2)))) / (ratio + ratio_2 +
                                                                                             ratio_3) -
                     fma(ratio_6, product + product_7 - product_12,
                         fma(ratio_5, fma(2.5, product, -product_4) + product_3,
                             ratio_4 * fma(5.5, product, fma(-3.5, product_2, product_10)))) / (ratio_4 +
                                                                                                ratio_5 +
                                                                                                ratio_6),
                     nu * fma(minus_inv_h_squared_2, u[at - 2] + u[at + 2],
                              fma(minus_inv_h_squared, u[at], inv_h_squared * (u[at - 1] + u[at + 1])))),
                 u[at]);
}

// Reads u, u1, writes u2.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 27)
    burgers_u2(const double* __restrict__ u, const double* __restrict__ u1, double* __restrict__ u2, int nx,
               double dt, double nu, double inv_h_squared, double minus_inv_h_squared,
               double minus_inv_h_squared_2, double minus_inv_h) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    const int at = i;
    const double product = u1[at - 1] * u1[at - 1];
    const double product_2 = u1[at - 2] * u1[at - 2];
    const double product_3 = u1[at] * u1[at];
    const double sum = fma(0.5, product_2 + product_3, -product);
    const double sum_2 = fma(1.0833333333333333, sum * sum, 1e-06);
    const double product_4 = 0.5 * product_2;
    const double product_5 = 1.5 * product_3;
    const double sum_3 = fma(-2.0, product, product_4) + product_5;
    const double sum_4 = fma(0.25, sum_3 * sum_3, sum_2);
    const double ratio = 0.1 / (sum_4 * sum_4);
    const double product_6 = u1[at + 1] * u1[at + 1];
    const double sum_5 = fma(0.5, product + product_6, -product_3);
    const double sum_6 = fma(1.0833333333333333, sum_5 * sum_5, 1e-06);
    const double difference = product - product_6;
    const double sum_7 = fma(0.0625, difference * difference, sum_6);
    const double ratio_2 = 0.6 / (sum_7 * sum_7);
    const double product_7 = 2.5 * product_3;
    const double product_8 = u1[at + 2] * u1[at + 2];
    const double sum_8 = fma(0.5, product_3 + product_8, -product_6);
    const double product_9 = 0.5 * product_8;
    const double sum_9 = fma(-2.0, product_6, product_5) + product_9;
    const double sum_10 = fma(0.25, sum_9 * sum_9, fma(1.0833333333333333, sum_8 * sum_8, 1e-06));
    const double ratio_3 = 0.3 / (sum_10 * sum_10);
    const double product_10 = u1[at - 3] * u1[at - 3];
    const double sum_11 = fma(0.5, product_10 + product, -product_2);
    const double product_11 = 1.5 * product;
    const double sum_12 = fma(-2.0, product_2, 0.5 * product_10) + product_11;
    const double sum_13 = fma(0.25, sum_12 * sum_12, fma(1.0833333333333333, sum_11 * sum_11, 1e-06));
    const double ratio_4 = 0.1 / (sum_13 * sum_13);
    const double difference_2 = product_2 - product_3;
    const double sum_14 = fma(0.0625, difference_2 * difference_2, sum_2);
    const double ratio_5 = 0.6 / (sum_14 * sum_14);
    const double product_12 = 0.5 * product_6;
    const double sum_15 = fma(-2.0, product_3, product_11) + product_12;
    const double sum_16 = fma(0.25, sum_15 * sum_15, sum_6);
    const double ratio_6 = 0.3 / (sum_16 * sum_16);
    u2[at] = fma(0.25,
                 fma(dt,
                     fma(minus_inv_h,
                         fma(ratio_3, fma(2.5, product_6, product_3) - product_9,
                             fma(ratio_2, fma(-0.5, product, product_7) + product_6,
                                 ratio * fma(5.5, product_3, fma(-3.5, product, product_2)))) / (ratio +
                                                                                                 ratio_2 +
                                                                                                 ratio_3) -
                         fma(ratio_6, product + product_7 - product_12,
                             fma(ratio_5, fma(2.5, product, -product_4) + product_3,
                                 ratio_4 * fma(5.5, product, fma(-3.5, product_2, product_10)))) / (ratio_4 +
                                                                                                    ratio_5 +
                                                                                                    ratio_6),
                         nu * fma(minus_inv_h_squared_2, u1[at - 2] + u1[at + 2],
                                  fma(minus_inv_h_squared, u1[at],
                                      inv_h_squared * (u1[at - 1] + u1[at + 1])))),
                     u1[at]),
                 0.75 * u[at]);
}

// Reads u, u2, writes u_next.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 27)
    burgers_u(const double* __restrict__ u, const double* __restrict__ u2, double* __restrict__ u_next,
              int nx, double dt, double nu, double inv_h_squared, double minus_inv_h_squared,
              double minus_inv_h_squared_2, double minus_inv_h) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    const int at = i;
    const double product = u2[at - 1] * u2[at - 1];
    const double product_2 = u2[at - 2] * u2[at - 2];
    const double product_3 = u2[at] * u2[at];
    const double sum = fma(0.5, product_2 + product_3, -product);
    const double sum_2 = fma(1.0833333333333333, sum * sum, 1e-06);
    const double product_4 = 0.5 * product_2;
    const double product_5 = 1.5 * product_3;
    const double sum_3 = fma(-2.0, product, product_4) + product_5;
    const double sum_4 = fma(0.25, sum_3 * sum_3, sum_2);
    const double ratio = 0.1 / (sum_4 * sum_4);
    const double product_6 = u2[at + 1] * u2[at + 1];
    const double sum_5 = fma(0.5, product + product_6, -product_3);
    const double sum_6 = fma(1.0833333333333333, sum_5 * sum_5, 1e-06);
    const double difference = product - product_6;
    const double sum_7 = fma(0.0625, difference * difference, sum_6);
    const double ratio_2 = 0.6 / (sum_7 * sum_7);
    const double product_7 = 2.5 * product_3;
    const double product_8 = u2[at + 2] * u2[at + 2];
    const double sum_8 = fma(0.5, product_3 + product_8, -product_6);
    const double product_9 = 0.5 * product_8;
    const double sum_9 = fma(-2.0, product_6, product_5) + product_9;
    const double sum_10 = fma(0.25, sum_9 * sum_9, fma(1.0833333333333333, sum_8 * sum_8, 1e-06));
    const double ratio_3 = 0.3 / (sum_10 * sum_10);
    const double product_10 = u2[at - 3] * u2[at - 3];
    const double sum_11 = fma(0.5, product_10 + product, -product_2);
    const double product_11 = 1.5 * product;
    const double sum_12 = fma(-2.0, product_2, 0.5 * product_10) + product_11;
    const double sum_13 = fma(0.25, sum_12 * sum_12, fma(1.0833333333333333, sum_11 * sum_11, 1e-06));
    const double ratio_4 = 0.1 / (sum_13 * sum_13);
    const double difference_2 = product_2 - product_3;
    const double sum_14 = fma(0.0625, difference_2 * difference_2, sum_2);
    const double ratio_5 = 0.6 / (sum_14 * sum_14);
    const double product_12 = 0.5 * product_6;
    const double sum_15 = fma(-2.0, product_3, product_11) + product_12;
    const double sum_16 = fma(0.25, sum_15 * sum_15, sum_6);
    const double ratio_6 = 0.3 / (sum_16 * sum_16);
    u_next[at] = fma(0.6666666666666666,
                     fma(dt,
                         fma(minus_inv_h,
                             fma(ratio_3, fma(2.5, product_6, product_3) - product_9,
                                 fma(ratio_2, fma(-0.5, product, product_7) + product_6,
                                     ratio * fma(5.5, product_3, fma(-3.5, product, product_2)))) / (ratio +
                                                                                                     ratio_2 +
                                                                                                     ratio_3) -
                             fma(ratio_6, product + product_7 - product_12,
                                 fma(ratio_5, fma(2.5, product, -product_4) + product_3,
                                     ratio_4 * fma(5.5, product,
                                                   fma(-3.5, product_2, product_10)))) / (ratio_4 + ratio_5 +
                                                                                          ratio_6),
                             nu * fma(minus_inv_h_squared_2, u2[at - 2] + u2[at + 2],
                                      fma(minus_inv_h_squared, u2[at],
                                          inv_h_squared * (u2[at - 1] + u2[at + 1])))),
                         u2[at]),
                     0.3333333333333333 * u[at]);
}
