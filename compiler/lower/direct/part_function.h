// What a part of a swept line makes of the value that comes to it: (a*v + b) / (c*v + d), or a*v + b.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// The names of its terms.
inline constexpr const char* kPartTerms[] = {"a", "b", "c", "d"};

struct PartFunction {
    std::string name;  // of what is swept
    kernel::Type type = kernel::Type::f64;
    std::vector<kernel::Expr> terms;  // variables: a to d, or a and b
    bool divides() const { return terms.size() == 4; }
};

// Puts a cell's function behind that of the cells before it; the cell's terms that are missing are 0, and
// without c and d nothing is divided.
void compose(Context& context, const PartFunction& whole, const std::array<kernel::Expr, 4>& cell,
             kernel::Block& block);

// All four times the same is the same function: the divisor's terms are brought to about 1.
void scale(Context& context, const PartFunction& whole, kernel::Block& block);

// a*v + b, rounded once; a `b` that is missing is 0.
kernel::Expr times_plus(const kernel::Expr& a, const kernel::Expr& v, const kernel::Expr& b);

// Declares a value, and returns its variable.
kernel::Expr declared(Context& context, kernel::Expr value, const std::string& wanted, kernel::Block& block);

}  // namespace halo::lower
