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
constexpr std::uint32_t kOwnKey = 0x80000000;

using Words = std::array<std::uint32_t, 4>;

Words words_of(const Draw& draw, std::uint32_t key) {
    return philox({static_cast<std::uint32_t>(draw.cell[0]), static_cast<std::uint32_t>(draw.cell[1]),
                   static_cast<std::uint32_t>(draw.cell[2]), low_word(draw.step)},
                  {low_word(draw.seed), key});
}

std::uint32_t shared_key(const Draw& draw) {
    return static_cast<std::uint32_t>(draw.stream / 2);
}

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

template <>
float uniform_noise<float>(const Draw& draw) {
    const Words words = words_of(draw, shared_key(draw));
    return static_cast<float>(words[2 + static_cast<std::size_t>(draw.stream % 2)] >> 8) * 0x1p-24F;
}

template <>
double uniform_noise<double>(const Draw& draw) {
    const Words words = words_of(draw, static_cast<std::uint32_t>(draw.stream) | kOwnKey);
    return static_cast<double>(high_53(words[0], words[1])) / kTwoTo53;
}

// The half keeps the logarithm finite.
template <>
float normal_noise<float>(const Draw& draw) {
    const Words words = words_of(draw, shared_key(draw));
    const float radius = std::sqrt(-2.0F * std::log((static_cast<float>(words[0]) + 0.5F) * 0x1p-32F));
    const float angle = 6.2831853F * (static_cast<float>(words[1] >> 8) * 0x1p-24F);
    return radius * (draw.stream % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

template <>
double normal_noise<double>(const Draw& draw) {
    const Words words = words_of(draw, shared_key(draw));
    const double first = (static_cast<double>(high_53(words[0], words[1])) + 0.5) / kTwoTo53;
    const double radius = std::sqrt(-2.0 * std::log(first));
    const double angle = 6.2831853071795862 * (static_cast<double>(high_53(words[2], words[3])) / kTwoTo53);
    return radius * (draw.stream % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

std::optional<ParamId> seed_param(const Program& program) {
    for (std::uint32_t i = 0; i < program.params.size(); ++i) {
        if (program.params[i].name == kSeedName) return ParamId{i};
    }
    return std::nullopt;
}

}  // namespace halo::ir
