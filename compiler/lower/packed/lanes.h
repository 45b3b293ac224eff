// Values of several neighbouring cells in the lanes of 32-bit words, and the operations on them (SIMD within
// a register). The lanes are wide enough for every value that there can be, by the ranges of the operands, so
// that none runs over into the next one.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/range.h"
#include "compiler/kernel/build.h"

namespace halo::lower {

using ir::Range;

inline constexpr int kPackedCells = 4;  // that are computed at once: single bytes of a word

// The words hold the sum of all cells' values, each times 2^(its number * bits), so that sums, differences
// and multiples of whole words are those of all lanes, also where values are negative. A lane by itself can
// be read where no value is negative; others are moved into view first, by adding as much to all of them.
struct Lanes {
    Range range;
    int bits = 8;  // of a lane: 8 or 16
    // One of bytes, in order. Two of halves: the cells of even and of odd numbers, as a neighbour's even ones
    // are a cell's odd ones. None of a constant, which suits any width.
    std::vector<kernel::Expr> words{};
    std::vector<kernel::Expr> halves{};  // of bytes that were loaded: the same values in lanes of 16 bits
    bool is_constant() const { return words.empty(); }
};

// The narrowest lanes that tell all values of the range apart; none where 16 bits do not.
std::optional<int> lane_bits(const Range& range);

Lanes constant_lanes(double value);
// The four bytes in memory, from number `before` (0 to 3) of the first word on, each from 0 to `most`.
Lanes loaded_lanes(const kernel::Expr& first, const kernel::Expr& second, int before, double most);
// The same values in lanes of so many bits, which must tell them apart; of constants, too.
Lanes in_lanes(const Lanes& lanes, int bits);

// All of these are empty where 16 bits are too few, or the operation is none of lanes.
using MaybeLanes = std::optional<Lanes>;
MaybeLanes add(const Lanes& a, const Lanes& b);
MaybeLanes subtract(const Lanes& a, const Lanes& b);
MaybeLanes multiply(const Lanes& a, const Lanes& b);  // by a constant, or by what is 0 or 1
MaybeLanes choose(const Lanes& a, const Lanes& b, bool smaller);
MaybeLanes absolute(const Lanes& a);
MaybeLanes divide_floored(const Lanes& a, const Lanes& b);  // nothing negative, by a power of two
MaybeLanes modulo_floored(const Lanes& a, const Lanes& b);
MaybeLanes compare(ir::BinaryOp op, const Lanes& a, const Lanes& b);
MaybeLanes select(const Lanes& condition, const Lanes& then, const Lanes& otherwise);

// Of truths: bytes that are 0 or 1, as in memory.
Lanes both(const Lanes& a, const Lanes& b);
Lanes either(const Lanes& a, const Lanes& b);
Lanes negation(const Lanes& a);

// What the GPU's compiler makes of one of their operations.
int instructions_of(kernel::Helper helper);

// What a byte in memory holds of the values: the nearest of 0 to `most`.
MaybeLanes clamped(const Lanes& lanes, double most);

}  // namespace halo::lower
