// Where in the cells an expression has its values. Fields may lie half a cell off the cells' points along any
// axes (`field vx: f32 at x+1/2`): element i of vx is at (i + 1/2) * spacing. Operands that meet in one
// operation lie at the same place; a derivative or an interpolation takes an expression half a cell further.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/grid_rules.h"

namespace halo::sema {

// One place in the cell: bit `axis` is set where it is half a cell above the cell's point along that axis.
using Halves = std::uint8_t;

constexpr Halves axis_bit(int axis) {
    return static_cast<Halves>(1u << static_cast<unsigned>(axis));
}

// Of a value: the place along the axes on which it depends at all. Numbers and params are anywhere, and so is
// pos(y) along x.
struct Position {
    Halves fixed = 0;  // axes along which the place is decided
    Halves half = 0;   // of these, those along which it is half a cell up
    friend bool operator==(const Position&, const Position&) = default;

    bool is_half(int axis) const { return (half & axis_bit(axis)) != 0; }
    Halves conflict(Position other) const {  // axes along which the two cannot meet
        return static_cast<Halves>(fixed & other.fixed & (half ^ other.half));
    }
    Position joined(Position other) const {  // of two without conflict
        return {static_cast<Halves>(fixed | other.fixed), static_cast<Halves>(half | other.half)};
    }
    Position moved_to(int axis, bool is_half) const {
        const Halves rest = static_cast<Halves>(half & ~axis_bit(axis));
        return {static_cast<Halves>(fixed | axis_bit(axis)),
                static_cast<Halves>(rest | (is_half ? axis_bit(axis) : 0))};
    }
};

// Places that an expression can take: a derivative can be evaluated at its operand's place and half a cell
// away. `own` is its place where nothing is preferred: that of its fields.
struct Places {
    using Set = std::uint16_t;  // bit h for the place h (Halves)
    static constexpr int kPlaces = 1 << rt::kMaxRank;
    static_assert(kPlaces == std::numeric_limits<Set>::digits);

    Set set = std::numeric_limits<Set>::max();
    std::optional<Halves> own;
    // It is of no field, whose place would count; what is derived along all axes may take every place as
    // well.
    bool is_anywhere = true;

    static Places anywhere() { return {}; }
    static Places only(Halves place) { return {static_cast<Set>(1u << place), place, false}; }
    static Places of(Position position, int rank);

    bool contains(Halves place) const { return ((set >> place) & 1u) != 0; }
    Places also_flipped(Halves axes) const;  // and all that are half a cell away along some of `axes`
    Places flipped(Halves axes) const;       // half a cell away along all of `axes`, and nowhere else
    Places joined(const Places& other) const;
    // The place nearest to `wanted`; of several the own one, else the first. `wanted` where there is none.
    Halves nearest(Halves wanted) const;
};

// "x+1/2, y" of the axes in question.
std::string position_text(Halves place, Halves axes, const std::vector<std::string>& names);

}  // namespace halo::sema
