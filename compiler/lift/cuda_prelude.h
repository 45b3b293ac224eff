// What a CUDA file needs to be read without CUDA's headers: the words of the language, and so much of the run
// time that kernels are understood. With HALO_LIFT_HOST a kernel is a plain function that runs one thread.
#pragma once

namespace halo::lift {

inline constexpr char kCudaPrelude[] = R"(
#ifdef HALO_LIFT_HOST
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__ __restrict
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#endif
struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#ifdef HALO_LIFT_HOST
extern "C" { uint3 halo_lift_thread, halo_lift_block; dim3 halo_lift_block_size, halo_lift_grid_size; }
#define threadIdx halo_lift_thread
#define blockIdx halo_lift_block
#define blockDim halo_lift_block_size
#define gridDim halo_lift_grid_size
#else
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
typedef struct CUstream_st* cudaStream_t;
extern "C" int cudaConfigureCall(dim3, dim3, decltype(sizeof(0)) = 0, void* = nullptr);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, decltype(sizeof(0)) = 0, void* = nullptr);
extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, decltype(sizeof(0)), cudaStream_t);
#endif
__host__ __device__ inline void __syncthreads() {}
#define HALO_LIFT_MATH(name) \
    extern "C" __host__ __device__ double name(double); extern "C" __host__ __device__ float name##f(float);
HALO_LIFT_MATH(sqrt) HALO_LIFT_MATH(exp) HALO_LIFT_MATH(log) HALO_LIFT_MATH(sin) HALO_LIFT_MATH(cos)
HALO_LIFT_MATH(tan) HALO_LIFT_MATH(fabs) HALO_LIFT_MATH(floor) HALO_LIFT_MATH(ceil) HALO_LIFT_MATH(tanh)
#undef HALO_LIFT_MATH
extern "C" __host__ __device__ double fmin(double, double);
extern "C" __host__ __device__ double fmax(double, double);
extern "C" __host__ __device__ float fminf(float, float);
extern "C" __host__ __device__ float fmaxf(float, float);
extern "C" __host__ __device__ double pow(double, double);
extern "C" __host__ __device__ float powf(float, float);
)";

}  // namespace halo::lift
