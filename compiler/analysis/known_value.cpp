#include "compiler/analysis/known_value.h"

#include <cmath>
#include <type_traits>

#include "compiler/ir/row_arithmetic.h"

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
                return ir::apply(node.op, operands[0], operands[1]);
            } else if constexpr (std::is_same_v<Node, ir::Fma>) {
                return std::fma(operands[0], operands[1], operands[2]);
            } else if constexpr (std::is_same_v<Node, ir::Select>) {
                return operands[0] != 0 ? operands[1] : operands[2];
            } else if constexpr (std::is_same_v<Node, ir::Call>) {
                return ir::apply(node.function, operands[0], operands.size() > 1 ? operands[1] : 0.0);
            } else {
                return std::nullopt;
            }
        },
        expr.node);
}

}  // namespace halo::analysis
