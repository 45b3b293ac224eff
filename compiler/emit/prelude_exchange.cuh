// [with_bit]
__device__ __forceinline__ int with_bit(int bits, int bit) {
    return bits | 1 << bit;
}
// [has_bit]
__device__ __forceinline__ bool has_bit(int bits, int bit) {
    return (bits >> bit & 1) != 0;
}
// [join_words]
__device__ __forceinline__ unsigned long long join_words(unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | low;
}
// [store_packet]
// A packet holds values and, in its last four bytes, the epoch that they are of. It becomes visible to other
// blocks as a whole, so that no fence and no flag is needed. The PTX predicates the store itself: no branch
// surrounds it.
__device__ __forceinline__ void store_packet(long long* to, unsigned long long word, bool is_needed) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p st.relaxed.gpu.global.u64 [%0], %1; }" ::"l"(to),
                 "l"(word), "r"(static_cast<int>(is_needed))
                 : "memory");
}
// [store_packet2]
// A packet of 16 bytes: values and, in its last four bytes, the epoch that they are of; visible as a whole,
// too.
__device__ __forceinline__ void store_packet2(long long* to, unsigned long long low, unsigned long long high,
                                              bool is_needed) {
    asm volatile(
        "{ .reg .b128 packet; .reg .pred p; mov.b128 packet, {%1, %2}; setp.ne.s32 p, %3, 0;"
        " @p st.relaxed.gpu.global.b128 [%0], packet; }" ::"l"(to),
        "l"(low), "l"(high), "r"(static_cast<int>(is_needed))
        : "memory");
}
// [send_f32]
__device__ __forceinline__ void send_f32(long long* to, float value, int epoch, bool is_needed) {
    store_packet(to, join_words(__float_as_uint(value), epoch), is_needed);
}
// [send2_f32]
__device__ __forceinline__ void send2_f32(long long* to, float a, float b, int epoch, bool is_needed) {
    store_packet2(to, join_words(__float_as_uint(a), __float_as_uint(b)), join_words(0, epoch), is_needed);
}
// [send3_f32]
__device__ __forceinline__ void send3_f32(long long* to, float a, float b, float c, int epoch,
                                          bool is_needed) {
    store_packet2(to, join_words(__float_as_uint(a), __float_as_uint(b)),
                  join_words(__float_as_uint(c), epoch), is_needed);
}
// [send_f64]
__device__ __forceinline__ void send_f64(long long* to, double value, int epoch, bool is_needed) {
    store_packet2(to, static_cast<unsigned long long>(__double_as_longlong(value)), join_words(0, epoch),
                  is_needed);
}
// [load_packet]
__device__ __forceinline__ void load_packet(long long* packet, const long long* from) {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(packet[0]) : "l"(from) : "memory");
}
// [load_packet2]
__device__ __forceinline__ void load_packet2(long long* packet, const long long* from) {
    asm volatile("{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(packet[0]), "=l"(packet[1])
                 : "l"(from)
                 : "memory");
}
// [poll_packets]
// Polls packets, first those of 16 bytes and then those of 8, until all are of this epoch. Each lies `source`
// words from `from`; a negative source is no packet. All loads are issued before the first one is waited for.
__device__ __forceinline__ void poll_packets(long long* packets, const int* source, int wide, int narrow,
                                             const long long* from, int epoch) {
    int differs;
    do {
#pragma unroll
        for (int p = 0; p < wide; ++p)
            load_packet2(&packets[2 * p], from + max(source[p], 0));
#pragma unroll
        for (int p = wide; p < wide + narrow; ++p)
            load_packet(&packets[wide + p], from + max(source[p], 0));
        differs = 0;
#pragma unroll
        for (int p = 0; p < wide + narrow; ++p) {
            const int its_epoch = static_cast<int>(packets[p < wide ? 2 * p + 1 : wide + p] >> 32);
            differs |= (its_epoch ^ epoch) & ~(source[p] >> 31);
        }
    } while (differs != 0);
}
// [low_f32]
__device__ __forceinline__ float low_f32(long long word) {
    return __uint_as_float(static_cast<unsigned>(word));
}
// [high_f32]
__device__ __forceinline__ float high_f32(long long word) {
    return __uint_as_float(static_cast<unsigned>(word >> 32));
}
// [value_f64]
__device__ __forceinline__ double value_f64(long long word) {
    return __longlong_as_double(word);
}
