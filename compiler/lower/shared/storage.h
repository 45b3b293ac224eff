// Converts between the storage type of an array and the type of arithmetic: f16 and bf16 are computed in f32,
// u8 in i32, and f32 in f64 where a field says so. A load converts at once and a store rounds, so that all
// values in between are of arithmetic types.
#pragma once

#include "compiler/ir/program.h"
#include "compiler/kernel/program.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

kernel::Type kernel_type(ir::Scalar type);
kernel::Type storage_type(ir::Storage storage);
rt::ElementType element_type(kernel::Type type);
inline rt::ElementType element_type(ir::Storage storage) {
    return element_type(storage_type(storage));
}

// Whether the field's storage type differs from its type of arithmetic.
bool is_narrow(const ir::Field& field);

// `element`, of an array of the field, converted to the field's type.
kernel::Expr loaded(kernel::Expr element, const ir::Field& field);

// A value of the field's type, converted to the storage type.
kernel::Expr stored(kernel::Expr value, const ir::Field& field);

// `then` where the condition holds, else `otherwise`. Of two elements of one narrow type the chosen one is
// converted, so that compilers select the address and load once. With a conversion on either side they
// predicate two loads, of which the second waits for the first.
kernel::Expr select_value(kernel::Expr condition, kernel::Expr then, kernel::Expr otherwise);

// The value converted to another type by the rules of ir::UnaryOp::convert: integers saturate, NaN gives 0.
kernel::Expr converted(kernel::Expr value, kernel::Type type);

}  // namespace halo::lower
