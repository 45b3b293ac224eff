// The derivative of one operation with respect to its operands.
#pragma once

#include <functional>
#include <optional>

#include "compiler/adjoint/algebra.h"

namespace halo::adjoint {

// What a small change of an operand is multiplied with.
struct Partial {
    ir::ExprId operand;
    enum class Kind : std::uint8_t {
        factor,   // times `value`
        quotient  // divided by `value`
    };
    Kind kind = Kind::factor;
    ir::ExprId value;  // of the node's type
    // Only where this holds (or, with `holds` false, does not hold): of `if`, `min` and `max`.
    std::optional<ir::ExprId> where;
    bool holds = true;
};

// Calls visit for each operand through which a change of a real node goes; conditions let none through. `if`,
// `min` and `max` go by the branch that is taken. Throws RefusedError for what has no derivative where
// `is_varied` says that an operand changes.
void for_each_partial(Algebra& algebra, ir::ExprId node, const std::function<bool(ir::ExprId)>& is_varied,
                      const std::function<void(const Partial&)>& visit);

}  // namespace halo::adjoint
