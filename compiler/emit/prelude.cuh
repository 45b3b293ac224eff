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
__device__ __forceinline__ void store2(float* to, const float* from) {
    *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
}
// [store4 float]
__device__ __forceinline__ void store4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
// [store2 double]
__device__ __forceinline__ void store2(double* to, const double* from) {
    *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
}
// [store4 double]
__device__ __forceinline__ void store4(double* to, const double* from) {
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
// [fast_rsqrt]
// 1 / sqrt(x) as the hardware approximates it; where x is below the normal numbers it counts as 0.
__device__ __forceinline__ float fast_rsqrt(float x) {
#ifdef __CUDACC__
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return rsqrtf(x);
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
