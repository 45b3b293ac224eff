#include "random_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace halo::test {

namespace {

constexpr double kSteepDerivative = 12;  // bounds sums of |weights| of a derivative where spacing >= 1/2
constexpr double kSteepSecond = 32;

const std::vector<std::string> kBitwiseFunctions{"abs(@)", "sqrt(1/4 + abs(@))", "1/sqrt(1/2 + (@)*(@))",
                                                 "rsqrt(1/2 + abs(@))"};
const std::vector<std::string> kLibraryFunctions{"exp(-abs(@))",
                                                 "log(1 + abs(@))",
                                                 "sin(@)",
                                                 "cos(@)",
                                                 "tanh(@)",
                                                 "atan(@)",
                                                 "cbrt(1 + abs(@))",
                                                 "(1 + abs(@))^1.5",
                                                 "sinh(@/8)",
                                                 "cosh(@/8)",
                                                 "atan2(@, 2 + abs(@))",
                                                 "asin((@)/(2 + 2*abs(@)))"};

// Sums differ between engines in their last places, and the rest of the program would show it; the least
// and the greatest do not. Over no cell they are infinite.
std::string capped(const std::string& reduction) {
    return fmt::format("max(min({}, 1), -1)", reduction);
}

}  // namespace

Node ExpressionGenerator::binary(Kind kind, Node a, Node b) {
    Node node;
    node.kind = kind;
    node.operands.push_back(std::move(a));
    node.operands.push_back(std::move(b));
    return node;
}

Node ExpressionGenerator::unary(Kind kind, Node a) {
    Node node;
    node.kind = kind;
    node.operands.push_back(std::move(a));
    return node;
}

Node ExpressionGenerator::number(int numerator, int denominator) {
    Node node;
    node.numerator = numerator;
    node.denominator = denominator;
    return node;
}

Node ExpressionGenerator::half(Node a) {
    return binary(Kind::product, number(1, 2), std::move(a));
}

Node ExpressionGenerator::access(std::string name, int time, Cells offset) {
    Node node;
    node.kind = Kind::access;
    node.name = std::move(name);
    node.time = time;
    node.offset = offset;
    return node;
}

Node ExpressionGenerator::tamed(Generated value, int limit) {
    if (value.bound <= limit) return std::move(value.node);
    const int divisor = static_cast<int>(std::ceil(value.bound / limit));
    if (random_.chance(50)) return binary(Kind::product, number(1, divisor), std::move(value.node));
    return binary(Kind::product, std::move(value.node), number(1, divisor));
}

Cells ExpressionGenerator::random_offset() {
    Cells offset{};
    for (int axis = 0; axis < program_.rank; ++axis)
        if (random_.chance(program_.rank == 1 ? 80 : 50)) offset[axis] = random_.between(-radius_, radius_);
    return offset;
}

const Readable* ExpressionGenerator::pick_readable(bool at_offsets) {
    std::vector<const Readable*> fit;
    for (const Readable& each : readable_)
        if (each.at_offsets || !at_offsets) fit.push_back(&each);
    return random_.pick(fit);  // the first field is always there
}

Generated ExpressionGenerator::leaf() {
    const int choice = random_.between(1, 100);
    if (choice <= 10) return {number(random_.between(-8, 8), random_.between(1, 9)), 8};
    if (choice <= 20) {
        Node node;
        node.kind = Kind::param;
        node.name = random_.pick<std::string>({"p", "q", "k", "(1/(1 + step))", "min(1, time)"});
        if (!reductions_.empty() && random_.chance(40)) node.name = capped(random_.pick(reductions_));
        if (options_.series && random_.chance(25))
            node.name = random_.pick<std::string>({"series_[step]", "series_[step + 1]", "series_[2 * time]",
                                                   "series_[3 - step]", "series_[k]"});
        if (random_.chance(15) && options_.noise) node.name = "(2*random() - 1)";
        return {std::move(node), 1};
    }
    if (choice <= 26) {
        Node node;
        node.kind = Kind::coordinate;
        node.axis = random_.between(0, program_.rank - 1);
        node.order = random_.between(0, 1);
        return {std::move(node), 1};
    }
    const Readable& from = *pick_readable(false);
    return {access(from.name, random_.pick(from.times), from.at_offsets ? random_offset() : Cells{}), 1};
}

Generated ExpressionGenerator::expression(int depth) {
    if (depth <= 0) return leaf();
    const int choice = random_.between(1, 100);
    if (choice <= 12) return leaf();
    if (choice <= 20) return difference_operator();
    if (choice <= 26) return weighted_sum();
    if (choice <= 40) return many_terms(depth);
    if (choice <= 75) return arithmetic(depth);
    return special(depth);
}

Generated ExpressionGenerator::many_terms(int depth) {
    const int terms = random_.between(2, 6);
    const int weight = random_.between(1, 5);
    std::optional<Generated> sum;
    for (int i = 0; i < terms; ++i) {
        Generated term = random_.chance(80) ? leaf() : expression(depth - 2);
        if (random_.chance(60)) {
            const int own = random_.chance(60) ? weight : random_.between(1, 7);
            term = {binary(Kind::product, number(own, 4), std::move(term.node)), term.bound * own / 4.0};
        }
        if (!sum) {
            sum = std::move(term);
            continue;
        }
        const Kind kind = random_.chance(60) ? Kind::sum : Kind::difference;
        sum = Generated{binary(kind, std::move(sum->node), std::move(term.node)), sum->bound + term.bound};
    }
    return *std::move(sum);
}

Generated ExpressionGenerator::arithmetic(int depth) {
    Generated a = expression(depth - 1), b = expression(depth - 1);
    switch (random_.between(0, 6)) {
        case 0:
        case 1: {
            const double bound = a.bound + b.bound;
            const Kind kind = random_.chance(50) ? Kind::sum : Kind::difference;
            return {binary(kind, std::move(a.node), std::move(b.node)), bound};
        }
        case 2:
        case 3: {
            Node left = tamed(std::move(a), 2), right = tamed(std::move(b), 2);
            return {binary(Kind::product, std::move(left), std::move(right)), 4};
        }
        case 4: {
            const double bound = a.bound / 2;
            Node divisor = tamed(std::move(b), 4);
            return {binary(Kind::quotient, std::move(a.node), std::move(divisor)), bound};
        }
        default: {
            const double bound = std::max(a.bound, b.bound);
            const Kind kind = random_.chance(50) ? Kind::minimum : Kind::maximum;
            return {binary(kind, std::move(a.node), std::move(b.node)), bound};
        }
    }
}

Generated ExpressionGenerator::table_sum(int depth) {
    in_table_ = true;
    Generated a = expression(depth - 1);
    in_table_ = false;
    Node node = unary(Kind::table_sum, tamed(std::move(a), 1));
    node.name = random_.pick<std::string>({"m", "m", "a", "b", "c"});
    return {std::move(node), 1.5};
}

Generated ExpressionGenerator::special(int depth) {
    if (options_.tables && !in_table_ && random_.chance(30)) return table_sum(depth);
    Generated a = expression(depth - 1);
    switch (random_.between(0, 6)) {
        case 0:
            return {unary(Kind::negation, std::move(a.node)), a.bound};
        case 1: {
            Node node = unary(Kind::power, tamed(std::move(a), 1));
            node.order = random_.pick<int>({2, 2, 3, 4, 5});
            return {std::move(node), 1};
        }
        case 2: {
            Node node = unary(Kind::function, tamed(std::move(a), 2));
            const bool library = options_.functions && random_.chance(70);
            node.name = random_.pick(library ? kLibraryFunctions : kBitwiseFunctions);
            return {std::move(node), 6};
        }
        case 3: {
            Node left = tamed(std::move(a), 2), right = tamed(expression(depth - 1), 2);
            return {binary(Kind::blend, std::move(left), std::move(right)), 2};
        }
        case 4:
            return chosen(std::move(a), depth);
        case 5:
            return {unary(Kind::capped, std::move(a.node)), std::max(a.bound, 1.0)};
        default:
            return shifted(depth);
    }
}

Generated ExpressionGenerator::chosen(Generated a, int depth) {
    Generated b = expression(depth - 1);
    const double bound = std::max(a.bound, b.bound);
    Node node = binary(Kind::chosen, std::move(a.node), std::move(b.node));
    std::vector<const Readable*> inputs;
    for (const Readable& each : readable_)
        if (each.is_input) inputs.push_back(&each);
    if (inputs.empty() || random_.chance(40)) {
        node.name = random_.pick<std::string>({"idx(x) < 3", "idx(x) >= len(x) / 2 and idx(x) != 5",
                                               "not idx(x) == 0", "2*idx(x) > len(x) or idx(x) <= 1",
                                               "sqrt(idx(x)) > 2 or idx(x) == 1",
                                               "idx(x) != 3 and sqrt(idx(x)) <= 2"});
    } else {
        node.order = 1;
        node.name = fmt::format("{} {} {}/16", random_.pick(inputs)->name,
                                random_.pick<std::string>({"<", "<=", ">", ">="}), random_.between(-12, 12));
    }
    return {std::move(node), bound};
}

Generated ExpressionGenerator::shifted(int depth) {
    const Readable& from = *pick_readable(true);
    Generated inner{access(from.name, random_.pick(from.times), {}), 1};
    if (depth > 1) {
        const Readable& other = *pick_readable(true);
        const Kind kind = random_.pick<Kind>({Kind::sum, Kind::product, Kind::minimum});
        const double bound = kind == Kind::sum ? 2 : 1;
        Node second = access(other.name, 0, random_offset());
        if (random_.chance(20)) {
            second = Node{};
            second.kind = Kind::coordinate;
            second.axis = random_.between(0, program_.rank - 1);
        }
        inner = {binary(kind, std::move(inner.node), std::move(second)), bound};
    }
    Node node = unary(Kind::shifted, std::move(inner.node));
    node.offset = random_offset();
    return {std::move(node), inner.bound};
}

Generated ExpressionGenerator::difference_operator() {
    const Readable& from = *pick_readable(true);
    Node operand = access(from.name, random_.pick(from.times), {});
    if (random_.chance(25))
        operand = binary(Kind::product, std::move(operand), access(pick_readable(true)->name, 0, {}));
    const Kind kind = random_.pick<Kind>({Kind::derivative, Kind::second_derivative, Kind::laplacian});
    Node node = unary(kind, std::move(operand));
    node.axis = random_.between(0, program_.rank - 1);
    node.order = 2 * random_.between(1, std::max(1, radius_));
    const double bound = kind == Kind::derivative          ? kSteepDerivative
                         : kind == Kind::second_derivative ? kSteepSecond
                                                           : kSteepSecond * program_.rank;
    return {std::move(node), bound};
}

Generated ExpressionGenerator::weighted_sum() {
    if (radius_ == 0) return leaf();
    const Readable& from = *pick_readable(true);
    Node node;
    node.kind = Kind::weighted;
    node.name = from.name;
    node.axis = random_.between(0, program_.rank - 1);
    node.order = random_.between(1, radius_);
    node.time = random_.between(0, 3);
    return {std::move(node), 4};
}

}  // namespace halo::test
