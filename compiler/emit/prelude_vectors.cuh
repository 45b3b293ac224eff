// [load2 float]
// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(float* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}
// [load4 float]
// Four neighbouring elements at once; `from` is aligned to all four.
__device__ __forceinline__ void load4(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}
// [load2 double]
// Two neighbouring elements at once; `from` is aligned to both.
__device__ __forceinline__ void load2(double* to, const double* from) {
    const double2 pair = *reinterpret_cast<const double2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}
// [load4 double]
// Four neighbouring elements as two pairs; `from` is aligned to a pair.
__device__ __forceinline__ void load4(double* to, const double* from) {
    const double2 low = *reinterpret_cast<const double2*>(from);
    const double2 high = *reinterpret_cast<const double2*>(from + 2);
    to[0] = low.x;
    to[1] = low.y;
    to[2] = high.x;
    to[3] = high.y;
}
// [store2 float]
// As one instruction: where both ways of a branch store, compilers would take vectors apart.
__device__ __forceinline__ void store2(float* to, const float* from) {
    __stwb(reinterpret_cast<float2*>(to), make_float2(from[0], from[1]));
}
// [store4 float]
__device__ __forceinline__ void store4(float* to, const float* from) {
    __stwb(reinterpret_cast<float4*>(to), make_float4(from[0], from[1], from[2], from[3]));
}
// [store2 double]
__device__ __forceinline__ void store2(double* to, const double* from) {
    __stwb(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
}
// [store4 double]
__device__ __forceinline__ void store4(double* to, const double* from) {
    __stwb(reinterpret_cast<double2*>(to), make_double2(from[0], from[1]));
    __stwb(reinterpret_cast<double2*>(to + 2), make_double2(from[2], from[3]));
}
// [share2 float]
// The same to shared memory.
__device__ __forceinline__ void share2(float* to, const float* from) {
    *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
}
// [share4 float]
__device__ __forceinline__ void share4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
// [share2 double]
__device__ __forceinline__ void share2(double* to, const double* from) {
    *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
}
// [share4 double]
__device__ __forceinline__ void share4(double* to, const double* from) {
    *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
    *reinterpret_cast<double2*>(to + 2) = make_double2(from[2], from[3]);
}
// [copy2 float]
// Copies two elements between aligned places.
__device__ __forceinline__ void copy2(float* to, const float* from) {
    *reinterpret_cast<float2*>(to) = *reinterpret_cast<const float2*>(from);
}
// [copy4 float]
// Copies four elements between aligned places.
__device__ __forceinline__ void copy4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}
// [copy2 double]
// Copies two elements between aligned places.
__device__ __forceinline__ void copy2(double* to, const double* from) {
    *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
}
// [load2 int]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(int* to, const int* from) {
    const int2 pair = *reinterpret_cast<const int2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}
// [load4 int]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(int* to, const int* from) {
    const int4 four = *reinterpret_cast<const int4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}
// [load2 long long]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(long long* to, const long long* from) {
    const longlong2 pair = *reinterpret_cast<const longlong2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}
// [load4 long long]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(long long* to, const long long* from) {
    load2(to, from);
    load2(to + 2, from + 2);
}
// [load2 bool]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(bool* to, const bool* from) {
    const uchar2 pair = *reinterpret_cast<const uchar2*>(from);
    to[0] = pair.x != 0;
    to[1] = pair.y != 0;
}
// [load4 bool]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(bool* to, const bool* from) {
    const uchar4 four = *reinterpret_cast<const uchar4*>(from);
    to[0] = four.x != 0;
    to[1] = four.y != 0;
    to[2] = four.z != 0;
    to[3] = four.w != 0;
}
// [load2 unsigned char]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(int* to, const unsigned char* from) {
    const uchar2 pair = *reinterpret_cast<const uchar2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}
// [load4 unsigned char]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(int* to, const unsigned char* from) {
    const uchar4 four = *reinterpret_cast<const uchar4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}
// [load4 packed]
// Four neighbouring bytes as one word, the first of them lowest; `from` is aligned to all of them.
template <class Byte>
__device__ __forceinline__ void load4(unsigned* to, const Byte* from) {
    *to = reinterpret_cast<const uint1*>(from)->x;
}
// [load8 packed]
// Eight neighbouring bytes as two words, the first of them lowest; `from` is aligned to all of them.
template <class Byte>
__device__ __forceinline__ void load8(unsigned* to, const Byte* from) {
    const uint2 words = *reinterpret_cast<const uint2*>(from);
    to[0] = words.x;
    to[1] = words.y;
}
// [load16 packed]
// Sixteen neighbouring bytes as four words, the first of them lowest; `from` is aligned to all of them.
template <class Byte>
__device__ __forceinline__ void load16(unsigned* to, const Byte* from) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    to[0] = words.x;
    to[1] = words.y;
    to[2] = words.z;
    to[3] = words.w;
}
// [load2 f16]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(float* to, const f16* from) {
    const ushort2 pair = *reinterpret_cast<const ushort2*>(from);
    to[0] = f16_to_float(f16{pair.x});
    to[1] = f16_to_float(f16{pair.y});
}
// [load4 f16]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(float* to, const f16* from) {
    const ushort4 four = *reinterpret_cast<const ushort4*>(from);
    to[0] = f16_to_float(f16{four.x});
    to[1] = f16_to_float(f16{four.y});
    to[2] = f16_to_float(f16{four.z});
    to[3] = f16_to_float(f16{four.w});
}
// [load2 bf16]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(float* to, const bf16* from) {
    const ushort2 pair = *reinterpret_cast<const ushort2*>(from);
    to[0] = bf16_to_float(bf16{pair.x});
    to[1] = bf16_to_float(bf16{pair.y});
}
// [load4 bf16]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(float* to, const bf16* from) {
    const ushort4 four = *reinterpret_cast<const ushort4*>(from);
    to[0] = bf16_to_float(bf16{four.x});
    to[1] = bf16_to_float(bf16{four.y});
    to[2] = bf16_to_float(bf16{four.z});
    to[3] = bf16_to_float(bf16{four.w});
}
// [load2 float double]
// Two neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load2(double* to, const float* from) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x;
    to[1] = pair.y;
}
// [load4 float double]
// Four neighbouring elements at once; `from` is aligned to all of them.
__device__ __forceinline__ void load4(double* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}
// [store2 int]
__device__ __forceinline__ void store2(int* to, const int* from) {
    *reinterpret_cast<int2*>(to) = make_int2(from[0], from[1]);
}
// [store4 int]
__device__ __forceinline__ void store4(int* to, const int* from) {
    *reinterpret_cast<int4*>(to) = make_int4(from[0], from[1], from[2], from[3]);
}
// [store2 long long]
__device__ __forceinline__ void store2(long long* to, const long long* from) {
    *reinterpret_cast<longlong2*>(to) = make_longlong2(from[0], from[1]);
}
// [store4 long long]
__device__ __forceinline__ void store4(long long* to, const long long* from) {
    store2(to, from);
    store2(to + 2, from + 2);
}
// [store2 bool]
__device__ __forceinline__ void store2(bool* to, const bool* from) {
    *reinterpret_cast<uchar2*>(to) = make_uchar2(from[0], from[1]);
}
// [store4 bool]
__device__ __forceinline__ void store4(bool* to, const bool* from) {
    *reinterpret_cast<uchar4*>(to) = make_uchar4(from[0], from[1], from[2], from[3]);
}
// [store2 unsigned char]
__device__ __forceinline__ void store2(unsigned char* to, const unsigned char* from) {
    *reinterpret_cast<uchar2*>(to) = make_uchar2(from[0], from[1]);
}
// [store4 unsigned char]
__device__ __forceinline__ void store4(unsigned char* to, const unsigned char* from) {
    *reinterpret_cast<uchar4*>(to) = make_uchar4(from[0], from[1], from[2], from[3]);
}
// [store4 packed]
template <class Byte>
__device__ __forceinline__ void store4(Byte* to, unsigned word) {
    *reinterpret_cast<uint1*>(to) = make_uint1(word);
}
// [store8 packed]
template <class Byte>
__device__ __forceinline__ void store8(Byte* to, const unsigned* words) {
    *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
}
// [store16 packed]
template <class Byte>
__device__ __forceinline__ void store16(Byte* to, const unsigned* words) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}
// [select_lanes]
// The lanes of `a` where `mask` has ones, else those of `b`.
__device__ __forceinline__ unsigned select_lanes(unsigned mask, unsigned a, unsigned b) {
    return (a & mask) | (b & ~mask);
}
// [equal_lanes]
// 1 in each lane of so many bits where both are equal, else 0. The highest bit of each lane is 0 in both.
__device__ __forceinline__ unsigned equal_lanes(unsigned a, unsigned b, int bits) {
    const unsigned ones = ~0u / ((1u << bits) - 1);
    return (((ones << (bits - 1)) - (a ^ b)) >> (bits - 1)) & ones;
}
// [highest_bits]
// 1 in each lane of so many bits whose highest one is set, else 0.
__device__ __forceinline__ unsigned highest_bits(unsigned word, int bits) {
    return (word >> (bits - 1)) & (~0u / ((1u << bits) - 1));
}
// [byte_of]
// The cell at `x` of a word of four, the lowest of which is at 0.
__device__ __forceinline__ unsigned char byte_of(unsigned word, int x) {
    return static_cast<unsigned char>(word >> 8 * x);
}
// [first_bytes]
// Ones in the first `count` of a word's four bytes; all of them where there are more.
__device__ __forceinline__ unsigned first_bytes(int count) {
    return count < 4 ? (1u << 8 * count) - 1 : ~0u;
}
// [store2 f16]
__device__ __forceinline__ void store2(f16* to, const f16* from) {
    *reinterpret_cast<ushort2*>(to) = make_ushort2(from[0].bits, from[1].bits);
}
// [store4 f16]
__device__ __forceinline__ void store4(f16* to, const f16* from) {
    *reinterpret_cast<ushort4*>(to) = make_ushort4(from[0].bits, from[1].bits, from[2].bits, from[3].bits);
}
// [store2 bf16]
__device__ __forceinline__ void store2(bf16* to, const bf16* from) {
    *reinterpret_cast<ushort2*>(to) = make_ushort2(from[0].bits, from[1].bits);
}
// [store4 bf16]
__device__ __forceinline__ void store4(bf16* to, const bf16* from) {
    *reinterpret_cast<ushort4*>(to) = make_ushort4(from[0].bits, from[1].bits, from[2].bits, from[3].bits);
}
// [copy2 int]
// Copies two elements between aligned places.
__device__ __forceinline__ void copy2(int* to, const int* from) {
    *reinterpret_cast<int2*>(to) = *reinterpret_cast<const int2*>(from);
}
// [copy4 int]
// Copies four elements between aligned places.
__device__ __forceinline__ void copy4(int* to, const int* from) {
    *reinterpret_cast<int4*>(to) = *reinterpret_cast<const int4*>(from);
}
// [copy2 long long]
// Copies two elements between aligned places.
__device__ __forceinline__ void copy2(long long* to, const long long* from) {
    *reinterpret_cast<longlong2*>(to) = *reinterpret_cast<const longlong2*>(from);
}
// [copy_cells]
// Copies so many cells of an array in registers, those of several rows one row behind the other.
template <int kCells, typename T>
__device__ __forceinline__ void copy_cells(T* to, const T* from) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell] = from[cell];
}
// [negate_cells]
// The same, with the negative of each.
template <int kCells, typename T>
__device__ __forceinline__ void negate_cells(T* to, const T* from) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell] = -from[cell];
}
// [fill_cells]
// Sets so many cells of an array in registers, kStride elements apart.
template <int kCells, int kStride = 1, typename T>
__device__ __forceinline__ void fill_cells(T* to, T value) {
#pragma unroll
    for (int cell = 0; cell < kCells; ++cell)
        to[cell * kStride] = value;
}
// [copy_async float]
// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
// [copy2_async float]
// Copies two elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy2_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
// [copy4_async float]
// Copies four elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy4_async(float* shared, int place, const float* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// [copy_async double]
// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(double* shared, int place, const double* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 8;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
// [copy2_async double]
// Copies two elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy2_async(double* shared, int place, const double* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// [copy4_async double]
// Copies four elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy4_async(double* shared, int place, const double* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16), "l"(from + 2) : "memory");
}
// [copy_async int]
// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(int* shared, int place, const int* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
// [copy2_async int]
// Copies two elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy2_async(int* shared, int place, const int* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
// [copy4_async int]
// Copies four elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy4_async(int* shared, int place, const int* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// [copy_async long long]
// Copies an element to shared[place] in the background.
__device__ __forceinline__ void copy_async(long long* shared, int place, const long long* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 8;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
// [copy2_async long long]
// Copies two elements between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy2_async(long long* shared, int place, const long long* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// [copy4_async bytes]
// Copies four bytes between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy4_async(void* shared, int place, const void* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
// [copy8_async bytes]
// Copies eight bytes between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy8_async(void* shared, int place, const void* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
// [copy16_async bytes]
// Copies sixteen bytes between aligned places, to shared[place] and on, in the background.
__device__ __forceinline__ void copy16_async(void* shared, int place, const void* from) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + place;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// [commit_copies]
// The copies since the last call become a group.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// [await_copies]
// Waits until all but the last kPending groups of this thread's copies are there.
template <int kPending>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
// [store_line cpu]
// A line of cells, past the caches where nothing reads it before it would have left them.
template <int kCells, class T>
static inline void store_line(T* to, const T* line, bool passes_caches) {
    typedef char Line __attribute__((vector_size(kCells * sizeof(T)), may_alias));
#ifdef __clang__
    // One condition that changes with `to`: a loop with one that does not would be compiled twice.
    const unsigned long kept = passes_caches - 1UL;  // all bits, or none
    if ((reinterpret_cast<unsigned long>(to) & (kept | (sizeof(Line) - 1))) == 0) {
        __builtin_nontemporal_store(*reinterpret_cast<const Line*>(line), reinterpret_cast<Line*>(to));
        return;
    }
#endif
    __builtin_memcpy(to, line, sizeof(Line));
}
