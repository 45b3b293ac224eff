// Between a value and how it lies in an array: f16 and bf16 are computed in f32, u8 in i32, f32 in f64 where
// a field says so. A load converts at once, a store rounds; in between there are arithmetic types alone.
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

// The field's values lie in memory as something else than what they are computed in.
bool is_narrow(const ir::Field& field);

// `element`, of an array of the field, as a value of the field's type.
kernel::Expr loaded(kernel::Expr element, const ir::Field& field);

// A value of the field's type as its storage has it.
kernel::Expr stored(kernel::Expr value, const ir::Field& field);

// The value in another type, as ir::UnaryOp::convert says: integers saturate, NaN gives 0.
kernel::Expr converted(kernel::Expr value, kernel::Type type);

}  // namespace halo::lower
