#include "compiler/lower/packed/lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "compiler/support/error.h"

namespace halo::lower {
namespace {

using kernel::Expr;
using kernel::Helper;
using kernel::Operator;
using kernel::Type;

constexpr Range kTruth{0, 1};

Expr literal(std::uint32_t value) {
    return kernel::int_literal(value, Type::u32);
}
std::uint32_t ones_of(int bits) {  // of one lane
    return (std::uint32_t{1} << bits) - 1;
}
// The value in each lane, as words hold it.
std::uint32_t in_each(double value, int bits) {
    const std::uint32_t one_in_each = ~std::uint32_t{0} / ones_of(bits);
    return one_in_each * static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}

template <class Make>
std::vector<Expr> for_each_word(int bits, const Make& make) {
    std::vector<Expr> words;
    for (std::size_t word = 0; word < static_cast<std::size_t>(kPackedCells * bits / 32); ++word)
        words.push_back(make(word));
    return words;
}

Range around(const Range& a, const Range& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
bool lies_in(const Range& range, const Range& outer) {
    return range.low >= outer.low && range.high <= outer.high;
}

// So much more in each lane.
Lanes moved(Lanes lanes, double by) {
    lanes.range = {lanes.range.low + by, lanes.range.high + by};
    if (by == 0) return lanes;
    lanes.halves.clear();
    for (Expr& word : lanes.words) {
        if (const auto number = kernel::int_value(word)) {
            word = literal(static_cast<std::uint32_t>(*number) + in_each(by, lanes.bits));
            continue;
        }
        word = kernel::operation(by > 0 ? Operator::add : Operator::sub, std::move(word),
                                 literal(in_each(std::fabs(by), lanes.bits)));
    }
    return lanes;
}
// What to add so that no value of the range is negative, nor more than a lane holds.
double into_view(const Range& range, int bits) {
    return range.low >= 0 && range.high <= ones_of(bits) ? 0 : -range.low;
}

// Two operands in lanes of one width that tell apart all of their values and those of the result.
struct Pair {
    Lanes a, b;
    int bits = 8;
};
std::optional<Pair> of_one_width(const Lanes& a, const Lanes& b, const Range& also) {
    int bits = 8;
    for (const Range& range : {a.range, b.range, also}) {
        const std::optional<int> needed = lane_bits(range);
        if (!needed) return std::nullopt;
        bits = std::max(bits, *needed);
    }
    bits = std::max({bits, a.is_constant() ? 8 : a.bits, b.is_constant() ? 8 : b.bits});
    return Pair{in_lanes(a, bits), in_lanes(b, bits), bits};
}

MaybeLanes by_words(Operator op, const Lanes& a, const Lanes& b, const Range& range) {
    const std::optional<Pair> pair = of_one_width(a, b, range);
    if (!pair) return std::nullopt;
    return Lanes{range, pair->bits, for_each_word(pair->bits, [&](std::size_t word) {
                     return kernel::operation(op, pair->a.words[word], pair->b.words[word]);
                 })};
}

// An operation on lanes that can be read, each by itself. What it gives is among the operands, moved as far.
template <class Make>
MaybeLanes by_lanes(const Lanes& a, const Lanes& b, const Make& make) {
    const Range range = around(a.range, b.range);
    const std::optional<Pair> pair = of_one_width(a, b, range);
    if (!pair) return std::nullopt;
    const double by = into_view(range, pair->bits);
    const Lanes left = moved(pair->a, by), right = moved(pair->b, by);
    const Lanes result{
        {range.low + by, range.high + by}, pair->bits, for_each_word(pair->bits, [&](std::size_t word) {
            return make(left.words[word], right.words[word], word);
        })};
    return moved(result, -by);
}

struct OfLanes {
    Helper of_bytes, of_halves;
};
Expr of_lanes(const OfLanes& helper, const Expr& a, const Expr& b, int bits) {
    return kernel::call_helper(bits == 8 ? helper.of_bytes : helper.of_halves, {a, b});
}

// Four bytes of two words, by their numbers, a hexadecimal digit each, the lowest first.
Expr bytes_of(const Expr& low, const Expr& high, std::uint32_t numbers) {
    return kernel::call_helper(Helper::byte_perm, {low, high, literal(numbers)});
}
Expr even_bytes(const Expr& word) {
    return kernel::operation(Operator::bit_and, word, literal(0x00ff00ff));
}
Expr odd_bytes(const Expr& word) {
    return bytes_of(word, literal(0), 0x4341);
}

// Where the truth is 1 all bits of the lane are.
Expr mask_of(const Expr& truth, int bits) {
    return kernel::operation(Operator::mul, truth, literal(ones_of(bits)));
}

bool is_number(const Lanes& lanes, double value) {
    return lanes.is_constant() && lanes.range.low == value;
}

std::optional<int> power_of_two(const Lanes& lanes) {
    if (!lanes.is_constant() || lanes.range.low < 1 || lanes.range.low > 32768) return std::nullopt;
    const auto value = static_cast<std::uint32_t>(lanes.range.low);
    return std::has_single_bit(value) ? std::optional(std::countr_zero(value)) : std::nullopt;
}

}  // namespace

std::optional<int> lane_bits(const Range& range) {
    // Far from the limits of what counts exactly, so that constants and offsets are, too.
    if (std::max(std::fabs(range.low), std::fabs(range.high)) > 0x1p30) return std::nullopt;
    for (const int bits : {8, 16})
        if (range.high - range.low <= ones_of(bits)) return bits;
    return std::nullopt;
}

Lanes loaded_lanes(const Expr& first, const Expr& second, int before, double most) {
    const auto shifted = [&] {
        return kernel::call_helper(Helper::funnel_shift,
                                   {first, second, literal(static_cast<std::uint32_t>(8 * before))});
    };
    Lanes lanes{{0, most}, 8, {before == 0 ? first : shifted()}};
    switch (before) {
        case 0:
            lanes.halves = {even_bytes(first), odd_bytes(first)};
            break;
        case 1:
            lanes.halves = {odd_bytes(first), bytes_of(even_bytes(first), second, 0x1412)};
            break;
        case 2:
            lanes.halves = {bytes_of(even_bytes(first), second, 0x1412),
                            bytes_of(odd_bytes(first), second, 0x1512)};
            break;
        default:
            lanes.halves = {bytes_of(odd_bytes(first), second, 0x1512), even_bytes(second)};
    }
    return lanes;
}

Lanes constant_lanes(double value) {
    return {{value, value}};
}

Lanes in_lanes(const Lanes& lanes, int bits) {
    if (lanes.is_constant()) {
        const Expr each = literal(in_each(lanes.range.low, bits));
        return {lanes.range, bits, for_each_word(bits, [&](std::size_t) { return each; })};
    }
    if (lanes.bits == bits) return lanes;
    if (!lanes.halves.empty()) return {lanes.range, 16, lanes.halves};
    const double by = into_view(lanes.range, 8);
    const Lanes seen = moved(lanes, by);
    Lanes result{seen.range, bits};
    if (bits == 16) {
        result.words = {even_bytes(seen.words[0]), odd_bytes(seen.words[0])};
    } else {
        result.words = {bytes_of(seen.words[0], seen.words[1], 0x6240)};
    }
    return moved(result, -by);
}

MaybeLanes add(const Lanes& a, const Lanes& b) {
    if (is_number(a, 0)) return b;
    if (is_number(b, 0)) return a;
    return by_words(Operator::add, a, b, {a.range.low + b.range.low, a.range.high + b.range.high});
}

MaybeLanes subtract(const Lanes& a, const Lanes& b) {
    return by_words(Operator::sub, a, b, {a.range.low - b.range.high, a.range.high - b.range.low});
}

MaybeLanes multiply(const Lanes& a, const Lanes& b) {
    if (a.is_constant() && !b.is_constant()) return multiply(b, a);
    if (b.is_constant()) {
        const double factor = b.range.low;
        if (factor == 1) return a;
        const auto [low, high] = std::minmax({a.range.low * factor, a.range.high * factor});
        const Range range{low, high};
        const std::optional<Pair> pair = of_one_width(a, a, range);
        if (!pair || !lane_bits(b.range)) return std::nullopt;
        const Expr times = literal(static_cast<std::uint32_t>(static_cast<std::int64_t>(factor)));
        return Lanes{range, pair->bits, for_each_word(pair->bits, [&](std::size_t word) {
                         return kernel::operation(Operator::mul, pair->a.words[word], times);
                     })};
    }
    if (lies_in(a.range, kTruth)) return select(in_lanes(a, 8), b, constant_lanes(0));
    if (lies_in(b.range, kTruth)) return select(in_lanes(b, 8), a, constant_lanes(0));
    return std::nullopt;
}

MaybeLanes choose(const Lanes& a, const Lanes& b, bool smaller) {
    if (!lane_bits(around(a.range, b.range))) return std::nullopt;
    // Processors have the instruction for lanes of 16 bits, and none for bytes.
    const Helper helper = smaller ? Helper::min_halves : Helper::max_halves;
    MaybeLanes result =
        by_lanes(in_lanes(a, 16), in_lanes(b, 16), [&](const Expr& left, const Expr& right, std::size_t) {
            return kernel::call_helper(helper, {left, right});
        });
    if (!result) return result;
    result->range = smaller ? Range{std::min(a.range.low, b.range.low), std::min(a.range.high, b.range.high)}
                            : Range{std::max(a.range.low, b.range.low), std::max(a.range.high, b.range.high)};
    return result;
}

MaybeLanes absolute(const Lanes& a) {
    if (a.range.low >= 0) return a;
    const MaybeLanes negated = subtract(constant_lanes(0), a);
    if (!negated || a.range.high <= 0) return negated;
    MaybeLanes result = choose(a, *negated, false);
    if (result) result->range.low = 0;
    return result;
}

MaybeLanes divide_floored(const Lanes& a, const Lanes& b) {
    const std::optional<int> places = power_of_two(b);
    if (!places || a.is_constant() || a.range.low < 0 || a.range.high > ones_of(a.bits)) return std::nullopt;
    const Range range{std::floor(a.range.low / b.range.low), std::floor(a.range.high / b.range.low)};
    const Expr kept = literal(in_each(ones_of(a.bits) >> std::min(*places, a.bits), a.bits));
    return Lanes{range, a.bits, for_each_word(a.bits, [&](std::size_t word) {
                     const Expr shifted = kernel::operation(Operator::shift_right, a.words[word],
                                                            literal(static_cast<std::uint32_t>(*places)));
                     return kernel::operation(Operator::bit_and, shifted, kept);
                 })};
}

MaybeLanes modulo_floored(const Lanes& a, const Lanes& b) {
    if (!power_of_two(b) || a.is_constant() || a.range.low < 0 || a.range.high > ones_of(a.bits))
        return std::nullopt;
    const double most = std::min(a.range.high, b.range.low - 1);
    const Expr kept = literal(in_each(std::min<double>(b.range.low - 1, ones_of(a.bits)), a.bits));
    return Lanes{{0, most}, a.bits, for_each_word(a.bits, [&](std::size_t word) {
                     return kernel::operation(Operator::bit_and, a.words[word], kept);
                 })};
}

namespace {

// a <= b, or a < b: whether b - a, or one less, is not negative, as the highest bit of a lane says of half as
// much more as it holds. Empty where that is more than a lane of the operands holds.
MaybeLanes at_most(const Lanes& a, const Lanes& b, bool is_strict) {
    const int bits = std::max(a.is_constant() ? 8 : a.bits, b.is_constant() ? 8 : b.bits);
    const double half = (ones_of(bits) + 1.0) / 2, more = half - (is_strict ? 1 : 0);
    const Range difference{b.range.low - a.range.high + more, b.range.high - a.range.low + more};
    if (difference.low < 0 || difference.high > ones_of(bits)) return std::nullopt;
    MaybeLanes sum;
    if (a.is_constant()) {
        sum = moved(in_lanes(b, bits), more - a.range.low);
    } else if (b.is_constant()) {
        sum = subtract(constant_lanes(b.range.low + more), a);
    } else if ((sum = subtract(b, a))) {
        sum = moved(*sum, more);
    }
    if (!sum || sum->bits != bits) return std::nullopt;
    Lanes truth{kTruth, bits, for_each_word(bits, [&](std::size_t word) {
                    return kernel::call_helper(Helper::highest_bits, {sum->words[word], Expr(bits)});
                })};
    return in_lanes(truth, 8);
}

}  // namespace

MaybeLanes compare(ir::BinaryOp op, const Lanes& a, const Lanes& b) {
    const bool is_strict = op == ir::BinaryOp::less;
    if (is_strict || op == ir::BinaryOp::less_equal)
        if (const MaybeLanes truth = at_most(a, b, is_strict)) return truth;
    OfLanes helper{};
    switch (op) {
        case ir::BinaryOp::greater:
            return compare(ir::BinaryOp::less, b, a);
        case ir::BinaryOp::greater_equal:
            return compare(ir::BinaryOp::less_equal, b, a);
        case ir::BinaryOp::less:
            helper = {Helper::less_bytes, Helper::less_halves};
            break;
        case ir::BinaryOp::less_equal:
            helper = {Helper::less_equal_bytes, Helper::less_equal_halves};
            break;
        case ir::BinaryOp::equal:
            helper = {Helper::equal_bytes, Helper::equal_halves};
            break;
        case ir::BinaryOp::not_equal:
            helper = {Helper::unequal_bytes, Helper::unequal_halves};
            break;
        default:
            throw InternalError("no comparison");
    }
    const Range range = around(a.range, b.range);
    const std::optional<Pair> pair = of_one_width(a, b, range);
    if (!pair) return std::nullopt;
    const double by = into_view(range, pair->bits);
    const Lanes left = moved(pair->a, by), right = moved(pair->b, by);
    // Where the highest bits of all lanes are 0, equality takes fewer instructions.
    const bool is_short = op == ir::BinaryOp::equal && 2 * (range.high + by) <= ones_of(pair->bits);
    const Lanes truth{kTruth, pair->bits, for_each_word(pair->bits, [&](std::size_t word) {
                          const Expr &x = left.words[word], &y = right.words[word];
                          if (is_short)
                              return kernel::call_helper(Helper::equal_lanes, {x, y, Expr(pair->bits)});
                          return of_lanes(helper, x, y, pair->bits);
                      })};
    return in_lanes(truth, 8);
}

MaybeLanes select(const Lanes& condition, const Lanes& then, const Lanes& otherwise) {
    if (then.is_constant() && otherwise.is_constant()) {
        const double more = then.range.low - otherwise.range.low;
        const MaybeLanes change = multiply(condition, constant_lanes(std::fabs(more)));
        if (!change) return std::nullopt;
        return more > 0 ? add(otherwise, *change) : subtract(otherwise, *change);
    }
    const std::optional<Pair> pair = of_one_width(then, otherwise, around(then.range, otherwise.range));
    if (!pair) return std::nullopt;
    const Lanes truth = in_lanes(condition, pair->bits);
    return by_lanes(pair->a, pair->b, [&](const Expr& a, const Expr& b, std::size_t word) {
        const Expr mask = mask_of(truth.words[word], pair->bits);
        if (kernel::int_value(b) == 0) return kernel::operation(Operator::bit_and, a, mask);
        return kernel::call_helper(Helper::select_lanes, {mask, a, b});
    });
}

Lanes both(const Lanes& a, const Lanes& b) {
    return {
        kTruth, 8, {kernel::operation(Operator::bit_and, in_lanes(a, 8).words[0], in_lanes(b, 8).words[0])}};
}
Lanes either(const Lanes& a, const Lanes& b) {
    return {
        kTruth, 8, {kernel::operation(Operator::bit_or, in_lanes(a, 8).words[0], in_lanes(b, 8).words[0])}};
}
Lanes negation(const Lanes& a) {
    return {kTruth, 8, {kernel::operation(Operator::sub, literal(in_each(1, 8)), in_lanes(a, 8).words[0])}};
}

int instructions_of(Helper helper) {
    switch (helper) {
        case Helper::equal_lanes:
            return 3;
        case Helper::highest_bits:
            return 2;
        case Helper::equal_bytes:
        case Helper::equal_halves:
        case Helper::unequal_bytes:
        case Helper::unequal_halves:
        case Helper::less_bytes:
        case Helper::less_halves:
        case Helper::less_equal_bytes:
        case Helper::less_equal_halves:
            return 5;
        default:
            return 1;
    }
}

MaybeLanes clamped(const Lanes& lanes, double most) {
    MaybeLanes result = lanes;
    if (result->range.low < 0) result = choose(*result, constant_lanes(0), false);
    if (result && result->range.high > most) result = choose(*result, constant_lanes(most), true);
    if (result) result = in_lanes(*result, 8);
    return result;
}

}  // namespace halo::lower
