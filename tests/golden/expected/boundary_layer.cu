// boundary_layer: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x.

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

// Reads u, writes flux.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 16 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 32)
    boundary_layer_flux(const double* __restrict__ u, double* __restrict__ flux, int nx, double minus_nu,
                        double beta, double scale, double scale_2, double scale_3) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    const int at = i;
    flux[at] = fma(minus_nu,
                   (u[at + 1] -
                    u[at]) / (beta * cosh(beta * (1.0 -
                                                  (static_cast<double>(i) * scale + scale_2))) / scale_3),
                   0.5 * (u[at] + u[at + 1]));
}

// Reads u, flux, writes u_next, reduces to change.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    boundary_layer_u(const double* __restrict__ u, const double* __restrict__ flux,
                     double* __restrict__ u_next, int nx, double minus_dt, double beta, double scale,
                     double scale_2, double* __restrict__ change_partials) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;

    double change_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx) {
        const int at = i;
        const double u_inside = fma(minus_dt,
                                    (flux[at] -
                                     flux[at - 1]) / (beta * cosh(beta * (1.0 -
                                                                          static_cast<double>(i) * scale)) / scale_2),
                                    u[at]);
        const bool u_has_value = i >= 1 && i < nx - 1;
        const double u_new = u_has_value ? u_inside : u[at];
        u_next[at] = u_new;
        change_of_thread = keep_max(change_of_thread, fabs(u_new - u[at]));
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double change_of_block = block_max(change_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) change_partials[blockIdx.x] = change_of_block;
}

// In place of boundary_layer_u in steps whose results nobody reads; leaves out change.
// Reads u, flux, writes u_next.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    boundary_layer_u_states(const double* __restrict__ u, const double* __restrict__ flux,
                            double* __restrict__ u_next, int nx, double minus_dt, double beta, double scale,
                            double scale_2) {
    constexpr int kThreadsX = 32;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    if (i >= nx) return;

    const int at = i;
    const double u_inside = fma(minus_dt,
                                (flux[at] -
                                 flux[at - 1]) / (beta * cosh(beta * (1.0 -
                                                                      static_cast<double>(i) * scale)) / scale_2),
                                u[at]);
    const bool u_has_value = i >= 1 && i < nx - 1;
    u_next[at] = u_has_value ? u_inside : u[at];
}
