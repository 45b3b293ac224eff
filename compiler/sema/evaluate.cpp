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
      program_(program),
      sink_(sink),
      arithmetic_(program, compute_type, sink),
      algebra_(arithmetic_, sink) {
    spacing_.fill(Value::of(Rational(1)));
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
    if (!may_suggest()) return &diagnostic;
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
    Value value = evaluate_node(expr);
    --depth_;
    return value;
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

const Evaluator::Local* Evaluator::find_entry(std::string_view name) const {
    for (std::size_t i = locals_.size(); i > frame_; --i) {
        if (locals_[i - 1].name == name) return &locals_[i - 1];
    }
    return nullptr;
}

const Value* Evaluator::find_local(std::string_view name) const {
    const Local* entry = find_entry(name);
    return entry == nullptr ? nullptr : &entry->value;
}

std::optional<int> Evaluator::find_axis(std::string_view name) const {
    if (const Local* local = find_entry(name))
        return local->axis < 0 ? std::nullopt : std::optional(local->axis);
    const Symbol* symbol = find_symbol(name);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::axis) return std::nullopt;
    return symbol->index;
}

std::vector<std::string> Evaluator::visible_names() const {
    std::vector<std::string> names = symbols_.names([this](Symbol::Kind kind) {
        const bool is_known = kind != Symbol::Kind::table && kind != Symbol::Kind::points &&
                              (kind != Symbol::Kind::reduction || place_ == Place::until);
        return is_known && (kind != Symbol::Kind::field || place_ == Place::step);
    });
    for (std::size_t i = frame_; i < locals_.size(); ++i)
        names.emplace_back(locals_[i].name);
    names.insert(names.end(), {"pi", "step", "time"});
    return names;
}

Value Evaluator::name_use(const std::string& name, SourceRange where) {
    if (const Local* local = find_entry(name)) {
        if (local->axis < 0) return local->value;
        if (place_ == Place::init) return coordinate_of(ir::CoordinateKind::position, local->axis, where);
        report(DiagnosticKind::bare_axis, where,
               fmt::format("`{}` stands for the axis `{}` here and has no value by itself", name,
                           symbols_.axes()[static_cast<std::size_t>(local->axis)]))
            .mend(where, fmt::format("pos({})", name));
        return Value();
    }
    if (const Symbol* symbol = find_symbol(name)) return symbol_use(*symbol, where);
    if (name == "pi") {
        static const Rational pi = *Rational::parse("3.14159265358979323846264338327950288419716939937511");
        return Value::of(pi);
    }
    if (name == "true" || name == "false") return Value::of(name == "true");
    if (name == "step" || name == "time") return clock(name, where);
    if (name == "t") {
        report(DiagnosticKind::misused_name, where,
               "`t` is the time level, as in `u[t+1]`, and has no value by itself")
            .note("`time` is the time, `step` the number of steps done")
            .mend(where, "time");
        return Value();
    }
    const std::vector<std::string>& functions = function_names();
    if (std::find(functions.begin(), functions.end(), name) != functions.end()) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}` is a function: it needs `(…)` after it", name));
        return Value();
    }
    report_unknown(DiagnosticKind::unknown_name, name, where,
                   fmt::format("there is nothing called `{}`", name), visible_names());
    return Value();
}

// `step`, the steps done before this one, and `time`, which is step * dt. In `until` they are those of the
// steps that are done; in `init` none is.
Value Evaluator::clock(const std::string& name, SourceRange where) {
    if (place_ == Place::setting) {
        report(DiagnosticKind::varies_in_time, where, fmt::format("`{}` changes from step to step", name))
            .note(
                fmt::format("{} has one value for all steps: numbers, consts, params and `len` can be in it",
                            setting_what_));
        return Value();
    }
    const Symbol* dt = symbols_.find("dt");
    const bool has_dt = dt && (dt->kind == Symbol::Kind::param || dt->kind == Symbol::Kind::constant);
    if (name == "time" && !has_dt && !symbols_.is_unread("dt")) {
        Diagnostic& diagnostic =
            report(DiagnosticKind::unknown_name, where,
                   fmt::format("`time` is step * dt, and `{}` has no param or const `dt`",
                               symbols_.stencil().name.text));
        if (dt) diagnostic.label(dt->where, fmt::format("`dt` is {}", describe(dt->kind)));
        diagnostic.note("`param dt = …` declares it; `step` counts the steps");
    }
    if (name == "time" && !has_dt) return Value();
    if (place_ == Place::init) return Value::of(Rational(0));
    Value step =
        step_ ? *step_
              : arithmetic_.leaf(ir::Scalar::f64, ir::Coordinate{ir::CoordinateKind::step, 0}, true, where);
    step.whole = true;
    if (name == "step") return step;
    return arithmetic_.binary(BinaryOp::mul, step, symbol_use(*dt, where), where);
}

void Evaluator::refuse_varying(std::string_view what_varies, SourceRange where) {
    report(DiagnosticKind::not_uniform, where, fmt::format("{} varies from cell to cell", what_varies))
        .note(
            fmt::format("{} has one value for the whole grid: numbers, consts, params and `len` can be in it",
                        setting_what_));
}

Value Evaluator::symbol_use(const Symbol& symbol, SourceRange where) {
    switch (symbol.kind) {
        case Symbol::Kind::axis:
            if (place_ == Place::column || place_ == Place::row) {
                refuse_field(symbol, where);
                return Value();
            }
            if (place_ == Place::init)
                return coordinate_of(ir::CoordinateKind::position, symbol.index, where);
            report(DiagnosticKind::bare_axis, where,
                   fmt::format("`{}` is an axis and has no value by itself", symbol.name))
                .note(
                    fmt::format("`pos({0})` is the coordinate, `idx({0})` the index of a cell", symbol.name))
                .mend(where, fmt::format("pos({})", symbol.name));
            return Value();
        case Symbol::Kind::param:
            return param(symbol, where);
        case Symbol::Kind::constant:
            return constant(symbol);
        case Symbol::Kind::coef:
            report(DiagnosticKind::misused_name, where,
                   fmt::format("`{0}` is a coef: one of its weights is `{0}[…]`", symbol.name));
            return Value();
        case Symbol::Kind::field:
            if (place_ != Place::step) {
                refuse_field(symbol, where);
                return Value();
            }
            return read_reference(
                {&symbol, symbol.name, &layouts_[symbol.index].shape, layouts_[symbol.index].first, nullptr},
                where);
        case Symbol::Kind::let:
            return read_let(symbol, where);
        case Symbol::Kind::function:
            report(DiagnosticKind::misused_name, where,
                   fmt::format("`{0}` is a def: it is called, as in `{0}(…)`", symbol.name));
            return Value();
        case Symbol::Kind::table:
            report(
                DiagnosticKind::misused_name, where,
                fmt::format("`{0}` is a table: its rows are summed, as in `sum(a in {0}) …`", symbol.name));
            return Value();
        case Symbol::Kind::points:
            report(
                DiagnosticKind::misused_name, where,
                fmt::format("`{0}` are points: their numbers are `{0}.name` and `{0}.name[t]`", symbol.name));
            return Value();
        case Symbol::Kind::reduction:
            break;
    }
    if (place_ == Place::until) {
        const ir::ParamId id{static_cast<std::uint32_t>(symbols_.count(Symbol::Kind::param) + symbol.index)};
        return arithmetic_.leaf(ir::Scalar::f64, ir::ParamRef{id}, true, where);
    }
    if (place_ == Place::step) return reduction(symbol, where);
    report(DiagnosticKind::misused_name, where,
           fmt::format("`{}` is a reduction: it has a new value in each step", symbol.name))
        .note("statements of the stencil and `until` of a run can use it");
    return Value();
}

// This step's value after the statement, the last step's before it.
Value Evaluator::reduction(const Symbol& symbol, SourceRange where) {
    const bool is_early = !reduced_.contains(symbol.index);
    if (is_early && !symbol.reduction->start) {
        report(DiagnosticKind::read_before_written, where,
               fmt::format("`{}` has no value here in the first step", symbol.name))
            .label(symbol.where, "it has this step's value from here on")
            .note(fmt::format("before, it has the last step's: `reduce {} = {}(…) start 1` says what that is "
                              "in the first step",
                              symbol.name, symbol.reduction->operation.text));
        return Value();
    }
    if (is_early) read_early_.insert(symbol.index);
    const ir::ReductionId id{static_cast<std::uint32_t>(symbol.index)};
    return arithmetic_.leaf(ir::Scalar::f64, ir::ReductionRef{id}, true, where);
}

Value Evaluator::param(const Symbol& symbol, SourceRange where) {
    if (place_ == Place::setting && setting_what_.starts_with("the value of const")) {
        report(DiagnosticKind::not_constant, where,
               fmt::format(
                   "`{}` is a param, which is known at launch; {} is computed when the program is compiled",
                   symbol.name, setting_what_))
            .note("use `param` for both, or `const` for both");
        return Value();
    }
    const ir::ParamId id{static_cast<std::uint32_t>(symbol.index)};
    Value value = arithmetic_.leaf(ir::Scalar::f64, ir::ParamRef{id}, true, where);
    const std::optional<syntax::TypeRef>& type = symbol.definition->type;
    if (type && type->storage.text == "f32") {  // rounded to its type, then f64 like all that is uniform
        value =
            arithmetic_.convert(arithmetic_.convert(value, ir::Scalar::f32, where), ir::Scalar::f64, where);
    }
    value.whole = names_integer(type);
    return value;
}

// Evaluated when first needed, so that the order of consts does not matter.
Value Evaluator::constant(const Symbol& symbol) {
    if (const auto found = consts_.find(symbol.index); found != consts_.end()) return found->second;
    const syntax::Definition& definition = *symbol.definition;
    if (!definition.value) return Value();
    if (std::find(consts_in_progress_.begin(), consts_in_progress_.end(), symbol.index) !=
        consts_in_progress_.end()) {
        report(DiagnosticKind::recursive_definition, symbol.where,
               fmt::format("the value of `{}` needs the value of `{}`", symbol.name, symbol.name));
        return Value();
    }
    consts_in_progress_.push_back(symbol.index);
    const std::string what = fmt::format("the value of const `{}`", symbol.name);
    Scope scope(*this);
    in_shared_ = symbol.is_shared;
    Value value = setting(*definition.value, what);
    consts_in_progress_.pop_back();
    if (value.is_expr() && !arithmetic_.known(value)) {
        report(DiagnosticKind::not_constant, where(*definition.value),
               fmt::format("{} must be known when the program is compiled", what));
        value = Value();
    }
    consts_.emplace(symbol.index, value);
    return value;
}

Value Evaluator::setting(syntax::ExprId id, const std::string& what) {
    Scope scope(*this);
    place_ = Place::setting;
    setting_what_ = what;
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
    const Value value = number(id);
    if (value.is_poison()) return std::nullopt;
    if (value.is_number()) return value.number;
    report(DiagnosticKind::not_constant, where(id),
           fmt::format("{} must be known when the program is compiled", what))
        .note("numbers, consts and the indices of sums can be in it");
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

// abs(z)^2 and norm(v)^2 take no root.
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

// Of two numbers, or of two conditions.
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
