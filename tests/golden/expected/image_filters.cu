// image_filters: CUDA kernels of a stencil, emitted by Halocline.
//
// Arrays are padded; pointers name cell 0 of every axis. The first axis is contiguous, a row starts at a
// multiple of 32 elements, rows are `pitch` elements apart and planes `slice`. Halo cells lie around:
// at least 2 below and 2 above along x, 2 below and 2 above along y.

// The nearest whole number of 0 to 255, of two the even one; 0 for NaN.
__device__ __forceinline__ unsigned char float_to_u8(float value) {
    unsigned nearest;
    asm("{ .reg .u8 byte; cvt.rni.u8.f32 byte, %1; cvt.u32.u8 %0, byte; }" : "=r"(nearest) : "f"(value));
    return static_cast<unsigned char>(nearest);
}

// Of 0 to 255: the lowest bits of 2^23 plus the number. Processors convert a byte at an eighth of this speed.
__device__ __forceinline__ float byte_to_float(int value) {
    return __int_as_float(value | 0x4b000000) - 8388608.0f;
}

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

// Right to 20 bits.
__device__ __forceinline__ double rough_inverse(double value) {
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    return inverse;
}

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

// Reads picture, writes blurred, edges, smoothed.
// Schedule: direct, blocks of 32x4 threads, 1x1 cells a thread.
// At least 4 bytes move between memory and chip for a cell.
extern "C" __global__ void __launch_bounds__(128, 6)
    image_filters_step(const unsigned char* __restrict__ picture, unsigned char* __restrict__ blurred,
                       unsigned char* __restrict__ edges, unsigned char* __restrict__ smoothed, int nx,
                       int ny, int pitch, float scale, float scale_2, float scale_3, float scale_4,
                       float scale_5, float scale_6, float scale_7) {
    constexpr int kThreadsX = 32, kThreadsY = 4;

    const int i = blockIdx.x * kThreadsX + threadIdx.x;
    const int j = blockIdx.y * kThreadsY + threadIdx.y;
    if (i >= nx || j >= ny) return;

    const long long at = static_cast<long long>(j) * pitch + i;
    const float value = byte_to_float(static_cast<int>(picture[at - 2 * pitch - 2]));
    const float value_2 = byte_to_float(static_cast<int>(picture[at + 2 * pitch - 2]));
    const float value_3 = byte_to_float(static_cast<int>(picture[at - 2 * pitch + 2]));
    const float value_4 = byte_to_float(static_cast<int>(picture[at + 2 * pitch + 2]));
    const float value_5 = byte_to_float(static_cast<int>(picture[at - pitch - 2]));
    const float value_6 = byte_to_float(static_cast<int>(picture[at + pitch - 2]));
    const float value_7 = byte_to_float(static_cast<int>(picture[at - 2 * pitch - 1]));
    const float value_8 = byte_to_float(static_cast<int>(picture[at + 2 * pitch - 1]));
    const float value_9 = byte_to_float(static_cast<int>(picture[at - 2 * pitch + 1]));
    const float value_10 = byte_to_float(static_cast<int>(picture[at + 2 * pitch + 1]));
    const float value_11 = byte_to_float(static_cast<int>(picture[at - pitch + 2]));
    const float value_12 = byte_to_float(static_cast<int>(picture[at + pitch + 2]));
    const float value_13 = byte_to_float(static_cast<int>(picture[at - 2]));
    const float value_14 = byte_to_float(static_cast<int>(picture[at - 2 * pitch]));
    const float value_15 = byte_to_float(static_cast<int>(picture[at + 2 * pitch]));
    const float value_16 = byte_to_float(static_cast<int>(picture[at + 2]));
    const float value_17 = byte_to_float(static_cast<int>(picture[at - pitch - 1]));
    const float value_18 = byte_to_float(static_cast<int>(picture[at + pitch - 1]));
    const float value_19 = byte_to_float(static_cast<int>(picture[at - pitch + 1]));
    const float value_20 = byte_to_float(static_cast<int>(picture[at + pitch + 1]));
    const float value_21 = byte_to_float(static_cast<int>(picture[at - 1]));
    const float value_22 = byte_to_float(static_cast<int>(picture[at - pitch]));
    const float value_23 = byte_to_float(static_cast<int>(picture[at + pitch]));
    const float value_24 = byte_to_float(static_cast<int>(picture[at + 1]));
    const float value_25 = byte_to_float(static_cast<int>(picture[at]));
    float sum = fmaf(0.015625f,
                     value_5 + value_6 + value_7 + value_8 + value_9 + value_10 + value_11 + value_12,
                     0.00390625f * (value + value_2 + value_3 + value_4));
    sum = fmaf(0.0234375f, value_13 + value_14 + value_15 + value_16, sum);
    sum = fmaf(0.0625f, value_17 + value_18 + value_19 + value_20, sum);
    sum = fmaf(0.09375f, value_21 + value_22 + value_23 + value_24, sum);
    sum = fmaf(0.140625f, value_25, sum);
    const unsigned char blurred_stored = float_to_u8(sum);
    const int across_value = static_cast<int>(picture[at - pitch + 1]) -
        static_cast<int>(picture[at - pitch - 1]) +
        2 * (static_cast<int>(picture[at + 1]) - static_cast<int>(picture[at - 1])) +
        (static_cast<int>(picture[at + pitch + 1]) - static_cast<int>(picture[at + pitch - 1]));
    const int along_value = static_cast<int>(picture[at + pitch - 1]) -
        static_cast<int>(picture[at - pitch - 1]) +
        2 * (static_cast<int>(picture[at + pitch]) - static_cast<int>(picture[at - pitch])) +
        (static_cast<int>(picture[at + pitch + 1]) - static_cast<int>(picture[at - pitch + 1]));
    const unsigned char edges_stored =
        float_to_u8(0.25f * whole_root(static_cast<float>(across_value * across_value +
                                                          along_value * along_value)));
    const float value_26 =
        static_cast<float>(static_cast<int>(picture[at - 2 * pitch - 2]) - static_cast<int>(picture[at]));
    const float value_27 = expf(scale_2 * (value_26 * value_26));
    const float value_28 =
        static_cast<float>(static_cast<int>(picture[at - pitch - 2]) - static_cast<int>(picture[at]));
    const float value_29 = expf(scale_2 * (value_28 * value_28));
    const float value_30 =
        static_cast<float>(static_cast<int>(picture[at - 2]) - static_cast<int>(picture[at]));
    const float value_31 = expf(scale_2 * (value_30 * value_30));
    const float value_32 =
        static_cast<float>(static_cast<int>(picture[at + pitch - 2]) - static_cast<int>(picture[at]));
    const float value_33 = expf(scale_2 * (value_32 * value_32));
    const float value_34 =
        static_cast<float>(static_cast<int>(picture[at + 2 * pitch - 2]) - static_cast<int>(picture[at]));
    const float value_35 = expf(scale_2 * (value_34 * value_34));
    const float value_36 =
        static_cast<float>(static_cast<int>(picture[at - 2 * pitch - 1]) - static_cast<int>(picture[at]));
    const float value_37 = expf(scale_2 * (value_36 * value_36));
    const float value_38 =
        static_cast<float>(static_cast<int>(picture[at - pitch - 1]) - static_cast<int>(picture[at]));
    const float value_39 = expf(scale_2 * (value_38 * value_38));
    const float value_40 =
        static_cast<float>(static_cast<int>(picture[at - 1]) - static_cast<int>(picture[at]));
    const float value_41 = expf(scale_2 * (value_40 * value_40));
    const float value_42 =
        static_cast<float>(static_cast<int>(picture[at + pitch - 1]) - static_cast<int>(picture[at]));
    const float value_43 = expf(scale_2 * (value_42 * value_42));
    const float value_44 =
        static_cast<float>(static_cast<int>(picture[at + 2 * pitch - 1]) - static_cast<int>(picture[at]));
    const float value_45 = expf(scale_2 * (value_44 * value_44));
    const float value_46 =
        static_cast<float>(static_cast<int>(picture[at - 2 * pitch]) - static_cast<int>(picture[at]));
    const float value_47 = expf(scale_2 * (value_46 * value_46));
    const float value_48 =
        static_cast<float>(static_cast<int>(picture[at - pitch]) - static_cast<int>(picture[at]));
    const float value_49 = expf(scale_2 * (value_48 * value_48));
    const float value_50 =
        static_cast<float>(static_cast<int>(picture[at + pitch]) - static_cast<int>(picture[at]));
    const float value_51 = expf(scale_2 * (value_50 * value_50));
    const float value_52 =
        static_cast<float>(static_cast<int>(picture[at + 2 * pitch]) - static_cast<int>(picture[at]));
    const float value_53 = expf(scale_2 * (value_52 * value_52));
    const float value_54 =
        static_cast<float>(static_cast<int>(picture[at - 2 * pitch + 1]) - static_cast<int>(picture[at]));
    const float value_55 = expf(scale_2 * (value_54 * value_54));
    const float value_56 =
        static_cast<float>(static_cast<int>(picture[at - pitch + 1]) - static_cast<int>(picture[at]));
    const float value_57 = expf(scale_2 * (value_56 * value_56));
    const float value_58 =
        static_cast<float>(static_cast<int>(picture[at + 1]) - static_cast<int>(picture[at]));
    const float value_59 = expf(scale_2 * (value_58 * value_58));
    const float value_60 =
        static_cast<float>(static_cast<int>(picture[at + pitch + 1]) - static_cast<int>(picture[at]));
    const float value_61 = expf(scale_2 * (value_60 * value_60));
    const float value_62 =
        static_cast<float>(static_cast<int>(picture[at + 2 * pitch + 1]) - static_cast<int>(picture[at]));
    const float value_63 = expf(scale_2 * (value_62 * value_62));
    const float value_64 =
        static_cast<float>(static_cast<int>(picture[at - 2 * pitch + 2]) - static_cast<int>(picture[at]));
    const float value_65 = expf(scale_2 * (value_64 * value_64));
    const float value_66 =
        static_cast<float>(static_cast<int>(picture[at - pitch + 2]) - static_cast<int>(picture[at]));
    const float value_67 = expf(scale_2 * (value_66 * value_66));
    const float value_68 =
        static_cast<float>(static_cast<int>(picture[at + 2]) - static_cast<int>(picture[at]));
    const float value_69 = expf(scale_2 * (value_68 * value_68));
    const float value_70 =
        static_cast<float>(static_cast<int>(picture[at + pitch + 2]) - static_cast<int>(picture[at]));
    const float value_71 = expf(scale_2 * (value_70 * value_70));
    const float value_72 =
        static_cast<float>(static_cast<int>(picture[at + 2 * pitch + 2]) - static_cast<int>(picture[at]));
    const float value_73 = expf(scale_2 * (value_72 * value_72));
    float sum_2 = fmaf(scale_3 * value_29, value_5, scale * value_27 * value);
    sum_2 = fmaf(scale_4 * value_31, value_13, sum_2);
    sum_2 = fmaf(scale_3 * value_33, value_6, sum_2);
    sum_2 = fmaf(scale * value_35, value_2, sum_2);
    sum_2 = fmaf(scale_3 * value_37, value_7, sum_2);
    sum_2 = fmaf(scale_5 * value_39, value_17, sum_2);
    sum_2 = fmaf(scale_6 * value_41, value_21, sum_2);
    sum_2 = fmaf(scale_5 * value_43, value_18, sum_2);
    sum_2 = fmaf(scale_3 * value_45, value_8, sum_2);
    sum_2 = fmaf(scale_4 * value_47, value_14, sum_2);
    sum_2 = fmaf(scale_6 * value_49, value_22, sum_2);
    sum_2 = fmaf(scale_6 * value_51, value_23, sum_2);
    sum_2 = fmaf(scale_4 * value_53, value_15, sum_2);
    sum_2 = fmaf(scale_3 * value_55, value_9, sum_2);
    sum_2 = fmaf(scale_5 * value_57, value_19, sum_2);
    sum_2 = fmaf(scale_6 * value_59, value_24, sum_2);
    sum_2 = fmaf(scale_5 * value_61, value_20, sum_2);
    sum_2 = fmaf(scale_3 * value_63, value_10, sum_2);
    sum_2 = fmaf(scale * value_65, value_3, sum_2);
    sum_2 = fmaf(scale_3 * value_67, value_11, sum_2);
    sum_2 = fmaf(scale_4 * value_69, value_16, sum_2);
    sum_2 = fmaf(scale_3 * value_71, value_12, sum_2);
    sum_2 = fmaf(scale * value_73, value_4, sum_2);
    sum_2 = fmaf(scale_7, value_25, sum_2);
    float sum_3 = fmaf(scale_3,
                       value_29 + value_33 + value_37 + value_45 + value_55 + value_63 + value_67 + value_71,
                       scale * (value_27 + value_35 + value_65 + value_73));
    sum_3 = fmaf(scale_4, value_31 + value_47 + value_53 + value_69, sum_3);
    sum_3 = fmaf(scale_5, value_39 + value_43 + value_57 + value_61, sum_3);
    sum_3 = fmaf(scale_6, value_41 + value_49 + value_51 + value_59, sum_3);
    const unsigned char smoothed_stored = float_to_u8(divide(sum_2, sum_3 + scale_7));
    blurred[at] = blurred_stored;
    edges[at] = edges_stored;
    smoothed[at] = smoothed_stored;
}
