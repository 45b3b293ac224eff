#include "compiler/lift/stand_in_headers.h"

namespace halo::lift {

const char kCudaPrelude[] = R"(
#pragma clang system_header
#ifdef HALO_LIFT_HOST
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#endif
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#pragma clang force_cuda_host_device begin
#if __has_include(<math.h>)
#include <math.h>
#include <stdlib.h>
#endif
struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#define HALO_LIFT_VECTORS(type, name)                                                                      \
    struct name##1 { type x; };                                                                            \
    struct __align__(2 * sizeof(type)) name##2 { type x, y; };                                             \
    struct name##3 { type x, y, z; };                                                                      \
    struct __align__(16) name##4 { type x, y, z, w; };                                                     \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                       \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                            \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
HALO_LIFT_VECTORS(float, float)
HALO_LIFT_VECTORS(double, double)
HALO_LIFT_VECTORS(int, int)
#undef HALO_LIFT_VECTORS
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct uchar4 { unsigned char x, y, z, w; };
#define HALO_LIFT_ORDER(type)                                          \
    inline type max(type a, type b) { return a > b ? a : b; }          \
    inline type min(type a, type b) { return b < a ? b : a; }
HALO_LIFT_ORDER(int) HALO_LIFT_ORDER(unsigned) HALO_LIFT_ORDER(long) HALO_LIFT_ORDER(unsigned long)
HALO_LIFT_ORDER(long long) HALO_LIFT_ORDER(unsigned long long)
#undef HALO_LIFT_ORDER
inline float max(float a, float b) { return fmaxf(a, b); }
inline float min(float a, float b) { return fminf(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
template <class T> inline T __ldg(const T* at) { return *at; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline float __expf(float a) { return expf(a); }
inline float __logf(float a) { return logf(a); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float a) { return fminf(fmaxf(a, 0.0f), 1.0f); }
inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
extern "C" void halo_lift_syncthreads();
#define __syncthreads() halo_lift_syncthreads()
#pragma clang force_cuda_host_device end
#ifdef HALO_LIFT_HOST
extern "C" { extern const uint3 threadIdx, blockIdx; extern const dim3 blockDim, gridDim; }
#else
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
typedef struct CUstream_st* cudaStream_t;
extern "C" int cudaConfigureCall(dim3, dim3, decltype(sizeof(0)) = 0, void* = nullptr);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, decltype(sizeof(0)) = 0, void* = nullptr);
extern "C" int cudaLaunchKernel(const void*, dim3, dim3, void**, decltype(sizeof(0)), cudaStream_t);
#endif
enum cudaError_t { cudaSuccess = 0, cudaErrorUnknown = 999 };
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
typedef struct CUevent_st* cudaEvent_t;
extern "C" {
cudaError_t cudaFree(void*);
cudaError_t cudaMemcpy(void*, const void*, decltype(sizeof(0)), cudaMemcpyKind);
cudaError_t cudaMemset(void*, int, decltype(sizeof(0)));
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaSetDevice(int);
cudaError_t cudaDeviceReset();
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
const char* cudaGetErrorString(cudaError_t);
}
template <class T> cudaError_t cudaMalloc(T**, decltype(sizeof(0)));
template <class T> cudaError_t cudaMallocHost(T**, decltype(sizeof(0)));
template <class T> cudaError_t cudaMallocManaged(T**, decltype(sizeof(0)), unsigned = 1);
template <class T>
cudaError_t cudaMemcpyToSymbol(const T&, const void*, decltype(sizeof(0)), decltype(sizeof(0)) = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class Stream = void> cudaError_t cudaEventRecord(cudaEvent_t, Stream* = nullptr);
)";

const char kOmpHeader[] = R"(
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
double omp_get_wtime(void);
double omp_get_wtick(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void omp_set_num_threads(int);
void omp_set_dynamic(int);
void omp_set_nested(int);
typedef struct { void* held; } omp_lock_t;
void omp_init_lock(omp_lock_t*);
void omp_destroy_lock(omp_lock_t*);
void omp_set_lock(omp_lock_t*);
void omp_unset_lock(omp_lock_t*);
#ifdef __cplusplus
}
#endif
)";

// A datatype is the size of its elements.
const char kMpiHeader[] = R"(
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Info, MPI_Group;
typedef long MPI_Aint;
typedef struct { int MPI_SOURCE, MPI_TAG, MPI_ERROR; } MPI_Status;
#define MPI_COMM_WORLD 1
#define MPI_COMM_SELF 2
#define MPI_COMM_NULL 0
#define MPI_PROC_NULL (-2)
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_SUCCESS 0
#define MPI_INFO_NULL 0
#define MPI_REQUEST_NULL 0
#define MPI_IN_PLACE ((void*)-1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_CHAR 1
#define MPI_BYTE 1
#define MPI_UNSIGNED_CHAR 1
#define MPI_INT 4
#define MPI_UNSIGNED 4
#define MPI_FLOAT 4
#define MPI_LONG 8
#define MPI_LONG_LONG 8
#define MPI_LONG_LONG_INT 8
#define MPI_UNSIGNED_LONG 8
#define MPI_DOUBLE 8
#define MPI_SUM 1
#define MPI_MIN 2
#define MPI_MAX 3
#define MPI_PROD 4
#define MPI_MAX_PROCESSOR_NAME 256
int MPI_Init(int*, char***);
int MPI_Init_thread(int*, char***, int, int*);
int MPI_Initialized(int*);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm, int);
int MPI_Comm_rank(MPI_Comm, int*);
int MPI_Comm_size(MPI_Comm, int*);
int MPI_Barrier(MPI_Comm);
double MPI_Wtime(void);
int MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm);
int MPI_Reduce(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int MPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Gather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
int MPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
int MPI_Scatter(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
int MPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int MPI_Sendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Wait(MPI_Request*, MPI_Status*);
int MPI_Waitall(int, MPI_Request*, MPI_Status*);
int MPI_Cart_create(MPI_Comm, int, const int*, const int*, int, MPI_Comm*);
int MPI_Cart_coords(MPI_Comm, int, int, int*);
int MPI_Cart_shift(MPI_Comm, int, int, int*, int*);
int MPI_Dims_create(int, int, int*);
int MPI_Get_processor_name(char*, int*);
#ifdef __cplusplus
}
#endif
)";

}  // namespace halo::lift
