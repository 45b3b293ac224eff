#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/scope.h"
#include "compiler/sema/types.h"

namespace halo::sema {

using ir::BinaryOp;

namespace {

// High enough for the highest tree (syntax::kMaxExpressionHeight) with defs in it; low enough for the stack.
constexpr int kMaxDepth = 1600;

BinaryOp op_of(syntax::BinaryKind kind) {
    switch (kind) {
        case syntax::BinaryKind::add:
            return BinaryOp::add;
        case syntax::BinaryKind::subtract:
            return BinaryOp::sub;
        case syntax::BinaryKind::multiply:
        case syntax::BinaryKind::power:  // handled before
            return BinaryOp::mul;
        case syntax::BinaryKind::divide:
            return BinaryOp::div;
        case syntax::BinaryKind::less:
            return BinaryOp::less;
        case syntax::BinaryKind::less_equal:
            return BinaryOp::less_equal;
        case syntax::BinaryKind::greater:
            return BinaryOp::greater;
        case syntax::BinaryKind::greater_equal:
            return BinaryOp::greater_equal;
        case syntax::BinaryKind::equal:
            return BinaryOp::equal;
        case syntax::BinaryKind::not_equal:
            return BinaryOp::not_equal;
        case syntax::BinaryKind::logical_and:
            return BinaryOp::logical_and;
        case syntax::BinaryKind::logical_or:
            return BinaryOp::logical_or;
    }
    return BinaryOp::add;
}

}  // namespace

Evaluator::Evaluator(const syntax::File& file, const Symbols& symbols, Place place, ir::Program& program,
                     ir::Scalar compute_type, DiagnosticSink& sink)
    : file_(file),
      symbols_(symbols),
      place_(place),
      is_of_stencil_(place == Place::step),
      program_(program),
      sink_(sink),
      arithmetic_(program, compute_type, sink),
      algebra_(arithmetic_, sink) {
    spacing_.fill(Value::of(Rational(1)));
    arithmetic_.set_move_table([this](const ir::Access& access, const ir::Offset& offset, SourceRange where) {
        return moved_table(access, offset, where);
    });
}

Diagnostic* Evaluator::report_unknown(DiagnosticKind kind, std::string_view name, SourceRange where,
                                      const std::string& message,
                                      const std::vector<std::string>& candidates) {
    if (symbols_.is_unread(name)) return nullptr;
    if (!unknown_.emplace(name).second)
        return nullptr;  // a name that is missing is one mistake, however often it is used
    Diagnostic& diagnostic = report(kind, where, message);
    if (std::optional<std::string> known = translate_word(name)) {
        if (std::find(candidates.begin(), candidates.end(), *known) != candidates.end()) {
            diagnostic.mend(where, *known);
            return &diagnostic;
        }
    }
    // What an index has made of a word is no word to replace.
    if (!may_suggest() || iteration_ != 0) return &diagnostic;
    ++suggestions_;
    if (std::optional<std::string> likely = closest_name(name, candidates)) diagnostic.mend(where, *likely);
    return &diagnostic;
}

Diagnostic* Evaluator::report_unknown_axis(std::string_view name, SourceRange where) {
    return report_unknown(DiagnosticKind::unknown_axis, name, where,
                          fmt::format("`{}` is no axis of `{}`, which has {}", name,
                                      symbols_.stencil().name.text, fmt::join(symbols_.axes(), ", ")),
                          symbols_.axes());
}

Value Evaluator::evaluate(syntax::ExprId id) {
    const syntax::Expr& expr = file_[id];
    if (!arithmetic_.spend(1, expr.where)) return Value();
    if (depth_ >= kMaxDepth) {
        report(DiagnosticKind::program_too_large, expr.where,
               "this is nested too deep, with the defs it calls");
        return Value();
    }
    ++depth_;
    const std::uint32_t around = iteration_;
    if (expr.iteration != 0) enter_iteration(expr.iteration);
    Value value = evaluate_node(expr);
    enter_iteration(around);
    --depth_;
    return value;
}

void Evaluator::enter_iteration(std::uint32_t iteration) {
    if (iteration == iteration_) return;
    iteration_ = iteration;
    sink_.set_context(iteration == 0 ? std::string() : file_.iterations[iteration]);
}

Value Evaluator::evaluate_node(const syntax::Expr& expr) {
    const SourceRange where = expr.where;
    if (const auto* number = std::get_if<syntax::Number>(&expr.node)) {
        Value value = Value::of(number->value);
        return number->is_imaginary ? Value::complex_of(Value::of(Rational(0)), std::move(value)) : value;
    }
    if (const auto* name = std::get_if<syntax::NameUse>(&expr.node)) return name_use(name->name, where);
    if (const auto* access = std::get_if<syntax::Index>(&expr.node)) return index(*access, expr);
    if (const auto* node = std::get_if<syntax::CallExpr>(&expr.node)) return call(*node, where);
    if (const auto* node = std::get_if<syntax::UnaryExpr>(&expr.node)) return unary(*node, where);
    if (const auto* node = std::get_if<syntax::BinaryExpr>(&expr.node)) return binary(*node, where);
    if (const auto* node = std::get_if<syntax::Conditional>(&expr.node)) return conditional(*node, where);
    if (const auto* node = std::get_if<syntax::Fold>(&expr.node)) return fold(*node, where);
    if (const auto* node = std::get_if<syntax::TableFold>(&expr.node)) return table_fold(*node, where);
    if (const auto* node = std::get_if<syntax::Member>(&expr.node)) return member(*node, expr);
    if (const auto* node = std::get_if<syntax::List>(&expr.node)) return list(*node, where);
    return Value();  // Missing: the parser has said what
}

Value Evaluator::number(syntax::ExprId id) {
    Value value = evaluate(id);
    return require_number(value, where(id)) ? value : Value();
}

Value Evaluator::quantity(syntax::ExprId id) {
    Value value = evaluate(id);
    return require_quantity(value, where(id)) ? value : Value();
}

Value Evaluator::condition(syntax::ExprId id) {
    Value value = evaluate(id);
    return require_truth(value, where(id)) ? value : Value();
}

bool Evaluator::require_number(const Value& value, SourceRange where) {
    if (!require_quantity(value, where)) return false;
    if (!value.has_parts()) return true;
    report(DiagnosticKind::component_mismatch, where,
           fmt::format("this is {}; a number is expected here", describe(value)))
        .note(value.is_complex() ? "`re(z)`, `im(z)` and `abs(z)` are real"
                                 : "a component (`v.x`), `norm(v)` and `dot(v, w)` are numbers");
    return false;
}

bool Evaluator::require_quantity(const Value& value, SourceRange where) {
    if (value.is_poison()) return false;
    if (value.is_row()) {
        report(DiagnosticKind::type_mismatch, where, "this is a row of a table; a number is expected here")
            .note(fmt::format("its columns are numbers, as in `a.{}`",
                              program_[value.table].columns.front().name));
        return false;
    }
    if (!value.is_boolean()) return true;
    report(DiagnosticKind::type_mismatch, where, "this is true or false; a number is expected here")
        .note("`if … then 1 else 0` makes a number of it");
    return false;
}

bool Evaluator::require_truth(const Value& value, SourceRange where) {
    if (value.is_poison()) return false;
    if (value.is_row()) return require_number(value, where);
    if (value.is_boolean()) return true;
    report(DiagnosticKind::type_mismatch, where,
           fmt::format("this is {}; a condition is expected here", describe(value)))
        .note("compare it with something, as in `u > 0`");
    return false;
}

Value Evaluator::until(syntax::ExprId id) {
    Scope scope(*this);
    place_ = Place::until;
    frame_ = locals_.size();
    return condition(id);
}

Value Evaluator::setting(syntax::ExprId id, const std::string& what) {
    Scope scope(*this);
    place_ = Place::setting;
    setting_what_ = what;
    is_compile_time_ = false;
    frame_ = locals_.size();
    return evaluate(id);
}

Value Evaluator::past_face(syntax::ExprId id, const std::string& what) {
    Scope scope(*this);
    place_ = Place::ghost;
    setting_what_ = what;
    frame_ = locals_.size();
    const Value value = evaluate(id);
    return value.is_boolean() || require_quantity(value, where(id)) ? value : Value();
}

std::optional<Rational> Evaluator::rational(syntax::ExprId id, const std::string& what) {
    Scope scope(*this);  // sees the indices of sums around it, and no field
    place_ = Place::setting;
    setting_what_ = what;
    is_compile_time_ = true;
    const Value value = number(id);
    if (value.is_poison()) return std::nullopt;
    if (value.is_number()) return value.number;
    report(DiagnosticKind::not_constant, where(id),
           fmt::format("{} must be known when the program is compiled", what))
        .note("numbers, consts and the indices of sums can be in it; params are known at launch alone");
    return std::nullopt;
}

std::optional<std::int64_t> Evaluator::integer(syntax::ExprId id, const std::string& what, std::int64_t low,
                                               std::int64_t high) {
    const std::optional<Rational> value = rational(id, what);
    if (!value) return std::nullopt;
    const std::optional<std::int64_t> result = value->as_int64();
    if (!value->is_integer()) {
        report(DiagnosticKind::not_an_integer, where(id),
               fmt::format("{} is a whole number, not {}", what, value->to_string()));
        return std::nullopt;
    }
    if (!result || *result < low || *result > high) {
        report(DiagnosticKind::out_of_range, where(id),
               fmt::format("{} is between {} and {}", what, low, high));
        return std::nullopt;
    }
    return result;
}

std::optional<double> Evaluator::known(syntax::ExprId id, const std::string& what) {
    Scope scope(*this);
    frame_ = locals_.size();
    return known_in_loop(id, what);
}

std::optional<double> Evaluator::known_in_loop(syntax::ExprId id, const std::string& what) {
    Scope scope(*this);
    place_ = Place::setting;
    setting_what_ = what;
    is_compile_time_ = false;
    const Value value = evaluate(id);
    if (!require_number(value, where(id))) return std::nullopt;
    const std::optional<double> result = arithmetic_.known(value);
    if (!result) {
        report(DiagnosticKind::not_constant, where(id),
               fmt::format("{} must be a number known before launch", what))
            .note("numbers, consts and functions of them can be in it");
    }
    return result;
}

Value Evaluator::unary(const syntax::UnaryExpr& node, SourceRange where) {
    if (node.kind == syntax::UnaryKind::logical_not)
        return arithmetic_.logical_not(condition(node.operand), where);
    Value operand = quantity(node.operand);
    return node.kind == syntax::UnaryKind::negate ? algebra_.negate(operand, where) : operand;
}

Value Evaluator::binary(const syntax::BinaryExpr& node, SourceRange where) {
    const bool is_logical =
        node.kind == syntax::BinaryKind::logical_and || node.kind == syntax::BinaryKind::logical_or;
    if (node.kind == syntax::BinaryKind::equal || node.kind == syntax::BinaryKind::not_equal)
        return equality(node, where);
    if (node.kind == syntax::BinaryKind::power) {
        if (const std::optional<Value> square = square_of_length(node, where)) return *square;
    }
    const Value left = is_logical ? condition(node.left) : quantity(node.left);
    const Value right = is_logical ? condition(node.right) : quantity(node.right);
    if (left.is_expr() && right.is_expr() && left.position.conflict(right.position) != 0) {
        refuse_apart(left, node.left, right, node.right, where);
        return Value();
    }
    if (node.kind == syntax::BinaryKind::power) return algebra_.power(left, right, where);
    return algebra_.binary(op_of(node.kind), left, right, where);
}

// Simplifies abs(z)^2 and norm(v)^2, which need no root.
std::optional<Value> Evaluator::square_of_length(const syntax::BinaryExpr& node, SourceRange where) {
    const auto* exponent = std::get_if<syntax::Number>(&file_[node.right].node);
    const auto* length = std::get_if<syntax::CallExpr>(&file_[node.left].node);
    if (!exponent || exponent->is_imaginary || !(exponent->value == Rational(2)) || !length)
        return std::nullopt;
    const bool is_length = length->callee.text == "abs" || length->callee.text == "norm";
    if (!is_length || length->arguments.size() != 1 || length->arguments[0].keyword) return std::nullopt;
    const SourceRange inside = this->where(length->arguments[0].value);
    const Value operand = evaluate(length->arguments[0].value);
    if (operand.is_complex() || (operand.is_vector() && length->callee.text == "norm"))
        return algebra_.norm_squared(operand, where);
    if (!require_number(operand, inside)) return Value();
    const Value absolute = arithmetic_.call(ir::Function::abs, {operand}, file_[node.left].where);
    return arithmetic_.power(absolute, Value::of(Rational(2)), where);
}

// Compares two numbers, or two conditions.
Value Evaluator::equality(const syntax::BinaryExpr& node, SourceRange where) {
    const Value left = evaluate(node.left), right = evaluate(node.right);
    if (left.is_poison() || right.is_poison()) return Value();
    if (left.is_expr() && right.is_expr() && left.position.conflict(right.position) != 0) {
        refuse_apart(left, node.left, right, node.right, where);
        return Value();
    }
    if (left.is_boolean() && right.is_boolean()) {
        const Value other = arithmetic_.logical_not(right, where);
        const bool same = node.kind == syntax::BinaryKind::equal;
        return arithmetic_.select(left, same ? right : other, same ? other : right, where);
    }
    if (!require_number(left, this->where(node.left)) || !require_number(right, this->where(node.right)))
        return Value();
    return arithmetic_.binary(op_of(node.kind), left, right, where);
}

Value Evaluator::conditional(const syntax::Conditional& node, SourceRange where) {
    const Value chosen = condition(node.condition);
    const Value then = evaluate(node.then), otherwise = evaluate(node.otherwise);
    if (then.is_poison() || otherwise.is_poison()) return Value();
    if (then.is_row() || otherwise.is_row()) {
        require_number(then.is_row() ? then : otherwise,
                       this->where(then.is_row() ? node.then : node.otherwise));
        return Value();
    }
    if (then.is_boolean() != otherwise.is_boolean()) {
        report(DiagnosticKind::type_mismatch, this->where(node.otherwise),
               then.is_boolean() ? "this is a number, and the value after `then` is true or false"
                                 : "this is true or false, and the value after `then` is a number");
        return Value();
    }
    return algebra_.select(chosen, then, otherwise, where);
}

}  // namespace halo::sema
