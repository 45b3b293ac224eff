// [packets]
// Messages between blocks are packets of 16 bytes or of 8: values and, last, their epoch, the step's number.
// A packet becomes visible as a whole: it needs no fence and no flag. Small ones come first, then large.

// [send_f32]
__device__ __forceinline__ void send_f32(long long* packets, int message, int, int epoch, bool is_needed,
                                         float value) {
    asm volatile(
        "{ .reg .pred p; .reg .b64 small; setp.ne.s32 p, %3, 0; mov.b64 small, {%1, %2};"
        " @p st.relaxed.gpu.global.b64 [%0], small; }" ::"l"(packets + static_cast<unsigned>(message)),
        "f"(value), "r"(epoch), "r"(static_cast<int>(is_needed))
        : "memory");
}
// [send2_f32]
__device__ __forceinline__ void send2_f32(long long* packets, int message, int messages, int epoch,
                                          bool is_needed, const float* from, int stride) {
    asm volatile(
        "{ .reg .pred p; .reg .b64 low, high; .reg .b128 large; setp.ne.s32 p, %4, 0;"
        " mov.b64 low, {%1, %2}; mov.b64 high, {0, %3}; mov.b128 large, {low, high};"
        " @p st.relaxed.gpu.global.b128 [%0], large; }" ::"l"(
            reinterpret_cast<longlong2*>(packets + messages) + message),
        "f"(from[0]), "f"(from[stride]), "r"(epoch), "r"(static_cast<int>(is_needed))
        : "memory");
}
// [send4_f32]
__device__ __forceinline__ void send4_f32(long long* packets, int message, int messages, int epoch,
                                          bool is_needed, const float* from, int stride) {
    asm volatile(
        "{ .reg .pred p; .reg .b64 low, high, small; .reg .b128 large; setp.ne.s32 p, %7, 0;"
        " mov.b64 low, {%2, %3}; mov.b64 high, {%4, %6}; mov.b128 large, {low, high};"
        " mov.b64 small, {%5, %6}; @p st.relaxed.gpu.global.b128 [%0], large;"
        " @p st.relaxed.gpu.global.b64 [%1], small; }" ::"l"(
            reinterpret_cast<longlong2*>(packets + messages) + message),
        "l"(packets + message), "f"(from[0]), "f"(from[stride]), "f"(from[2 * stride]), "f"(from[3 * stride]),
        "r"(epoch), "r"(static_cast<int>(is_needed))
        : "memory");
}
// [send_f64]
__device__ __forceinline__ void send_f64(long long* packets, int message, int messages, int epoch,
                                         bool is_needed, double value) {
    asm volatile(
        "{ .reg .pred p; .reg .b64 high; .reg .b128 large; setp.ne.s32 p, %3, 0;"
        " mov.b64 high, {0, %2}; mov.b128 large, {%1, high};"
        " @p st.relaxed.gpu.global.b128 [%0], large; }" ::"l"(
            reinterpret_cast<longlong2*>(packets + messages) + message),
        "d"(value), "r"(epoch), "r"(static_cast<int>(is_needed))
        : "memory");
}
// [receive_f32]
// Loads a message. Returns 0 if it is of this epoch.
__device__ __forceinline__ int receive(const long long* packets, int message, int, int epoch,
                                       float (&to)[1]) {
    int its_epoch;
    asm volatile("{ .reg .b64 small; ld.relaxed.gpu.global.b64 small, [%2]; mov.b64 {%0, %1}, small; }"
                 : "=f"(to[0]), "=r"(its_epoch)
                 : "l"(packets + static_cast<unsigned>(message))
                 : "memory");
    return its_epoch ^ epoch;
}
// [receive2_f32]
// Loads a message, two values in a packet. Returns 0 if all packets are of this epoch.
template <int kValues>
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       float (&to)[kValues]) {
    int differs = 0;
#pragma unroll
    for (int value = 0; value < kValues; value += 2) {
        int none, its_epoch;
        asm volatile(
            "{ .reg .b64 low, high; .reg .b128 large; ld.relaxed.gpu.global.b128 large, [%4];"
            " mov.b128 {low, high}, large; mov.b64 {%0, %1}, low; mov.b64 {%2, %3}, high; }"
            : "=f"(to[value]), "=f"(to[value + 1]), "=r"(none), "=r"(its_epoch)
            : "l"(reinterpret_cast<const longlong2*>(packets + messages) + message + value / 2 * messages)
            : "memory");
        differs |= its_epoch ^ epoch;
    }
    return differs;
}
// [receive4_f32]
// Loads a message. Returns 0 if both of its packets are of this epoch.
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       float (&to)[4]) {
    int epochs[2];
    asm volatile(
        "{ .reg .b64 low, high, small; .reg .b128 large; ld.relaxed.gpu.global.b128 large, [%6];"
        " ld.relaxed.gpu.global.b64 small, [%7]; mov.b128 {low, high}, large; mov.b64 {%0, %1}, low;"
        " mov.b64 {%2, %4}, high; mov.b64 {%3, %5}, small; }"
        : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]), "=r"(epochs[0]), "=r"(epochs[1])
        : "l"(reinterpret_cast<const longlong2*>(packets + messages) + message), "l"(packets + message)
        : "memory");
    return (epochs[0] ^ epoch) | (epochs[1] ^ epoch);
}
// [receive_f64]
// Loads a message, a value in each packet. Returns 0 if all packets are of this epoch.
template <int kValues>
__device__ __forceinline__ int receive(const long long* packets, int message, int messages, int epoch,
                                       double (&to)[kValues]) {
    int differs = 0;
#pragma unroll
    for (int value = 0; value < kValues; ++value) {
        int none, its_epoch;
        asm volatile(
            "{ .reg .b64 high; .reg .b128 large; ld.relaxed.gpu.global.b128 large, [%3];"
            " mov.b128 {%0, high}, large; mov.b64 {%1, %2}, high; }"
            : "=d"(to[value]), "=r"(none), "=r"(its_epoch)
            : "l"(reinterpret_cast<const longlong2*>(packets + messages) + message + value * messages)
            : "memory");
        differs |= its_epoch ^ epoch;
    }
    return differs;
}
// [poll]
// Polls messages until all are of this epoch, with all loads at once; a negative number is no message.
template <class Values, int kCount>
__device__ __forceinline__ void poll(const long long* packets, int messages, int epoch,
                                     const int (&message)[kCount], Values (&to)[kCount]) {
    int differs;
    do {
        differs = 0;
#pragma unroll
        for (int m = 0; m < kCount; ++m)
            differs |= receive(packets, max(message[m], 0), messages, epoch, to[m]) & ~(message[m] >> 31);
    } while (differs != 0);
}
// [poll_all]
// Polls messages of several sizes until all are of this epoch; a negative number is no message. All loads are
// issued before the first one is waited for.
template <class Values, int kCount, class... More>
__device__ __forceinline__ int receive_all(const long long* packets, int messages, int epoch,
                                           const int* message, Values (&to)[kCount], More&... more) {
    int differs = 0;
#pragma unroll
    for (int m = 0; m < kCount; ++m)
        differs |= receive(packets, max(message[m], 0), messages, epoch, to[m]) & ~(message[m] >> 31);
    if constexpr (sizeof...(more) > 0)
        differs |= receive_all(packets, messages, epoch, message + kCount, more...);
    return differs;
}

template <class... Values>
__device__ __forceinline__ void poll_all(const long long* packets, int messages, int epoch,
                                         const int* message, Values&... to) {
    while (receive_all(packets, messages, epoch, message, to...) != 0) {
    }
}
