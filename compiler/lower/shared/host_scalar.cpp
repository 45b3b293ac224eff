#include "compiler/lower/shared/host_scalar.h"

#include <algorithm>
#include <cstdint>

#include "compiler/ir/analysis.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

using Op = rt::HostScalar::Op;

Op operation(ir::BinaryOp op) {
    switch (op) {
        case ir::BinaryOp::add:
            return Op::add;
        case ir::BinaryOp::sub:
            return Op::sub;
        case ir::BinaryOp::mul:
            return Op::mul;
        case ir::BinaryOp::div:
            return Op::div;
        case ir::BinaryOp::min:
            return Op::min;
        case ir::BinaryOp::max:
            return Op::max;
        case ir::BinaryOp::floor_div:
            return Op::floor_div;
        case ir::BinaryOp::floor_mod:
            return Op::floor_mod;
        case ir::BinaryOp::less:
            return Op::less;
        case ir::BinaryOp::less_equal:
            return Op::less_equal;
        case ir::BinaryOp::greater:
            return Op::greater;
        case ir::BinaryOp::greater_equal:
            return Op::greater_equal;
        case ir::BinaryOp::equal:
            return Op::equal;
        case ir::BinaryOp::not_equal:
            return Op::not_equal;
        case ir::BinaryOp::logical_and:
            return Op::logical_and;
        case ir::BinaryOp::logical_or:
            return Op::logical_or;
    }
    throw InternalError("unknown binary operation");
}

Op operation(ir::Function function) {
    switch (function) {
        case ir::Function::sqrt:
            return Op::sqrt;
        case ir::Function::rsqrt:
            return Op::rsqrt;
        case ir::Function::cbrt:
            return Op::cbrt;
        case ir::Function::exp:
            return Op::exp;
        case ir::Function::log:
            return Op::log;
        case ir::Function::sin:
            return Op::sin;
        case ir::Function::cos:
            return Op::cos;
        case ir::Function::tan:
            return Op::tan;
        case ir::Function::asin:
            return Op::asin;
        case ir::Function::acos:
            return Op::acos;
        case ir::Function::atan:
            return Op::atan;
        case ir::Function::sinh:
            return Op::sinh;
        case ir::Function::cosh:
            return Op::cosh;
        case ir::Function::tanh:
            return Op::tanh;
        case ir::Function::abs:
            return Op::abs;
        case ir::Function::floor:
            return Op::floor;
        case ir::Function::ceil:
            return Op::ceil;
        case ir::Function::pow:
            return Op::pow;
        case ir::Function::atan2:
            return Op::atan2;
        case ir::Function::round:
            return Op::round;
        case ir::Function::trunc:
            return Op::trunc;
        case ir::Function::erf:
            return Op::erf;
    }
    throw InternalError("unknown function");
}

class Translator {
public:
    // is_of_cell: the scalar's step is the index of the cell that it is for.
    Translator(const ir::Program& program, rt::HostScalar& scalar, bool is_of_cell = false)
        : program_(program), scalar_(scalar), is_of_cell_(is_of_cell) {}

    void translate(ir::ExprId id, bool is_root = true) {
        const ir::Expr& expr = program_[id];
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node);
            unary && unary->op == ir::UnaryOp::convert && !ir::is_real(expr.type))
            return to_whole(*unary, expr.type, is_root);
        ir::for_each_operand(expr, [&](ir::ExprId operand) { translate(operand, false); });
        std::visit([&](const auto& node) { append(expr, node); }, expr.node);
        // f32 nodes compute in double and round: exact for + - * / and sqrt.
        const bool is_leaf = std::holds_alternative<ir::Constant>(expr.node);
        if (expr.type == ir::Scalar::f32 && !is_leaf) push({Op::round_f32, 0, 0});
    }

private:
    // The whole scalar is not rounded here: its use rounds it to its type.
    void to_whole(const ir::Unary& unary, ir::Scalar type, bool is_root) {
        translate(unary.operand, false);
        if (type == ir::Scalar::boolean) {
            push({Op::constant, 0, 0});
            return push({Op::not_equal, 0, 0});
        }
        if (is_root) return;
        const bool narrow = type == ir::Scalar::i32;
        push({Op::round, 0, 0});
        push({Op::constant, narrow ? -2147483648.0 : -0x1p63, 0});
        push({Op::max, 0, 0});
        push({Op::constant, narrow ? 2147483647.0 : 0x1p63, 0});
        push({Op::min, 0, 0});
    }
    void push(rt::HostScalar::Step step) { scalar_.steps.push_back(step); }

    void append(const ir::Expr& expr, const ir::Constant& constant) {
        push({Op::constant,
              expr.type == ir::Scalar::f32 ? double{constant.value.to_float()} : constant.value.to_double(),
              0});
    }
    void append(const ir::Expr&, const ir::ParamRef& ref) {
        push({Op::param, 0, static_cast<int>(ref.param.index)});
    }
    void append(const ir::Expr&, const ir::Coordinate& coordinate) {
        if (coordinate.kind == ir::CoordinateKind::step ||
            (coordinate.kind == ir::CoordinateKind::index && is_of_cell_))
            return push({Op::step, 0, 0});
        if (coordinate.kind != ir::CoordinateKind::extent) throw InternalError("a position is not uniform");
        if (const auto& along = program_.window.axes[coordinate.axis])
            return push({Op::param, 0, static_cast<int>(along->length.index)});
        push({Op::extent, 0, coordinate.axis});
    }
    void append(const ir::Expr& expr, const ir::Unary& unary) {
        if (unary.op == ir::UnaryOp::negate) {
            push({Op::negate, 0, 0});
            wrap(expr);
        }
        if (unary.op == ir::UnaryOp::logical_not) push({Op::logical_not, 0, 0});
    }
    void append(const ir::Expr& expr, const ir::Binary& binary) {
        if (expr.type == ir::Scalar::i32 && binary.op == ir::BinaryOp::mul)
            return push({Op::mul_i32, 0, 0});  // as the product of two i32 may be inexact in double
        push({operation(binary.op), 0, 0});
        const bool grows = binary.op == ir::BinaryOp::add || binary.op == ir::BinaryOp::sub ||
                           binary.op == ir::BinaryOp::floor_div;
        if (grows) wrap(expr);
    }
    // i32 wraps around. Values of i64 are only those whole numbers that a double can represent.
    void wrap(const ir::Expr& expr) {
        if (expr.type == ir::Scalar::i32) push({Op::wrap_i32, 0, 0});
    }
    void append(const ir::Expr&, const ir::Fma&) { push({Op::fma, 0, 0}); }
    void append(const ir::Expr&, const ir::Select&) { push({Op::select, 0, 0}); }
    void append(const ir::Expr& expr, const ir::Call& call) {
        push({operation(call.function), 0, 0});
        wrap(expr);  // abs of the least i32
    }
    void append(const ir::Expr&, const ir::Access&) { throw InternalError("a field read is not uniform"); }
    void append(const ir::Expr&, const ir::ReductionRef& ref) {
        push({Op::reduction, 0, static_cast<int>(ref.reduction.index)});
    }
    void append(const ir::Expr&, const ir::SeriesValue& value) {
        push({Op::series, 0, static_cast<int>(value.series.index)});
    }
    void append(const ir::Expr&, const ir::TableSum&) {
        throw InternalError("a sum over a table is not uniform");
    }
    void append(const ir::Expr&, const ir::TableColumn&) { throw InternalError("a column is not uniform"); }
    void append(const ir::Expr&, const ir::Noise&) { throw InternalError("noise is not uniform"); }
    void append(const ir::Expr&, const ir::PointColumn&) {
        throw InternalError("a point's value is not uniform");
    }
    void append(const ir::Expr&, const ir::CoefElement&) { throw InternalError("a coef is not uniform"); }

    const ir::Program& program_;
    rt::HostScalar& scalar_;
    bool is_of_cell_;
};

bool is_one(const ir::Program& program, ir::ExprId id) {
    const auto* constant = std::get_if<ir::Constant>(&program[id].node);
    return constant && constant->value == Rational(1);
}

bool is_step(const ir::Expr& expr) {
    const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
    return coordinate && coordinate->kind == ir::CoordinateKind::step;
}

std::string reduction_name(const ir::Program& program, ir::ReductionId id) {
    std::uint32_t number = 0;
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce && number++ == id.index) return reduce->name;
    }
    return "";
}

// The words of a product; empty where there is no short name.
std::string product_words(const ir::Program& program, ir::ExprId id) {
    const ir::Expr& expr = program[id];
    if (const auto* param = std::get_if<ir::ParamRef>(&expr.node)) return program[param->param].name;
    if (is_step(expr)) return "step";
    if (const auto* reference = std::get_if<ir::ReductionRef>(&expr.node))
        return reduction_name(program, reference->reduction);
    if (const auto* value = std::get_if<ir::SeriesValue>(&expr.node)) return program[value->series].name;
    if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
        const std::string operand = product_words(program, unary->operand);
        return unary->op == ir::UnaryOp::negate && !operand.empty() ? "minus_" + operand : operand;
    }
    const auto* binary = std::get_if<ir::Binary>(&expr.node);
    if (!binary) return "";
    const std::string left = product_words(program, binary->left);
    const std::string right = product_words(program, binary->right);
    if (binary->op == ir::BinaryOp::mul) {
        if (is_step(program[binary->left]) && right == "dt") return "time";
        if (left == right && !left.empty()) return left + "_squared";
        return left.empty() ? right : right.empty() ? left : left + "_" + right;
    }
    if (binary->op == ir::BinaryOp::div && !right.empty()) {
        return left.empty() || is_one(program, binary->left) ? "inv_" + right : left + "_over_" + right;
    }
    return "";
}

}  // namespace

rt::HostScalar host_scalar(const ir::Program& program, ir::ExprId expr) {
    rt::HostScalar scalar;
    Translator(program, scalar).translate(expr);
    return scalar;
}

rt::HostScalar distance_scalar(const ir::Program& formula, const std::vector<ir::Param>& params) {
    const ir::ExprId distance = std::get<ir::Assign>(formula.statements.front()).value;
    for (const std::uint32_t e : ir::reached_exprs(formula, {distance}))
        if (std::holds_alternative<ir::CoefElement>(formula.exprs[e].node)) return {};
    rt::HostScalar scalar;
    Translator(formula, scalar, true).translate(distance);
    for (rt::HostScalar::Step& step : scalar.steps)
        if (step.op == Op::param)
            step.index = static_cast<int>(
                std::ranges::find(params, formula.params[static_cast<std::size_t>(step.index)].name,
                                  &ir::Param::name) -
                params.begin());
    return scalar;
}

rt::HostScalar in_later_step(const rt::HostScalar& scalar, int steps) {
    rt::HostScalar later;
    for (const rt::HostScalar::Step& each : scalar.steps) {
        later.steps.push_back(each);
        if (each.op != Op::step || steps == 0) continue;
        later.steps.push_back({Op::constant, static_cast<double>(steps), 0});
        later.steps.push_back({Op::add, 0, 0});
    }
    return later;
}

std::string host_scalar_name(const ir::Program& program, ir::ExprId expr) {
    constexpr std::size_t kLongest = 24;
    const std::string name = product_words(program, expr);
    return name.empty() || name.size() > kLongest ? "scale" : name;
}

}  // namespace halo::lower
