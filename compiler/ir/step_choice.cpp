#include "compiler/ir/step_choice.h"

#include <algorithm>

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

ChosenSteps chosen_steps(const Program& program, ExprId choice) {
    const auto* both = std::get_if<Binary>(&program[choice].node);
    if (both == nullptr) return {{}, false};
    if (both->op == BinaryOp::logical_and) {
        const ChosenSteps left = chosen_steps(program, both->left),
                          right = chosen_steps(program, both->right);
        return {rt::common(left.range, right.range), left.are_all && right.are_all};
    }
    const auto* number = std::get_if<Coordinate>(&program[both->left].node);
    const auto* bound = std::get_if<Constant>(&program[both->right].node);
    if (number == nullptr || number->kind != CoordinateKind::step || bound == nullptr) return {{}, false};
    const std::optional<std::int64_t> whole =
        bound->value.is_integer() ? bound->value.as_int64() : std::nullopt;
    if (!whole || *whole < 0 || *whole >= kLargestExact) return {{}, false};
    if (both->op == BinaryOp::greater_equal) return {{.first = *whole}, true};
    if (both->op == BinaryOp::greater) return {{.first = *whole + 1}, true};
    if (both->op == BinaryOp::less) return {{.past = *whole}, true};
    if (both->op == BinaryOp::less_equal) return {{.past = *whole + 1}, true};
    return {{}, false};
}

rt::StepRange first_steps(const Program& program) {
    rt::StepRange first;
    for (const Statement& statement : program.statements)
        for (const std::int64_t bound : {steps_of(statement).first, steps_of(statement).past})
            if (bound > 0) first.past = std::min(first.past, bound);
    return first;
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
