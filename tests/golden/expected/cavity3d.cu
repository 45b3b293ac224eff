// cavity3d: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y, 1 below and 1 above along z.

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

// Fills what lies past the faces of u along all axes in one launch: what lies past several faces is found
// from cells inside, and no axis waits for another.
extern "C" __global__ void __launch_bounds__(128)
    cavity3d_halo_u(double* __restrict__ u, int nx, int ny, int nz, int pitch, long long slice) {
    constexpr int kThreads = 128;

    const int across = blockIdx.x * kThreads + threadIdx.x;
    // The value of a cell, found from cells inside: each of these functions knows what lies past one axis'
    // faces more.
    const auto inside = [&](int i, int j, int k) {
        return u[k * slice + static_cast<long long>(j) * pitch + i];
    };
    const auto past_z = [&](int i, int j, int k) {
        return k == -1 ? -inside(i, j, 0) : k == nz ? -inside(i, j, nz - 1) : inside(i, j, k);
    };
    if (blockIdx.z == 0) {
        // Along z.
        const int i = across;
        const int j = blockIdx.y;
        if (i >= nx || j >= ny) return;
        const long long first = static_cast<long long>(j) * pitch + i;
        const long long last = first + (nz - 1) * slice;
        u[first - slice] = -u[first];
        u[last + slice] = -u[last];
    } else if (blockIdx.z == 1) {
        // Along y.
        const int i = across;
        const int k = blockIdx.y - 1;
        if (i >= nx || k >= nz + 1) return;
        const long long first = k * slice + i;
        const long long last = first + static_cast<long long>(ny - 1) * pitch;
        u[first - pitch] = -past_z(i, 0, k);
        u[last + pitch] = -past_z(i, ny - 1, k);
    } else {
        // Along x.
        const int j = across - 1;
        const int k = blockIdx.y - 1;
        if (j >= ny + 1 || k >= nz + 1) return;
        const long long first = k * slice + static_cast<long long>(j) * pitch;
        const long long last = first + nx - 1;
        u[first - 1] = 0.0;
        u[last + 1] = 0.0;
    }
}

// Stores a cell once more wherever the halo shows it: x clamp, y clamp, z clamp.
__device__ inline void store_images_p(double* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                      long long slice) {
    if (i >= 1 && i < nx - 1 && j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1) return;
    const double value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k == 0 ? -1 : k; z < (k == nz - 1 ? nz + 1 : k + 1); ++z)
        for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
            for (int x = i == 0 ? -1 : i; x < (i == nx - 1 ? nx + 1 : i + 1); ++x)
                u[z * slice + static_cast<long long>(y) * pitch + x] = value;
}

// Reads u, v, w, p, writes ut, vt, wt, p_next.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 64 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 2)
    cavity3d_ut(const double* __restrict__ u, const double* __restrict__ v, const double* __restrict__ w,
                const double* __restrict__ p, double* __restrict__ ut, double* __restrict__ vt,
                double* __restrict__ wt, double* __restrict__ p_next, int nx, int ny, int nz, int pitch,
                long long slice, double scale, double dt, double scale_2, double minus_inv_h,
                double minus_inv_h_2, double inv_re, double inv_h_squared, double scale_3, double lid,
                double h_squared, double h, double inv_h, double scale_4) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const bool holds = static_cast<double>(k) == scale_2;
    double ut_value = 0.0;
    if (!(static_cast<double>(i) == scale)) {
        const double choice = holds ? lid : 0.0;
        double du_value = fma(minus_inv_h_2, u[at] * (u[at + 1] - u[at - 1]),
                              inv_re * (fma(inv_h_squared,
                                            u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch] +
                                            u[at - slice] + u[at + slice], scale_3 * u[at]) +
                                        choice / h_squared));
        du_value = fma(minus_inv_h,
                       (v[at - pitch] + v[at - pitch + 1] + (v[at] + v[at + 1])) * (u[at + pitch] -
                                                                                    u[at - pitch]),
                       du_value);
        du_value = fma(-0.25,
                       (w[at - slice] + w[at - slice + 1] + (w[at] + w[at + 1])) * fma(inv_h,
                                                                                       u[at + slice] -
                                                                                       u[at - slice],
                                                                                       choice / h),
                       du_value);
        ut_value = fma(dt, du_value, u[at]);
    }
    const double sum = u[at - 1] + u[at];
    const double dv_value = fma(minus_inv_h_2, v[at] * (v[at + pitch] - v[at - pitch]),
                                fma(minus_inv_h,
                                    fma(w[at - slice] + w[at - slice + pitch] + (w[at] + w[at + pitch]),
                                        v[at + slice] - v[at - slice],
                                        (sum + u[at + pitch - 1] + u[at + pitch]) * (v[at + 1] - v[at - 1])),
                                    inv_re * fma(inv_h_squared,
                                                 v[at - 1] + v[at + 1] + v[at - pitch] + v[at + pitch] +
                                                 v[at - slice] + v[at + slice], scale_3 * v[at])));
    const double vt_value = static_cast<double>(j) == scale_4 ? 0.0 : fma(dt, dv_value, v[at]);
    const double dw_value = fma(minus_inv_h_2, w[at] * (w[at + slice] - w[at - slice]),
                                fma(minus_inv_h,
                                    fma(v[at - pitch] + v[at] + (v[at + slice - pitch] + v[at + slice]),
                                        w[at + pitch] - w[at - pitch],
                                        (sum + u[at + slice - 1] + u[at + slice]) * (w[at + 1] - w[at - 1])),
                                    inv_re * fma(inv_h_squared,
                                                 w[at - 1] + w[at + 1] + w[at - pitch] + w[at + pitch] +
                                                 w[at - slice] + w[at + slice], scale_3 * w[at])));
    const double wt_value = holds ? 0.0 : fma(dt, dw_value, w[at]);
    const double p_new = p[at];
    ut[at] = ut_value;
    vt[at] = vt_value;
    wt[at] = wt_value;
    p_next[at] = p_new;

    // Cells of p_next near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_p(p_next, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads ut, vt, wt, writes source.
// Schedule: direct, blocks of 32x4x2 threads, 1x1x1 cells a thread.
// At least 32 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    cavity3d_source(const double* __restrict__ ut, const double* __restrict__ vt,
                    const double* __restrict__ wt, double* __restrict__ source, int nx, int ny, int nz,
                    int pitch, long long slice, double h_over_dt) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    source[at] = h_over_dt * (ut[at] - ut[at - 1] + vt[at] - vt[at - pitch] + wt[at] - wt[at - slice]);
}

// Reads source, p_next, writes p_next_2, reduces to residual.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    cavity3d_p_next(const double* __restrict__ source, const double* __restrict__ p_next,
                    double* __restrict__ p_next_2, int nx, int ny, int nz, int pitch, long long slice,
                    double* __restrict__ residual_partials) {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    double residual_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny && k < nz) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        const double p_next_value = 0.16666666666666666 * (p_next[at - 1] + p_next[at + 1] +
                                                           p_next[at - pitch] + p_next[at + pitch] +
                                                           p_next[at - slice] + p_next[at + slice] -
                                                           source[at]);
        p_next_2[at] = p_next_value;
        residual_of_thread = keep_max(residual_of_thread, fabs(p_next_value - p_next[at]));

        // Cells of p_next_2 near a face are shown by halo cells, too.
        const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
        if (near_face || i < 1 || i >= nx - 1) store_images_p(p_next_2, i, j, k, nx, ny, nz, pitch, slice);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double residual_of_block = block_max(residual_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        residual_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = residual_of_block;
}

// In place of cavity3d_p.next in steps whose results nobody reads; leaves out residual.
// Reads source, p_next, writes p_next_2.
// Schedule: direct, blocks of 16x4x4 threads, 1x1x1 cells a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 4)
    cavity3d_p_next_states(const double* __restrict__ source, const double* __restrict__ p_next,
                           double* __restrict__ p_next_2, int nx, int ny, int nz, int pitch, long long slice)
    {
    constexpr int kThreadsX = 16, kThreadsY = 4, kThreadsZ = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    p_next_2[at] = 0.16666666666666666 * (p_next[at - 1] + p_next[at + 1] + p_next[at - pitch] +
                                          p_next[at + pitch] + p_next[at - slice] + p_next[at + slice] -
                                          source[at]);

    // Cells of p_next_2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_p(p_next_2, i, j, k, nx, ny, nz, pitch, slice);
}

// Reads p_next, writes p_next_2.
// Schedule: direct, blocks of 32x4x1 threads, 1x1x1 cells a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 11)
    cavity3d_p(const double* __restrict__ p_next, double* __restrict__ p_next_2, int nx, int ny, int nz,
               int pitch, long long slice) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    p_next_2[at] = p_next[at];

    // Cells of p_next_2 near a face are shown by halo cells, too.
    const bool near_face = j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1;
    if (near_face || i < 1 || i >= nx - 1) store_images_p(p_next_2, i, j, k, nx, ny, nz, pitch, slice);
}

// Stores a cell once more wherever the halo shows it: y antisymmetric, z antisymmetric.
__device__ inline void store_images_u(double* u, int i, int j, int k, int nx, int ny, int nz, int pitch,
                                      long long slice) {
    if (j >= 1 && j < ny - 1 && k >= 1 && k < nz - 1) return;
    const double value = u[k * slice + static_cast<long long>(j) * pitch + i];
    for (int z = k == 0 ? -1 : k; z < (k == nz - 1 ? nz + 1 : k + 1); ++z) {
        const double past_z = z != k ? -value : value;
        for (int y = j == 0 ? -1 : j; y < (j == ny - 1 ? ny + 1 : j + 1); ++y)
            u[z * slice + static_cast<long long>(y) * pitch + i] = y != j ? -past_z : past_z;
    }
}

// Reads u, ut, vt, wt, p_next, writes u_next, v_next, w_next, reduces to change.
// Schedule: direct, blocks of 32x4x2 threads, 1x1x1 cells a thread.
// At least 64 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    cavity3d_u(const double* __restrict__ u, const double* __restrict__ ut, const double* __restrict__ vt,
               const double* __restrict__ wt, const double* __restrict__ p_next, double* __restrict__ u_next,
               double* __restrict__ v_next, double* __restrict__ w_next, int nx, int ny, int nz, int pitch,
               long long slice, double minus_dt_over_h, double* __restrict__ change_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;

    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny && k < nz) {
        const long long at = k * slice + static_cast<long long>(j) * pitch + i;
        const double u_new = fma(minus_dt_over_h, p_next[at + 1] - p_next[at], ut[at]);
        const double v_new = fma(minus_dt_over_h, p_next[at + pitch] - p_next[at], vt[at]);
        const double w_new = fma(minus_dt_over_h, p_next[at + slice] - p_next[at], wt[at]);
        u_next[at] = u_new;
        v_next[at] = v_new;
        w_next[at] = w_new;
        change_of_thread = keep_max(change_of_thread, fabs(u_new - u[at]));

        // Cells of u_next near a face are shown by halo cells, too.
        if (j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1)
            store_images_u(u_next, i, j, k, nx, ny, nz, pitch, slice);
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double change_of_block = block_max(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        change_partials[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = change_of_block;
}

// In place of cavity3d_u in steps whose results nobody reads; leaves out change.
// Reads ut, vt, wt, p_next, writes u_next, v_next, w_next.
// Schedule: direct, blocks of 32x4x2 threads, 1x1x1 cells a thread.
// At least 56 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(256, 3)
    cavity3d_u_states(const double* __restrict__ ut, const double* __restrict__ vt,
                      const double* __restrict__ wt, const double* __restrict__ p_next,
                      double* __restrict__ u_next, double* __restrict__ v_next, double* __restrict__ w_next,
                      int nx, int ny, int nz, int pitch, long long slice, double minus_dt_over_h) {
    constexpr int kThreadsX = 32, kThreadsY = 4, kThreadsZ = 2;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    const int k = blockIdx.z * kThreadsZ + threadIdx.z;
    if (i >= nx || j >= ny || k >= nz) return;

    const long long at = k * slice + static_cast<long long>(j) * pitch + i;
    const double u_new = fma(minus_dt_over_h, p_next[at + 1] - p_next[at], ut[at]);
    const double v_new = fma(minus_dt_over_h, p_next[at + pitch] - p_next[at], vt[at]);
    const double w_new = fma(minus_dt_over_h, p_next[at + slice] - p_next[at], wt[at]);
    u_next[at] = u_new;
    v_next[at] = v_new;
    w_next[at] = w_new;

    // Cells of u_next near a face are shown by halo cells, too.
    if (j < 1 || j >= ny - 1 || k < 1 || k >= nz - 1)
        store_images_u(u_next, i, j, k, nx, ny, nz, pitch, slice);
}

// Fills what lies past the faces of v along all axes in one launch: what lies past several faces is found
// from cells inside, and no axis waits for another.
extern "C" __global__ void __launch_bounds__(128)
    cavity3d_halo_v(double* __restrict__ v_next, int nx, int ny, int nz, int pitch, long long slice) {
    constexpr int kThreads = 128;

    const int across = blockIdx.x * kThreads + threadIdx.x;
    // The value of a cell, found from cells inside: each of these functions knows what lies past one axis'
    // faces more.
    const auto inside = [&](int i, int j, int k) {
        return v_next[k * slice + static_cast<long long>(j) * pitch + i];
    };
    const auto past_z = [&](int i, int j, int k) {
        return k == -1 ? -inside(i, j, 0) : k == nz ? -inside(i, j, nz - 1) : inside(i, j, k);
    };
    const auto past_y = [&](int i, int j, int k) {
        return j == -1 ? 0.0 : j == ny ? 0.0 : past_z(i, j, k);
    };
    if (blockIdx.z == 0) {
        // Along z.
        const int i = across;
        const int j = blockIdx.y;
        if (i >= nx || j >= ny) return;
        const long long first = static_cast<long long>(j) * pitch + i;
        const long long last = first + (nz - 1) * slice;
        v_next[first - slice] = -v_next[first];
        v_next[last + slice] = -v_next[last];
    } else if (blockIdx.z == 1) {
        // Along y.
        const int i = across;
        const int k = blockIdx.y - 1;
        if (i >= nx || k >= nz + 1) return;
        const long long first = k * slice + i;
        const long long last = first + static_cast<long long>(ny - 1) * pitch;
        v_next[first - pitch] = 0.0;
        v_next[last + pitch] = 0.0;
    } else {
        // Along x.
        const int j = across - 1;
        const int k = blockIdx.y - 1;
        if (j >= ny + 1 || k >= nz + 1) return;
        const long long first = k * slice + static_cast<long long>(j) * pitch;
        const long long last = first + nx - 1;
        v_next[first - 1] = -past_y(0, j, k);
        v_next[last + 1] = -past_y(nx - 1, j, k);
    }
}

// Fills what lies past the faces of w along all axes in one launch: what lies past several faces is found
// from cells inside, and no axis waits for another.
extern "C" __global__ void __launch_bounds__(128)
    cavity3d_halo_w(double* __restrict__ w_next, int nx, int ny, int nz, int pitch, long long slice) {
    constexpr int kThreads = 128;

    const int across = blockIdx.x * kThreads + threadIdx.x;
    // The value of a cell, found from cells inside: each of these functions knows what lies past one axis'
    // faces more.
    const auto inside = [&](int i, int j, int k) {
        return w_next[k * slice + static_cast<long long>(j) * pitch + i];
    };
    const auto past_z = [&](int i, int j, int k) {
        return k == -1 ? 0.0 : k == nz ? 0.0 : inside(i, j, k);
    };
    const auto past_y = [&](int i, int j, int k) {
        return j == -1 ? -past_z(i, 0, k) : j == ny ? -past_z(i, ny - 1, k) : past_z(i, j, k);
    };
    if (blockIdx.z == 0) {
        // Along z.
        const int i = across;
        const int j = blockIdx.y;
        if (i >= nx || j >= ny) return;
        const long long first = static_cast<long long>(j) * pitch + i;
        const long long last = first + (nz - 1) * slice;
        w_next[first - slice] = 0.0;
        w_next[last + slice] = 0.0;
    } else if (blockIdx.z == 1) {
        // Along y.
        const int i = across;
        const int k = blockIdx.y - 1;
        if (i >= nx || k >= nz + 1) return;
        const long long first = k * slice + i;
        const long long last = first + static_cast<long long>(ny - 1) * pitch;
        w_next[first - pitch] = -past_z(i, 0, k);
        w_next[last + pitch] = -past_z(i, ny - 1, k);
    } else {
        // Along x.
        const int j = across - 1;
        const int k = blockIdx.y - 1;
        if (j >= ny + 1 || k >= nz + 1) return;
        const long long first = k * slice + static_cast<long long>(j) * pitch;
        const long long last = first + nx - 1;
        w_next[first - 1] = -past_y(0, j, k);
        w_next[last + 1] = -past_y(nx - 1, j, k);
    }
}
