// What each expression promises: operands before their users, handles that name something, and types.
#include <algorithm>
#include <utility>

#include "compiler/ir/row_arithmetic.h"
#include "compiler/ir/verifier.h"

namespace halo::ir {

namespace {

std::size_t arity_of(Function function) {
    return function == Function::pow || function == Function::atan2 ? 2 : 1;
}

}  // namespace

void Verifier::check_expr(std::uint32_t i) {
    const Expr& expr = program_.exprs[i];
    bool in_order = true;
    for_each_operand(expr, [&](ExprId operand) { in_order = in_order && operand.index < i; });
    if (!in_order) return broken("expression {} comes before its operand", i);
    std::visit([&](const auto& node) { check_node(i, expr.type, node); }, expr.node);
}

void Verifier::expect(std::uint32_t i, bool holds, const char* promise) {
    if (!holds) broken("expression {}: {}", i, promise);
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Constant& node) {
    expect(i, type != Scalar::boolean || node.value == Rational(0) || node.value == Rational(1),
           "a boolean constant is 0 or 1");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const ParamRef& node) {
    expect(i, node.param.index < program_.params.size(), "there is no such param");
    expect(i, type == Scalar::f64, "a param is f64");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const CoefElement& node) {
    if (node.coef.index >= program_.coefs.size()) return broken("expression {}: there is no such coef", i);
    const Coef& coef = program_[node.coef];
    expect(i, node.element >= 0 && std::cmp_less(node.element, coef.defaults.size()),
           "there is no such element of the coef");
    expect(i, type == coef.type, "a coef's element has the coef's type");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Access& node) {
    if (node.field.index < program_.fields.size() &&
        program_[node.field].grid.offset(node.offset) != node.offset)
        broken("{} is read along an axis that it has not", program_[node.field].name);
    if (node.field.index >= program_.fields.size()) return broken("expression {}: there is no such field", i);
    const Field& field = program_[node.field];
    for (const AxisMap& along : node.map)
        expect(i, along.times >= 1 && along.over >= 1 && (along.times == 1 || along.over == 1),
               "a map to another grid is to a finer or to a coarser one");
    expect(i, type == field.type, "an access has the field's type");
    expect(i, node.time <= 1 && node.time >= -field.history, "a read outside the levels that are kept");
    expect(i, node.time != 1 || field.role == Role::state, "only a state has a level t+1");
    for (std::size_t axis = program_.axes.size(); axis < kMaxRank; ++axis)
        expect(i, node.offset[axis] == 0, "an offset along an axis that is not there");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Coordinate& node) {
    expect(i, node.axis >= 0 && node.axis < program_.rank(), "a coordinate of an axis that is not there");
    expect(i, is_real(type) || (is_integer(type) && node.kind == CoordinateKind::index),
           "a coordinate is a real number, or an index");
    if (node.kind == CoordinateKind::step)
        expect(i, type == Scalar::f64 && node.axis == 0, "the step is f64 and has no axis");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Unary& node) {
    const Scalar operand = type_of(node.operand);
    switch (node.op) {
        case UnaryOp::negate:
            return expect(i, is_number(type) && operand == type, "negation keeps a number's type");
        case UnaryOp::logical_not:
            return expect(i, type == Scalar::boolean && operand == type, "not takes and gives a boolean");
        case UnaryOp::convert:
            return expect(i, operand != type, "a conversion changes the type");
    }
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Binary& node) {
    const Scalar left = type_of(node.left);
    expect(i, left == type_of(node.right), "operands of one type");
    expect(i, is_logical(node.op) == (left == Scalar::boolean), "numbers for arithmetic, booleans for logic");
    const bool floors = node.op == BinaryOp::floor_div || node.op == BinaryOp::floor_mod;
    expect(i, !floors || is_integer(left), "floor_div and floor_mod are of integers");
    expect(i, node.op != BinaryOp::div || is_real(left), "div is of reals");
    const bool boolean_result = is_logical(node.op) || is_comparison(node.op);
    expect(i, type == (boolean_result ? Scalar::boolean : left),
           "the result's type is the operands' or boolean");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Fma& node) {
    expect(i, is_real(type) && type_of(node.a) == type && type_of(node.b) == type && type_of(node.c) == type,
           "fma has operands and result of one floating type");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Select& node) {
    expect(i, type_of(node.condition) == Scalar::boolean, "a condition is boolean");
    expect(i, type_of(node.then) == type && type_of(node.otherwise) == type,
           "both branches have the result's type");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Call& node) {
    expect(i, node.arguments.size() == arity_of(node.function), "a function has the arguments it takes");
    expect(i, is_real(type) || (is_integer(type) && node.function == Function::abs),
           "a function gives a real number");
    for (ExprId argument : node.arguments)
        expect(i, type_of(argument) == type, "a function's arguments have its result's type");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const TableSum& node) {
    expect(i, node.table.index < program_.tables.size(), "there is no such table");
    expect(i, is_real(type) && type_of(node.value) == type && (!node.factor || type_of(*node.factor) == type),
           "a sum has the type of what it adds");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const TableColumn& node) {
    if (node.table.index >= program_.tables.size()) return broken("expression {}: there is no such table", i);
    const Table& table = program_[node.table];
    if (node.column < 0 || std::cmp_greater_equal(node.column, table.columns.size()))
        return broken("expression {}: table {} has no column {}", i, table.name, node.column);
    expect(i, type == table.columns[node.column].type, "a column is read in its type");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const SeriesValue& node) {
    expect(i, node.series.index < program_.tables.size() && program_[node.series].is_series,
           "there is no such series");
    expect(i, type == Scalar::f64 && type_of(node.at) == Scalar::f64, "a series is f64, read at an f64");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const ReductionRef& node) {
    const auto count =
        std::count_if(program_.statements.begin(), program_.statements.end(),
                      [](const Statement& statement) { return std::holds_alternative<Reduce>(statement); });
    expect(i, std::cmp_less(node.reduction.index, count), "there is no such reduction");
    expect(i, type == Scalar::f64, "a reduction is f64");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const Noise& node) {
    expect(i, is_real(type), "noise is a number");
    expect(i, node.stream >= 0, "a stream's number is not negative");
}

void Verifier::check_node(std::uint32_t i, Scalar type, const PointColumn& node) {
    if (node.points.index >= program_.points.size())
        return broken("expression {}: there are no such points", i);
    const Points& points = program_[node.points];
    const std::size_t count = points.columns.size() + points.traces.size();
    expect(i, node.column >= 0 && std::cmp_less(node.column, count), "points have no such column");
    expect(i, is_real(type), "a point's number is a real number");
}

}  // namespace halo::ir
