// Products of uniform factors, as group_coefficients handles them: a number times powers of f64 expressions.
// They are computed on the host, so a product of any length costs a kernel one multiplication. Private to the
// room.
#pragma once

#include <compare>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::passes {

struct Coefficient {
    // Factors and their exponents (not 0), by handle; each an f64 expression in the new arena.
    std::map<ir::ExprId, int> powers;
    Rational scale = 1;

    bool is_zero() const { return scale.is_zero(); }
    bool is_one() const { return powers.empty() && scale == Rational(1); }
    bool is_minus_one() const { return powers.empty() && scale == Rational(-1); }
    friend std::strong_ordering operator<=>(const Coefficient&, const Coefficient&) = default;
};

Coefficient operator*(const Coefficient& a, const Coefficient& b);
Coefficient inverse(const Coefficient& a);  // a is not zero
Coefficient operator-(const Coefficient& a);
Coefficient magnitude(const Coefficient& a);  // with the number's sign dropped

// Reads and writes coefficients in a program's arena.
class Coefficients {
public:
    Coefficients(const ir::Program& program, ir::ExprBuilder& builder)
        : program_(program), builder_(builder) {}

    // The factors of a uniform f64 expression. Sums, calls and conditions are one factor.
    Coefficient factors(ir::ExprId uniform);

    // As one f64 expression: number * factors / (factors).
    ir::ExprId expression(const Coefficient& coefficient);

    // Rounded once to `type`.
    ir::ExprId expression(const Coefficient& coefficient, ir::Scalar type);

    // a + b: like terms by their numbers, others as a new factor.
    Coefficient sum(const Coefficient& a, const Coefficient& b);

private:
    ir::ExprId product(const std::vector<std::pair<ir::ExprId, int>>& powers);

    const ir::Program& program_;
    ir::ExprBuilder& builder_;
};

}  // namespace halo::passes
