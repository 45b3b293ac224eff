// Calls: functions, defs, coordinates; and sums, products, minima and maxima over ranges.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/noise.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/scope.h"

namespace halo::sema {

using ir::BinaryOp;

namespace {

constexpr std::size_t kMaxCalls = 64;  // defs within defs

bool is_algebraic(std::string_view name) {
    return name == "dot" || name == "cross" || name == "norm" || name == "re" || name == "im" ||
           name == "conj" || name == "arg";
}
// Whether this `div` is a quotient: with two arguments in order it is; with a vector it is the divergence.
bool is_whole_division(const syntax::CallExpr& node) {
    if (node.callee.text == "mod") return true;
    return node.callee.text == "div" && node.arguments.size() == 2 && !node.arguments[0].keyword &&
           !node.arguments[1].keyword;
}
bool is_noise(std::string_view name) {
    return name == "random" || name == "normal";
}
bool is_rounding(std::string_view name) {
    return name == "f32" || name == "f64";
}
bool is_coordinate(std::string_view name) {
    return name == "pos" || name == "idx" || name == "len";
}

}  // namespace

Value Evaluator::call(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    const Symbol* symbol = find_symbol(name);
    if (symbol && symbol->kind == Symbol::Kind::function && !find_builtin(name))
        return call_def(*symbol, node, where);
    if (name == "div" && is_whole_division(node)) return whole_division(node, where);
    if (is_differential(name)) return differential(node, where);
    for (const syntax::Argument& argument : node.arguments) {
        if (!argument.keyword ||
            !(find_builtin(name) || is_coordinate(name) || is_algebraic(name) || name == "min" ||
              is_noise(name) || name == "max" || name == "mod" || is_rounding(name)))
            continue;
        report(DiagnosticKind::unknown_argument, argument.keyword->where,
               fmt::format("`{}` takes no argument by name", name));
        return Value();
    }
    if (is_coordinate(name)) return coordinate(node, where);
    if (is_algebraic(name)) return algebraic(node, where);
    if (is_noise(name)) return noise(node, where);
    if (name == "min" || name == "max") return extremum(node, where);
    if (name == "mod") return whole_division(node, where);
    if (is_rounding(name)) return rounding(node, where);
    if (find_builtin(name)) return call_builtin(node, where);
    return unknown_call(node, where);
}

// Of `ddx(u)` and the like. False: it is no such name.
bool Evaluator::offer_derivative(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    for (const std::string& axis : symbols_.axes()) {
        const int times = derivative_called(name, axis);
        if (times == 0) continue;
        Diagnostic* diagnostic = report_unknown(DiagnosticKind::unknown_function, name, node.callee.where,
                                                fmt::format("there is no function `{}`", name), {});
        if (!diagnostic) return true;
        const char* const ours = times == 1 ? "d" : "d2";
        const auto* operand = node.arguments.size() == 1
                                  ? std::get_if<syntax::NameUse>(&file_[node.arguments[0].value].node)
                                  : nullptr;
        if (operand) {
            diagnostic->mend(where, fmt::format("{}({}, {})", ours, operand->name, axis));
        } else {
            diagnostic->note(fmt::format("the {} derivative along `{}` is `{}(…, {})`",
                                         times == 1 ? "first" : "second", axis, ours, axis));
        }
        return true;
    }
    return false;
}

Value Evaluator::unknown_call(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    const Symbol* symbol = find_symbol(name);
    if (symbol || find_local(name)) {
        Diagnostic& diagnostic = report(DiagnosticKind::misused_name, node.callee.where,
                                        fmt::format("`{}` is {} and cannot be called", name,
                                                    symbol ? describe(symbol->kind) : "a value"));
        const bool has_cells =
            !symbol || symbol->kind == Symbol::Kind::field || symbol->kind == Symbol::Kind::let;
        if (has_cells || symbol->kind == Symbol::Kind::coef) {
            diagnostic.note(fmt::format("neighbours and weights are in square brackets, as in `{}[{}]`", name,
                                        has_cells ? "x+1" : "1"));
        }
        return Value();
    }
    if (offer_derivative(node, where)) return Value();
    const std::vector<std::string>& types = type_names();
    if (std::find(types.begin(), types.end(), name) != types.end()) {
        report(DiagnosticKind::not_built_yet, node.callee.where,
               fmt::format("rounding to `{}` in an expression is not built yet", name))
            .note(
                "`f32(a)` and `f64(a)` round to these types, `round(a)` to a whole number; a field rounds "
                "what it is assigned to its own type");
        return Value();
    }
    std::vector<std::string> likely =
        candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::function; });
    const std::vector<std::string>& builtins = function_names();
    likely.insert(likely.end(), builtins.begin(), builtins.end());
    const std::optional<std::string> expression = expression_for(name);
    Diagnostic* diagnostic = report_unknown(DiagnosticKind::unknown_function, name, node.callee.where,
                                            fmt::format("there is no function `{}`", name),
                                            expression ? std::vector<std::string>() : likely);
    if (diagnostic && expression) diagnostic->note(fmt::format("write `{}`", *expression));
    return Value();
}

bool Evaluator::require_arguments(const syntax::CallExpr& node, std::size_t count, SourceRange where) {
    if (node.arguments.size() == count) return true;
    report(DiagnosticKind::wrong_argument_count, where,
           fmt::format("`{}` takes {} {}, and this gives {}", node.callee.text, count,
                       count == 1 ? "argument" : "arguments", node.arguments.size()));
    return false;
}

Value Evaluator::call_builtin(const syntax::CallExpr& node, SourceRange where) {
    const BuiltinFunction& function = *find_builtin(node.callee.text);
    if (!require_arguments(node, static_cast<std::size_t>(function.arity), where)) return Value();
    const bool fast = std::find(fast_.begin(), fast_.end(), function.function) != fast_.end();
    if (function.function == ir::Function::abs || function.function == ir::Function::exp) {
        const Value argument = quantity(node.arguments[0].value);
        if (argument.is_complex())
            return function.function == ir::Function::abs ? algebra_.norm(argument, where)
                                                          : algebra_.exponential(argument, where);
        if (!require_number(argument, this->where(node.arguments[0].value))) return Value();
        return arithmetic_.call(function.function, {argument}, where, fast);
    }
    if (function.function == ir::Function::pow) {
        const Value base = quantity(node.arguments[0].value);
        return algebra_.power(base, quantity(node.arguments[1].value), where);
    }
    std::vector<Value> arguments;
    for (const syntax::Argument& argument : node.arguments)
        arguments.push_back(number(argument.value));
    return arithmetic_.call(function.function, arguments, where, fast);
}

Value Evaluator::extremum(const syntax::CallExpr& node, SourceRange where) {
    if (node.arguments.size() < 2) {
        report(DiagnosticKind::wrong_argument_count, where,
               fmt::format("`{}` takes two arguments or more", node.callee.text))
            .note(fmt::format("over a range: `{0}(i in 1..4) …`; over the grid: `reduce m = {0}(…)`",
                              node.callee.text));
        return Value();
    }
    const BinaryOp op = node.callee.text == "min" ? BinaryOp::min : BinaryOp::max;
    Value result = number(node.arguments[0].value);
    for (std::size_t i = 1; i < node.arguments.size(); ++i) {
        result = arithmetic_.binary(op, result, number(node.arguments[i].value), where);
    }
    return result;
}

Value Evaluator::whole_division(const syntax::CallExpr& node, SourceRange where) {
    const bool gives_rest = node.callee.text == "mod";
    if (!require_arguments(node, 2, where)) return Value();
    const Value left = number(node.arguments[0].value), right = number(node.arguments[1].value);
    return gives_rest ? arithmetic_.floor_mod(left, right, where) : arithmetic_.floor_div(left, right, where);
}

// f32(a), f64(a): the nearest number of the type.
Value Evaluator::rounding(const syntax::CallExpr& node, SourceRange where) {
    if (!require_arguments(node, 1, where)) return Value();
    const ir::Scalar type = node.callee.text == "f32" ? ir::Scalar::f32 : ir::Scalar::f64;
    const Value operand = quantity(node.arguments[0].value);
    const auto round = [&](const auto& self, const Value& value) -> Value {
        if (!value.has_parts()) return arithmetic_.rounded(value, type, where);
        return map_parts(value, [&](const Value& part) { return self(self, part); });
    };
    return round(round, operand);
}

std::optional<int> Evaluator::axis_argument(const syntax::Argument& argument) {
    const SourceRange where = this->where(argument.value);
    if (const auto* name = std::get_if<syntax::NameUse>(&file_[argument.value].node)) {
        if (const std::optional<int> axis = find_axis(name->name)) return axis;
        if (symbols_.is_unread(name->name)) return std::nullopt;
        report_unknown_axis(name->name, where);
        return std::nullopt;
    }
    if (std::holds_alternative<syntax::Missing>(file_[argument.value].node)) return std::nullopt;
    report(DiagnosticKind::unknown_axis, where, "an axis is expected here")
        .note(fmt::format("the axes are {}", fmt::join(symbols_.axes(), ", ")));
    return std::nullopt;
}

Value Evaluator::coordinate(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    if (!require_arguments(node, 1, where)) return Value();
    const std::optional<int> axis = axis_argument(node.arguments[0]);
    if (!axis) return Value();
    if (name == "len") return coordinate_of(ir::CoordinateKind::extent, *axis, where);
    if (place_ == Place::column || place_ == Place::row) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}({})` varies over the grid, and a table's rows are no cells of it", name,
                           symbols_.axes()[*axis]));
        return Value();
    }
    if (place_ == Place::setting || place_ == Place::until) {
        if (place_ == Place::until) setting_what_ = "`until`";
        refuse_varying(fmt::format("`{}({})`", name, symbols_.axes()[*axis]), where);
        return Value();
    }
    return coordinate_of(name == "pos" ? ir::CoordinateKind::position : ir::CoordinateKind::index, *axis,
                         where);
}

// Each call draws from a random stream of its own, once sums and defs are expanded.
Value Evaluator::noise(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    if (!require_arguments(node, 0, where)) return Value();
    if (place_ == Place::ghost) {
        report(DiagnosticKind::not_built_yet, where, "noise in a boundary is not built yet");
        return Value();
    }
    if (place_ == Place::column || place_ == Place::row) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}()` is noise of the grid's cells; a table has none", name));
        return Value();
    }
    if (place_ == Place::setting || place_ == Place::until) {
        if (place_ == Place::until) setting_what_ = "`until`";
        refuse_varying(fmt::format("`{}()`", name), where);
        return Value();
    }
    if (grid_ != 1) {
        report(DiagnosticKind::not_built_yet, where, "noise on a coarser grid is not built yet")
            .note(fmt::format("`let noise = {}()` has it on the grid itself, and is read from there", name));
        return Value();
    }
    const Symbol* seed = symbols_.find(ir::kSeedName);
    if (seed && seed->kind == Symbol::Kind::constant && noise_streams_ == 0) {
        const syntax::Definition& definition = *seed->definition;
        constexpr std::int64_t kLargest = 0xFFFFFFFF;
        if (definition.value)
            program_.noise_seed = integer(*definition.value, "the seed", 0, kLargest).value_or(0);
    }
    const int first = place_ == Place::init ? ir::kInitStreams : 0;
    const ir::NoiseKind kind = name == "random" ? ir::NoiseKind::uniform : ir::NoiseKind::normal;
    return arithmetic_.leaf(arithmetic_.compute_type(), ir::Noise{kind, first + noise_streams_++}, false,
                            where);
}

Value Evaluator::coordinate_of(ir::CoordinateKind kind, int axis, SourceRange where) {
    if (grid_ != 1) return coarse_coordinate(kind, axis, where);
    if (kind == ir::CoordinateKind::position && is_stretched(axis)) return stretched_position(axis, where);
    const bool uniform = kind == ir::CoordinateKind::extent;
    const ir::Scalar type = uniform ? ir::Scalar::f64 : arithmetic_.compute_type();
    Value value = arithmetic_.leaf(type, ir::Coordinate{kind, axis}, uniform, where);
    value.whole = kind != ir::CoordinateKind::position;
    if (kind != ir::CoordinateKind::position || !value.is_expr()) return value;
    // The coordinate of the point that is computed, which may lie half a cell further.
    const bool is_half = (wanted_ & axis_bit(axis)) != 0;
    if (is_half) {
        const Value half =
            arithmetic_.binary(BinaryOp::mul, Value::of(Rational(1, 2)), spacing_[axis], where);
        value = arithmetic_.binary(BinaryOp::add, value, half, where);
    }
    if (value.is_expr()) value.position = Position{}.moved_to(axis, is_half);
    return value;
}

// Evaluates an argument at the place nearest to the statement that it can take.
Value Evaluator::argument_value(syntax::ExprId id) {
    return evaluate_at(id, wanted_);
}

// Arguments are computed where the def is called; its body sees them and the stencil's names, and no name of
// the caller's.
Value Evaluator::call_def(const Symbol& symbol, const syntax::CallExpr& node, SourceRange where) {
    const syntax::DefDecl& function = *symbol.function;
    for (const syntax::Argument& argument : node.arguments) {
        if (!argument.keyword) continue;
        report(DiagnosticKind::unknown_argument, argument.keyword->where,
               fmt::format("`{}` takes its arguments in order, not by name", symbol.name))
            .label(symbol.where, "declared here");
        return Value();
    }
    if (node.arguments.size() != function.parameters.size()) {
        report(DiagnosticKind::wrong_argument_count, where,
               fmt::format("`{}` takes {} {}, and this gives {}", symbol.name, function.parameters.size(),
                           function.parameters.size() == 1 ? "argument" : "arguments", node.arguments.size()))
            .label(symbol.where, "declared here");
        return Value();
    }
    if (std::find(calls_.begin(), calls_.end(), &symbol) != calls_.end()) {
        report(DiagnosticKind::recursive_definition, where, fmt::format("`{}` calls itself", symbol.name))
            .label(symbol.where, "declared here")
            .note("a def is written out where it is called, so it cannot be recursive");
        return Value();
    }
    if (calls_.size() >= kMaxCalls) {
        report(DiagnosticKind::program_too_large, where,
               fmt::format("defs call each other more than {} deep", kMaxCalls));
        return Value();
    }
    std::vector<Local> arguments;
    bool poisoned = false;
    for (const syntax::Argument& argument : node.arguments) {
        const std::string_view parameter = function.parameters[arguments.size()].text;
        const auto* name = std::get_if<syntax::NameUse>(&file_[argument.value].node);
        const std::optional<int> axis = name ? find_axis(name->name) : std::nullopt;
        arguments.push_back({parameter, axis ? Value() : argument_value(argument.value), axis.value_or(-1)});
        poisoned = poisoned || (!axis && arguments.back().value.is_poison());
    }
    if (poisoned) return Value();
    Scope scope(*this);
    frame_ = locals_.size();
    in_shared_ = symbol.is_shared;
    locals_.insert(locals_.end(), arguments.begin(), arguments.end());
    calls_.push_back(&symbol);
    Value result = evaluate(function.value);
    calls_.pop_back();
    return result;
}

// ---- sums and the like
// -----------------------------------------------------------------------------------------

namespace {

const char* name_of(syntax::FoldKind kind) {
    switch (kind) {
        case syntax::FoldKind::sum:
            return "sum";
        case syntax::FoldKind::prod:
            return "prod";
        case syntax::FoldKind::min:
            return "min";
        case syntax::FoldKind::max:
            return "max";
        case syntax::FoldKind::list:
            return "list";
    }
    return "sum";
}

}  // namespace

// Checks the indices of a sum or a `for`: none may have the name of an axis.
bool Evaluator::check_indices(const std::vector<syntax::RangeIndex>& indices) {
    for (const syntax::RangeIndex& index : indices) {
        const Symbol* symbol = symbols_.find(index.name.text);
        const bool hides = (symbol && symbol->kind == Symbol::Kind::axis) || index.name.text == "t";
        if (!hides) continue;
        report(DiagnosticKind::reserved_name, index.name.where,
               fmt::format("the index of a range cannot be called `{}`, like {}", index.name.text,
                           symbol ? "the axis" : "the time level"));
        return false;
    }
    return true;
}

// Iterates over one index of the range and, nested in it, over those after it.
bool Evaluator::repeat_level(const std::vector<syntax::RangeIndex>& indices, std::size_t level,
                             SourceRange where, std::int64_t& terms, const std::function<bool()>& body) {
    if (level == indices.size()) {
        if (++terms <= kMaxTerms) return body();
        report(DiagnosticKind::too_many_terms, where,
               fmt::format("this has more than {} terms, and each is written out", kMaxTerms));
        return false;
    }
    const syntax::RangeIndex& index = indices[level];
    constexpr std::int64_t kLimit = 1'000'000'000;
    const std::optional<std::int64_t> low = integer(index.low, "the start of a range", -kLimit, kLimit);
    const std::optional<std::int64_t> high = integer(index.high, "the end of a range", -kLimit, kLimit);
    if (!low || !high) return false;
    const SourceRange range{this->where(index.low).begin, this->where(index.high).end};
    if (*high < *low - 1) {  // low..low-1 is the empty range of a formula whose limit is a const
        report(DiagnosticKind::empty_range, range,
               fmt::format("the range {}..{} runs backwards", *low, *high))
            .mend(range, fmt::format("{}..{}", *high, *low));
        return false;
    }
    if (*high - *low >= kMaxTerms) {
        report(DiagnosticKind::too_many_terms, range,
               fmt::format("this has {} terms; a range has {} at most, for each is written out",
                           *high - *low + 1, kMaxTerms));
        return false;
    }
    locals_.push_back({index.name.text, Value(), -1});
    const std::size_t slot = locals_.size() - 1;
    bool valid = true;
    for (std::int64_t i = *low; i <= *high && valid; ++i) {
        if (!arithmetic_.spend(1, where)) valid = false;
        locals_[slot].value = Value::of(Rational(i));
        valid = valid && repeat_level(indices, level + 1, where, terms, body);
    }
    locals_.resize(slot);
    return valid;
}

bool Evaluator::repeat(const std::vector<syntax::RangeIndex>& indices, SourceRange where,
                       const std::function<bool()>& body) {
    std::int64_t terms = 0;
    return check_indices(indices) && repeat_level(indices, 0, where, terms, body);
}

// Calls body(term) for each index of a range, or for each name: until one is false.
bool Evaluator::for_each_term(const syntax::Fold& node, SourceRange where,
                              const std::function<bool(syntax::ExprId)>& body) {
    if (node.terms.empty()) return repeat(node.indices, where, [&] { return body(node.body); });
    return std::ranges::all_of(node.terms, body);
}

std::vector<LoopIndex> Evaluator::loop_indices() const {
    std::vector<LoopIndex> result;
    for (const Local& local : locals_)
        result.push_back({local.name, *local.value.number.as_int64()});
    return result;
}

void Evaluator::set_loop_indices(const std::vector<LoopIndex>& indices) {
    locals_.clear();
    for (const LoopIndex& index : indices)
        locals_.push_back({index.name, Value::of(Rational(index.value))});
}

// [body for i in a..b]: a vector of as many parts as the range has.
Value Evaluator::comprehension(const syntax::Fold& node, SourceRange where) {
    std::vector<Value> parts;
    const bool valid = for_each_term(node, where, [&](syntax::ExprId term) {
        parts.push_back(quantity(term));
        return !parts.back().is_poison();
    });
    if (!valid) return Value();
    if (!parts.empty()) return Value::vector_of(std::move(parts));
    report(DiagnosticKind::empty_range, where, "a vector has one component at least");
    return Value();
}

Value Evaluator::fold(const syntax::Fold& node, SourceRange where) {
    const BinaryOp op = node.kind == syntax::FoldKind::sum    ? BinaryOp::add
                        : node.kind == syntax::FoldKind::prod ? BinaryOp::mul
                        : node.kind == syntax::FoldKind::min  ? BinaryOp::min
                                                              : BinaryOp::max;
    if (node.kind == syntax::FoldKind::list) return comprehension(node, where);
    std::optional<Value> result;
    const bool valid = for_each_term(node, where, [&](syntax::ExprId body) {
        const Value term = quantity(body);
        result = result ? algebra_.binary(op, *result, term, where) : term;
        return !result->is_poison();
    });
    if (!valid) return Value();
    if (result) return *result;
    if (node.kind == syntax::FoldKind::sum) return Value::of(Rational(0));
    if (node.kind == syntax::FoldKind::prod) return Value::of(Rational(1));
    report(DiagnosticKind::empty_range, where,
           fmt::format("a {} over an empty range has no value", name_of(node.kind)));
    return Value();
}

}  // namespace halo::sema
