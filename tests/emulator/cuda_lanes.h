// What CUDA has for several lanes in one word, on this machine's processor: for the emulator, which reads it
// behind cuda_prelude.h, and for host_cuda of tests/offline. Nothing may be included.
#pragma once

struct __attribute__((may_alias)) uint1 {  // bytes, too, lie where one is loaded and stored
    unsigned x;
};
inline uint1 make_uint1(unsigned x) {
    return {x};
}

__forceinline__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int byte = 0; byte < 4; ++byte)
        result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * byte & 7) & 0xff) << 8 * byte;
    return result;
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (bits & 31));
}
__forceinline__ unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
    for (int byte = 0; byte < 32; byte += 8)
        sum += (x >> byte & 0xff) * (y >> byte & 0xff);
    return sum;
}
// CUDA's SIMD functions: `count` lanes, each by itself.
#define HALO_LANES(name, count, value)                                          \
    __forceinline__ unsigned name(unsigned left, unsigned right) {              \
        constexpr unsigned kLane = (1ull << 32 / (count)) - 1;                  \
        unsigned result = 0;                                                    \
        for (int lane = 0; lane < 32; lane += 32 / (count)) {                   \
            const unsigned a = left >> lane & kLane, b = right >> lane & kLane; \
            result |= static_cast<unsigned>(value) << lane;                     \
        }                                                                       \
        return result;                                                          \
    }
#define HALO_LANES_OF_BOTH(name, value) \
    HALO_LANES(name##4, 4, value)       \
    HALO_LANES(name##2, 2, value)
HALO_LANES_OF_BOTH(__vseteq, a == b)
HALO_LANES_OF_BOTH(__vsetne, a != b)
HALO_LANES_OF_BOTH(__vsetltu, a < b)
HALO_LANES_OF_BOTH(__vsetleu, a <= b)
HALO_LANES_OF_BOTH(__vminu, a < b ? a : b)
HALO_LANES_OF_BOTH(__vmaxu, a > b ? a : b)
#undef HALO_LANES_OF_BOTH
#undef HALO_LANES
