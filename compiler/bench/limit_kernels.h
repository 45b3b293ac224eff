// The kernels that measure what a GPU can do at most: CUDA text with no parts of ours in it.
//
//   bench_copy(from, to, count)             16 bytes a thread, `count` of them
//   bench_clock(result, cycles)             one thread waits for so many cycles of its SM: result[0] is how
//   many
//                                           passed, result[1] how many nanoseconds they took
//   bench_fma_f32, bench_fma_f64(result, rounds, factor, term)
//                                           kFmasARound fused multiply-adds a round and thread
#pragma once

namespace halo::bench {

inline constexpr int kFmasARound = 64;

const char* limit_kernels();

}  // namespace halo::bench
