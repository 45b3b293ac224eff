// Reductions: what is added or compared over the cells, and the means of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "compiler/sema/evaluator.h"
#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

namespace {

const std::array<std::string_view, 6> kReductions{"sum", "min", "max", "mean", "norm1", "norm2"};

ir::ReduceOp reduction_op(std::string_view word) {
    if (word == "min") return ir::ReduceOp::min;
    if (word == "max") return ir::ReduceOp::max;
    return ir::ReduceOp::sum;
}

}  // namespace

void StencilAnalyzer::read_reduction(const syntax::ReduceDecl& reduce) {
    ir::Reduce made;
    made.name = reduce.name.text;
    made.where = reduce.where;
    if (reduce.unit) made.unit = reduce.unit->text;
    const std::string& operation = reduce.operation.text;
    const bool is_mean = operation == "mean", is_norm1 = operation == "norm1",
               is_norm2 = operation == "norm2";
    made.op = reduction_op(operation);
    made.square_root = is_norm2;
    if (std::ranges::find(kReductions, operation) == kReductions.end() && !operation.empty()) {
        Diagnostic* diagnostic = evaluator_.report_unknown(
            DiagnosticKind::unknown_reduction, operation, reduce.operation.where,
            fmt::format("there is no reduction `{}`; there are {}", operation, fmt::join(kReductions, ", ")),
            {kReductions.begin(), kReductions.end()});
        if (diagnostic && (operation == "avg" || operation == "average"))
            diagnostic->mend(reduce.operation.where, "mean");
    }
    evaluator_.set_wanted(evaluator_.own_place(reduce.value));
    const Halves place = evaluator_.wanted();
    evaluator_.set_grid(evaluator_.coarseness(reduce.coarse));
    made.factor = evaluator_.grid();
    if (reduce.start)
        made.initial =
            evaluator_.known(*reduce.start, fmt::format("the start of `{}`", made.name)).value_or(0);
    Value value = evaluator_.number(reduce.value);
    const std::optional<Cells> cells = guards_.cells_of(reduce.guards, place);
    if (const Symbol* symbol = symbols_.find(made.name)) evaluator_.define_reduction(*symbol);
    const bool is_known = !value.is_poison() && cells;
    if (!is_known || !evaluator_.check_grid(value, made.factor, evaluator_.where(reduce.value))) {
        has_poison_ = true;
        return;
    }
    made.region = cells->region;
    made.condition = cells->condition;
    if (is_mean && made.condition) {
        has_poison_ = true;
        sink_
            .report(DiagnosticKind::not_built_yet, reduce.operation.where,
                    "the mean of cells that a `where` chooses is not built yet")
            .note("divide two sums of these cells: `sum(…) where …` of the values, and of 1");
        return;
    }
    const SourceRange where = evaluator_.where(reduce.value);
    Arithmetic& arithmetic = evaluator_.arithmetic();
    // Squares are taken in f64, as their sum is, so that a norm does not overflow before its root.
    if (is_norm2 || is_mean || value.is_uniform()) value = arithmetic.convert(value, ir::Scalar::f64, where);
    if (is_norm2) value = arithmetic.binary(ir::BinaryOp::mul, value, value, where);
    if (is_norm1) value = arithmetic.call(ir::Function::abs, {value}, where);
    if (value.is_poison()) return;
    made.value = arithmetic.as(value, value.is_expr() ? value.type : ir::Scalar::f64, where);
    if (is_mean) means_.emplace_back(program_.statements.size(), value);
    program_.statements.emplace_back(std::move(made));
    computes_ = true;
}

Value StencilAnalyzer::cells_along(const ir::Reduce& reduce, int axis) {
    Arithmetic& arithmetic = evaluator_.arithmetic();
    const auto a = static_cast<std::size_t>(axis);
    const Value length = evaluator_.length(axis, reduce.where);
    const auto place = [&](std::int64_t cells, bool from_high) {
        const Value number = Value::of(Rational(cells));
        return from_high ? arithmetic.generated(ir::BinaryOp::add, length, number, reduce.where) : number;
    };
    const ir::Region::Range& range = reduce.region.ranges[a];
    const auto& margins = reduce.margins[a];
    // From the later begin to the earlier end; none where they cross.
    const Value begin = arithmetic.binary(ir::BinaryOp::max, place(range.begin.offset, range.begin.from_high),
                                          place(margins[0], false), reduce.where);
    const Value end = arithmetic.binary(ir::BinaryOp::min, place(range.end.offset, range.end.from_high),
                                        place(-margins[1], true), reduce.where);
    const Value cells = arithmetic.binary(ir::BinaryOp::sub, end, begin, reduce.where);
    return arithmetic.binary(ir::BinaryOp::max, cells, Value::of(Rational(0)), reduce.where);
}

void StencilAnalyzer::divide_means() {
    Arithmetic& arithmetic = evaluator_.arithmetic();
    for (const auto& [index, value] : means_) {
        auto& reduce = std::get<ir::Reduce>(program_.statements[index]);
        evaluator_.set_grid(reduce.factor);
        Value cells = Value::of(Rational(1));
        for (int axis = 0; axis < symbols_.rank(); ++axis)
            cells = arithmetic.generated(ir::BinaryOp::mul, cells, cells_along(reduce, axis), reduce.where);
        const Value share = arithmetic.binary(ir::BinaryOp::div, Value::of(Rational(1)), cells, reduce.where);
        const Value part = arithmetic.binary(ir::BinaryOp::mul, value, share, reduce.where);
        if (!part.is_poison()) reduce.value = arithmetic.as(part, ir::Scalar::f64, reduce.where);
    }
}

}  // namespace halo::sema
