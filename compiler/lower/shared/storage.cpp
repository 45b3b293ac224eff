#include "compiler/lower/shared/storage.h"

#include "compiler/kernel/build.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Expr;
using kernel::Type;

Type kernel_type(ir::Scalar type) {
    switch (type) {
        case ir::Scalar::boolean:
            return Type::boolean;
        case ir::Scalar::i32:
            return Type::i32;
        case ir::Scalar::i64:
            return Type::i64;
        case ir::Scalar::f32:
            return Type::f32;
        case ir::Scalar::f64:
            return Type::f64;
    }
    throw InternalError("unknown type");
}

Type storage_type(ir::Storage storage) {
    switch (storage) {
        case ir::Storage::boolean:
            return Type::boolean;
        case ir::Storage::u8:
            return Type::u8;
        case ir::Storage::i32:
            return Type::i32;
        case ir::Storage::i64:
            return Type::i64;
        case ir::Storage::f16:
            return Type::f16;
        case ir::Storage::bf16:
            return Type::bf16;
        case ir::Storage::f32:
            return Type::f32;
        case ir::Storage::f64:
            return Type::f64;
    }
    throw InternalError("unknown storage");
}

rt::ElementType element_type(Type type) {
    switch (type) {
        case Type::boolean:
            return rt::ElementType::boolean;
        case Type::u8:
            return rt::ElementType::u8;
        case Type::i32:
            return rt::ElementType::i32;
        case Type::i64:
            return rt::ElementType::i64;
        case Type::f16:
            return rt::ElementType::f16;
        case Type::bf16:
            return rt::ElementType::bf16;
        case Type::f32:
            return rt::ElementType::f32;
        case Type::f64:
            return rt::ElementType::f64;
        case Type::u32:
            break;  // in registers alone
    }
    throw InternalError("unknown type");
}

bool is_narrow(const ir::Field& field) {
    return field.storage != ir::natural_storage(field.type);
}

Expr loaded(Expr element, const ir::Field& field) {
    switch (field.storage) {
        case ir::Storage::f16:
            return kernel::call_helper(kernel::Helper::f16_to_float, {std::move(element)});
        case ir::Storage::bf16:
            return kernel::call_helper(kernel::Helper::bf16_to_float, {std::move(element)});
        default:
            return kernel::convert(std::move(element), kernel_type(field.type));
    }
}

Expr stored(Expr value, const ir::Field& field) {
    switch (field.storage) {
        case ir::Storage::f16:
            return kernel::call_helper(kernel::Helper::float_to_f16, {std::move(value)});
        case ir::Storage::bf16:
            return kernel::call_helper(kernel::Helper::float_to_bf16, {std::move(value)});
        case ir::Storage::u8:
            return kernel::call_helper(kernel::Helper::int_to_u8, {std::move(value)});
        default:
            return kernel::convert(std::move(value), storage_type(field.storage));
    }
}

Expr select_value(Expr condition, Expr then, Expr otherwise) {
    using kernel::Helper;
    const auto* first = std::get_if<kernel::CallHelper>(&then->kind);
    const auto* second = std::get_if<kernel::CallHelper>(&otherwise->kind);
    const bool widens = first != nullptr && second != nullptr && first->helper == second->helper &&
                        (first->helper == Helper::f16_to_float || first->helper == Helper::bf16_to_float);
    if (!widens) return kernel::select(std::move(condition), std::move(then), std::move(otherwise));
    return kernel::call_helper(first->helper, {kernel::select(std::move(condition), first->arguments.front(),
                                                              second->arguments.front())});
}

Expr converted(Expr value, Type type) {
    const Type from = value.type();
    if (from == type) return value;
    if (type == Type::boolean) {
        const Expr zero =
            kernel::is_real(from) ? kernel::real_literal(0, from) : kernel::int_literal(0, from);
        return value != zero;
    }
    if (type == Type::i32 && from == Type::i64)
        return kernel::call_helper(kernel::Helper::long_to_int, {std::move(value)});
    if (kernel::is_integer(type) && kernel::is_real(from)) {
        using kernel::Helper;
        const Helper helper = type == Type::i32
                                  ? (from == Type::f32 ? Helper::float_to_int : Helper::double_to_int)
                                  : (from == Type::f32 ? Helper::float_to_long : Helper::double_to_long);
        return kernel::call_helper(helper, {kernel::call(kernel::Function::round, {std::move(value)})});
    }
    return kernel::convert(std::move(value), type);
}

}  // namespace halo::lower
