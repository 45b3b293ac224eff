#include "compiler/ir/program.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/work.h"

namespace halo::ir {

namespace {

bool same_node(const Constant& a, const Constant& b) {
    return a.value == b.value;
}
bool same_node(const ParamRef& a, const ParamRef& b) {
    return a.param == b.param;
}
bool same_node(const CoefElement& a, const CoefElement& b) {
    return a.coef == b.coef && a.element == b.element;
}
bool same_node(const Access& a, const Access& b) {
    return a.field == b.field && a.time == b.time && a.offset == b.offset && a.map == b.map;
}
bool same_node(const Coordinate& a, const Coordinate& b) {
    return a.kind == b.kind && a.axis == b.axis;
}
bool same_node(const Unary& a, const Unary& b) {
    return a.op == b.op && a.operand == b.operand;
}
bool same_node(const Binary& a, const Binary& b) {
    return a.op == b.op && a.left == b.left && a.right == b.right;
}
bool same_node(const Fma& a, const Fma& b) {
    return a.a == b.a && a.b == b.b && a.c == b.c;
}
bool same_node(const Select& a, const Select& b) {
    return a.condition == b.condition && a.then == b.then && a.otherwise == b.otherwise;
}
bool same_node(const Call& a, const Call& b) {
    return a.function == b.function && a.arguments == b.arguments && a.fast == b.fast;
}
bool same_node(const ReductionRef& a, const ReductionRef& b) {
    return a.reduction == b.reduction;
}
bool same_node(const TableSum& a, const TableSum& b) {
    return a.table == b.table && a.value == b.value && a.factor == b.factor;
}
bool same_node(const TableColumn& a, const TableColumn& b) {
    return a.table == b.table && a.column == b.column;
}
bool same_node(const SeriesValue& a, const SeriesValue& b) {
    return a.series == b.series && a.at == b.at;
}
bool same_node(const Noise& a, const Noise& b) {
    return a.kind == b.kind && a.stream == b.stream;
}
bool same_node(const PointColumn& a, const PointColumn& b) {
    return a.points == b.points && a.column == b.column;
}

// Equal up to `where`: the same value, wherever it was written.
bool same_expr(const Expr& a, const Expr& b) {
    if (a.type != b.type || a.node.index() != b.node.index()) return false;
    return std::visit(
        [&](const auto& node) { return same_node(node, std::get<std::decay_t<decltype(node)>>(b.node)); },
        a.node);
}

class Hasher {
public:
    void mix(std::uint64_t value) {
        state_ ^= value + 0x9e3779b97f4a7c15ULL + (state_ << 6) + (state_ >> 2);
        state_ *= 0xff51afd7ed558ccdULL;
    }
    void mix_int(int value) { mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(value))); }
    template <class Enum>
    void mix_enum(Enum value) {
        mix(static_cast<std::uint64_t>(value));
    }
    std::uint64_t state() const { return state_; }

    void operator()(const Constant& node) { mix(std::hash<double>{}(node.value.to_double())); }
    void operator()(const ParamRef& node) { mix(node.param.index); }
    void operator()(const CoefElement& node) {
        mix(node.coef.index);
        mix_int(node.element);
    }
    void operator()(const Access& node) {
        mix(node.field.index);
        mix_int(node.time);
        for (int offset : node.offset)
            mix_int(offset);
        for (const AxisMap& along : node.map) {
            mix_int(along.times);
            mix_int(along.over);
        }
    }
    void operator()(const Coordinate& node) {
        mix_enum(node.kind);
        mix_int(node.axis);
    }
    void operator()(const Unary& node) { mix_enum(node.op); }
    void operator()(const Binary& node) { mix_enum(node.op); }
    void operator()(const Fma&) {}
    void operator()(const Select&) {}
    void operator()(const Call& node) {
        mix_enum(node.function);
        mix(node.fast);
    }
    void operator()(const ReductionRef& node) { mix(node.reduction.index); }
    void operator()(const SeriesValue& node) { mix(node.series.index); }
    void operator()(const TableSum& node) {
        mix(node.table.index);
        mix(node.factor.has_value());
    }
    void operator()(const TableColumn& node) {
        mix(node.table.index);
        mix_int(node.column);
    }
    void operator()(const Noise& node) {
        mix_enum(node.kind);
        mix_int(node.stream);
    }
    void operator()(const PointColumn& node) {
        mix(node.points.index);
        mix_int(node.column);
    }

private:
    std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

std::uint64_t hash_expr(const Expr& expr) {
    Hasher hasher;
    hasher.mix(expr.node.index());
    hasher.mix_enum(expr.type);
    std::visit([&](const auto& node) { hasher(node); }, expr.node);
    for_each_operand(expr, [&](ExprId operand) { hasher.mix(operand.index); });
    return hasher.state();
}

bool gives_boolean(BinaryOp op) {
    return op >= BinaryOp::less;
}

void require_same_type(const Program& program, ExprId a, ExprId b) {
    if (program[a].type != program[b].type) throw InternalError("operands of different types");
}

}  // namespace

Storage natural_storage(Scalar type) {
    switch (type) {
        case Scalar::boolean:
            return Storage::boolean;
        case Scalar::i32:
            return Storage::i32;
        case Scalar::i64:
            return Storage::i64;
        case Scalar::f32:
            return Storage::f32;
        case Scalar::f64:
            return Storage::f64;
    }
    return Storage::f64;
}

Interleave interleave(const Program& program, FieldId field) {
    for (const Group& group : program.groups) {
        if (!group.interleaved) continue;
        const std::uint32_t first = group.fields.front().index;
        if (field.index >= first && field.index - first < group.fields.size())
            return {&group, static_cast<int>(field.index - first)};
    }
    return {};
}

Scalar compute_type(const Program& program) {
    const auto any = [&](auto holds) {
        return std::any_of(program.fields.begin(), program.fields.end(), holds);
    };
    if (any([](const Field& field) { return field.type == Scalar::f64; })) return Scalar::f64;
    if (any([](const Field& field) { return field.type == Scalar::f32; })) return Scalar::f32;
    const bool wide = any(
        [](const Field& field) { return field.storage == Storage::i32 || field.storage == Storage::i64; });
    return wide ? Scalar::f64 : Scalar::f32;
}

struct ExprBuilder::Index {
    std::unordered_multimap<std::uint64_t, ExprId> by_hash;
};

ExprBuilder::ExprBuilder(Program& program) : program_(program), index_(std::make_unique<Index>()) {
    for (std::uint32_t i = 0; i < program.exprs.size(); ++i)
        index_->by_hash.emplace(hash_expr(program.exprs[i]), ExprId{i});
}

ExprBuilder::~ExprBuilder() = default;

ExprId ExprBuilder::add(Expr expr) {
    Work::count();
    for_each_operand(expr, [&](ExprId operand) {
        if (operand.index >= program_.exprs.size()) throw InternalError("operand is not in the arena");
    });
    const std::uint64_t hash = hash_expr(expr);
    const auto [first, last] = index_->by_hash.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (same_expr(program_[it->second], expr)) return it->second;
    const ExprId id{static_cast<std::uint32_t>(program_.exprs.size())};
    program_.exprs.push_back(std::move(expr));
    index_->by_hash.emplace(hash, id);
    return id;
}

ExprId ExprBuilder::constant(Rational value, Scalar type) {
    return add({type, Constant{std::move(value)}, {}});
}

ExprId ExprBuilder::param(ParamId param) {
    return add({Scalar::f64, ParamRef{param}, {}});
}

ExprId ExprBuilder::access(FieldId field, int time, const Offset& offset, const GridMap& map) {
    return add({program_[field].type, Access{field, time, offset, map}, {}});
}

ExprId ExprBuilder::unary(UnaryOp op, ExprId operand) {
    if (op == UnaryOp::convert) throw InternalError("a conversion needs its type: use convert()");
    return add({program_[operand].type, Unary{op, operand}, {}});
}

ExprId ExprBuilder::convert(ExprId operand, Scalar type) {
    if (program_[operand].type == type) return operand;
    return add({type, Unary{UnaryOp::convert, operand}, {}});
}

ExprId ExprBuilder::binary(BinaryOp op, ExprId left, ExprId right) {
    require_same_type(program_, left, right);
    const Scalar type = gives_boolean(op) ? Scalar::boolean : program_[left].type;
    return add({type, Binary{op, left, right}, {}});
}

ExprId ExprBuilder::fma(ExprId a, ExprId b, ExprId c) {
    require_same_type(program_, a, b);
    require_same_type(program_, a, c);
    return add({program_[a].type, Fma{a, b, c}, {}});
}

ExprId ExprBuilder::select(ExprId condition, ExprId then, ExprId otherwise) {
    require_same_type(program_, then, otherwise);
    return add({program_[then].type, Select{condition, then, otherwise}, {}});
}

ExprId ExprBuilder::call(Function function, std::vector<ExprId> arguments) {
    if (arguments.empty()) throw InternalError("a call without arguments");
    for (ExprId argument : arguments)
        require_same_type(program_, arguments.front(), argument);
    const Scalar type = program_[arguments.front()].type;
    return add({type, Call{function, std::move(arguments)}, {}});
}

std::vector<std::string> axis_names(const Program& program) {
    std::vector<std::string> names;
    for (const Axis& axis : program.axes)
        names.push_back(axis.name);
    return names;
}

}  // namespace halo::ir
