#include "compiler/analysis/known_value.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace halo::analysis {

namespace {

double truth(bool value) {
    return value ? 1 : 0;
}

double unary(ir::UnaryOp op, double value) {
    switch (op) {
        case ir::UnaryOp::negate:
            return -value;
        case ir::UnaryOp::logical_not:
            return truth(value == 0);
        case ir::UnaryOp::convert:
            return value;
    }
    return value;
}

double binary(ir::BinaryOp op, double a, double b) {
    switch (op) {
        case ir::BinaryOp::add:
            return a + b;
        case ir::BinaryOp::sub:
            return a - b;
        case ir::BinaryOp::mul:
            return a * b;
        case ir::BinaryOp::div:
            return a / b;
        case ir::BinaryOp::min:
            return a < b ? a : b;
        case ir::BinaryOp::max:
            return a > b ? a : b;
        case ir::BinaryOp::floor_div:
            return b == 0 ? 0 : std::floor(a / b);
        case ir::BinaryOp::floor_mod:
            return b == 0 ? 0 : a - b * std::floor(a / b);
        case ir::BinaryOp::less:
            return truth(a < b);
        case ir::BinaryOp::less_equal:
            return truth(a <= b);
        case ir::BinaryOp::greater:
            return truth(a > b);
        case ir::BinaryOp::greater_equal:
            return truth(a >= b);
        case ir::BinaryOp::equal:
            return truth(a == b);
        case ir::BinaryOp::not_equal:
            return truth(a != b);
        case ir::BinaryOp::logical_and:
            return truth(a != 0 && b != 0);
        case ir::BinaryOp::logical_or:
            return truth(a != 0 || b != 0);
    }
    return 0;
}

double call(ir::Function function, double a, double b) {
    using ir::Function;
    switch (function) {
        case Function::sqrt:
            return std::sqrt(a);
        case Function::rsqrt:
            return 1 / std::sqrt(a);
        case Function::cbrt:
            return std::cbrt(a);
        case Function::exp:
            return std::exp(a);
        case Function::log:
            return std::log(a);
        case Function::sin:
            return std::sin(a);
        case Function::cos:
            return std::cos(a);
        case Function::tan:
            return std::tan(a);
        case Function::asin:
            return std::asin(a);
        case Function::acos:
            return std::acos(a);
        case Function::atan:
            return std::atan(a);
        case Function::sinh:
            return std::sinh(a);
        case Function::cosh:
            return std::cosh(a);
        case Function::tanh:
            return std::tanh(a);
        case Function::abs:
            return std::abs(a);
        case Function::floor:
            return std::floor(a);
        case Function::ceil:
            return std::ceil(a);
        case Function::pow:
            return std::pow(a, b);
        case Function::atan2:
            return std::atan2(a, b);
        case Function::round:
            return std::nearbyint(a);
        case Function::trunc:
            return std::trunc(a);
        case Function::erf:
            return std::erf(a);
    }
    return 0;
}

}  // namespace

std::optional<double> known_value(const ir::Expr& expr, const std::vector<double>& operands) {
    return std::visit(
        [&](const auto& node) -> std::optional<double> {
            using Node = std::decay_t<decltype(node)>;
            if constexpr (std::is_same_v<Node, ir::Constant>) {
                return node.value.to_double();
            } else if constexpr (std::is_same_v<Node, ir::Unary>) {
                return unary(node.op, operands[0]);
            } else if constexpr (std::is_same_v<Node, ir::Binary>) {
                return binary(node.op, operands[0], operands[1]);
            } else if constexpr (std::is_same_v<Node, ir::Fma>) {
                return std::fma(operands[0], operands[1], operands[2]);
            } else if constexpr (std::is_same_v<Node, ir::Select>) {
                return operands[0] != 0 ? operands[1] : operands[2];
            } else if constexpr (std::is_same_v<Node, ir::Call>) {
                return call(node.function, operands[0], operands.size() > 1 ? operands[1] : 0);
            } else {
                return std::nullopt;
            }
        },
        expr.node);
}

}  // namespace halo::analysis
