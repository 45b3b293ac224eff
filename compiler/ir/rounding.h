// Conversions between types as the interpreter defines them. Private to the room.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compiler/ir/program.h"

namespace halo::ir {

// A number to an integer: reals to nearest even, what is too large to the nearest that there is, NaN to 0.
template <class Integer, class From>
Integer to_integer(From value);

// One value to a node's type.
template <class T, class From>
T converted(From value) {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
        return value != 0;
    } else if constexpr (std::is_integral_v<T> &&
                         (std::is_floating_point_v<From> || sizeof(From) > sizeof(T))) {
        return to_integer<T>(value);
    } else {
        return static_cast<T>(value);
    }
}

// The nearest value that the storage can hold, ties to even; past the largest one infinity for reals. Not for
// i64.
double stored(double value, Storage storage);

// Of 32 or 64 bits, around the ends.
template <class Integer>
Integer wrap_add(Integer a, Integer b) {
    using Bits = std::make_unsigned_t<Integer>;
    return static_cast<Integer>(static_cast<Bits>(a) + static_cast<Bits>(b));
}
template <class Integer>
Integer wrap_sub(Integer a, Integer b) {
    using Bits = std::make_unsigned_t<Integer>;
    return static_cast<Integer>(static_cast<Bits>(a) - static_cast<Bits>(b));
}
template <class Integer>
Integer wrap_mul(Integer a, Integer b) {
    using Bits = std::make_unsigned_t<Integer>;
    return static_cast<Integer>(static_cast<Bits>(a) * static_cast<Bits>(b));
}
template <class Integer>
Integer floor_div(Integer a, Integer b) {
    if (b == 0) return 0;
    if (b == -1) return wrap_sub(Integer{0}, a);
    const Integer quotient = a / b;
    return quotient - static_cast<Integer>(a % b != 0 && (a < 0) != (b < 0));
}
template <class Integer>
Integer floor_mod(Integer a, Integer b) {
    if (b == 0 || b == -1) return 0;
    const Integer rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace halo::ir
