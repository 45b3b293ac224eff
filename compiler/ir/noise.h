// Noise: what random() and normal() give, on every engine alike.
//
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): four
// words from a counter and a key, with no state between calls. The counter is the cell's index along each
// axis and the step, the key the seed and the stream, so a value depends on none but these: not on the order
// of cells, the schedule, the machine or the size of the grid.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "compiler/ir/program.h"

namespace halo::ir {

// The programs of `init` count their streams from here, so that they have none in common with the step.
inline constexpr int kInitStreams = 1 << 30;

// The param or const that gives a stencil its seed.
inline constexpr const char* kSeedName = "seed";

// Philox4x32-10 itself.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// A number that is drawn in each cell and step: the key has its seed, and with `stream` its call.
struct Draw {
    double seed = 0;  // it and the step: the nearest whole number that an i64 holds, modulo 2^32; of NaN 0
    int stream = 0;
    double step = 0;
    std::array<std::int64_t, kMaxRank> cell{};
};

// [0, 1). Of f32: 24 bits of a word, of which streams 2n and 2n + 1 have the third and the fourth of key n;
// of f64: the first 53 bits of the first two words of a key that no other stream has.
template <class T>
T uniform_noise(const Draw& draw);
template <>
float uniform_noise<float>(const Draw& draw);
template <>
double uniform_noise<double>(const Draw& draw);

// Mean 0 and variance 1, by Box and Muller from two uniforms. Streams 2n and 2n + 1 are the cosine and the
// sine of key n, so that a step with two of them computes the words, the logarithm and the root once. Engines
// find the same bits of f32, and agree within a few units of the last place of f64, as log, cos and sin do.
template <class T>
T normal_noise(const Draw& draw);
template <>
float normal_noise<float>(const Draw& draw);
template <>
double normal_noise<double>(const Draw& draw);

// The param that is the program's seed; without one it is Program::noise_seed.
std::optional<ParamId> seed_param(const Program& program);

}  // namespace halo::ir
