// What a name stands for where it is used.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/scope.h"
#include "compiler/sema/types.h"
#include "compiler/support/work.h"

namespace halo::sema {

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
    if (!sink_.wants_mends()) return {};
    std::vector<std::string> names = symbols_.names([this](Symbol::Kind kind) {
        const bool is_known = kind != Symbol::Kind::table && kind != Symbol::Kind::points &&
                              (kind != Symbol::Kind::series || place_ == Place::step) &&
                              (kind != Symbol::Kind::reduction || place_ == Place::until);
        return is_known && (kind != Symbol::Kind::field || place_ == Place::step);
    });
    for (std::size_t i = frame_; i < locals_.size(); ++i)
        names.emplace_back(locals_[i].name);
    names.insert(names.end(), {"pi", "step", "time"});
    Work::count(names.size());
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
    // `dt` is what it says, however much like another name.
    Diagnostic* diagnostic = report_unknown(DiagnosticKind::unknown_name, name, where,
                                            fmt::format("there is nothing called `{}`", name),
                                            name == "dt" ? std::vector<std::string>() : visible_names());
    if (diagnostic && !diagnostic->mend_text)
        diagnostic->note(in_shared_
                             ? fmt::format("`const {} = …` outside of stencils declares a number", name)
                             : fmt::format("`param {} = …` declares a number that a run can change", name));
    return Value();
}

// Evaluates `step`, the number of steps done before this one, and `time`, which is step * dt. In `until` the
// steps that are done are counted; in `init` there are none.
Value Evaluator::clock(const std::string& name, SourceRange where) {
    if (place_ == Place::setting) {
        report(DiagnosticKind::varies_in_time, where, fmt::format("`{}` changes from step to step", name))
            .note(setting_rule("all steps"));
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
    return arithmetic_.binary(ir::BinaryOp::mul, step, symbol_use(*dt, where), where);
}

std::string Evaluator::setting_rule(std::string_view extent) const {
    if (is_compile_time_)
        return fmt::format(
            "{} must be known when the program is compiled: numbers, consts and the indices of sums can be "
            "in it",
            setting_what_);
    return fmt::format("{} has one value for {}: numbers, consts, params and `len` can be in it",
                       setting_what_, extent);
}

void Evaluator::refuse_varying(std::string_view what_varies, SourceRange where) {
    report(DiagnosticKind::not_uniform, where, fmt::format("{} varies from cell to cell", what_varies))
        .note(setting_rule("the whole grid"));
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
        case Symbol::Kind::series:
            report(
                DiagnosticKind::misused_name, where,
                fmt::format("`{}` is a series, which has a value at a number, as of the step", symbol.name))
                .mend(where, fmt::format("{}[step]", symbol.name));
            return Value();
        case Symbol::Kind::points:
            report(
                DiagnosticKind::misused_name, where,
                fmt::format("`{0}` are points: their numbers are `{0}.name` and `{0}.name[t]`", symbol.name));
            return Value();
        case Symbol::Kind::reduction:
            break;
    }
    if (place_ == Place::until && !is_of_stencil_) {
        const ir::ParamId id{static_cast<std::uint32_t>(symbols_.count(Symbol::Kind::param) + symbol.index)};
        return arithmetic_.leaf(ir::Scalar::f64, ir::ParamRef{id}, true, where);
    }
    if (place_ == Place::step || place_ == Place::until) return reduction(symbol, where);
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

}  // namespace halo::sema
