// Expressions moved by an offset, and expressions that are known before launch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/grids.h"
#include "compiler/ir/row_arithmetic.h"
#include "compiler/sema/arithmetic.h"

namespace halo::sema {

using ir::BinaryOp;
using ir::ExprId;
using ir::Function;
using ir::Scalar;

void map_operands(ir::Expr& expr, const std::function<ExprId(ExprId)>& map) {
    if (ir::Unary* unary = std::get_if<ir::Unary>(&expr.node)) {
        unary->operand = map(unary->operand);
    } else if (ir::Binary* binary = std::get_if<ir::Binary>(&expr.node)) {
        binary->left = map(binary->left);
        binary->right = map(binary->right);
    } else if (ir::Fma* fma = std::get_if<ir::Fma>(&expr.node)) {
        fma->a = map(fma->a);
        fma->b = map(fma->b);
        fma->c = map(fma->c);
    } else if (ir::Select* select = std::get_if<ir::Select>(&expr.node)) {
        select->condition = map(select->condition);
        select->then = map(select->then);
        select->otherwise = map(select->otherwise);
    } else if (ir::Call* call = std::get_if<ir::Call>(&expr.node)) {
        for (ExprId& argument : call->arguments)
            argument = map(argument);
    } else if (ir::TableSum* sum = std::get_if<ir::TableSum>(&expr.node)) {
        sum->value = map(sum->value);
        if (sum->factor) sum->factor = map(*sum->factor);
    } else if (ir::SeriesValue* series = std::get_if<ir::SeriesValue>(&expr.node)) {
        series->at = map(series->at);
    }
}

std::optional<ExprId> Arithmetic::shift_access(const ir::Access& access, Scalar type,
                                               const ir::Offset& offset, const ir::GridMap& map,
                                               SourceRange where, const Accept& accept) {
    if (const auto number = move_table_(access, offset, where)) return number;
    ir::Access moved = access;
    for (std::size_t axis = 0; axis < map.size(); ++axis) {
        if (!program_[access.field].grid.has(static_cast<int>(axis))) continue;
        const auto place = ir::composed({access.map[axis], access.offset[axis]}, {map[axis], offset[axis]});
        if (!place) {
            sink_
                .report(
                    DiagnosticKind::other_grid, where,
                    fmt::format("this reads cells of `{}` by a coarser cell around them: it is known on that "
                                "coarser grid alone",
                                program_[access.field].name))
                .note("`let name on coarse(…) = …` computes it there, and is read from here");
            return std::nullopt;
        }
        moved.map[axis] = place->map;
        moved.offset[axis] = place->offset;
    }
    if (!accept(moved, where)) return std::nullopt;
    return add(type, moved, where);
}

// An access reads another cell; a coordinate is that of the other cell, also past an edge. nullopt: not
// accepted.
std::optional<ExprId> Arithmetic::shift_leaf(const ir::Expr& expr, const ir::Offset& offset,
                                             const ir::GridMap& map, SourceRange where,
                                             const Accept& accept) {
    if (const ir::Access* access = std::get_if<ir::Access>(&expr.node))
        return shift_access(*access, expr.type, offset, map, where, accept);
    if (const ir::Noise* noise = std::get_if<ir::Noise>(&expr.node)) {
        const char* const name = noise->kind == ir::NoiseKind::uniform ? "random" : "normal";
        sink_
            .report(
                DiagnosticKind::invalid_offset, where,
                fmt::format("`{}()` is read at a neighbour here, and has a value at the cell alone", name))
            .note(fmt::format("`let noise {{ boundary … }} = {}()` gives it one at every cell", name));
        return std::nullopt;
    }
    const ir::Coordinate coordinate = std::get<ir::Coordinate>(expr.node);
    if (map[coordinate.axis] != ir::AxisMap{}) {
        sink_
            .report(DiagnosticKind::other_grid, where,
                    "this reads cells of another grid, and what is read is made of the places of this one's")
            .note("read the fields at the other grid's cells, and compute with them here");
        return std::nullopt;
    }
    const Scalar type = expr.type;
    const Value here = leaf(type, coordinate, false, where);
    Value distance = Value::of(Rational(offset[coordinate.axis]));
    if (coordinate.kind == ir::CoordinateKind::position) {
        const ExprId spacing = program_.axes[coordinate.axis].spacing;
        const ir::Constant* known = std::get_if<ir::Constant>(&program_[spacing].node);
        const Value width = known ? Value::of(known->value) : Value::of(spacing, Scalar::f64, true);
        distance = generated(BinaryOp::mul, distance, width, where);
    }
    const Value moved = generated(BinaryOp::add, here, distance, where);
    return moved.is_poison() ? here.id : moved.id;  // poison only once the program is too large
}

Value Arithmetic::shift(const Value& value, const ir::Offset& offset, SourceRange where, const Accept& accept,
                        const ir::GridMap& map) {
    if (value.is_uniform() || (offset == ir::Offset{} && map == ir::GridMap{})) return value;
    std::unordered_map<std::uint32_t, ExprId>& done = shifted_[{offset, map}];
    std::vector<ExprId> pending{value.id};  // an explicit stack: sums of many terms are deep
    while (!pending.empty()) {
        const ExprId id = pending.back();
        if (done.contains(id.index)) {
            pending.pop_back();
            continue;
        }
        ir::Expr expr = program_[id];  // a copy: the arena grows below
        if (is_uniform_[id.index] || std::holds_alternative<ir::CoefElement>(expr.node) ||
            std::holds_alternative<ir::TableColumn>(expr.node)) {
            done.emplace(id.index, id);
            pending.pop_back();
            continue;
        }
        if (std::holds_alternative<ir::Access>(expr.node) ||
            std::holds_alternative<ir::Coordinate>(expr.node) ||
            std::holds_alternative<ir::Noise>(expr.node)) {
            const std::optional<ExprId> moved = shift_leaf(expr, offset, map, where, accept);
            if (!moved) return Value();
            done.emplace(id.index, *moved);
            pending.pop_back();
            continue;
        }
        const std::size_t waiting = pending.size();
        ir::for_each_operand(expr, [&](ExprId operand) {
            if (!done.contains(operand.index)) pending.push_back(operand);
        });
        if (pending.size() > waiting) continue;
        if (!spend(1, where)) return Value();
        map_operands(expr, [&](ExprId operand) { return done.at(operand.index); });
        done.emplace(id.index, add(expr.type, std::move(expr.node), where));
        pending.pop_back();
    }
    return Value::of(done.at(value.id.index), value.type, false, value.position);
}

namespace {

// One node whose operands are known; nullopt where it depends on the launch.
class KnownNode {
public:
    KnownNode(Scalar type, const std::unordered_map<std::uint32_t, double>& known)
        : type_(type), known_(known) {}
    std::optional<double> operator()(const ir::Constant& node) const { return node.value.to_double(); }
    std::optional<double> operator()(const ir::Unary& node) const {
        const double operand = at(node.operand);
        if (node.op == ir::UnaryOp::negate) return -operand;
        if (node.op == ir::UnaryOp::logical_not) return operand == 0 ? 1.0 : 0.0;
        return type_ == Scalar::f32 ? static_cast<double>(static_cast<float>(operand)) : operand;
    }
    std::optional<double> operator()(const ir::Binary& node) const {
        return ir::apply(node.op, at(node.left), at(node.right));
    }
    std::optional<double> operator()(const ir::Fma& node) const {
        return std::fma(at(node.a), at(node.b), at(node.c));
    }
    std::optional<double> operator()(const ir::Select& node) const {
        return at(node.condition) != 0 ? at(node.then) : at(node.otherwise);
    }
    std::optional<double> operator()(const ir::Call& node) const {
        return ir::apply(node.function, at(node.arguments[0]),
                         node.arguments.size() > 1 ? at(node.arguments[1]) : 0.0);
    }
    std::optional<double> operator()(const ir::ParamRef&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::CoefElement&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::Access&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::Coordinate&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::ReductionRef&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::TableSum&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::TableColumn&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::SeriesValue&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::Noise&) const { return std::nullopt; }
    std::optional<double> operator()(const ir::PointColumn&) const { return std::nullopt; }

private:
    double at(ExprId id) const { return known_.at(id.index); }
    Scalar type_;
    const std::unordered_map<std::uint32_t, double>& known_;
};

}  // namespace

std::optional<double> Arithmetic::known(const Value& value) const {
    if (value.is_number()) return value.number.to_double();
    if (!value.is_expr()) return std::nullopt;
    std::unordered_map<std::uint32_t, double> known;
    std::vector<ExprId> pending{value.id};
    while (!pending.empty()) {
        const ExprId id = pending.back();
        const ir::Expr& expr = program_[id];
        const std::size_t waiting = pending.size();
        ir::for_each_operand(expr, [&](ExprId operand) {
            if (!known.contains(operand.index)) pending.push_back(operand);
        });
        if (pending.size() > waiting) continue;
        pending.pop_back();
        const std::optional<double> result = std::visit(KnownNode(expr.type, known), expr.node);
        if (!result) return std::nullopt;
        known.emplace(id.index, *result);
    }
    return known.at(value.id.index);
}

}  // namespace halo::sema
