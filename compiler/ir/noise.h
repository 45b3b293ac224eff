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

// The four words of one cell. Seed and step are whole numbers taken modulo 2^32; what is no number, or not
// within +-2^63, counts as 0.
std::array<std::uint32_t, 4> noise_words(double seed, int stream, double step,
                                         const std::array<std::int64_t, kMaxRank>& cell);

// [0, 1): the first 24 bits of the first word, or the first 53 of the first two.
template <class T>
T uniform_noise(const std::array<std::uint32_t, 4>& words);
template <>
float uniform_noise<float>(const std::array<std::uint32_t, 4>& words);
template <>
double uniform_noise<double>(const std::array<std::uint32_t, 4>& words);

// Mean 0 and variance 1, by Box and Muller from two uniforms. Engines agree within a few units of the last
// place, as log and cos do.
template <class T>
T normal_noise(const std::array<std::uint32_t, 4>& words);
template <>
float normal_noise<float>(const std::array<std::uint32_t, 4>& words);
template <>
double normal_noise<double>(const std::array<std::uint32_t, 4>& words);

// The param that is the program's seed; without one it is Program::noise_seed.
std::optional<ParamId> seed_param(const Program& program);

}  // namespace halo::ir
