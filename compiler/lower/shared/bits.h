// Truths in the bits of an i32, by number.
#pragma once

#include "compiler/kernel/build.h"

namespace halo::lower {

inline kernel::Expr bit(const kernel::Expr& number) {
    return kernel::int_value(number) == 0
               ? kernel::Expr(1)
               : kernel::operation(kernel::Operator::shift_left, kernel::Expr(1), number);
}

inline kernel::Expr has_bit(const kernel::Expr& bits, const kernel::Expr& number) {
    return kernel::operation(kernel::Operator::bit_and, bits, bit(number)) != 0;
}

inline kernel::Statement add_bit_if(const kernel::Expr& condition, const kernel::Expr& bits,
                                    const kernel::Expr& number) {
    const kernel::Expr with = kernel::operation(kernel::Operator::bit_or, bits, bit(number));
    return kernel::If{condition, {kernel::Assign{bits, with}}, {}};
}

}  // namespace halo::lower
