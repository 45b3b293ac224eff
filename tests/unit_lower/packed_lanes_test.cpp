// Operations on lanes, against the same on each cell's own number: the expressions are evaluated here.
#include "compiler/lower/packed/lanes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "catch.h"

using namespace halo;
using namespace halo::lower;

namespace {

using kernel::Expr;
using kernel::Helper;
using kernel::Type;
using Cells = std::array<int, kPackedCells>;

std::map<std::string, std::uint32_t> words;  // of the variables

std::uint32_t by_lane(std::uint32_t a, std::uint32_t b, int bits,
                      const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& value) {
    const std::uint32_t lane = (1U << bits) - 1;
    std::uint32_t result = 0;
    for (int at = 0; at < 32; at += bits)
        result |= (value(a >> at & lane, b >> at & lane) & lane) << at;
    return result;
}

std::uint32_t evaluate(const Expr& expr);

std::uint32_t evaluate(const kernel::CallHelper& call) {
    std::vector<std::uint32_t> given;
    for (const Expr& argument : call.arguments)
        given.push_back(evaluate(argument));
    const auto lanes = [&](int bits, auto value) { return by_lane(given[0], given[1], bits, value); };
    const int bits = given.size() > 1 ? static_cast<int>(given.back()) : 0;
    switch (call.helper) {
        case Helper::byte_perm: {
            const std::uint64_t bytes = std::uint64_t{given[1]} << 32 | given[0];
            std::uint32_t result = 0;
            for (std::uint32_t i = 0; i < 4; ++i)
                result |= static_cast<std::uint32_t>(bytes >> 8 * (given[2] >> 4 * i & 7) & 255) << 8 * i;
            return result;
        }
        case Helper::funnel_shift:
            return static_cast<std::uint32_t>((std::uint64_t{given[1]} << 32 | given[0]) >> given[2]);
        case Helper::equal_bytes:
            return lanes(8, std::equal_to<>());
        case Helper::equal_halves:
            return lanes(16, std::equal_to<>());
        case Helper::unequal_bytes:
            return lanes(8, std::not_equal_to<>());
        case Helper::unequal_halves:
            return lanes(16, std::not_equal_to<>());
        case Helper::less_bytes:
            return lanes(8, std::less<>());
        case Helper::less_halves:
            return lanes(16, std::less<>());
        case Helper::less_equal_bytes:
            return lanes(8, std::less_equal<>());
        case Helper::less_equal_halves:
            return lanes(16, std::less_equal<>());
        case Helper::min_halves:
            return lanes(16, [](auto a, auto b) { return std::min(a, b); });
        case Helper::max_halves:
            return lanes(16, [](auto a, auto b) { return std::max(a, b); });
        case Helper::select_lanes:
            return (given[1] & given[0]) | (given[2] & ~given[0]);
        case Helper::equal_lanes:
            return by_lane(given[0], given[1], bits, [&](std::uint32_t a, std::uint32_t b) {
                CHECK((a | b) >> (bits - 1) == 0);  // what it is told
                return a == b;
            });
        case Helper::highest_bits:
            return by_lane(given[0], 0, bits,
                           [&](std::uint32_t a, std::uint32_t) { return a >> (bits - 1); });
        default:
            FAIL("a helper that lanes do not use");
            return 0;
    }
}

std::uint32_t evaluate(const Expr& expr) {
    if (const auto literal = kernel::int_value(expr)) return static_cast<std::uint32_t>(*literal);
    if (const auto* name = std::get_if<kernel::Variable>(&expr->kind)) return words.at(name->name);
    if (const auto* call = std::get_if<kernel::CallHelper>(&expr->kind)) return evaluate(*call);
    const auto& binary = std::get<kernel::Binary>(expr->kind);
    const std::uint32_t a = evaluate(binary.left), b = evaluate(binary.right);
    switch (binary.op) {
        case kernel::Operator::add:
            return a + b;
        case kernel::Operator::sub:
            return a - b;
        case kernel::Operator::mul:
            return a * b;
        case kernel::Operator::bit_and:
            return a & b;
        case kernel::Operator::bit_or:
            return a | b;
        case kernel::Operator::shift_right:
            return a >> b;
        default:
            FAIL("an operator that lanes do not use");
            return 0;
    }
}

// Four bytes in memory, `before` bytes into two words.
Lanes in_memory(const std::string& name, const Cells& cells, int before, double most) {
    std::uint64_t bytes = 0xfedcba9876543210;  // others around them
    for (int i = 0; i < kPackedCells; ++i) {
        const int at = 8 * (before + i);
        bytes = (bytes & ~(std::uint64_t{255} << at)) |
                static_cast<std::uint64_t>(cells[static_cast<std::size_t>(i)]) << at;
    }
    words[name] = static_cast<std::uint32_t>(bytes);
    words[name + "_right"] = static_cast<std::uint32_t>(bytes >> 32);
    return loaded_lanes(kernel::variable(name, Type::u32), kernel::variable(name + "_right", Type::u32),
                        before, most);
}

// What the lanes hold, by the definition: the words are sums of the values, times powers of two.
void check_cells(const Lanes& lanes, const Cells& expected) {
    REQUIRE(lanes.words.size() == static_cast<std::size_t>(lanes.bits / 8));
    for (const int value : expected)
        CHECK((lanes.range.low <= value && value <= lanes.range.high));
    for (std::size_t word = 0; word < lanes.words.size(); ++word) {
        std::uint32_t sum = 0;
        for (int lane = 0; lane < 32 / lanes.bits; ++lane) {
            const std::size_t cell =
                lanes.bits == 8 ? static_cast<std::size_t>(lane) : static_cast<std::size_t>(2 * lane) + word;
            sum += static_cast<std::uint32_t>(expected[cell]) << lanes.bits * lane;
        }
        CHECK(evaluate(lanes.words[word]) == sum);
    }
}

using OfCells = std::function<int(int, int)>;
Cells each(const Cells& a, const Cells& b, const OfCells& value) {
    Cells result{};
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = value(a[i], b[i]);
    return result;
}

const std::vector<Cells> kSamples{{0, 1, 2, 255}, {255, 255, 255, 255}, {128, 127, 3, 0}, {17, 0, 200, 129}};

}  // namespace

TEST_CASE("bytes are found wherever they begin in two words, in lanes of both widths") {
    for (int before = 0; before < 4; ++before) {
        const Cells cells{9, 255, 0, 130};
        const Lanes bytes = in_memory("a", cells, before, 255);
        check_cells(bytes, cells);
        check_cells(in_lanes(bytes, 16), cells);
        check_cells(in_lanes(in_lanes(bytes, 16), 8), cells);
    }
}

TEST_CASE("the range of a value says how wide its lanes are") {
    CHECK(lane_bits({0, 255}) == 8);
    CHECK(lane_bits({-255, 0}) == 8);
    CHECK(lane_bits({-1, 255}) == 16);
    CHECK(lane_bits({0, 65535}) == 16);
    CHECK_FALSE(lane_bits({-1, 65535}).has_value());
    CHECK_FALSE(lane_bits({2e9, 2e9}).has_value());
    const Lanes byte = in_memory("a", {1, 2, 3, 4}, 0, 255), truth = in_memory("b", {0, 1, 1, 0}, 0, 1);
    CHECK(add(truth, truth)->bits == 8);
    CHECK(add(byte, truth)->bits == 16);
    const MaybeLanes product = multiply(byte, constant_lanes(257));
    CHECK(product->range.high == 65535);
    CHECK_FALSE(add(*product, truth).has_value());
    CHECK_FALSE(multiply(byte, byte).has_value());
    CHECK_FALSE(compare(ir::BinaryOp::less, *product, constant_lanes(-1)).has_value());
    CHECK_FALSE(divide_floored(byte, constant_lanes(3)).has_value());
    CHECK_FALSE(divide_floored(*subtract(byte, byte), constant_lanes(2)).has_value());
}

TEST_CASE("arithmetic of lanes is that of each cell, negative or not") {
    for (const Cells& x : kSamples) {
        for (const Cells& y : kSamples) {
            const Lanes a = in_memory("a", x, 1, 255), b = in_memory("b", y, 0, 255);
            const Lanes difference = *subtract(a, b);
            const Cells differences = each(x, y, [](int p, int q) { return p - q; });
            check_cells(difference, differences);
            check_cells(*add(difference, a), each(differences, x, [](int p, int q) { return p + q; }));
            check_cells(*multiply(difference, constant_lanes(-3)),
                        each(differences, x, [](int p, int) { return -3 * p; }));
            check_cells(*absolute(difference), each(differences, x, [](int p, int) { return std::abs(p); }));
            for (const bool smaller : {true, false}) {
                check_cells(*choose(difference, a, smaller), each(differences, x, [&](int p, int q) {
                    return smaller ? std::min(p, q) : std::max(p, q);
                }));
            }
            check_cells(*divide_floored(a, constant_lanes(8)), each(x, x, [](int p, int) { return p / 8; }));
            check_cells(*modulo_floored(a, constant_lanes(8)), each(x, x, [](int p, int) { return p % 8; }));
            check_cells(*clamped(difference, 255),
                        each(differences, x, [](int p, int) { return std::clamp(p, 0, 255); }));
        }
    }
}

TEST_CASE("comparisons and choices of lanes are those of each cell") {
    const std::vector<std::pair<ir::BinaryOp, std::function<bool(int, int)>>> kinds{
        {ir::BinaryOp::less, std::less<>()},       {ir::BinaryOp::less_equal, std::less_equal<>()},
        {ir::BinaryOp::greater, std::greater<>()}, {ir::BinaryOp::greater_equal, std::greater_equal<>()},
        {ir::BinaryOp::equal, std::equal_to<>()},  {ir::BinaryOp::not_equal, std::not_equal_to<>()}};
    for (const auto& [op, holds] : kinds) {
        for (const Cells& x : kSamples) {
            for (const Cells& y : kSamples) {
                const Lanes a = in_memory("a", x, 3, 255), b = in_memory("b", y, 0, 255);
                const Lanes truth = *compare(op, a, b);
                const Cells truths = each(x, y, [&, &by = holds](int p, int q) { return by(p, q) ? 1 : 0; });
                check_cells(truth, truths);
                check_cells(negation(truth), each(truths, x, [](int p, int) { return 1 - p; }));
                check_cells(*select(truth, a, *subtract(b, a)), [&] {
                    Cells chosen{};
                    for (std::size_t i = 0; i < chosen.size(); ++i)
                        chosen[i] = truths[i] != 0 ? x[i] : y[i] - x[i];
                    return chosen;
                }());
                check_cells(*select(truth, constant_lanes(-7), constant_lanes(250)),
                            each(truths, x, [](int p, int) { return p != 0 ? -7 : 250; }));
                check_cells(*multiply(truth, b), each(truths, y, [](int p, int q) { return p * q; }));
            }
            // With a number, at both ends of what bytes hold and past them.
            for (const int number : {-300, -1, 0, 1, 127, 128, 255, 256, 70000}) {
                const Lanes a = in_memory("a", x, 0, 255);
                const MaybeLanes truth = compare(op, a, constant_lanes(number));
                CHECK(truth.has_value() == (number != 70000));
                if (truth)
                    check_cells(*truth,
                                each(x, x, [&, &by = holds](int p, int) { return by(p, number) ? 1 : 0; }));
            }
        }
    }
}
