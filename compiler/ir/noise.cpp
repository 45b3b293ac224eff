#include "compiler/ir/noise.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>

namespace halo::ir {

namespace {

// As the number is given to kernels: the nearest i64.
std::uint32_t low_word(double number) {
    constexpr double kLimit = 0x1p63;
    if (std::isnan(number)) return 0;
    const double whole = std::nearbyint(number);
    if (whole >= kLimit) return static_cast<std::uint32_t>(std::numeric_limits<std::int64_t>::max());
    if (whole < -kLimit) return static_cast<std::uint32_t>(std::numeric_limits<std::int64_t>::min());
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(whole));
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

float sum_of_powers(float x, std::initializer_list<float> highest_first) {
    float sum = 0;
    for (const float coefficient : highest_first)
        sum = std::fma(x, sum, coefficient);
    return sum;
}

// Of (0, 1]: of a power of two and a fraction from 2/3 to 4/3.
float log_of_fraction(float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    const std::int32_t exponent = (bits - 0x3f2aaaab) & ~0x7fffff;
    const float x = std::bit_cast<float>(bits - exponent) - 1;
    const float sum = sum_of_powers(x, {-0.12948957F, 0.14004758F, -0.12167156F, 0.14001161F, -0.16682306F,
                                        0.20010747F, -0.24999717F, 0.3333321F, -0.5F});
    constexpr float kLog2 = 8.2629582e-8F;  // log(2) / 2^23
    return std::fma(static_cast<float>(exponent), kLog2, std::fma(x * x, sum, x));
}

float cosine_of_half_turns(float x) {
    return sum_of_powers(x * x, {0.23136424F, -1.3350506F, 4.0587077F, -4.9348021F, 1.0F});
}

float sine_of_half_turns(float x) {
    return x * sum_of_powers(x * x, {-0.58941877F, 2.5498052F, -5.1677089F, 3.1415927F});
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

// These roundings and coefficients are the definition, so that all engines find the same bits. Coefficients:
// of least relative errors, 0.08 units of the last place.
template <>
float normal_noise<float>(const Draw& draw) {
    const Words words = words_of(draw, shared_key(draw));
    // The half keeps the logarithm finite, and a root of more than 0 needs no special case.
    const float logarithm = log_of_fraction((static_cast<float>(words[0]) + 0.5F) * 0x1p-32F);
    const float radius = std::sqrt(std::max(-2.0F * logarithm, 1e-30F));
    // The angle is that of the nearest quarter turn, and a rest of half of one at most, in half turns.
    const int turn = static_cast<int>(words[1] >> 8), quarters = (turn + (1 << 21)) >> 22;
    const float angle = static_cast<float>(turn - (quarters << 22)) * 0x1p-23F;
    const int quarter = draw.stream % 2 == 0 ? quarters + 1 : quarters;  // a cosine is a sine later
    const float wave = radius * (quarter % 2 == 0 ? sine_of_half_turns(angle) : cosine_of_half_turns(angle));
    return (quarter & 2) != 0 ? -wave : wave;
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
