// What CUDA text needs to run on this machine's processor: read by the in-process clang before the text
// itself. The emulator (emulator.cpp) supplies the functions that are declared here and not defined. Nothing
// may be included.
#pragma once

#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __constant__ __attribute__((used))
// One operating-system thread runs all fibers of a block, so its thread-local variables are the block's.
// Unlike `static`, thread_local may stand after `extern`, too. The addresses come from the emulator (emulated
// TLS).
#define __shared__ __attribute__((used)) thread_local
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

using size_t = decltype(sizeof(0));

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

// The emulator changes these as it goes from fiber to fiber; to each fiber they are constants. Scalars one by
// one: the watch on memory leaves those alone.
extern "C" const unsigned halo_thread_x, halo_thread_y, halo_thread_z;
extern "C" const unsigned halo_block_x, halo_block_y, halo_block_z;
extern "C" const unsigned halo_threads_x, halo_threads_y, halo_threads_z;
extern "C" const unsigned halo_blocks_x, halo_blocks_y, halo_blocks_z;
#define threadIdx (uint3{halo_thread_x, halo_thread_y, halo_thread_z})
#define blockIdx (uint3{halo_block_x, halo_block_y, halo_block_z})
#define blockDim (dim3{halo_threads_x, halo_threads_y, halo_threads_z})
#define gridDim (dim3{halo_blocks_x, halo_blocks_y, halo_blocks_z})
constexpr int warpSize = 32;

// Vector types as one value, so that a vector load stays one access, whose alignment is checked.
using float2 = float __attribute__((ext_vector_type(2)));
using float4 = float __attribute__((ext_vector_type(4)));
using double2 = double __attribute__((ext_vector_type(2)));
using int2 = int __attribute__((ext_vector_type(2)));
using int4 = int __attribute__((ext_vector_type(4)));
using longlong2 = long long __attribute__((ext_vector_type(2)));
using uchar2 = unsigned char __attribute__((ext_vector_type(2)));
using uchar4 = unsigned char __attribute__((ext_vector_type(4)));
using ushort2 = unsigned short __attribute__((ext_vector_type(2)));
using ushort4 = unsigned short __attribute__((ext_vector_type(4)));
using uint2 = unsigned __attribute__((ext_vector_type(2), may_alias));  // bytes, too
using uint4 = unsigned __attribute__((ext_vector_type(4), may_alias));
struct float3 {
    float x, y, z;
};
struct double3 {
    double x, y, z;
};
struct __align__(16) double4 {
    double x, y, z, w;
};
inline float2 make_float2(float x, float y) {
    return {x, y};
}
inline longlong2 make_longlong2(long long x, long long y) {
    return {x, y};
}
inline uchar2 make_uchar2(unsigned char x, unsigned char y) {
    return {x, y};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
    return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}
inline ushort2 make_ushort2(unsigned short x, unsigned short y) {
    return {x, y};
}
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
    return {x, y, z, w};
}
inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
    return {x, y, z, w};
}
inline float3 make_float3(float x, float y, float z) {
    return {x, y, z};
}
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y) {
    return {x, y};
}
inline double3 make_double3(double x, double y, double z) {
    return {x, y, z};
}
inline double4 make_double4(double x, double y, double z, double w) {
    return {x, y, z, w};
}
inline int2 make_int2(int x, int y) {
    return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w) {
    return {x, y, z, w};
}

// ---- meeting points
// -------------------------------------------------------------------------------------------------

#define HALO_MEETING __attribute__((convergent, nomerge))
extern "C" void __syncthreads() HALO_MEETING;
extern "C" int __syncthreads_count(int predicate) HALO_MEETING;
extern "C" int __syncthreads_or(int predicate) HALO_MEETING;
extern "C" int __syncthreads_and(int predicate) HALO_MEETING;
extern "C" void halo_sync_warp(unsigned mask) HALO_MEETING;
// mode: 0 from that lane, 1 up, 2 down, 3 xor.
extern "C" unsigned long long halo_shuffle(unsigned mask, unsigned long long bits, int lane, int width,
                                           int mode) HALO_MEETING;
extern "C" unsigned halo_ballot(unsigned mask, int predicate) HALO_MEETING;
#define __syncwarp(...) halo_sync_warp(halo_mask(__VA_ARGS__))
constexpr unsigned halo_mask(unsigned mask = 0xffffffffu) {
    return mask;
}

template <class T>
__forceinline__ T halo_shuffle_value(unsigned mask, T value, int lane, int width, int mode) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = halo_shuffle(mask, bits, lane, width, mode);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    return halo_shuffle_value(mask, value, lane, width, 0);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return halo_shuffle_value(mask, value, static_cast<int>(delta), width, 1);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return halo_shuffle_value(mask, value, static_cast<int>(delta), width, 2);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    return halo_shuffle_value(mask, value, bits, width, 3);
}
__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate) {
    return halo_ballot(mask, predicate);
}
__forceinline__ int __any_sync(unsigned mask, int predicate) {
    return halo_ballot(mask, predicate) != 0;
}
__forceinline__ int __all_sync(unsigned mask, int predicate) {
    return halo_ballot(mask, !predicate) == 0;
}

__forceinline__ void __threadfence() {}
__forceinline__ void __threadfence_block() {}

// Packets of 8 bytes between blocks of one launch. A thread that goes on loading them is polling, and other
// threads and blocks run in between.
extern "C" void halo_store_packet(void* to, unsigned long long packet);
extern "C" unsigned long long halo_load_packet(const void* from);
inline unsigned long long halo_words(unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | low;
}

size_t __cvta_generic_to_shared(const void* address);  // for stand-ins that replace its callers

// ---- memory
// ---------------------------------------------------------------------------------------------------------

template <class T>
__forceinline__ void __stwb(T* address, T value) {
    *address = value;
}
template <class T>
__forceinline__ T __ldg(const T* address) {
    return *address;
}
template <class T>
__forceinline__ T __ldcs(const T* address) {
    return *address;
}
template <class T>
__forceinline__ T __ldcg(const T* address) {
    return *address;
}
template <class T>
__forceinline__ T __ldca(const T* address) {
    return *address;
}
template <class T>
__forceinline__ void __stcs(T* address, T value) {
    *address = value;
}
template <class T>
__forceinline__ void __stcg(T* address, T value) {
    *address = value;
}
template <class T>
__forceinline__ void __stwt(T* address, T value) {
    *address = value;
}

// ---- bits
// -----------------------------------------------------------------------------------------------------------

__forceinline__ float __int_as_float(int bits) {
    return __builtin_bit_cast(float, bits);
}
__forceinline__ float __uint_as_float(unsigned bits) {
    return __builtin_bit_cast(float, bits);
}
__forceinline__ int __float_as_int(float value) {
    return __builtin_bit_cast(int, value);
}
__forceinline__ unsigned __float_as_uint(float value) {
    return __builtin_bit_cast(unsigned, value);
}
__forceinline__ double __longlong_as_double(long long bits) {
    return __builtin_bit_cast(double, bits);
}
__forceinline__ long long __double_as_longlong(double value) {
    return __builtin_bit_cast(long long, value);
}
__forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
__forceinline__ int __popc(unsigned bits) {
    return __builtin_popcount(bits);
}
__forceinline__ int __clz(int bits) {
    return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits));
}
__forceinline__ int __ffs(int bits) {
    return __builtin_ffs(bits);
}

// ---- arithmetic
// -----------------------------------------------------------------------------------------------------

#define HALO_UNARY(name)                     \
    __forceinline__ double name(double x) {  \
        return __builtin_##name(x);          \
    }                                        \
    __forceinline__ float name(float x) {    \
        return __builtin_##name##f(x);       \
    }                                        \
    __forceinline__ float name##f(float x) { \
        return __builtin_##name##f(x);       \
    }
HALO_UNARY(sqrt)
HALO_UNARY(cbrt)
HALO_UNARY(exp)
HALO_UNARY(log)
HALO_UNARY(sin)
HALO_UNARY(cos)
HALO_UNARY(tan)
HALO_UNARY(asin)
HALO_UNARY(acos)
HALO_UNARY(atan)
HALO_UNARY(sinh)
HALO_UNARY(cosh)
HALO_UNARY(tanh)
HALO_UNARY(fabs)
HALO_UNARY(floor)
HALO_UNARY(ceil)
HALO_UNARY(rint)
HALO_UNARY(trunc)
HALO_UNARY(erf)
#undef HALO_UNARY
#define HALO_BINARY(name)                             \
    __forceinline__ double name(double x, double y) { \
        return __builtin_##name(x, y);                \
    }                                                 \
    __forceinline__ float name(float x, float y) {    \
        return __builtin_##name##f(x, y);             \
    }                                                 \
    __forceinline__ float name##f(float x, float y) { \
        return __builtin_##name##f(x, y);             \
    }
HALO_BINARY(fmin)
HALO_BINARY(fmax)
HALO_BINARY(pow)
HALO_BINARY(atan2)
#undef HALO_BINARY
__forceinline__ double fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
__forceinline__ float fma(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
__forceinline__ float fmaf(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
__forceinline__ double rsqrt(double x) {
    return 1.0 / __builtin_sqrt(x);
}
__forceinline__ float rsqrtf(float x) {
    return 1.0f / __builtin_sqrtf(x);
}
__forceinline__ float rsqrt(float x) {
    return rsqrtf(x);
}
// The approximations are the accurate functions here: what is tested is all but them.
__forceinline__ float __sinf(float x) {
    return __builtin_sinf(x);
}
__forceinline__ float __cosf(float x) {
    return __builtin_cosf(x);
}
// The C library has none: these round the angle, as the definition of noise does.
__forceinline__ double cospi(double x) {
    return __builtin_cos(3.1415926535897931 * x);
}
__forceinline__ double sinpi(double x) {
    return __builtin_sin(3.1415926535897931 * x);
}
__forceinline__ float __expf(float x) {
    return __builtin_expf(x);
}
__forceinline__ float __logf(float x) {
    return __builtin_logf(x);
}
__forceinline__ double abs(double x) {
    return __builtin_fabs(x);
}
__forceinline__ float abs(float x) {
    return __builtin_fabsf(x);
}
__forceinline__ int abs(int x) {
    return x < 0 ? -x : x;
}
__forceinline__ bool isnan(double x) {
    return x != x;
}
__forceinline__ bool isnan(float x) {
    return x != x;
}

#define HALO_MIN_MAX(T)               \
    __forceinline__ T min(T x, T y) { \
        return y < x ? y : x;         \
    }                                 \
    __forceinline__ T max(T x, T y) { \
        return x < y ? y : x;         \
    }
HALO_MIN_MAX(int)
HALO_MIN_MAX(unsigned)
HALO_MIN_MAX(long)
HALO_MIN_MAX(unsigned long)
HALO_MIN_MAX(long long)
HALO_MIN_MAX(unsigned long long)
#undef HALO_MIN_MAX
__forceinline__ float min(float x, float y) {
    return __builtin_fminf(x, y);
}
__forceinline__ float max(float x, float y) {
    return __builtin_fmaxf(x, y);
}
__forceinline__ double min(double x, double y) {
    return __builtin_fmin(x, y);
}
__forceinline__ double max(double x, double y) {
    return __builtin_fmax(x, y);
}

// Rounded to nearest and never contracted: what plain operators are here anyway.
#define HALO_ROUNDED(T, prefix, root)                \
    __forceinline__ T __##prefix##add_rn(T x, T y) { \
        return x + y;                                \
    }                                                \
    __forceinline__ T __##prefix##sub_rn(T x, T y) { \
        return x - y;                                \
    }                                                \
    __forceinline__ T __##prefix##mul_rn(T x, T y) { \
        return x * y;                                \
    }                                                \
    __forceinline__ T __##prefix##div_rn(T x, T y) { \
        return x / y;                                \
    }                                                \
    __forceinline__ T __##prefix##sqrt_rn(T x) {     \
        return root(x);                              \
    }
HALO_ROUNDED(float, f, __builtin_sqrtf)
HALO_ROUNDED(double, d, __builtin_sqrt)
#undef HALO_ROUNDED
__forceinline__ float __frcp_rn(float x) {
    return 1.0f / x;
}
__forceinline__ double __drcp_rn(double x) {
    return 1.0 / x;
}
__forceinline__ float __fmaf_rn(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
__forceinline__ double __fma_rn(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
__forceinline__ float __double2float_rn(double x) {
    return static_cast<float>(x);
}
__forceinline__ float __int2float_rn(int x) {
    return static_cast<float>(x);
}
__forceinline__ double __int2double_rn(int x) {
    return static_cast<double>(x);
}

// ---- calling a kernel whose signature only the text knows
// -------------------------------------------------------------

#define HALO_UNCHECKED __attribute__((no_sanitize("thread")))
template <class Index, Index... I>
struct halo_indices {};
template <class... Parameters, unsigned long... I>
HALO_UNCHECKED inline void halo_call(void (*kernel)(Parameters...), void** arguments,
                                     halo_indices<unsigned long, I...>) {
    kernel(*static_cast<Parameters*>(arguments[I])...);
}
template <class... Parameters>
HALO_UNCHECKED inline void halo_call(void (*kernel)(Parameters...), void** arguments) {
    halo_call(kernel, arguments, __make_integer_seq<halo_indices, unsigned long, sizeof...(Parameters)>{});
}
template <class... Parameters>
constexpr int halo_parameters(void (*)(Parameters...)) {
    return sizeof...(Parameters);
}
#define HALO_ENTRY(kernel)                                                 \
    extern "C" HALO_UNCHECKED void halo_entry_##kernel(void** arguments) { \
        halo_call(&kernel, arguments);                                     \
    }                                                                      \
    extern "C" const int halo_parameters_##kernel = halo_parameters(&kernel);
