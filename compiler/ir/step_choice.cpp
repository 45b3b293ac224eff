#include "compiler/ir/step_choice.h"

namespace halo::ir {

namespace {

// A condition that the step's number decides, for all cells alike.
bool chooses_steps(const Program& program, ReachWalk& walk, ExprId condition) {
    bool reads_step = false;
    for (const std::uint32_t e : walk.from({condition})) {
        const auto& node = program.exprs[e].node;
        if (const auto* coordinate = std::get_if<Coordinate>(&node)) {
            if (coordinate->kind == CoordinateKind::step)
                reads_step = true;
            else if (coordinate->kind != CoordinateKind::extent)
                return false;
            continue;
        }
        const bool is_known = std::holds_alternative<Constant>(node) ||
                              std::holds_alternative<ParamRef>(node) || std::holds_alternative<Unary>(node) ||
                              std::holds_alternative<Binary>(node) || std::holds_alternative<Fma>(node) ||
                              std::holds_alternative<Select>(node) || std::holds_alternative<Call>(node);
        if (!is_known) return false;
    }
    return reads_step;
}

// A root of a negative number, which no engine folds, rounded to the type of what it stands beside.
ExprId no_number(ExprBuilder& builder, Scalar type) {
    return builder.convert(builder.call(Function::sqrt, {builder.constant(Rational(-1), Scalar::f64)}), type);
}

bool is_no_number(const Program& program, ExprId id) {
    if (const auto* rounded = std::get_if<Unary>(&program[id].node);
        rounded && rounded->op == UnaryOp::convert)
        id = rounded->operand;
    const auto* root = std::get_if<Call>(&program[id].node);
    if (root == nullptr || root->function != Function::sqrt) return false;
    const auto* constant = std::get_if<Constant>(&program[root->arguments.front()].node);
    return constant != nullptr && constant->value == Rational(-1);
}

}  // namespace

std::optional<ExprId> choice_of_steps(const Program& program, ReachWalk& walk, ExprId condition) {
    if (chooses_steps(program, walk, condition)) return condition;
    const auto* both = std::get_if<Binary>(&program[condition].node);
    if (both == nullptr || both->op != BinaryOp::logical_and) return std::nullopt;
    const std::optional<ExprId> left = choice_of_steps(program, walk, both->left);
    return left ? left : choice_of_steps(program, walk, both->right);
}

ExprId number_in_some_steps(const Program& program, ExprBuilder& builder, ExprId condition, ExprId value) {
    if (!is_real(program[value].type)) value = builder.convert(value, Scalar::f64);
    return builder.select(condition, value, no_number(builder, program[value].type));
}

bool is_number_in_some_steps(const Program& program, const Reduce& reduce) {
    const auto* chosen = std::get_if<Select>(&program[reduce.value].node);
    return chosen != nullptr && is_no_number(program, chosen->otherwise);
}

}  // namespace halo::ir
