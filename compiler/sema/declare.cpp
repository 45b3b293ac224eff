// What a stencil declares beside its fields: axes with spacing and origin, params, consts, coefs, accuracy.
#include <fmt/format.h>

#include "compiler/sema/evaluator.h"
#include "compiler/sema/scope.h"
#include "compiler/sema/types.h"

namespace halo::sema {

namespace {

// Keeps the place of the first setting of each axis and reports a second.
bool is_first(std::array<std::optional<SourceRange>, ir::kMaxRank>& seen, int axis, const char* what,
              const syntax::Name& name, DiagnosticSink& sink) {
    if (!seen[axis]) {
        seen[axis] = name.where;
        return true;
    }
    sink.report(DiagnosticKind::duplicate_setting, name.where,
                fmt::format("the {} of `{}` is given twice", what, name.text))
        .label(*seen[axis], "given here before");
    return false;
}

}  // namespace

void Evaluator::declare_axes() {
    std::array<Value, ir::kMaxRank> origin;
    origin.fill(Value::of(Rational(0)));
    std::array<std::optional<SourceRange>, ir::kMaxRank> seen_spacing, seen_origin;
    std::array<std::string, ir::kMaxRank> units;
    const auto set = [&](const syntax::AxisValue& given, bool is_spacing) {
        const char* what = is_spacing ? "spacing" : "origin";
        const Symbol* symbol = symbols_.find(given.axis.text);
        if (!symbol || symbol->kind != Symbol::Kind::axis) {
            report_unknown_axis(given.axis.text, given.axis.where);
            return;
        }
        if (!is_first(is_spacing ? seen_spacing : seen_origin, symbol->index, what, given.axis, sink_))
            return;
        if (is_spacing) spacing_where_[static_cast<std::size_t>(symbol->index)] = where(given.value);
        if (is_spacing && declare_stretched(given, symbol->index)) {
            if (given.unit) units[symbol->index] = given.unit->text;
            return;
        }
        const Value value = setting(given.value, fmt::format("the {} of `{}`", what, given.axis.text));
        if (!require_number(value, where(given.value))) return;
        const std::optional<double> known = arithmetic_.known(value);
        if (is_spacing && known && !(*known > 0)) {
            report(DiagnosticKind::out_of_range, where(given.value),
                   fmt::format("the spacing of `{}` must be greater than 0", given.axis.text));
            return;
        }
        (is_spacing ? spacing_ : origin)[symbol->index] = value;
        if (given.unit) units[symbol->index] = given.unit->text;
    };
    for (const syntax::StencilStatement& statement : symbols_.stencil().statements) {
        if (const auto* spacing = std::get_if<syntax::SpacingDecl>(&statement)) {
            for (const syntax::AxisValue& given : spacing->values)
                set(given, true);
        } else if (const auto* origins = std::get_if<syntax::OriginDecl>(&statement)) {
            for (const syntax::AxisValue& given : origins->values)
                set(given, false);
        }
    }
    const SourceRange where = symbols_.stencil().name.where;
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        program_.axes.push_back({symbols_.axes()[axis], arithmetic_.as_uniform(spacing_[axis], where),
                                 arithmetic_.as_uniform(origin[axis], where), units[axis]});
    }
}

void Evaluator::declare_params() {
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind != Symbol::Kind::param) continue;
        const syntax::Definition& definition = *symbol.definition;
        const std::string what = fmt::format("the default of `{}`", symbol.name);
        ir::Param param;
        if (definition.type) {
            const auto type = resolve_number_type(*definition.type, "a param", *this);
            const bool narrow = type == ir::Scalar::i32;
            if (type && ir::is_integer(*type)) {
                param.largest = narrow ? 2147483647 : ir::kLargestExact;
                param.least = -param.largest - (narrow ? 1 : 0);
            }
        }
        param.name = symbol.name;
        param.where = symbol.where;
        if (definition.value && param.is_integer()) {
            if (const auto value = integer(*definition.value, what, param.least, param.largest))
                param.default_value = static_cast<double>(*value);
        } else if (definition.value) {
            param.default_value = known(*definition.value, what);
        }
        if (definition.unit) param.unit = definition.unit->text;
        program_.params.push_back(std::move(param));
    }
}

void Evaluator::check_consts() {
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind != Symbol::Kind::constant) continue;
        if (symbol.definition->type) resolve_number_type(*symbol.definition->type, "a const", *this);
        const Value value = constant(symbol);
        if (names_integer(symbol.definition->type) && value.is_number()) {
            const bool narrow = symbol.definition->type->storage.text == "i32";
            check_number(value.number, ir::Scalar::i64, narrow ? ir::Storage::i32 : ir::Storage::i64,
                         where(*symbol.definition->value), sink_);
        }
    }
}

void Evaluator::declare_accuracy() {
    std::optional<SourceRange> seen;
    for (const syntax::StencilStatement& statement : symbols_.stencil().statements) {
        const auto* declaration = std::get_if<syntax::AccuracyDecl>(&statement);
        if (!declaration) continue;
        if (seen) {
            report(DiagnosticKind::duplicate_setting, declaration->where, "the accuracy is given twice")
                .label(*seen, "given here before");
            continue;
        }
        seen = declaration->where;
        const std::optional<std::int64_t> order =
            integer(declaration->order, "the order of accuracy", 2, kMaxAccuracy);
        if (!order) continue;
        if (*order % 2 == 0) {
            accuracy_ = *order;
        } else {
            report(DiagnosticKind::out_of_range, where(declaration->order),
                   fmt::format("the order of accuracy of a centred difference is even, not {}", *order));
        }
    }
}

// ---- coefs
// -----------------------------------------------------------------------------------------------------

bool Evaluator::coef_ranges(const syntax::CoefDecl& declaration, Coef& coef) {
    std::int64_t elements = 1;
    for (const syntax::CoefRange& range : declaration.ranges) {
        const std::optional<std::int64_t> low =
            integer(range.low, "the start of a range", -kMaxCoefElements, kMaxCoefElements);
        const std::optional<std::int64_t> high =
            integer(range.high, "the end of a range", -kMaxCoefElements, kMaxCoefElements);
        if (!low || !high) return false;
        const SourceRange where{this->where(range.low).begin, this->where(range.high).end};
        if (*high < *low) {
            report(DiagnosticKind::empty_range, where,
                   fmt::format("the range {}..{} runs backwards", *low, *high))
                .mend(where, fmt::format("{}..{}", *high, *low));
            return false;
        }
        elements *= *high - *low + 1;
        if (elements > kMaxCoefElements) {
            report(DiagnosticKind::too_many_terms, where,
                   fmt::format("`{}` has more than {} weights", declaration.name.text, kMaxCoefElements));
            return false;
        }
        coef.low.push_back(static_cast<int>(*low));
        coef.high.push_back(static_cast<int>(*high));
    }
    return true;
}

// The weights of one dimension and those within it; row-major.
bool Evaluator::coef_elements(const syntax::CoefDecl& declaration, syntax::ExprId value,
                              std::size_t dimension, Coef& coef) {
    const syntax::Expr& expr = file_[value];
    const auto* list = std::get_if<syntax::List>(&expr.node);
    if (dimension == coef.low.size()) {
        if (list) {
            report(DiagnosticKind::coef_shape, expr.where,
                   fmt::format("`{}` has {} {}, and this list is one level deeper", declaration.name.text,
                               coef.low.size(), coef.low.size() == 1 ? "range" : "ranges"));
            return false;
        }
        const std::string what = fmt::format("a weight of `{}`", declaration.name.text);
        const Value element = setting(value, what);
        if (!require_number(element, expr.where)) return false;
        coef.elements.push_back(element);
        return true;
    }
    if (std::holds_alternative<syntax::Missing>(expr.node)) return false;
    const std::size_t width = static_cast<std::size_t>(coef.high[dimension] - coef.low[dimension] + 1);
    if (!list || list->elements.size() != width) {
        const std::string found =
            list ? fmt::format("this list has {}", list->elements.size()) : "this is no list";
        report(DiagnosticKind::coef_shape, expr.where,
               fmt::format("the range {}..{} of `{}` needs a list of {}, and {}", coef.low[dimension],
                           coef.high[dimension], declaration.name.text, width, found));
        return false;
    }
    bool valid = true;
    for (syntax::ExprId element : list->elements) {
        valid = coef_elements(declaration, element, dimension + 1, coef) && valid;
    }
    return valid;
}

Evaluator::Coef Evaluator::make_coef(const Symbol& symbol) {
    const syntax::CoefDecl& declaration = *symbol.coef;
    Scope scope(*this);
    in_shared_ = symbol.is_shared;
    Coef coef;
    if (!coef_ranges(declaration, coef)) return coef;
    if (std::holds_alternative<syntax::List>(file_[declaration.value].node)) {
        coef.is_valid = coef_elements(declaration, declaration.value, 0, coef);
        return coef;
    }
    // One expression: every weight has its value.
    coef.is_valid = coef_elements(declaration, declaration.value, coef.low.size(), coef);
    std::size_t elements = 1;
    for (std::size_t i = 0; i < coef.low.size(); ++i) {
        elements *= static_cast<std::size_t>(coef.high[i] - coef.low[i] + 1);
    }
    if (coef.is_valid) coef.elements.resize(elements, coef.elements.front());
    return coef;
}

void Evaluator::declare_launch_time_coef(const Symbol& symbol, const Coef& coef) {
    ir::Coef made;
    made.name = symbol.name;
    made.where = symbol.where;
    made.type = arithmetic_.compute_type();
    if (symbol.coef->type) {
        made.type = resolve_number_type(*symbol.coef->type, "a weight", *this).value_or(made.type);
        if (ir::is_integer(made.type)) {
            report(DiagnosticKind::type_mismatch, symbol.coef->type->storage.where,
                   "the weights of a `param coef` are real numbers")
                .note("f32 and f64 can be their type");
            made.type = arithmetic_.compute_type();
        }
    }
    made.low = coef.low;
    made.high = coef.high;
    for (const Value& element : coef.elements) {
        const std::optional<double> value = arithmetic_.known(element);
        if (!value) {
            report(DiagnosticKind::not_constant, where(symbol.coef->value),
                   fmt::format("the weights of `param coef {}` must be numbers known before launch",
                               symbol.name))
                .note("a `coef` without `param` can have params in its weights");
            return;
        }
        made.defaults.push_back(*value);
    }
    launch_coefs_.emplace(symbol.index, ir::CoefId{static_cast<std::uint32_t>(program_.coefs.size())});
    program_.coefs.push_back(std::move(made));
}

std::optional<std::vector<double>> Evaluator::coef_values(const Symbol& symbol, syntax::ExprId value) {
    const auto found = coefs_.find(symbol.index);
    if (found == coefs_.end() || !found->second.is_valid) return std::nullopt;
    Coef given;
    given.low = found->second.low;
    given.high = found->second.high;
    if (!coef_elements(*symbol.coef, value, 0, given)) return std::nullopt;
    std::vector<double> result;
    for (const Value& element : given.elements) {
        const std::optional<double> known = arithmetic_.known(element);
        if (!known) {
            report(DiagnosticKind::not_constant, where(value),
                   fmt::format("the weights of `{}` must be numbers known before launch", symbol.name));
            return std::nullopt;
        }
        result.push_back(*known);
    }
    return result;
}

void Evaluator::declare_coefs() {
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind != Symbol::Kind::coef) continue;
        Coef coef = make_coef(symbol);
        if (symbol.coef->is_param && coef.is_valid) {
            declare_launch_time_coef(symbol, coef);
            coef.is_valid = launch_coefs_.contains(symbol.index);
        } else if (symbol.coef->type) {
            resolve_number_type(*symbol.coef->type, "a weight", *this);
        }
        coefs_.emplace(symbol.index, std::move(coef));
    }
}

}  // namespace halo::sema
