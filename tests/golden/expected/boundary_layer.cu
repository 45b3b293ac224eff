// boundary_layer: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x.

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

// Reads u, flux, writes u_next.
// Schedule: direct, blocks of 32 threads, 1 cell a thread.
// At least 24 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(32, 30)
    boundary_layer_u(const double* __restrict__ u, const double* __restrict__ flux,
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
