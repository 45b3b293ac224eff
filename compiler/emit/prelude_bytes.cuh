// [float_to_u8]
// The nearest whole number of 0 to 255, of two the even one; 0 for NaN.
__device__ __forceinline__ unsigned char float_to_u8(float value) {
    unsigned nearest;
    asm("{ .reg .u8 byte; cvt.rni.u8.f32 byte, %1; cvt.u32.u8 %0, byte; }" : "=r"(nearest) : "f"(value));
    return static_cast<unsigned char>(nearest);
}
// [float_to_u8 cpu]
// The nearest whole number of 0 to 255, of two the even one; 0 for NaN.
static inline unsigned char float_to_u8(float value) {
    const float nearest = __builtin_rintf(value);
    return static_cast<unsigned char>(nearest >= 255 ? 255 : nearest > 0 ? nearest : 0);
}
// [byte_to_float]
// Of 0 to 255: the lowest bits of 2^23 plus the number. Processors convert a byte at an eighth of this speed.
__device__ __forceinline__ float byte_to_float(int value) {
    return __int_as_float(value | 0x4b000000) - 8388608.0f;
}
// [byte_to_float cpu]
static inline float byte_to_float(int value) {
    return static_cast<float>(value);
}
// [whole_root]
// The root of a whole number that is not negative, rounded to nearest: what sqrtf does for most numbers,
// which has a branch for others, and takes a call for 0.
__device__ __forceinline__ float whole_root(float value) {
#if __CUDA_ARCH__ == 900
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaxf(value, 1.0f)));
    const float root = value * inverse;
    return fmaf(fmaf(-root, root, value), 0.5f * inverse, root);
#else
    return sqrtf(value);
#endif
}
// [whole_root cpu]
static inline float whole_root(float value) {
    return __builtin_sqrtf(value);
}
// [bytes_of]
// Bytes that so many entries take. Of a product in C++ compilers would subtract first where a place is the
// difference of two numbers, and multiply each difference.
__device__ __forceinline__ int bytes_of(int entries, int size) {
    int bytes;
    asm("mul.lo.s32 %0, %1, %2;" : "=r"(bytes) : "r"(entries), "r"(size));
    return bytes;
}
// [entry_f32]
// So many bytes from the beginning of a table.
__device__ __forceinline__ float entry_f32(const float* table, int bytes) {
    return *reinterpret_cast<const float*>(reinterpret_cast<const char*>(table) + bytes);
}
// [entry_f64]
// So many bytes from the beginning of a table.
__device__ __forceinline__ double entry_f64(const double* table, int bytes) {
    return *reinterpret_cast<const double*>(reinterpret_cast<const char*>(table) + bytes);
}
