#include "compiler/lower/shared/operations.h"

#include "compiler/support/error.h"

namespace halo::lower {

kernel::Function function_of(ir::Function function) {
    switch (function) {
        case ir::Function::sqrt:
        case ir::Function::rsqrt:
            return kernel::Function::sqrt;
        case ir::Function::cbrt:
            return kernel::Function::cbrt;
        case ir::Function::exp:
            return kernel::Function::exp;
        case ir::Function::log:
            return kernel::Function::log;
        case ir::Function::sin:
            return kernel::Function::sin;
        case ir::Function::cos:
            return kernel::Function::cos;
        case ir::Function::tan:
            return kernel::Function::tan;
        case ir::Function::asin:
            return kernel::Function::asin;
        case ir::Function::acos:
            return kernel::Function::acos;
        case ir::Function::atan:
            return kernel::Function::atan;
        case ir::Function::sinh:
            return kernel::Function::sinh;
        case ir::Function::cosh:
            return kernel::Function::cosh;
        case ir::Function::tanh:
            return kernel::Function::tanh;
        case ir::Function::abs:
            return kernel::Function::abs;
        case ir::Function::floor:
            return kernel::Function::floor;
        case ir::Function::ceil:
            return kernel::Function::ceil;
        case ir::Function::pow:
            return kernel::Function::pow;
        case ir::Function::atan2:
            return kernel::Function::atan2;
        case ir::Function::round:
            return kernel::Function::round;
        case ir::Function::trunc:
            return kernel::Function::trunc;
        case ir::Function::erf:
            return kernel::Function::erf;
    }
    throw InternalError("unknown function");
}

kernel::Expr applied(ir::BinaryOp op, const kernel::Expr& left, const kernel::Expr& right) {
    switch (op) {
        case ir::BinaryOp::add:
            return left + right;
        case ir::BinaryOp::sub:
            return left - right;
        case ir::BinaryOp::mul:
            return left * right;
        case ir::BinaryOp::div:
            return left / right;
        case ir::BinaryOp::less:
            return left < right;
        case ir::BinaryOp::less_equal:
            return left <= right;
        case ir::BinaryOp::greater:
            return left > right;
        case ir::BinaryOp::greater_equal:
            return left >= right;
        case ir::BinaryOp::equal:
            return left == right;
        case ir::BinaryOp::not_equal:
            return left != right;
        case ir::BinaryOp::logical_and:
            return left && right;
        case ir::BinaryOp::logical_or:
            return left || right;
        case ir::BinaryOp::min:
        case ir::BinaryOp::max:
        case ir::BinaryOp::floor_div:
        case ir::BinaryOp::floor_mod:
            break;
    }
    throw InternalError("an operation that is lowered elsewhere");
}

bool takes_long(const ir::Expr& expr) {
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) return binary->op == ir::BinaryOp::div;
    const auto* call = std::get_if<ir::Call>(&expr.node);
    if (call == nullptr) return false;
    switch (call->function) {
        case ir::Function::abs:
        case ir::Function::floor:
        case ir::Function::ceil:
        case ir::Function::round:
        case ir::Function::trunc:
            return false;
        default:
            return true;
    }
}

}  // namespace halo::lower
