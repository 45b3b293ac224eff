#include "compiler/bench/limit_kernels.h"

namespace halo::bench {

const char* limit_kernels() {
    return R"(
struct alignas(16) Sixteen { unsigned words[4]; };

extern "C" __global__ void bench_copy(const Sixteen* __restrict__ from, Sixteen* __restrict__ to, long long count) {
    const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at];
}

extern "C" __global__ void bench_clock(long long* result, long long cycles) {
    if (threadIdx.x != 0) return;
    unsigned long long start, end;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    const long long first = clock64();
    long long now = first;
    while (now - first < cycles) now = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
    result[0] = now - first;
    result[1] = static_cast<long long>(end - start);
}

// Eight sums a thread, none waiting for another.
template <class Real>
__device__ void multiply_and_add(Real* result, int rounds, Real factor, Real term) {
    Real sums[8];
    for (int n = 0; n < 8; ++n) sums[n] = threadIdx.x + n;
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int n = 0; n < 64; ++n) sums[n % 8] = fma(sums[n % 8], factor, term);
    }
    Real all = 0;
    for (int n = 0; n < 8; ++n) all += sums[n];
    if (all == Real(-1)) result[0] = all;
}
extern "C" __global__ void bench_fma_f32(float* result, int rounds, float factor, float term) {
    multiply_and_add(result, rounds, factor, term);
}
extern "C" __global__ void bench_fma_f64(double* result, int rounds, double factor, double term) {
    multiply_and_add(result, rounds, factor, term);
}
)";
}

}  // namespace halo::bench
