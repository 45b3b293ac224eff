// Plain C++ for each function of emitted text that holds inline PTX, found by its declaration: the emulator
// puts these bodies in the place of theirs (stand_ins.h). One that is missing here is reported when such a
// text is compiled.

__device__ __forceinline__ float f16_to_float(f16 value) {
    const unsigned sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
    const unsigned scaled = __float_as_uint(__uint_as_float(magnitude << 13) * 0x1p112f);
    return __uint_as_float(sign | (magnitude < 0x7c00u ? scaled : 0x7f800000u | magnitude << 13));
}

__device__ __forceinline__ f16 float_to_f16(float value) {
    const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7fffffffu;
    const unsigned normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    const unsigned small = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u;
    const unsigned large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const unsigned rounded = magnitude < 0x38800000u ? small : magnitude < 0x47800000u ? normal : large;
    return f16{static_cast<unsigned short>((bits >> 16 & 0x8000u) | rounded)};
}

__device__ __forceinline__ float fast_rsqrt(float x) {
    return rsqrtf(x);
}

__device__ __forceinline__ double rough_inverse(double value) {
    return __longlong_as_double(__double_as_longlong(1 / value) & ~0xffffffffLL);
}

__device__ __forceinline__ float keep_min_f32(float a, float b) {
    return a < b || a != a ? a : b;
}

__device__ __forceinline__ float keep_max_f32(float a, float b) {
    return a > b || a != a ? a : b;
}

__device__ __forceinline__ void copy_async(float* shared, int place, const float* from) {
    shared[place] = *from;
}

__device__ __forceinline__ void copy2_async(float* shared, int place, const float* from) {
    *reinterpret_cast<float2*>(shared + place) = *reinterpret_cast<const float2*>(from);
}

__device__ __forceinline__ void copy4_async(float* shared, int place, const float* from) {
    *reinterpret_cast<float4*>(shared + place) = *reinterpret_cast<const float4*>(from);
}

__device__ __forceinline__ void copy_async(double* shared, int place, const double* from) {
    shared[place] = *from;
}

__device__ __forceinline__ void copy2_async(double* shared, int place, const double* from) {
    *reinterpret_cast<double2*>(shared + place) = *reinterpret_cast<const double2*>(from);
}

__device__ __forceinline__ void copy4_async(double* shared, int place, const double* from) {
    *reinterpret_cast<double2*>(shared + place) = *reinterpret_cast<const double2*>(from);
    *reinterpret_cast<double2*>(shared + place + 2) = *reinterpret_cast<const double2*>(from + 2);
}

__device__ __forceinline__ void copy_async(int* shared, int place, const int* from) {
    shared[place] = *from;
}

__device__ __forceinline__ void copy2_async(int* shared, int place, const int* from) {
    *reinterpret_cast<int2*>(shared + place) = *reinterpret_cast<const int2*>(from);
}

__device__ __forceinline__ void copy4_async(int* shared, int place, const int* from) {
    *reinterpret_cast<int4*>(shared + place) = *reinterpret_cast<const int4*>(from);
}

__device__ __forceinline__ void copy_async(long long* shared, int place, const long long* from) {
    shared[place] = *from;
}

__device__ __forceinline__ void copy2_async(long long* shared, int place, const long long* from) {
    *reinterpret_cast<longlong2*>(shared + place) = *reinterpret_cast<const longlong2*>(from);
}

__device__ __forceinline__ void copy4_async(void* shared, int place, const void* from) {
    *reinterpret_cast<uint1*>(static_cast<char*>(shared) + place) = *static_cast<const uint1*>(from);
}

__device__ __forceinline__ void copy8_async(void* shared, int place, const void* from) {
    *reinterpret_cast<uint2*>(static_cast<char*>(shared) + place) = *static_cast<const uint2*>(from);
}

__device__ __forceinline__ void copy16_async(void* shared, int place, const void* from) {
    *reinterpret_cast<uint4*>(static_cast<char*>(shared) + place) = *static_cast<const uint4*>(from);
}

__device__ __forceinline__ void commit_copies() {}

template <int kPending>
__device__ __forceinline__ void await_copies() {}

__device__ __forceinline__ void send_f32(long long* packets, int message, int, int epoch, bool is_needed,
                                         float value) {
    if (is_needed) halo_store_packet(packets + message, halo_words(__float_as_uint(value), epoch));
}

__device__ __forceinline__ void send2_f32(long long* packets, int message, int messages, int epoch,
                                          bool is_needed, const float* from, int stride) {
    if (!is_needed) return;
    long long* large = packets + messages + 2 * message;
    halo_store_packet(large, halo_words(__float_as_uint(from[0]), __float_as_uint(from[stride])));
    halo_store_packet(large + 1, halo_words(0, epoch));
}

__device__ __forceinline__ void send4_f32(long long* packets, int message, int messages, int epoch,
                                          bool is_needed, const float* from, int stride) {
    if (!is_needed) return;
    long long* large = packets + messages + 2 * message;
    halo_store_packet(large, halo_words(__float_as_uint(from[0]), __float_as_uint(from[stride])));
    halo_store_packet(large + 1, halo_words(__float_as_uint(from[2 * stride]), epoch));
    halo_store_packet(packets + message, halo_words(__float_as_uint(from[3 * stride]), epoch));
}

__device__ __forceinline__ void send_f64(long long* packets, int message, int messages, int epoch,
                                         bool is_needed, double value) {
    if (!is_needed) return;
    long long* large = packets + messages + 2 * message;
    halo_store_packet(large, static_cast<unsigned long long>(__double_as_longlong(value)));
    halo_store_packet(large + 1, halo_words(0, epoch));
}

__device__ __forceinline__ int receive(const long long* packets, int message, int, int epoch,
                                       float (&to)[1]) {
    const unsigned long long small = halo_load_packet(packets + message);
    to[0] = __uint_as_float(static_cast<unsigned>(small));
    return static_cast<int>(small >> 32) ^ epoch;
}

// The epoch first, here and below: others may run between two loads, and values are stored before their
// epoch.
template <int kValues>
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       float (&to)[kValues]) {
    int differs = 0;
    for (int value = 0; value < kValues; value += 2) {
        const long long* large = packets + messages + 2 * message + value * messages;
        differs |= static_cast<int>(halo_load_packet(large + 1) >> 32) ^ epoch;
        const unsigned long long low = halo_load_packet(large);
        to[value] = __uint_as_float(static_cast<unsigned>(low));
        to[value + 1] = __uint_as_float(static_cast<unsigned>(low >> 32));
    }
    return differs;
}

__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       float (&to)[4]) {
    const long long* large = packets + messages + 2 * message;
    const unsigned long long high = halo_load_packet(large + 1), low = halo_load_packet(large);
    const unsigned long long small = halo_load_packet(packets + message);
    to[0] = __uint_as_float(static_cast<unsigned>(low));
    to[1] = __uint_as_float(static_cast<unsigned>(low >> 32));
    to[2] = __uint_as_float(static_cast<unsigned>(high));
    to[3] = __uint_as_float(static_cast<unsigned>(small));
    return (static_cast<int>(high >> 32) ^ epoch) | (static_cast<int>(small >> 32) ^ epoch);
}

template <int kValues>
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       double (&to)[kValues]) {
    int differs = 0;
    for (int value = 0; value < kValues; ++value) {
        const long long* large = packets + messages + 2 * message + 2 * value * messages;
        differs |= static_cast<int>(halo_load_packet(large + 1) >> 32) ^ epoch;
        to[value] = __longlong_as_double(static_cast<long long>(halo_load_packet(large)));
    }
    return differs;
}

__device__ __forceinline__ int float_to_int(float value) {
    if (value >= 2147483648.0f) return 2147483647;
    if (value < -2147483648.0f) return -2147483647 - 1;
    return value == value ? static_cast<int>(value) : 0;
}

__device__ __forceinline__ unsigned char float_to_u8(float value) {
    const float nearest = rintf(value);
    return static_cast<unsigned char>(nearest >= 255.0f ? 255.0f : nearest > 0.0f ? nearest : 0.0f);
}

__device__ __forceinline__ float whole_root(float value) {
    return sqrtf(value);
}

__device__ __forceinline__ int bytes_of(int entries, int size) {
    return entries * size;
}
