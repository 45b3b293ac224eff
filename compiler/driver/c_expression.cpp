// Host scalars as expressions of C. They are printed with the parentheses that the order of evaluation needs.
#include <fmt/format.h>

#include <cmath>

#include "compiler/driver/c_launcher.h"
#include "compiler/support/error.h"

namespace halo::driver {

namespace {

using Op = rt::HostScalar::Op;

enum Precedence : int { kSelect, kOr, kAnd, kEqual, kLess, kAdd, kMultiply, kUnary, kPrimary };

struct Text {
    std::string words;
    int precedence = kPrimary;
    std::string within(int outer) const { return precedence < outer ? "(" + words + ")" : words; }
};

std::string number(double value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    std::string words = fmt::format("{}", value);  // the shortest that reads back as the same double
    if (words.find_first_of(".e") == std::string::npos) words += ".0";
    return words;
}

struct BinaryWords {
    const char* symbol = nullptr;
    int precedence = kPrimary;
};

BinaryWords binary_words(Op op) {
    switch (op) {
        case Op::add:
            return {"+", kAdd};
        case Op::sub:
            return {"-", kAdd};
        case Op::mul:
            return {"*", kMultiply};
        case Op::div:
            return {"/", kMultiply};
        case Op::less:
            return {"<", kLess};
        case Op::less_equal:
            return {"<=", kLess};
        case Op::greater:
            return {">", kLess};
        case Op::greater_equal:
            return {">=", kLess};
        case Op::equal:
            return {"==", kEqual};
        case Op::not_equal:
            return {"!=", kEqual};
        case Op::logical_and:
            return {"&&", kAnd};
        case Op::logical_or:
            return {"||", kOr};
        default:
            return {};
    }
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
        case Op::pow:
            return "pow";
        case Op::atan2:
            return "atan2";
        default:
            return nullptr;
    }
}

class Reader {
public:
    explicit Reader(const CNames& names) : names_(names) {}

    std::string read(const rt::HostScalar& scalar) {
        for (const rt::HostScalar::Step& step : scalar.steps)
            stack_.push_back(apply(step));
        if (stack_.size() != 1) throw InternalError("a host scalar does not leave one value");
        return stack_.back().words;
    }

private:
    Text pop() {
        if (stack_.empty()) throw InternalError("a host scalar takes more values than there are");
        Text text = std::move(stack_.back());
        stack_.pop_back();
        return text;
    }
    Text apply(const rt::HostScalar::Step& step) {
        auto index = static_cast<std::size_t>(step.index);
        switch (step.op) {
            case Op::constant:
                return {number(step.value), step.value < 0 ? kUnary : kPrimary};
            case Op::param:
                return {"params." + names_.params.at(index), kPrimary};
            case Op::extent:
                return {fmt::format("(double)run->n[{}]", index), kUnary};
            case Op::negate:
                return {"-" + pop().within(kPrimary), kUnary};
            case Op::logical_not:
                return {"!" + pop().within(kPrimary), kUnary};
            case Op::round_f32:
                return {"(double)(float)" + pop().within(kPrimary), kUnary};
            case Op::rsqrt:
                return {"1.0 / sqrt(" + pop().words + ")", kMultiply};
            case Op::min:
                return choose("<");
            case Op::max:
                return choose(">");
            case Op::fma:
                return fma();
            case Op::select:
                return select();
            default:
                break;
        }
        if (const char* symbol = binary_words(step.op).symbol)
            return binary(symbol, binary_words(step.op).precedence);
        const char* function = function_name(step.op);
        if (function == nullptr) throw InternalError("a host scalar has an operation that C does not know");
        std::string arguments = pop().words;
        if (step.op == Op::pow || step.op == Op::atan2) arguments = pop().words + ", " + arguments;
        return {fmt::format("{}({})", function, arguments), kPrimary};
    }
    Text binary(const char* symbol, int precedence) {
        Text right = pop();
        Text left = pop();
        return {fmt::format("{} {} {}", left.within(precedence), symbol, right.within(precedence + 1)),
                precedence};
    }
    Text choose(const char* symbol) {  // min and max, as rt::evaluate has them
        Text right = pop();
        Text left = pop();
        return {fmt::format("{0} {2} {1} ? {0} : {1}", left.within(kAdd), right.within(kAdd), symbol),
                kSelect};
    }
    Text fma() {
        Text c = pop();
        Text b = pop();
        Text a = pop();
        return {fmt::format("fma({}, {}, {})", a.words, b.words, c.words), kPrimary};
    }
    Text select() {
        Text otherwise = pop();
        Text then = pop();
        Text condition = pop();
        return {fmt::format("{} ? {} : {}", condition.within(kOr), then.within(kOr), otherwise.within(kOr)),
                kSelect};
    }

    const CNames& names_;
    std::vector<Text> stack_;
};

}  // namespace

std::string c_expression(const rt::HostScalar& scalar, const CNames& names) {
    return Reader(names).read(scalar);
}

}  // namespace halo::driver
