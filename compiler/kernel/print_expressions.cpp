// How the printer writes expressions: names, literals, and operators with no more parentheses than C needs.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "compiler/kernel/build.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/overload.h"
#include "compiler/kernel/print.h"

namespace halo::kernel {
namespace {

struct OperatorText {
    const char* text;
    int precedence;
};

OperatorText operator_text(Operator op) {
    using enum Printer::Precedence;
    switch (op) {
        case Operator::add:
            return {"+", kSum};
        case Operator::sub:
            return {"-", kSum};
        case Operator::mul:
            return {"*", kProduct};
        case Operator::div:
            return {"/", kProduct};
        case Operator::mod:
            return {"%", kProduct};
        case Operator::less:
            return {"<", kRelation};
        case Operator::less_equal:
            return {"<=", kRelation};
        case Operator::greater:
            return {">", kRelation};
        case Operator::greater_equal:
            return {">=", kRelation};
        case Operator::equal:
            return {"==", kEquality};
        case Operator::not_equal:
            return {"!=", kEquality};
        case Operator::logical_and:
            return {"&&", kAnd};
        case Operator::logical_or:
            return {"||", kOr};
        case Operator::bit_and:
            return {"&", kBitAnd};
        case Operator::bit_or:
            return {"|", kBitOr};
        case Operator::shift_left:
            return {"<<", kShift};
        case Operator::shift_right:
            return {">>", kShift};
    }
    return {"?", kNone};
}

std::string parenthesise(std::string text, int precedence, int outer) {
    return precedence < outer ? "(" + text + ")" : text;
}

}  // namespace

const char* c_type_name(Type type) {
    switch (type) {
        case Type::boolean:
            return "bool";
        case Type::i32:
            return "int";
        case Type::i64:
            return "long long";
        case Type::f32:
            return "float";
        case Type::f64:
            return "double";
        case Type::u8:
            return "unsigned char";
        case Type::f16:
            return "f16";
        case Type::bf16:
            return "bf16";
        case Type::u32:
            return "unsigned";
    }
    return "?";
}

std::string Printer::builtin_name(Builtin builtin) const {
    static constexpr const char* kNames[] = {"thread_x", "thread_y", "thread_z", "block_x",
                                             "block_y",  "block_z",  "blocks_x", "blocks_y"};
    return kNames[static_cast<int>(builtin)];
}

std::string Printer::function_name(Function function, Type type) const {
    static constexpr const char* kNames[] = {"sqrt",  "cbrt", "exp",  "log",   "sin",  "cos",   "tan",
                                             "asin",  "acos", "atan", "sinh",  "cosh", "tanh",  "fabs",
                                             "floor", "ceil", "pow",  "atan2", "rint", "trunc", "erf",
                                             "rsqrt", "fma",  "fmin", "fmax"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(Function::max) + 1);
    std::string name = kNames[static_cast<int>(function)];
    if (is_integer(type)) return function == Function::min ? "min" : function == Function::max ? "max" : name;
    return type == Type::f32 ? name + "f" : name;
}

std::string Printer::fast_function_name(Function function) const {
    return "fast_" + function_name(function, Type::f32);
}

std::string Printer::shuffle(Shuffle::From from, const std::string& operand, const std::string& index) const {
    const char* word = from == Shuffle::From::before  ? "before"
                       : from == Shuffle::From::after ? "after"
                                                      : "of";
    return fmt::format("lane_{}({}, {})", word, operand, index);
}

std::string Printer::real_literal(double value, Type type) const {
    const bool single = type == Type::f32;
    if (std::isnan(value) || std::isinf(value)) return special_literal(value, type);
    std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return single ? text + "f" : text;
}

std::string Printer::special_literal(double value, Type) const {
    return fmt::format("{}{}", value < 0 ? "-" : "", std::isnan(value) ? "NAN" : "INFINITY");
}

std::string Printer::subscripted(std::string text, const std::vector<Expr>& indices) const {
    for (const Expr& index : indices)
        text += "[" + expression(index) + "]";
    return text;
}

std::string Printer::arguments(const std::vector<Expr>& arguments) const {
    std::string text;
    for (const Expr& argument : arguments)
        text += (text.empty() ? "" : ", ") + expression(argument);
    return text;
}

std::string Printer::expression(const Expr& expr, int outer) const {
    return std::visit(
        Overload{
            [&](const IntLiteral& literal) -> std::string {
                if (expr.type() == Type::boolean) return literal.value ? "true" : "false";
                if (expr.type() == Type::u32)
                    return literal.value > 0xffff ? fmt::format("{:#010x}u", literal.value)
                           : literal.value > 0xff ? fmt::format("{:#06x}u", literal.value)
                                                  : fmt::format("{}u", literal.value);
                // C++ has no negative literals: the least number is one more than what can be negated.
                const bool is_least =
                    literal.value == std::numeric_limits<std::int64_t>::min() ||
                    (expr.type() == Type::i32 && literal.value == std::numeric_limits<std::int32_t>::min());
                if (is_least) return parenthesise(fmt::format("{} - 1", literal.value + 1), kSum, outer);
                return parenthesise(fmt::format("{}", literal.value), literal.value < 0 ? kPrefix : kPostfix,
                                    outer);
            },
            [&](const RealLiteral& literal) -> std::string {
                return parenthesise(real_literal(literal.value, expr.type()),
                                    std::signbit(literal.value) ? kPrefix : kPostfix, outer);
            },
            [&](const Variable& name) -> std::string { return name.name; },
            [&](const BuiltinIndex& index) -> std::string { return builtin_name(index.builtin); },
            [&](const Element& element) -> std::string {
                return subscripted(element.array, element.indices);
            },
            [&](const AddressOf& address) -> std::string {
                const std::string row = subscripted(address.array, address.rows);
                const auto literal = int_value(address.index);
                if (literal == 0) return row;
                if (literal && *literal < 0)
                    return parenthesise(fmt::format("{} - {}", row, -*literal), kSum, outer);
                return parenthesise(row + " + " + expression(address.index, kSum), kSum, outer);
            },
            [&](const Negate& negate) -> std::string {
                std::string operand = expression(negate.operand, kPrefix);
                if (operand.front() == '-') operand = "(" + operand + ")";
                return parenthesise("-" + operand, kPrefix, outer);
            },
            [&](const Not& negate) -> std::string {
                return parenthesise("!" + expression(negate.operand, kPrefix), kPrefix, outer);
            },
            [&](const Convert& convert) -> std::string {
                return fmt::format("static_cast<{}>({})", type_name(expr.type()),
                                   expression(convert.operand));
            },
            [&](const Binary& binary) -> std::string {
                if (binary.op == Operator::div && !division_function(expr.type()).empty())
                    return division_function(expr.type()) + "(" + arguments({binary.left, binary.right}) +
                           ")";
                const auto [op, precedence] = operator_text(binary.op);
                // Compilers ask for parentheses around && inside ||, and around operators inside <<.
                const auto needs_own = [&](const Expr& operand) {
                    const auto* inner = std::get_if<Binary>(&operand->kind);
                    if (binary.op == Operator::shift_left || binary.op == Operator::shift_right)
                        return inner != nullptr;
                    const bool is_bitwise = binary.op == Operator::bit_and || binary.op == Operator::bit_or;
                    if (is_bitwise && expr.type() == Type::u32)
                        return inner != nullptr && inner->op != binary.op;
                    return binary.op == Operator::logical_or && inner && inner->op == Operator::logical_and;
                };
                const std::string left =
                    expression(binary.left, needs_own(binary.left) ? kPrefix : precedence);
                const std::string right =
                    expression(binary.right, needs_own(binary.right) ? kPrefix : precedence + 1);
                return parenthesise(fmt::format("{} {} {}", left, op, right), precedence, outer);
            },
            [&](const Select& select) -> std::string {
                return parenthesise(
                    fmt::format("{} ? {} : {}", expression(select.condition, kConditional + 1),
                                expression(select.then, kConditional + 1),
                                expression(select.otherwise, kConditional)),
                    kConditional, outer);
            },
            [&](const Call& call) -> std::string {
                const std::string name =
                    call.fast ? fast_function_name(call.function) : function_name(call.function, expr.type());
                return name + "(" + arguments(call.arguments) + ")";
            },
            [&](const CallHelper& call) -> std::string {
                return shape_of(call.helper).name + "(" + arguments(call.arguments) + ")";
            },
            [&](const CallLambda& call) -> std::string {
                return call.lambda + "(" + arguments(call.arguments) + ")";
            },
            [&](const Shuffle& node) -> std::string {
                return shuffle(node.from, expression(node.operand), expression(node.index));
            },
        },
        expr->kind);
}

// An array's elements from one on: where its last index is 0, the row's name says as much.
std::string Printer::pointer_to(const Expr& element) const {
    const auto& place = std::get<Element>(element->kind);
    if (int_value(place.indices.back()) != 0) return "&" + expression(element);
    return subscripted(place.array, {place.indices.begin(), place.indices.end() - 1});
}

}  // namespace halo::kernel
