// [with_bit]
__device__ __forceinline__ int with_bit(int bits, int bit) {
    return bits | 1 << bit;
}
// [has_bit]
__device__ __forceinline__ bool has_bit(int bits, int bit) {
    return (bits >> bit & 1) != 0;
}
// [word_of]
// Two halves of a word.
__device__ __forceinline__ unsigned long long word_of(unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | low;
}
// [send_pair]
// Hands two words to other blocks, both at once, where they are asked for.
__device__ __forceinline__ void send_pair(long long* to, unsigned long long first, unsigned long long second,
                                          bool is_asked) {
#ifdef __CUDACC__
    asm volatile(
        "{ .reg .b128 both; .reg .pred asked; mov.b128 both, {%1, %2}; setp.ne.s32 asked, %3, 0;"
        " @asked st.relaxed.gpu.global.b128 [%0], both; }" ::"l"(to),
        "l"(first), "l"(second), "r"(static_cast<int>(is_asked))
        : "memory");
#else
    if (!is_asked) return;
    halo_send_word(to, first);
    halo_send_word(to + 1, second);
#endif
}
// [send_f32]
// Hands a value to other blocks that ask for it: one word that also says of which step it is.
__device__ __forceinline__ void send_f32(long long* to, float value, int step, bool is_asked) {
    const unsigned long long word = word_of(__float_as_uint(value), step);
#ifdef __CUDACC__
    asm volatile(
        "{ .reg .pred asked; setp.ne.s32 asked, %2, 0; @asked st.relaxed.gpu.global.u64 [%0], %1; }" ::"l"(
            to),
        "l"(word), "r"(static_cast<int>(is_asked))
        : "memory");
#else
    if (is_asked) halo_send_word(to, word);
#endif
}
// [send2_f32]
// Hands values to other blocks that ask for them: two words, the end of which says of which step they are.
__device__ __forceinline__ void send2_f32(long long* to, float a, float b, int step, bool is_asked) {
    send_pair(to, word_of(__float_as_uint(a), __float_as_uint(b)), word_of(0, step), is_asked);
}
// [send3_f32]
// Hands values to other blocks that ask for them: two words, the end of which says of which step they are.
__device__ __forceinline__ void send3_f32(long long* to, float a, float b, float c, int step, bool is_asked) {
    send_pair(to, word_of(__float_as_uint(a), __float_as_uint(b)), word_of(__float_as_uint(c), step),
              is_asked);
}
// [send_f64]
// Hands a value to other blocks that ask for it: two words, the end of which says of which step it is.
__device__ __forceinline__ void send_f64(long long* to, double value, int step, bool is_asked) {
    send_pair(to, static_cast<unsigned long long>(__double_as_longlong(value)), word_of(0, step), is_asked);
}
// [look_at_word]
// A word as it is now.
__device__ __forceinline__ void look_at_word(long long* seen, const long long* from) {
#ifdef __CUDACC__
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(seen[0]) : "l"(from) : "memory");
#else
    seen[0] = static_cast<long long>(halo_peek_word(from));
#endif
}
// [look_at_pair]
// Two words as they are at one moment.
__device__ __forceinline__ void look_at_pair(long long* seen, const long long* from) {
#ifdef __CUDACC__
    asm volatile("{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
                 : "=l"(seen[0]), "=l"(seen[1])
                 : "l"(from)
                 : "memory");
#else
    seen[0] = static_cast<long long>(halo_peek_word(from));
    seen[1] = static_cast<long long>(halo_peek_word(from + 1));
#endif
}
// [await_words]
// Looks at what other blocks send until all of it is of that step: pairs of words, then single ones. Each
// starts `source` words from `from`; those of a negative one are nobody's. All looks are on their way before
// the first is waited for.
__device__ __forceinline__ void await_words(long long* seen, const int* source, int pairs, int singles,
                                            const long long* from, int step) {
    for (bool is_waiting = true; is_waiting;) {
#pragma unroll
        for (int look = 0; look < pairs; ++look)
            look_at_pair(&seen[2 * look], from + max(source[look], 0));
#pragma unroll
        for (int look = pairs; look < pairs + singles; ++look)
            look_at_word(&seen[pairs + look], from + max(source[look], 0));
        int differs = 0;
#pragma unroll
        for (int look = 0; look < pairs + singles; ++look) {
            const int of_step = static_cast<int>(seen[look < pairs ? 2 * look + 1 : pairs + look] >> 32);
            differs |= (of_step ^ step) & ~(source[look] >> 31);
        }
        is_waiting = differs != 0;
#ifndef __CUDACC__
        if (is_waiting) halo_let_others_run();
#endif
    }
}
// [low_f32]
// The value in a word's lower half.
__device__ __forceinline__ float low_f32(long long word) {
    return __uint_as_float(static_cast<unsigned>(word));
}
// [high_f32]
// The value in a word's upper half.
__device__ __forceinline__ float high_f32(long long word) {
    return __uint_as_float(static_cast<unsigned>(word >> 32));
}
// [value_f64]
__device__ __forceinline__ double value_f64(long long word) {
    return __longlong_as_double(word);
}
