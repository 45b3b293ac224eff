// [f16]
// A half-precision number as it lies in memory.
struct f16 {
    unsigned short bits;
};
// [bf16]
// The upper half of a float as it lies in memory.
struct bf16 {
    unsigned short bits;
};
// [f16_to_float]
__device__ __forceinline__ float f16_to_float(f16 value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}
// [bf16_to_float]
__device__ __forceinline__ float bf16_to_float(bf16 value) {
    return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}
// [float_to_f16]
// Rounds to nearest, ties to even; past 65504 gives infinity.
__device__ __forceinline__ f16 float_to_f16(float value) {
    f16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}
// [float_to_bf16]
// Rounds to nearest, ties to even.
__device__ __forceinline__ bf16 float_to_bf16(float value) {
    const unsigned bits = __float_as_uint(value);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    bf16 result;
    result.bits = static_cast<unsigned short>(value != value ? 0x7fffu : rounded);
    return result;
}
// [int_to_u8]
// The nearest of 0 to 255.
__device__ __forceinline__ unsigned char int_to_u8(int value) {
    return static_cast<unsigned char>(value < 0 ? 0 : value > 255 ? 255 : value);
}
// [long_to_int]
// The nearest that an int can hold.
__device__ __forceinline__ int long_to_int(long long value) {
    const long long least = -2147483647 - 1, most = 2147483647;
    return static_cast<int>(value < least ? least : value > most ? most : value);
}
// [float_to_int]
// Of a whole number: the nearest that there is; 0 for NaN. PTX says so of the instruction; C++ does not of
// its conversion.
__device__ __forceinline__ int float_to_int(float value) {
    int result;
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
    return result;
}
// [float_to_int cpu]
// Of a whole number: the nearest that there is; 0 for NaN.
static inline int float_to_int(float value) {
    if (value >= 2147483648.0f) return 2147483647;
    if (value < -2147483648.0f) return -2147483647 - 1;
    return value == value ? static_cast<int>(value) : 0;
}
// [float_to_long]
// Of a whole number: the nearest that there is; 0 for NaN.
__device__ __forceinline__ long long float_to_long(float value) {
    if (value >= 9223372036854775808.0f) return 9223372036854775807LL;
    if (value < -9223372036854775808.0f) return -9223372036854775807LL - 1;
    return value == value ? static_cast<long long>(value) : 0;
}
// [double_to_int]
// Of a whole number: the nearest that there is; 0 for NaN.
__device__ __forceinline__ int double_to_int(double value) {
    if (value >= 2147483648.0) return 2147483647;
    if (value < -2147483648.0) return -2147483647 - 1;
    return value == value ? static_cast<int>(value) : 0;
}
// [double_to_long]
// Of a whole number: the nearest that there is; 0 for NaN.
__device__ __forceinline__ long long double_to_long(double value) {
    if (value >= 9223372036854775808.0) return 9223372036854775807LL;
    if (value < -9223372036854775808.0) return -9223372036854775807LL - 1;
    return value == value ? static_cast<long long>(value) : 0;
}
// [wrap_add]
// a + b, around the ends.
__device__ __forceinline__ int wrap_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
// [wrap_sub]
// a - b, around the ends.
__device__ __forceinline__ int wrap_sub(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
// [wrap_mul]
// a * b, around the ends.
__device__ __forceinline__ int wrap_mul(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}
// [floor_div]
// The quotient, rounded down; by 0 it is 0.
__device__ __forceinline__ int floor_div(int a, int b) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<int>(0 - static_cast<unsigned>(a));  // around the end, too
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
// [floor_mod]
// What floor_div leaves: of b's sign; by 0 it is 0.
__device__ __forceinline__ int floor_mod(int a, int b) {
    if (b == 0 || b == -1) return 0;
    const int rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
// [wrap_add_long]
// a + b, around the ends.
__device__ __forceinline__ long long wrap_add_long(long long a, long long b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
// [wrap_sub_long]
// a - b, around the ends.
__device__ __forceinline__ long long wrap_sub_long(long long a, long long b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) - static_cast<unsigned long long>(b));
}
// [wrap_mul_long]
// a * b, around the ends.
__device__ __forceinline__ long long wrap_mul_long(long long a, long long b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
}
// [floor_div_long]
// The quotient, rounded down; by 0 it is 0.
__device__ __forceinline__ long long floor_div_long(long long a, long long b) {
    if (b == 0) return 0;
    if (b == -1)
        return static_cast<long long>(0 - static_cast<unsigned long long>(a));  // around the end, too
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
// [floor_mod_long]
// What floor_div_long leaves: of b's sign; by 0 it is 0.
__device__ __forceinline__ long long floor_mod_long(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    const long long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
// [fast_rsqrt]
// 1 / sqrt(x) as the hardware approximates it; where x is below the normal numbers it counts as 0.
__device__ __forceinline__ float fast_rsqrt(float x) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
// [rough_inverse]
// Right to 20 bits.
__device__ __forceinline__ double rough_inverse(double value) {
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    return inverse;
}
// [divide]
// The quotient, rounded to nearest. Of f64 where a GPU computes that at half the speed of f32: 53 bits hold
// more than a quotient of 24 bits needs to be rounded once, and no case is slow. `/` branches for each
// quotient, and takes a call where the dividend is 0 or far from 1.
__device__ __forceinline__ float divide(float dividend, float divisor) {
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
    const double a = dividend, b = divisor;
    double inverse = rough_inverse(b);
    const double error = fma(-b, inverse, 1.0);
    if (fabs(error) < 1) inverse = fma(error, inverse, inverse);  // to 40 bits; not of 0, infinity and NaN
    const double quotient = a * inverse;
    const double rest = fma(-b, quotient, a);  // NaN where the quotient is 0 or infinity for good
    return static_cast<float>(fabs(rest) > 0 ? fma(rest, inverse, quotient) : quotient);
#else
    return dividend / divisor;
#endif
}
// [first_image]
// The lowest of the cells index, index - n, … that lies in the halo of width `low` or above it.
__device__ __forceinline__ int first_image(int index, int n, int low) {
    while (index - n >= -low)
        index -= n;
    return index;
}
// [face_source]
// What lies beyond a face: a value that is given, nothing, the edge cell again, or the cells reflected about
// it.
enum FaceKind { kFixed, kFree, kClamp, kMirror };

// The cell whose value cell `index` shows, along an axis of n cells; -1 where it shows none.
__device__ inline int face_source(int index, int n, FaceKind low, FaceKind high) {
    bool reflected = false;
    while (index < 0 || index >= n) {
        const FaceKind face = index < 0 ? low : high;
        const int edge = index < 0 ? 0 : n - 1;
        if (face == kClamp) return edge;
        if (face == kFixed || (face == kFree && !reflected)) return -1;
        if (n == 1 && reflected) return 0;
        index = 2 * edge - index;
        reflected = true;
    }
    return index;
}
// [keep_min]
// The lesser of two; NaN where either is.
__device__ __forceinline__ double keep_min(double a, double b) {
    return a < b || a != a ? a : b;
}
// [keep_max]
// The greater of two; NaN where either is.
__device__ __forceinline__ double keep_max(double a, double b) {
    return a > b || a != a ? a : b;
}
// [keep_min_f32]
// The lesser of two; NaN where either is.
__device__ __forceinline__ float keep_min_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float least;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
#else
    return a < b || a != a ? a : b;
#endif
}
// [keep_max_f32]
// The greater of two; NaN where either is.
__device__ __forceinline__ float keep_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float greatest;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
    return greatest;
#else
    return a > b || a != a ? a : b;
#endif
}
// [block_sum]
// The sum over the block's threads, always in the same order; thread 0 gets it.
__device__ inline double block_sum(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = thread < warps ? of_warp[thread] : 0.0;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(~0u, value, lanes);
    return value;
}
// [block_min]
// The least of the block's threads; thread 0 gets it.
__device__ inline double block_min(double value) {
    __shared__ double of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_min(value, __shfl_down_sync(~0u, value, lanes));
    __syncthreads();  // an earlier call's results have been read
    if (thread % 32 == 0) of_warp[thread / 32] = value;
    __syncthreads();
    if (thread >= 32) return value;
    value = of_warp[thread < warps ? thread : 0];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = keep_min(value, __shfl_down_sync(~0u, value, lanes));
    return value;
}
// [block_max]
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
// [philox]
// The four random words of one cell in one step: Philox4x32-10 (Salmon et al., 2011). Nothing is kept between
// calls.
__device__ __forceinline__ void philox(unsigned* words, int i, int j, int k, int stream, long long step,
                                       long long seed) {
    unsigned a = i, b = j, c = k, d = static_cast<unsigned>(step);
    unsigned key0 = static_cast<unsigned>(seed), key1 = stream;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned high_a = __umulhi(a, 0xD2511F53u), low_a = a * 0xD2511F53u;
        const unsigned high_c = __umulhi(c, 0xCD9E8D57u), low_c = c * 0xCD9E8D57u;
        a = high_c ^ b ^ key0;
        b = low_c;
        c = high_a ^ d ^ key1;
        d = low_a;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
}
// [philox cpu]
// The four random words of one cell in one step: Philox4x32-10 (Salmon et al., 2011). Nothing is kept between
// calls.
static inline void philox(unsigned* words, int i, int j, int k, int stream, long long step, long long seed) {
    unsigned a = i, b = j, c = k, d = static_cast<unsigned>(step);
    unsigned key0 = static_cast<unsigned>(seed), key1 = stream;
    for (int round = 0; round < 10; ++round) {
        const unsigned long long of_a = 0xD2511F53ull * a, of_c = 0xCD9E8D57ull * c;
        a = static_cast<unsigned>(of_c >> 32) ^ b ^ key0;
        b = static_cast<unsigned>(of_c);
        c = static_cast<unsigned>(of_a >> 32) ^ d ^ key1;
        d = static_cast<unsigned>(of_a);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
}
// [random_f32]
// Uniform in [0, 1). Two calls share the words: the third is one's, the fourth the other's.
__device__ __forceinline__ float random_f32(int i, int j, int k, int stream, long long step, long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream / 2, step, seed);
    return static_cast<float>(words[2 + stream % 2] >> 8) * 0x1p-24f;
}
// [random_f64]
// Uniform in [0, 1).
__device__ __forceinline__ double random_f64(int i, int j, int k, int stream, long long step,
                                             long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream | (1 << 31), step, seed);
    const unsigned long long bits = ((static_cast<unsigned long long>(words[0]) << 32) | words[1]) >> 11;
    return static_cast<double>(bits) * 0x1p-53;
}
// [random_normal_f32]
// The logarithm of a number in (0, 1], to a unit of the last place: that of a power of two, and of a fraction
// from 2/3 to 4/3.
__device__ __forceinline__ float log_of_fraction(float value) {
    const int bits = __float_as_int(value);
    const int exponent = (bits - 0x3f2aaaab) & ~0x7fffff;
    const float x = __int_as_float(bits - exponent) - 1.0f;
    float sum = -0.12948957f;
    sum = fmaf(x, sum, 0.14004758f);
    sum = fmaf(x, sum, -0.12167156f);
    sum = fmaf(x, sum, 0.14001161f);
    sum = fmaf(x, sum, -0.16682306f);
    sum = fmaf(x, sum, 0.20010747f);
    sum = fmaf(x, sum, -0.24999717f);
    sum = fmaf(x, sum, 0.3333321f);
    sum = fmaf(x, sum, -0.5f);
    return fmaf(static_cast<float>(exponent), 8.2629582e-8f, fmaf(x * x, sum, x));  // log(2) / 2^23
}

// Of mean 0 and variance 1, by Box and Muller. Two calls share a radius and an angle: one takes the cosine,
// the other the sine. All devices compute the same bits.
__device__ __forceinline__ float random_normal_f32(int i, int j, int k, int stream, long long step,
                                                   long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream / 2, step, seed);
    const float logarithm = log_of_fraction((static_cast<float>(words[0]) + 0.5f) * 0x1p-32f);
    const float square = fmaxf(-2.0f * logarithm, 1e-30f);
    // The root as the hardware rounds it, without its branch for numbers that do not occur here.
    const float inverse = rsqrtf(square), rough = square * inverse;
    const float radius = fmaf(fmaf(-rough, rough, square), 0.5f * inverse, rough);

    // The angle is that of the nearest quarter turn, and a rest of half of one at most, in half turns.
    const int turn = static_cast<int>(words[1] >> 8), quarters = (turn + (1 << 21)) >> 22;
    const float angle = static_cast<float>(turn - (quarters << 22)) * 0x1p-23f, x = angle * angle;
    float cosine = fmaf(x, 0.23136424f, -1.3350506f);
    cosine = fmaf(x, fmaf(x, fmaf(x, cosine, 4.0587077f), -4.9348021f), 1.0f);
    float sine = fmaf(x, -0.58941877f, 2.5498052f);
    sine = angle * fmaf(x, fmaf(x, sine, -5.1677089f), 3.1415927f);
    const int quarter = stream % 2 == 0 ? quarters + 1 : quarters;  // a cosine is the sine a quarter turn on
    const float wave = radius * (quarter % 2 == 0 ? sine : cosine);
    return __int_as_float(__float_as_int(wave) ^ ((quarter & 2) << 30));
}
// [random_normal_f32 cpu]
// The logarithm of a number in (0, 1], to a unit of the last place: that of a power of two, and of a fraction
// from 2/3 to 4/3.
static inline float log_of_fraction(float value) {
    const int bits = __builtin_bit_cast(int, value);
    const int exponent = (bits - 0x3f2aaaab) & ~0x7fffff;
    const float x = __builtin_bit_cast(float, bits - exponent) - 1.0f;
    float sum = -0.12948957f;
    sum = __builtin_fmaf(x, sum, 0.14004758f);
    sum = __builtin_fmaf(x, sum, -0.12167156f);
    sum = __builtin_fmaf(x, sum, 0.14001161f);
    sum = __builtin_fmaf(x, sum, -0.16682306f);
    sum = __builtin_fmaf(x, sum, 0.20010747f);
    sum = __builtin_fmaf(x, sum, -0.24999717f);
    sum = __builtin_fmaf(x, sum, 0.3333321f);
    sum = __builtin_fmaf(x, sum, -0.5f);
    return __builtin_fmaf(static_cast<float>(exponent), 8.2629582e-8f,
                          __builtin_fmaf(x * x, sum, x));  // log(2) / 2^23
}

// Of mean 0 and variance 1, by Box and Muller. Two calls share a radius and an angle: one takes the cosine,
// the other the sine. All devices compute the same bits.
static inline float random_normal_f32(int i, int j, int k, int stream, long long step, long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream / 2, step, seed);
    const float logarithm = log_of_fraction((static_cast<float>(words[0]) + 0.5f) * 0x1p-32f);
    const float square = -2.0f * logarithm > 1e-30f ? -2.0f * logarithm : 1e-30f;
    const float radius = __builtin_sqrtf(square);

    // The angle is that of the nearest quarter turn, and a rest of half of one at most, in half turns.
    const int turn = static_cast<int>(words[1] >> 8), quarters = (turn + (1 << 21)) >> 22;
    const float angle = static_cast<float>(turn - (quarters << 22)) * 0x1p-23f, x = angle * angle;
    float cosine = __builtin_fmaf(x, 0.23136424f, -1.3350506f);
    cosine = __builtin_fmaf(x, __builtin_fmaf(x, __builtin_fmaf(x, cosine, 4.0587077f), -4.9348021f), 1.0f);
    float sine = __builtin_fmaf(x, -0.58941877f, 2.5498052f);
    sine = angle * __builtin_fmaf(x, __builtin_fmaf(x, sine, -5.1677089f), 3.1415927f);
    const int quarter = stream % 2 == 0 ? quarters + 1 : quarters;  // a cosine is the sine a quarter turn on
    const float wave = radius * (quarter % 2 == 0 ? sine : cosine);
    return __builtin_bit_cast(float, __builtin_bit_cast(int, wave) ^ ((quarter & 2) << 30));
}
// [random_normal_f64]
// Of mean 0 and variance 1, by Box and Muller. Two calls share a radius and an angle: one takes the cosine,
// the other the sine.
__device__ __forceinline__ double random_normal_f64(int i, int j, int k, int stream, long long step,
                                                    long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream / 2, step, seed);
    const unsigned long long first = ((static_cast<unsigned long long>(words[0]) << 32) | words[1]) >> 11;
    const unsigned long long second = ((static_cast<unsigned long long>(words[2]) << 32) | words[3]) >> 11;
    const double radius = sqrt(-2.0 * log((static_cast<double>(first) + 0.5) * 0x1p-53));
    const double turn = static_cast<double>(second) * 0x1p-53;
    return radius * (stream % 2 == 0 ? cospi(2.0 * turn) : sinpi(2.0 * turn));
}
// [random_normal_f64 cpu]
// Of mean 0 and variance 1, by Box and Muller. Two calls share a radius and an angle: one takes the cosine,
// the other the sine.
__device__ __forceinline__ double random_normal_f64(int i, int j, int k, int stream, long long step,
                                                    long long seed) {
    unsigned words[4];
    philox(words, i, j, k, stream / 2, step, seed);
    const unsigned long long first = ((static_cast<unsigned long long>(words[0]) << 32) | words[1]) >> 11;
    const unsigned long long second = ((static_cast<unsigned long long>(words[2]) << 32) | words[3]) >> 11;
    const double radius = __builtin_sqrt(-2.0 * __builtin_log((static_cast<double>(first) + 0.5) * 0x1p-53));
    const double turn = static_cast<double>(second) * 0x1p-53;
    return radius * (stream % 2 == 0 ? __builtin_cos(6.2831853071795862 * turn)
                                     : __builtin_sin(6.2831853071795862 * turn));
}
// [f16_to_float cpu]
static inline float f16_to_float(f16 value) {
#ifdef __F16C__
    return static_cast<float>(__builtin_bit_cast(_Float16, value.bits));
#else
    const unsigned sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
    const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
    const unsigned special = 0x7f800000u | magnitude << 13;
    const unsigned bits = magnitude < 0x7c00u ? __builtin_bit_cast(unsigned, scaled) : special;
    return __builtin_bit_cast(float, sign | bits);
#endif
}
// [bf16_to_float cpu]
static inline float bf16_to_float(bf16 value) {
    return __builtin_bit_cast(float, static_cast<unsigned>(value.bits) << 16);
}
// [float_to_f16 cpu]
// Rounds to nearest, ties to even; past 65504 gives infinity.
static inline f16 float_to_f16(float value) {
#ifdef __F16C__
    return f16{__builtin_bit_cast(unsigned short, static_cast<_Float16>(value))};
#else
    const unsigned bits = __builtin_bit_cast(unsigned, value), magnitude = bits & 0x7fffffffu;
    const unsigned normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    const unsigned small = __builtin_bit_cast(unsigned, shifted) - 0x3f000000u;
    const unsigned large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const unsigned rounded = magnitude < 0x38800000u ? small : magnitude < 0x47800000u ? normal : large;
    return f16{static_cast<unsigned short>((bits >> 16 & 0x8000u) | rounded)};
#endif
}
// [float_to_bf16 cpu]
// Rounds to nearest, ties to even.
static inline bf16 float_to_bf16(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return bf16{static_cast<unsigned short>(value != value ? 0x7fffu : rounded)};
}
