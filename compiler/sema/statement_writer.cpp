#include "compiler/sema/statement_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/hidden_fields.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::FieldId;
using ir::Role;

Value StatementWriter::quotient(const Value& above, const Value& below) {
    return choose(is(BinaryOp::not_equal, below, number(0)), div(above, below), number(0));
}

Value StatementWriter::is_definite(const Value& curvature, const Value& by_diagonal) {
    const bool is_single = program_[equation_.unknown].type == ir::Scalar::f32;
    const Rational least = is_single ? Rational(1, 100'000'000) : Rational(1, 100'000'000'000'000);
    return is(BinaryOp::greater, quotient(curvature, by_diagonal), Value::of(least));
}

Value StatementWriter::magnitude(const Value& value) {
    if (value.is_number()) return value.number < Rational(0) ? Value::of(-value.number) : value;
    return choose(is(BinaryOp::less, value, number(0)), sub(number(0), value), value);
}

Value StatementWriter::read(FieldId field, const ir::Offset& offset, const ir::GridMap& map) {
    return arithmetic_.leaf(program_[field].type, ir::Access{field, time_of(field), offset, map}, false,
                            equation_.where);
}

FieldId StatementWriter::next_of(FieldId field) {
    return add_field_like(evaluator_, field, program_[field].name + ".later" + equation_.suffix,
                          Role::intermediate, true);
}

void StatementWriter::assign(FieldId field, const Value& value, std::optional<ir::LineSweep> sweep) {
    ir::Assign made;
    made.target = field;
    made.time = time_of(field);
    made.value = arithmetic_.as(value, program_[field].type, equation_.where);
    made.sweep = sweep;
    if (repeat_) made.repeats = {*repeat_};
    made.where = equation_.where;
    program_.statements.emplace_back(made);
}

void StatementWriter::end_repeat(const Value& rest, const Value& size) {
    const Value until = is(BinaryOp::less_equal, rest, mul(equation_.tolerance, size));
    ir::RepeatEnd end;
    end.repeat = repeat_->number;
    end.until = arithmetic_.as(until, ir::Scalar::boolean, equation_.where);
    end.text = fmt::format("the residual of {} is within its tolerance", program_[equation_.unknown].name);
    end.where = equation_.where;
    program_.repeat_ends.push_back(std::move(end));
    repeat_.reset();
}

std::vector<ExchangedFields> StatementWriter::end_iteration(const std::vector<ExchangedFields>& fields) {
    for (const auto& [field, next] : fields)
        assign(field, read(next));
    return fields;
}

StatementWriter::Beginning StatementWriter::begin() {
    const Value size = size_of_right();
    begin_unknown(size);
    const FieldId residual = output("residual");
    assign(residual, sub(equation_.right, equation_.apply(equation_.unknown, equation_.time)));
    return {size, residual};
}

Value StatementWriter::size_of_right() {
    Value right = equation_.right;
    if (equation_.has_given_values) right = sub(right, of_boundary());
    return norm_of("size", right);
}

Value StatementWriter::of_boundary() {
    const FieldId zero = let_with_boundary("zero");
    assign(zero, number(0));
    return equation_.apply(zero, 0);
}

void StatementWriter::begin_unknown(const Value& size) {
    const FieldId unknown = equation_.unknown;
    if (equation_.time == 0 && !equation_.is_written) return assign(unknown, number(0));
    const Value before =
        equation_.is_written
            ? read(unknown)
            : arithmetic_.leaf(program_[unknown].type, ir::Access{unknown, 0, {}}, false, equation_.where);
    assign(unknown, choose(is(BinaryOp::greater, size, number(0)), before, number(0)));
}

std::string StatementWriter::full_name(const std::string& name) const {
    return fmt::format("{}.{}{}", program_[equation_.unknown].name, name, equation_.suffix);
}

FieldId StatementWriter::add_field(const std::string& name, Role role, bool with_boundary) {
    return add_field_like(evaluator_, equation_.unknown, full_name(name), role, with_boundary);
}

Value StatementWriter::reduce(const std::string& name, const Value& value, bool is_norm) {
    const auto index = std::ranges::count_if(program_.statements, [](const ir::Statement& each) {
        return std::holds_alternative<ir::Reduce>(each);
    });
    ir::Reduce made;
    made.name = full_name(name);
    made.square_root = is_norm;
    made.value = arithmetic_.as(value, ir::Scalar::f64, equation_.where);
    if (repeat_) made.repeats = {*repeat_};
    made.where = equation_.where;
    program_.statements.emplace_back(std::move(made));
    return arithmetic_.leaf(ir::Scalar::f64, ir::ReductionRef{{static_cast<std::uint32_t>(index)}}, true,
                            equation_.where);
}

}  // namespace halo::sema
