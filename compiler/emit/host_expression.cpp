#include "compiler/emit/host_expression.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "compiler/support/error.h"

namespace halo::emit {

namespace {

using Op = rt::HostScalar::Op;

enum class Precedence { select, logical_or, logical_and, equality, relation, sum, product, unary, primary };

struct Text {
    std::string text;
    Precedence precedence = Precedence::primary;
    bool truth = false;    // of type bool
    bool integer = false;  // an extent
};

std::string literal(double value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

// As an operand of arithmetic: a double.
std::string operand(const Text& value, Precedence least) {
    if (value.truth) return "double(" + value.text + ")";
    return value.precedence < least ? "(" + value.text + ")" : value.text;
}

// Where both operands are integers the division or sum would be one of integers.
Text as_double(Text value) {
    if (value.integer) return {"double(" + value.text + ")"};
    return value;
}

std::string condition(const Text& value, Precedence least) {
    if (!value.truth) return operand(value, Precedence::relation) + " != 0.0";
    return value.precedence < least ? "(" + value.text + ")" : value.text;
}

const char* function_name(Op op) {
    switch (op) {
        case Op::sqrt:
            return "sqrt";
        case Op::cbrt:
            return "cbrt";
        case Op::exp:
            return "exp";
        case Op::log:
            return "log";
        case Op::sin:
            return "sin";
        case Op::cos:
            return "cos";
        case Op::tan:
            return "tan";
        case Op::asin:
            return "asin";
        case Op::acos:
            return "acos";
        case Op::atan:
            return "atan";
        case Op::sinh:
            return "sinh";
        case Op::cosh:
            return "cosh";
        case Op::tanh:
            return "tanh";
        case Op::abs:
            return "fabs";
        case Op::floor:
            return "floor";
        case Op::ceil:
            return "ceil";
        case Op::min:
            return "fmin";
        case Op::max:
            return "fmax";
        case Op::pow:
            return "pow";
        case Op::atan2:
            return "atan2";
        case Op::round:
            return "nearbyint";
        case Op::trunc:
            return "trunc";
        case Op::erf:
            return "erf";
        default:
            return "";
    }
}

struct Infix {
    const char* sign = "";
    Precedence precedence = Precedence::primary;
};

Infix infix(Op op) {
    switch (op) {
        case Op::add:
            return {" + ", Precedence::sum};
        case Op::sub:
            return {" - ", Precedence::sum};
        case Op::mul:
            return {" * ", Precedence::product};
        case Op::div:
            return {" / ", Precedence::product};
        case Op::less:
            return {" < ", Precedence::relation};
        case Op::less_equal:
            return {" <= ", Precedence::relation};
        case Op::greater:
            return {" > ", Precedence::relation};
        case Op::greater_equal:
            return {" >= ", Precedence::relation};
        case Op::equal:
            return {" == ", Precedence::equality};
        case Op::not_equal:
            return {" != ", Precedence::equality};
        default:
            return {};
    }
}

Precedence above(Precedence precedence) {
    return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}

class Converter {
public:
    explicit Converter(const HostNames& names) : names_(names) {}

    Text convert(const rt::HostScalar& scalar) {
        for (const rt::HostScalar::Step& step : scalar.steps)
            push(step);
        if (stack_.size() != 1) throw InternalError("a host scalar does not give one value");
        return std::move(stack_.back());
    }

private:
    Text pop() {
        if (stack_.empty()) throw InternalError("a host scalar lacks an operand");
        Text top = std::move(stack_.back());
        stack_.pop_back();
        return top;
    }

    void push(const rt::HostScalar::Step& step) {
        switch (step.op) {
            case Op::constant:
                stack_.push_back({literal(step.value),
                                  std::signbit(step.value) ? Precedence::unary : Precedence::primary});
                break;
            case Op::param:
                stack_.push_back({names_.param(step.index)});
                break;
            case Op::extent:
                stack_.push_back({names_.extent(step.index), Precedence::primary, false, true});
                break;
            case Op::step:
                stack_.push_back({names_.step()});
                break;
            case Op::reduction:
                if (!names_.reduction)
                    throw InternalError("a host scalar reads a reduction that has no name");
                stack_.push_back({names_.reduction(step.index)});
                break;
            case Op::series: {
                if (!names_.series) throw InternalError("a host scalar reads a series that has no name");
                const std::string at = operand(as_double(pop()), Precedence::select);
                stack_.push_back({names_.series(step.index, at)});
                break;
            }
            case Op::fma:
                push_fma();
                break;
            case Op::select:
                push_select();
                break;
            case Op::mul_i32: {
                const std::string right = operand(as_double(pop()), Precedence::select);
                const std::string left = operand(as_double(pop()), Precedence::select);
                stack_.push_back(
                    {fmt::format("double(static_cast<int>(static_cast<unsigned>("
                                 "static_cast<long long>({}) * static_cast<long long>({}))))",
                                 left, right)});
                break;
            }
            case Op::floor_div:
            case Op::floor_mod:
                push_floored(step.op);
                break;
            case Op::logical_and:
            case Op::logical_or:
                push_logical(step.op);
                break;
            case Op::min:
            case Op::max:
            case Op::pow:
            case Op::atan2:
                push_call(step.op, 2);
                break;
            default:
                if (*infix(step.op).sign != 0) {
                    push_infix(infix(step.op));
                } else {
                    push_unary(step.op);
                }
        }
    }

    void push_unary(Op op) {
        switch (op) {
            case Op::negate: {
                const std::string text = operand(as_double(pop()), Precedence::primary);
                stack_.push_back({"-" + text, Precedence::unary});
                break;
            }
            case Op::logical_not: {
                const Text value = pop();
                stack_.push_back(
                    value.truth
                        ? Text{"!" + condition(value, Precedence::unary), Precedence::unary, true}
                        : Text{operand(value, Precedence::relation) + " == 0.0", Precedence::equality, true});
                break;
            }
            case Op::rsqrt:
                stack_.push_back({"1.0 / std::sqrt(" + operand(as_double(pop()), Precedence::select) + ")",
                                  Precedence::product});
                break;
            case Op::wrap_i32:
                push_wrapped(operand(as_double(pop()), Precedence::select));
                break;
            case Op::round_f32:
                stack_.push_back({"double(float(" + operand(pop(), Precedence::select) + "))"});
                break;
            default:
                push_call(op, 1);
        }
    }

    void push_wrapped(const std::string& value) {
        stack_.push_back({fmt::format(
            "double(static_cast<int>(static_cast<unsigned>(static_cast<long long>({}))))", value)});
    }

    void push_floored(Op op) {
        const Text divisor = pop();
        const Text dividend = pop();
        // Both stand in the text twice, so they have to be short; what divides is a number other than 0.
        char* end = nullptr;
        const double number = std::strtod(divisor.text.c_str(), &end);
        const bool is_number = end != nullptr && *end == 0 && number != 0;
        constexpr std::size_t kLongest = 200;
        if (!is_number || dividend.text.size() > kLongest)
            throw UnsupportedError(
                "an emitted launcher divides integers by numbers only: give the quotient as a param of its "
                "own");
        const std::string value = operand(as_double(dividend), Precedence::product);
        const std::string quotient = fmt::format("std::floor({} / {})", value, divisor.text);
        if (op == Op::floor_div) return stack_.push_back({quotient});
        stack_.push_back({fmt::format("({} - {} * {})", value, divisor.text, quotient)});
    }

    void push_call(Op op, int arguments) {
        const std::string last = operand(as_double(pop()), Precedence::select);
        const std::string first = arguments == 2 ? operand(as_double(pop()), Precedence::select) + ", " : "";
        stack_.push_back({fmt::format("std::{}({}{})", function_name(op), first, last)});
    }

    void push_infix(const Infix& sign) {
        Text right = pop();
        Text left = pop();
        if (left.integer && (right.integer || right.truth)) left = as_double(std::move(left));
        if (right.integer && left.truth) right = as_double(std::move(right));
        const bool truth = sign.precedence == Precedence::relation || sign.precedence == Precedence::equality;
        stack_.push_back({operand(left, sign.precedence) + sign.sign + operand(right, above(sign.precedence)),
                          sign.precedence, truth});
    }

    void push_logical(Op op) {
        const Precedence own = op == Op::logical_and ? Precedence::logical_and : Precedence::logical_or;
        const Text right = pop();
        const Text left = pop();
        const char* const sign = op == Op::logical_and ? " && " : " || ";
        // && within || in brackets, too: compilers warn where they are left out.
        const Precedence least = op == Op::logical_or ? Precedence::equality : own;
        stack_.push_back(
            {condition(left, least == own ? own : least) + sign + condition(right, above(own)), own, true});
    }

    void push_fma() {
        const std::string c = operand(as_double(pop()), Precedence::select);
        const std::string b = operand(as_double(pop()), Precedence::select);
        const std::string a = operand(as_double(pop()), Precedence::select);
        stack_.push_back({fmt::format("std::fma({}, {}, {})", a, b, c)});
    }

    void push_select() {
        const std::string otherwise = operand(as_double(pop()), Precedence::select);
        const std::string then = operand(as_double(pop()), above(Precedence::select));
        const std::string test = condition(pop(), above(Precedence::select));
        stack_.push_back({test + " ? " + then + " : " + otherwise, Precedence::select});
    }

    const HostNames& names_;
    std::vector<Text> stack_;
};

}  // namespace

std::string print_host_scalar(const rt::HostScalar& scalar, const HostNames& names) {
    const Text value = Converter(names).convert(scalar);
    return value.truth ? "double(" + value.text + ")" : value.text;
}

std::string print_host_argument(const rt::HostScalar& scalar, rt::ElementType type, const HostNames& names) {
    if (type == rt::ElementType::f64) return print_host_scalar(scalar, names);
    rt::HostScalar exact = scalar;
    while (!exact.steps.empty() && exact.steps.back().op == Op::round_f32)
        exact.steps.pop_back();
    if (type == rt::ElementType::i32 || type == rt::ElementType::i64) {
        // Integers that a spec computes with are whole numbers already, or rounded as the kernels round.
        const char* const word = type == rt::ElementType::i32 ? "int" : "long long";
        return fmt::format("static_cast<{}>(std::nearbyint({}))", word, print_host_scalar(scalar, names));
    }
    return "float(" + Converter(names).convert(exact).text + ")";
}

bool is_plain(const rt::HostScalar& scalar) {
    if (scalar.steps.empty() || scalar.steps.size() > 2) return false;
    const Op first = scalar.steps.front().op;
    if (first != Op::param && first != Op::constant) return false;
    return scalar.steps.size() == 1 || scalar.steps.back().op == Op::round_f32;
}

}  // namespace halo::emit
