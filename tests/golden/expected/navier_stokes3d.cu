// navier_stokes3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 4 below and 4 above along x, 4 below and 4 above along y, 4 below and 4 above along z.

// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
}

// Stores a cell once more wherever the halo shows it: x periodic, y periodic, z periodic.
__device__ inline void store_images_v_x(double* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                        long long slice) {
    if (i >= 4 && i < nx - 4 && j >= 4 && j < ny - 4 && k >= 4 && k < nz - 4) return;
    const double value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = first_image(k, nz, 4); z < nz + 4; z += nz)
        for (int y = first_image(j, ny, 4); y < ny + 4; y += ny)
            for (int x = first_image(i, nx, 4); x < nx + 4; x += nx)
                u[z * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Reads rho, m_x, m_y, m_z, rho_rate, writes v_x, v_y, v_z, rho_rate_next, rho_next.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 80 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    navier_stokes3d_v_x(const double* __restrict__ rho, const double* __restrict__ m_x,
                        const double* __restrict__ m_y, const double* __restrict__ m_z,
                        const double* __restrict__ rho_rate, double* __restrict__ v_x,
                        double* __restrict__ v_y, double* __restrict__ v_z,
                        double* __restrict__ rho_rate_next, double* __restrict__ rho_next, int nx, int ny,
                        int nz, int pitch, long long slice, double scale, double scale_2, double scale_3,
                        double scale_4, double scale_5, double scale_6, double scale_7, double scale_8,
                        double scale_9, double scale_10, double scale_11, double scale_12, double dt,
                        double scale_13, double scale_14) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double ratio = 1.0 / rho[at];
    const double v_x_value = ratio * m_x[at];
    const double v_y_value = ratio * m_y[at];
    const double v_z_value = ratio * m_z[at];
    double sum = fma(scale_2, m_x[at + 2] - m_x[at - 2], scale * (m_x[at + 1] - m_x[at - 1]));
    sum = fma(scale_3, m_x[at + 3] - m_x[at - 3], sum);
    sum = fma(scale_4, m_x[at + 4] - m_x[at - 4], sum);
    sum = fma(scale_5, m_y[at + pitch] - m_y[at - pitch], sum);
    sum = fma(scale_6, m_y[at + 2 * pitch] - m_y[at - 2 * pitch], sum);
    sum = fma(scale_7, m_y[at + 3 * pitch] - m_y[at - 3 * pitch], sum);
    sum = fma(scale_8, m_y[at + 4 * pitch] - m_y[at - 4 * pitch], sum);
    sum = fma(scale_9, m_z[at + slice] - m_z[at - slice], sum);
    sum = fma(scale_10, m_z[at + 2 * slice] - m_z[at - 2 * slice], sum);
    sum = fma(scale_11, m_z[at + 3 * slice] - m_z[at - 3 * slice], sum);
    sum = fma(scale_12, m_z[at + 4 * slice] - m_z[at - 4 * slice], sum);
    const double rho_rate_new = -sum;
    const double rho_new = fma(dt, fma(scale_14, rho_rate[at], scale_13 * rho_rate_new), rho[at]);
    v_x[at] = v_x_value;
    v_y[at] = v_y_value;
    v_z[at] = v_z_value;
    rho_rate_next[at] = rho_rate_new;
    rho_next[at] = rho_new;

    // Cells of v_x near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face || i < 4 || i >= nx - 4) store_images_v_x(v_x, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of v_y near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_2 || i < 4 || i >= nx - 4) store_images_v_x(v_y, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of v_z near a face are shown by halo cells, too.
    const bool near_face_3 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_3 || i < 4 || i >= nx - 4) store_images_v_x(v_z, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads rho, m_x, m_y, m_z, e, v_x, v_y, v_z, writes p, temperature, swelling.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 88 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    navier_stokes3d_p(const double* __restrict__ rho, const double* __restrict__ m_x,
                      const double* __restrict__ m_y, const double* __restrict__ m_z,
                      const double* __restrict__ e, const double* __restrict__ v_x,
                      const double* __restrict__ v_y, const double* __restrict__ v_z, double* __restrict__ p,
                      double* __restrict__ temperature, double* __restrict__ swelling, int nx, int ny, int nz,
                      int pitch, long long slice, double scale, double scale_2, double scale_3,
                      double scale_4, double scale_5, double scale_6, double scale_7, double scale_8,
                      double scale_9, double scale_10, double scale_11, double scale_12, double scale_13) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double p_value =
        scale * fma(-0.5, fma(m_z[at], m_z[at], fma(m_y[at], m_y[at], m_x[at] * m_x[at])) / rho[at], e[at]);
    const double temperature_value = p_value / rho[at];
    double sum = fma(scale_3, v_x[at + 2] - v_x[at - 2], scale_2 * (v_x[at + 1] - v_x[at - 1]));
    sum = fma(scale_4, v_x[at + 3] - v_x[at - 3], sum);
    sum = fma(scale_5, v_x[at + 4] - v_x[at - 4], sum);
    double sum_2 = fma(scale_7, v_y[at + 2 * pitch] - v_y[at - 2 * pitch],
                       scale_6 * (v_y[at + pitch] - v_y[at - pitch]));
    sum_2 = fma(scale_8, v_y[at + 3 * pitch] - v_y[at - 3 * pitch], sum_2);
    sum_2 = fma(scale_9, v_y[at + 4 * pitch] - v_y[at - 4 * pitch], sum_2);
    double sum_3 = fma(scale_11, v_z[at + 2 * slice] - v_z[at - 2 * slice],
                       scale_10 * (v_z[at + slice] - v_z[at - slice]));
    sum_3 = fma(scale_12, v_z[at + 3 * slice] - v_z[at - 3 * slice], sum_3);
    sum_3 = fma(scale_13, v_z[at + 4 * slice] - v_z[at - 4 * slice], sum_3);
    const double swelling_value = sum + sum_2 + sum_3;
    p[at] = p_value;
    temperature[at] = temperature_value;
    swelling[at] = swelling_value;

    // Cells of p near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face || i < 4 || i >= nx - 4) store_images_v_x(p, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of temperature near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_2 || i < 4 || i >= nx - 4) store_images_v_x(temperature, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of swelling near a face are shown by halo cells, too.
    const bool near_face_3 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_3 || i < 4 || i >= nx - 4) store_images_v_x(swelling, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads m_x, m_y, m_z, v_x, v_y, v_z, e, temperature, swelling, p, m_rate_x, m_rate_y, m_rate_z, e_rate,
// writes m_rate_x_next, m_rate_y_next, m_rate_z_next, e_rate_next, m_x_next, m_y_next, m_z_next, e_next.
// Schedule: direct, blocks of 32x4x2 threads, 1x1x1 cells a thread.
// At least 176 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 1)
    navier_stokes3d_m_rate_x(const double* __restrict__ m_x, const double* __restrict__ m_y,
                             const double* __restrict__ m_z, const double* __restrict__ v_x,
                             const double* __restrict__ v_y, const double* __restrict__ v_z,
                             const double* __restrict__ e, const double* __restrict__ temperature,
                             const double* __restrict__ swelling, const double* __restrict__ p,
                             const double* __restrict__ m_rate_x, const double* __restrict__ m_rate_y,
                             const double* __restrict__ m_rate_z, const double* __restrict__ e_rate,
                             double* __restrict__ m_rate_x_next, double* __restrict__ m_rate_y_next,
                             double* __restrict__ m_rate_z_next, double* __restrict__ e_rate_next,
                             double* __restrict__ m_x_next, double* __restrict__ m_y_next,
                             double* __restrict__ m_z_next, double* __restrict__ e_next, int nx, int ny,
                             int nz, int pitch, long long slice, double scale, double scale_2, double scale_3,
                             double scale_4, double scale_5, double scale_6, double scale_7, double scale_8,
                             double scale_9, double scale_10, double scale_11, double scale_12,
                             double viscosity, double scale_13, double scale_14, double scale_15,
                             double scale_16, double scale_17, double scale_18, double scale_19,
                             double scale_20, double scale_21, double scale_22, double scale_23,
                             double scale_24, double scale_25, double scale_26, double scale_27,
                             double scale_28, double scale_29, double scale_30, double scale_31,
                             double scale_32, double scale_33, double scale_34, double scale_35,
                             double scale_36, double scale_37, double conductivity, double dt,
                             double scale_38, double scale_39) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    double vx_x_value = fma(scale_2, v_x[at + 2] - v_x[at - 2], scale * (v_x[at + 1] - v_x[at - 1]));
    vx_x_value = fma(scale_3, v_x[at + 3] - v_x[at - 3], vx_x_value);
    vx_x_value = fma(scale_4, v_x[at + 4] - v_x[at - 4], vx_x_value);
    double vx_y_value = fma(scale_6, v_x[at + 2 * pitch] - v_x[at - 2 * pitch],
                            scale_5 * (v_x[at + pitch] - v_x[at - pitch]));
    vx_y_value = fma(scale_7, v_x[at + 3 * pitch] - v_x[at - 3 * pitch], vx_y_value);
    vx_y_value = fma(scale_8, v_x[at + 4 * pitch] - v_x[at - 4 * pitch], vx_y_value);
    double vx_z_value = fma(scale_10, v_x[at + 2 * slice] - v_x[at - 2 * slice],
                            scale_9 * (v_x[at + slice] - v_x[at - slice]));
    vx_z_value = fma(scale_11, v_x[at + 3 * slice] - v_x[at - 3 * slice], vx_z_value);
    vx_z_value = fma(scale_12, v_x[at + 4 * slice] - v_x[at - 4 * slice], vx_z_value);
    double vy_x_value = fma(scale_2, v_y[at + 2] - v_y[at - 2], scale * (v_y[at + 1] - v_y[at - 1]));
    vy_x_value = fma(scale_3, v_y[at + 3] - v_y[at - 3], vy_x_value);
    vy_x_value = fma(scale_4, v_y[at + 4] - v_y[at - 4], vy_x_value);
    double vy_y_value = fma(scale_6, v_y[at + 2 * pitch] - v_y[at - 2 * pitch],
                            scale_5 * (v_y[at + pitch] - v_y[at - pitch]));
    vy_y_value = fma(scale_7, v_y[at + 3 * pitch] - v_y[at - 3 * pitch], vy_y_value);
    vy_y_value = fma(scale_8, v_y[at + 4 * pitch] - v_y[at - 4 * pitch], vy_y_value);
    double vy_z_value = fma(scale_10, v_y[at + 2 * slice] - v_y[at - 2 * slice],
                            scale_9 * (v_y[at + slice] - v_y[at - slice]));
    vy_z_value = fma(scale_11, v_y[at + 3 * slice] - v_y[at - 3 * slice], vy_z_value);
    vy_z_value = fma(scale_12, v_y[at + 4 * slice] - v_y[at - 4 * slice], vy_z_value);
    double vz_x_value = fma(scale_2, v_z[at + 2] - v_z[at - 2], scale * (v_z[at + 1] - v_z[at - 1]));
    vz_x_value = fma(scale_3, v_z[at + 3] - v_z[at - 3], vz_x_value);
    vz_x_value = fma(scale_4, v_z[at + 4] - v_z[at - 4], vz_x_value);
    double vz_y_value = fma(scale_6, v_z[at + 2 * pitch] - v_z[at - 2 * pitch],
                            scale_5 * (v_z[at + pitch] - v_z[at - pitch]));
    vz_y_value = fma(scale_7, v_z[at + 3 * pitch] - v_z[at - 3 * pitch], vz_y_value);
    vz_y_value = fma(scale_8, v_z[at + 4 * pitch] - v_z[at - 4 * pitch], vz_y_value);
    double vz_z_value = fma(scale_10, v_z[at + 2 * slice] - v_z[at - 2 * slice],
                            scale_9 * (v_z[at + slice] - v_z[at - slice]));
    vz_z_value = fma(scale_11, v_z[at + 3 * slice] - v_z[at - 3 * slice], vz_z_value);
    vz_z_value = fma(scale_12, v_z[at + 4 * slice] - v_z[at - 4 * slice], vz_z_value);
    double sum_2 =
        fma(scale_2, swelling[at + 2] - swelling[at - 2], scale * (swelling[at + 1] - swelling[at - 1]));
    sum_2 = fma(scale_3, swelling[at + 3] - swelling[at - 3], sum_2);
    sum_2 = fma(scale_4, swelling[at + 4] - swelling[at - 4], sum_2);
    double sum = fma(scale_14, v_x[at - 1] + v_x[at + 1], scale_13 * v_x[at]);
    sum = fma(scale_15, v_x[at - 2] + v_x[at + 2], sum);
    sum = fma(scale_16, v_x[at - 3] + v_x[at + 3], sum);
    sum = fma(scale_17, v_x[at - 4] + v_x[at + 4], sum);
    sum = fma(scale_18, v_x[at - pitch] + v_x[at + pitch], sum);
    sum = fma(scale_19, v_x[at - 2 * pitch] + v_x[at + 2 * pitch], sum);
    sum = fma(scale_20, v_x[at - 3 * pitch] + v_x[at + 3 * pitch], sum);
    sum = fma(scale_21, v_x[at - 4 * pitch] + v_x[at + 4 * pitch], sum);
    sum = fma(scale_22, v_x[at - slice] + v_x[at + slice], sum);
    sum = fma(scale_23, v_x[at - 2 * slice] + v_x[at + 2 * slice], sum);
    sum = fma(scale_24, v_x[at - 3 * slice] + v_x[at + 3 * slice], sum);
    sum = fma(scale_25, v_x[at - 4 * slice] + v_x[at + 4 * slice], sum);
    sum = fma(0.3333333333333333, sum_2, sum);
    const double drag_x_value = viscosity * sum;
    double sum_4 = fma(scale_6, swelling[at + 2 * pitch] - swelling[at - 2 * pitch],
                       scale_5 * (swelling[at + pitch] - swelling[at - pitch]));
    sum_4 = fma(scale_7, swelling[at + 3 * pitch] - swelling[at - 3 * pitch], sum_4);
    sum_4 = fma(scale_8, swelling[at + 4 * pitch] - swelling[at - 4 * pitch], sum_4);
    double sum_3 = fma(scale_14, v_y[at - 1] + v_y[at + 1], scale_13 * v_y[at]);
    sum_3 = fma(scale_15, v_y[at - 2] + v_y[at + 2], sum_3);
    sum_3 = fma(scale_16, v_y[at - 3] + v_y[at + 3], sum_3);
    sum_3 = fma(scale_17, v_y[at - 4] + v_y[at + 4], sum_3);
    sum_3 = fma(scale_18, v_y[at - pitch] + v_y[at + pitch], sum_3);
    sum_3 = fma(scale_19, v_y[at - 2 * pitch] + v_y[at + 2 * pitch], sum_3);
    sum_3 = fma(scale_20, v_y[at - 3 * pitch] + v_y[at + 3 * pitch], sum_3);
    sum_3 = fma(scale_21, v_y[at - 4 * pitch] + v_y[at + 4 * pitch], sum_3);
    sum_3 = fma(scale_22, v_y[at - slice] + v_y[at + slice], sum_3);
    sum_3 = fma(scale_23, v_y[at - 2 * slice] + v_y[at + 2 * slice], sum_3);
    sum_3 = fma(scale_24, v_y[at - 3 * slice] + v_y[at + 3 * slice], sum_3);
    sum_3 = fma(scale_25, v_y[at - 4 * slice] + v_y[at + 4 * slice], sum_3);
    sum_3 = fma(0.3333333333333333, sum_4, sum_3);
    const double drag_y_value = viscosity * sum_3;
    double sum_6 = fma(scale_10, swelling[at + 2 * slice] - swelling[at - 2 * slice],
                       scale_9 * (swelling[at + slice] - swelling[at - slice]));
    sum_6 = fma(scale_11, swelling[at + 3 * slice] - swelling[at - 3 * slice], sum_6);
    sum_6 = fma(scale_12, swelling[at + 4 * slice] - swelling[at - 4 * slice], sum_6);
    double sum_5 = fma(scale_14, v_z[at - 1] + v_z[at + 1], scale_13 * v_z[at]);
    sum_5 = fma(scale_15, v_z[at - 2] + v_z[at + 2], sum_5);
    sum_5 = fma(scale_16, v_z[at - 3] + v_z[at + 3], sum_5);
    sum_5 = fma(scale_17, v_z[at - 4] + v_z[at + 4], sum_5);
    sum_5 = fma(scale_18, v_z[at - pitch] + v_z[at + pitch], sum_5);
    sum_5 = fma(scale_19, v_z[at - 2 * pitch] + v_z[at + 2 * pitch], sum_5);
    sum_5 = fma(scale_20, v_z[at - 3 * pitch] + v_z[at + 3 * pitch], sum_5);
    sum_5 = fma(scale_21, v_z[at - 4 * pitch] + v_z[at + 4 * pitch], sum_5);
    sum_5 = fma(scale_22, v_z[at - slice] + v_z[at + slice], sum_5);
    sum_5 = fma(scale_23, v_z[at - 2 * slice] + v_z[at + 2 * slice], sum_5);
    sum_5 = fma(scale_24, v_z[at - 3 * slice] + v_z[at + 3 * slice], sum_5);
    sum_5 = fma(scale_25, v_z[at - 4 * slice] + v_z[at + 4 * slice], sum_5);
    sum_5 = fma(0.3333333333333333, sum_6, sum_5);
    const double drag_z_value = viscosity * sum_5;
    const double sum_7 = vx_x_value + vy_y_value + vz_z_value;
    const double sum_9 = vx_y_value + vy_x_value;
    const double sum_10 = vx_z_value + vz_x_value;
    const double sum_11 = vy_z_value + vz_y_value;
    double sum_8 = fma(-0.6666666666666666, sum_7 * sum_7,
                       2.0 * fma(vz_z_value, vz_z_value,
                                 fma(vy_y_value, vy_y_value, vx_x_value * vx_x_value)));
    sum_8 = fma(sum_9, sum_9, sum_8);
    sum_8 = fma(sum_10, sum_10, sum_8);
    sum_8 = fma(sum_11, sum_11, sum_8);
    const double heating_value = viscosity * sum_8;
    double m_rate_x_new = fma(scale_26,
                              fma(-m_x[at - 1], v_x[at - 1],
                                  fma(m_x[at + 1], v_x[at + 1], p[at + 1] - p[at - 1])),
                              drag_x_value);
    m_rate_x_new = fma(scale_27,
                       fma(-m_x[at - 2], v_x[at - 2], fma(m_x[at + 2], v_x[at + 2], p[at + 2] - p[at - 2])),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_28,
                       fma(-m_x[at - 3], v_x[at - 3], fma(m_x[at + 3], v_x[at + 3], p[at + 3] - p[at - 3])),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_29,
                       fma(-m_x[at - 4], v_x[at - 4], fma(m_x[at + 4], v_x[at + 4], p[at + 4] - p[at - 4])),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_30, fma(-m_x[at - pitch], v_y[at - pitch], m_x[at + pitch] * v_y[at + pitch]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_31,
                       fma(-m_x[at - 2 * pitch], v_y[at - 2 * pitch],
                           m_x[at + 2 * pitch] * v_y[at + 2 * pitch]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_32,
                       fma(-m_x[at - 3 * pitch], v_y[at - 3 * pitch],
                           m_x[at + 3 * pitch] * v_y[at + 3 * pitch]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_33,
                       fma(-m_x[at - 4 * pitch], v_y[at - 4 * pitch],
                           m_x[at + 4 * pitch] * v_y[at + 4 * pitch]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_34, fma(-m_x[at - slice], v_z[at - slice], m_x[at + slice] * v_z[at + slice]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_35,
                       fma(-m_x[at - 2 * slice], v_z[at - 2 * slice],
                           m_x[at + 2 * slice] * v_z[at + 2 * slice]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_36,
                       fma(-m_x[at - 3 * slice], v_z[at - 3 * slice],
                           m_x[at + 3 * slice] * v_z[at + 3 * slice]),
                       m_rate_x_new);
    m_rate_x_new = fma(scale_37,
                       fma(-m_x[at - 4 * slice], v_z[at - 4 * slice],
                           m_x[at + 4 * slice] * v_z[at + 4 * slice]),
                       m_rate_x_new);
    double m_rate_y_new = fma(scale_30,
                              fma(-m_y[at - pitch], v_y[at - pitch],
                                  fma(m_y[at + pitch], v_y[at + pitch], p[at + pitch] - p[at - pitch])),
                              drag_y_value);
    m_rate_y_new = fma(scale_31,
                       fma(-m_y[at - 2 * pitch], v_y[at - 2 * pitch],
                           fma(m_y[at + 2 * pitch], v_y[at + 2 * pitch],
                               p[at + 2 * pitch] - p[at - 2 * pitch])),
                       m_rate_y_new);
    m_rate_y_new = fma(scale_32,
                       fma(-m_y[at - 3 * pitch], v_y[at - 3 * pitch],
                           fma(m_y[at + 3 * pitch], v_y[at + 3 * pitch],
                               p[at + 3 * pitch] - p[at - 3 * pitch])),
                       m_rate_y_new);
    m_rate_y_new = fma(scale_33,
                       fma(-m_y[at - 4 * pitch], v_y[at - 4 * pitch],
                           fma(m_y[at + 4 * pitch], v_y[at + 4 * pitch],
                               p[at + 4 * pitch] - p[at - 4 * pitch])),
                       m_rate_y_new);
    m_rate_y_new = fma(scale_26, fma(-m_y[at - 1], v_x[at - 1], m_y[at + 1] * v_x[at + 1]), m_rate_y_new);
    m_rate_y_new = fma(scale_27, fma(-m_y[at - 2], v_x[at - 2], m_y[at + 2] * v_x[at + 2]), m_rate_y_new);
    m_rate_y_new = fma(scale_28, fma(-m_y[at - 3], v_x[at - 3], m_y[at + 3] * v_x[at + 3]), m_rate_y_new);
    m_rate_y_new = fma(scale_29, fma(-m_y[at - 4], v_x[at - 4], m_y[at + 4] * v_x[at + 4]), m_rate_y_new);
    m_rate_y_new = fma(scale_34, fma(-m_y[at - slice], v_z[at - slice], m_y[at + slice] * v_z[at + slice]),
                       m_rate_y_new);
    m_rate_y_new = fma(scale_35,
                       fma(-m_y[at - 2 * slice], v_z[at - 2 * slice],
                           m_y[at + 2 * slice] * v_z[at + 2 * slice]),
                       m_rate_y_new);
    m_rate_y_new = fma(scale_36,
                       fma(-m_y[at - 3 * slice], v_z[at - 3 * slice],
                           m_y[at + 3 * slice] * v_z[at + 3 * slice]),
                       m_rate_y_new);
    m_rate_y_new = fma(scale_37,
                       fma(-m_y[at - 4 * slice], v_z[at - 4 * slice],
                           m_y[at + 4 * slice] * v_z[at + 4 * slice]),
                       m_rate_y_new);
    double m_rate_z_new = fma(scale_34,
                              fma(-m_z[at - slice], v_z[at - slice],
                                  fma(m_z[at + slice], v_z[at + slice], p[at + slice] - p[at - slice])),
                              drag_z_value);
    m_rate_z_new = fma(scale_35,
                       fma(-m_z[at - 2 * slice], v_z[at - 2 * slice],
                           fma(m_z[at + 2 * slice], v_z[at + 2 * slice],
                               p[at + 2 * slice] - p[at - 2 * slice])),
                       m_rate_z_new);
    m_rate_z_new = fma(scale_36,
                       fma(-m_z[at - 3 * slice], v_z[at - 3 * slice],
                           fma(m_z[at + 3 * slice], v_z[at + 3 * slice],
                               p[at + 3 * slice] - p[at - 3 * slice])),
                       m_rate_z_new);
    m_rate_z_new = fma(scale_37,
                       fma(-m_z[at - 4 * slice], v_z[at - 4 * slice],
                           fma(m_z[at + 4 * slice], v_z[at + 4 * slice],
                               p[at + 4 * slice] - p[at - 4 * slice])),
                       m_rate_z_new);
    m_rate_z_new = fma(scale_26, fma(-m_z[at - 1], v_x[at - 1], m_z[at + 1] * v_x[at + 1]), m_rate_z_new);
    m_rate_z_new = fma(scale_27, fma(-m_z[at - 2], v_x[at - 2], m_z[at + 2] * v_x[at + 2]), m_rate_z_new);
    m_rate_z_new = fma(scale_28, fma(-m_z[at - 3], v_x[at - 3], m_z[at + 3] * v_x[at + 3]), m_rate_z_new);
    m_rate_z_new = fma(scale_29, fma(-m_z[at - 4], v_x[at - 4], m_z[at + 4] * v_x[at + 4]), m_rate_z_new);
    m_rate_z_new = fma(scale_30, fma(-m_z[at - pitch], v_y[at - pitch], m_z[at + pitch] * v_y[at + pitch]),
                       m_rate_z_new);
    m_rate_z_new = fma(scale_31,
                       fma(-m_z[at - 2 * pitch], v_y[at - 2 * pitch],
                           m_z[at + 2 * pitch] * v_y[at + 2 * pitch]),
                       m_rate_z_new);
    m_rate_z_new = fma(scale_32,
                       fma(-m_z[at - 3 * pitch], v_y[at - 3 * pitch],
                           m_z[at + 3 * pitch] * v_y[at + 3 * pitch]),
                       m_rate_z_new);
    m_rate_z_new = fma(scale_33,
                       fma(-m_z[at - 4 * pitch], v_y[at - 4 * pitch],
                           m_z[at + 4 * pitch] * v_y[at + 4 * pitch]),
                       m_rate_z_new);
    double sum_12 = fma(scale_14, temperature[at - 1] + temperature[at + 1], scale_13 * temperature[at]);
    sum_12 = fma(scale_15, temperature[at - 2] + temperature[at + 2], sum_12);
    sum_12 = fma(scale_16, temperature[at - 3] + temperature[at + 3], sum_12);
    sum_12 = fma(scale_17, temperature[at - 4] + temperature[at + 4], sum_12);
    sum_12 = fma(scale_18, temperature[at - pitch] + temperature[at + pitch], sum_12);
    sum_12 = fma(scale_19, temperature[at - 2 * pitch] + temperature[at + 2 * pitch], sum_12);
    sum_12 = fma(scale_20, temperature[at - 3 * pitch] + temperature[at + 3 * pitch], sum_12);
    sum_12 = fma(scale_21, temperature[at - 4 * pitch] + temperature[at + 4 * pitch], sum_12);
    sum_12 = fma(scale_22, temperature[at - slice] + temperature[at + slice], sum_12);
    sum_12 = fma(scale_23, temperature[at - 2 * slice] + temperature[at + 2 * slice], sum_12);
    sum_12 = fma(scale_24, temperature[at - 3 * slice] + temperature[at + 3 * slice], sum_12);
    sum_12 = fma(scale_25, temperature[at - 4 * slice] + temperature[at + 4 * slice], sum_12);
    double e_rate_new = fma(conductivity, sum_12,
                            fma(v_z[at], drag_z_value, fma(v_y[at], drag_y_value, v_x[at] * drag_x_value)) +
                            heating_value);
    e_rate_new = fma(scale_26,
                     fma(-(e[at - 1] + p[at - 1]), v_x[at - 1], (e[at + 1] + p[at + 1]) * v_x[at + 1]),
                     e_rate_new);
    e_rate_new = fma(scale_27,
                     fma(-(e[at - 2] + p[at - 2]), v_x[at - 2], (e[at + 2] + p[at + 2]) * v_x[at + 2]),
                     e_rate_new);
    e_rate_new = fma(scale_28,
                     fma(-(e[at - 3] + p[at - 3]), v_x[at - 3], (e[at + 3] + p[at + 3]) * v_x[at + 3]),
                     e_rate_new);
    e_rate_new = fma(scale_29,
                     fma(-(e[at - 4] + p[at - 4]), v_x[at - 4], (e[at + 4] + p[at + 4]) * v_x[at + 4]),
                     e_rate_new);
    e_rate_new = fma(scale_30,
                     fma(-(e[at - pitch] + p[at - pitch]), v_y[at - pitch],
                         (e[at + pitch] + p[at + pitch]) * v_y[at + pitch]),
                     e_rate_new);
    e_rate_new = fma(scale_31,
                     fma(-(e[at - 2 * pitch] + p[at - 2 * pitch]), v_y[at - 2 * pitch],
                         (e[at + 2 * pitch] + p[at + 2 * pitch]) * v_y[at + 2 * pitch]),
                     e_rate_new);
    e_rate_new = fma(scale_32,
                     fma(-(e[at - 3 * pitch] + p[at - 3 * pitch]), v_y[at - 3 * pitch],
                         (e[at + 3 * pitch] + p[at + 3 * pitch]) * v_y[at + 3 * pitch]),
                     e_rate_new);
    e_rate_new = fma(scale_33,
                     fma(-(e[at - 4 * pitch] + p[at - 4 * pitch]), v_y[at - 4 * pitch],
                         (e[at + 4 * pitch] + p[at + 4 * pitch]) * v_y[at + 4 * pitch]),
                     e_rate_new);
    e_rate_new = fma(scale_34,
                     fma(-(e[at - slice] + p[at - slice]), v_z[at - slice],
                         (e[at + slice] + p[at + slice]) * v_z[at + slice]),
                     e_rate_new);
    e_rate_new = fma(scale_35,
                     fma(-(e[at - 2 * slice] + p[at - 2 * slice]), v_z[at - 2 * slice],
                         (e[at + 2 * slice] + p[at + 2 * slice]) * v_z[at + 2 * slice]),
                     e_rate_new);
    e_rate_new = fma(scale_36,
                     fma(-(e[at - 3 * slice] + p[at - 3 * slice]), v_z[at - 3 * slice],
                         (e[at + 3 * slice] + p[at + 3 * slice]) * v_z[at + 3 * slice]),
                     e_rate_new);
    e_rate_new = fma(scale_37,
                     fma(-(e[at - 4 * slice] + p[at - 4 * slice]), v_z[at - 4 * slice],
                         (e[at + 4 * slice] + p[at + 4 * slice]) * v_z[at + 4 * slice]),
                     e_rate_new);
    const double m_x_new = fma(dt, fma(scale_39, m_rate_x[at], scale_38 * m_rate_x_new), m_x[at]);
    const double m_y_new = fma(dt, fma(scale_39, m_rate_y[at], scale_38 * m_rate_y_new), m_y[at]);
    const double m_z_new = fma(dt, fma(scale_39, m_rate_z[at], scale_38 * m_rate_z_new), m_z[at]);
    const double e_new = fma(dt, fma(scale_39, e_rate[at], scale_38 * e_rate_new), e[at]);
    m_rate_x_next[at] = m_rate_x_new;
    m_rate_y_next[at] = m_rate_y_new;
    m_rate_z_next[at] = m_rate_z_new;
    e_rate_next[at] = e_rate_new;
    m_x_next[at] = m_x_new;
    m_y_next[at] = m_y_new;
    m_z_next[at] = m_z_new;
    e_next[at] = e_new;

    // Cells of m_x_next near a face are shown by halo cells, too.
    const bool near_face = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face || i < 4 || i >= nx - 4) store_images_v_x(m_x_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of m_y_next near a face are shown by halo cells, too.
    const bool near_face_2 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_2 || i < 4 || i >= nx - 4) store_images_v_x(m_y_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of m_z_next near a face are shown by halo cells, too.
    const bool near_face_3 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_3 || i < 4 || i >= nx - 4) store_images_v_x(m_z_next, i, j, k, nx, ny, nz, pitch, slice);

    // Cells of e_next near a face are shown by halo cells, too.
    const bool near_face_4 = j < 4 || j >= ny - 4 || k < 4 || k >= nz - 4;
    if (near_face_4 || i < 4 || i >= nx - 4) store_images_v_x(e_next, i, j, k, nx, ny, nz, pitch, slice);
}
