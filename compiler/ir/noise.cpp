#include "compiler/ir/noise.h"

namespace halo::ir {

namespace {

std::uint32_t low_word(double number) {
    constexpr double kLimit = 9.2233720368547758e18;
    if (!(number > -kLimit && number < kLimit)) return 0;
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(number));
}

std::uint64_t high_53(std::uint32_t high, std::uint32_t low) {
    return ((std::uint64_t{high} << 32) | low) >> 11;
}

constexpr double kTwoTo53 = 9007199254740992.0;

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

std::array<std::uint32_t, 4> noise_words(double seed, int stream, double step,
                                         const std::array<std::int64_t, kMaxRank>& cell) {
    return philox({static_cast<std::uint32_t>(cell[0]), static_cast<std::uint32_t>(cell[1]),
                   static_cast<std::uint32_t>(cell[2]), low_word(step)},
                  {low_word(seed), static_cast<std::uint32_t>(stream)});
}

template <>
float uniform_noise<float>(const std::array<std::uint32_t, 4>& words) {
    return static_cast<float>(words[0] >> 8) * 0x1p-24F;
}

template <>
double uniform_noise<double>(const std::array<std::uint32_t, 4>& words) {
    return static_cast<double>(high_53(words[0], words[1])) / kTwoTo53;
}

// The half keeps the logarithm finite.
template <>
float normal_noise<float>(const std::array<std::uint32_t, 4>& words) {
    const float radius = (static_cast<float>(words[0]) + 0.5F) * 0x1p-32F;
    const float turn = static_cast<float>(words[1] >> 8) * 0x1p-24F;
    return std::sqrt(-2.0F * std::log(radius)) * std::cos(6.2831853F * turn);
}

template <>
double normal_noise<double>(const std::array<std::uint32_t, 4>& words) {
    const double radius = (static_cast<double>(high_53(words[0], words[1])) + 0.5) / kTwoTo53;
    const double turn = static_cast<double>(high_53(words[2], words[3])) / kTwoTo53;
    return std::sqrt(-2.0 * std::log(radius)) * std::cos(6.2831853071795862 * turn);
}

std::optional<ParamId> seed_param(const Program& program) {
    for (std::uint32_t i = 0; i < program.params.size(); ++i) {
        if (program.params[i].name == kSeedName) return ParamId{i};
    }
    return std::nullopt;
}

}  // namespace halo::ir
