// heat_f16: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 1 below and 1 above along x, 1 below and 1 above along y.

// A half-precision number as it lies in memory.
struct f16 {
    unsigned short bits;
};

__device__ __forceinline__ float f16_to_float(f16 value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}

// Rounds to nearest, ties to even; past 65504 gives infinity.
__device__ __forceinline__ f16 float_to_f16(float value) {
    f16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
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

// Reads u, v, writes u_next, v_next, reduces to apart.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 9)
    heat_f16_step(const f16* __restrict__ u, const float* __restrict__ v, f16* __restrict__ u_next,
                  float* __restrict__ v_next, int nx, int ny, int pitch, float lambda_dt,
                  double* __restrict__ apart_partials) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;

    double apart_of_thread = -__longlong_as_double(0x7ff0000000000000LL);
    if (i < nx && j < ny) {
        const long long at = static_cast<long long>(j) * pitch + i;
        const float u_new = fmaf(lambda_dt,
                                 fmaf(-4.0f, f16_to_float(u[at]),
                                      f16_to_float(u[at - 1]) + f16_to_float(u[at + 1]) +
                                      f16_to_float(u[at - pitch]) + f16_to_float(u[at + pitch])),
                                 f16_to_float(u[at]));
        const f16 u_stored = float_to_f16(u_new);
        const float u_rounded = f16_to_float(u_stored);
        const float v_new =
            fmaf(lambda_dt, fmaf(-4.0f, v[at], v[at - 1] + v[at + 1] + v[at - pitch] + v[at + pitch]), v[at]);
        u_next[at] = u_stored;
        v_next[at] = v_new;
        apart_of_thread = keep_max(apart_of_thread, static_cast<double>(fabsf(u_rounded - v_new)));
    }

    // One partial result a block; the host combines them in the blocks' order.
    const double apart_of_block = block_max(apart_of_thread);
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        apart_partials[blockIdx.x + gridDim.x * blockIdx.y] = apart_of_block;
}

// In place of heat_f16_step in steps whose results nobody reads; leaves out apart.
// Reads u, v, writes u_next, v_next.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 12 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 9)
    heat_f16_step_states(const f16* __restrict__ u, const float* __restrict__ v, f16* __restrict__ u_next,
                         float* __restrict__ v_next, int nx, int ny, int pitch, float lambda_dt) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const float u_new = fmaf(lambda_dt,
                             fmaf(-4.0f, f16_to_float(u[at]),
                                  f16_to_float(u[at - 1]) + f16_to_float(u[at + 1]) +
                                  f16_to_float(u[at - pitch]) + f16_to_float(u[at + pitch])),
                             f16_to_float(u[at]));
    const f16 u_stored = float_to_f16(u_new);
    const float v_new =
        fmaf(lambda_dt, fmaf(-4.0f, v[at], v[at - 1] + v[at + 1] + v[at - pitch] + v[at + pitch]), v[at]);
    u_next[at] = u_stored;
    v_next[at] = v_new;
}
