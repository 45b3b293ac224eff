// The words for each alternative of program.h.
#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"
#include "runtime/core/hidden_name.h"

namespace halo::ir {

bool is_hidden(const Program& program, const Field& field) {
    return rt::is_hidden_name(field.name, program.fields);
}

std::string_view name_of(Scalar scalar) {
    switch (scalar) {
        case Scalar::boolean:
            return "bool";
        case Scalar::i32:
            return "i32";
        case Scalar::i64:
            return "i64";
        case Scalar::f32:
            return "f32";
        case Scalar::f64:
            return "f64";
    }
    return "?";
}

std::string_view name_of(Storage storage) {
    switch (storage) {
        case Storage::boolean:
            return "bool";
        case Storage::u8:
            return "u8";
        case Storage::i32:
            return "i32";
        case Storage::i64:
            return "i64";
        case Storage::f16:
            return "f16";
        case Storage::bf16:
            return "bf16";
        case Storage::f32:
            return "f32";
        case Storage::f64:
            return "f64";
    }
    return "?";
}

std::string_view name_of(BoundaryKind kind) {
    switch (kind) {
        case BoundaryKind::periodic:
            return "periodic";
        case BoundaryKind::fixed:
            return "fixed";
        case BoundaryKind::clamp:
            return "clamp";
        case BoundaryKind::mirror:
            return "mirror";
        case BoundaryKind::free:
            return "free";
        case BoundaryKind::formula:
            return "formula";
    }
    return "?";
}

std::string_view name_of(Role role) {
    switch (role) {
        case Role::input:
            return "input";
        case Role::state:
            return "state";
        case Role::output:
            return "output";
        case Role::intermediate:
            return "let";
    }
    return "?";
}

std::string_view name_of(Function function) {
    switch (function) {
        case Function::sqrt:
            return "sqrt";
        case Function::rsqrt:
            return "rsqrt";
        case Function::cbrt:
            return "cbrt";
        case Function::exp:
            return "exp";
        case Function::log:
            return "log";
        case Function::sin:
            return "sin";
        case Function::cos:
            return "cos";
        case Function::tan:
            return "tan";
        case Function::asin:
            return "asin";
        case Function::acos:
            return "acos";
        case Function::atan:
            return "atan";
        case Function::sinh:
            return "sinh";
        case Function::cosh:
            return "cosh";
        case Function::tanh:
            return "tanh";
        case Function::abs:
            return "abs";
        case Function::floor:
            return "floor";
        case Function::ceil:
            return "ceil";
        case Function::pow:
            return "pow";
        case Function::atan2:
            return "atan2";
        case Function::round:
            return "round";
        case Function::trunc:
            return "trunc";
        case Function::erf:
            return "erf";
    }
    return "?";
}

std::string_view name_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::add:
            return "+";
        case BinaryOp::sub:
            return "-";
        case BinaryOp::mul:
            return "*";
        case BinaryOp::div:
            return "/";
        case BinaryOp::min:
            return "min";
        case BinaryOp::max:
            return "max";
        case BinaryOp::floor_div:
            return "div";
        case BinaryOp::floor_mod:
            return "mod";
        case BinaryOp::less:
            return "<";
        case BinaryOp::less_equal:
            return "<=";
        case BinaryOp::greater:
            return ">";
        case BinaryOp::greater_equal:
            return ">=";
        case BinaryOp::equal:
            return "==";
        case BinaryOp::not_equal:
            return "!=";
        case BinaryOp::logical_and:
            return "and";
        case BinaryOp::logical_or:
            return "or";
    }
    return "?";
}

std::string_view name_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::sum:
            return "sum";
        case ReduceOp::min:
            return "min";
        case ReduceOp::max:
            return "max";
    }
    return "?";
}

}  // namespace halo::ir
