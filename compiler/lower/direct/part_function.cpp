#include "compiler/lower/direct/part_function.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

Expr times_plus(const Expr& a, const Expr& v, const Expr& b) {
    return b.has_value() ? kernel::call(kernel::Function::fma, {a, v, b}) : a * v;
}

Expr declared(Context& context, Expr value, const std::string& wanted, Block& block) {
    const Type type = value.type();
    const std::string name = context.local(wanted);
    block.push_back(kernel::Declare{type, name, std::move(value)});
    return kernel::variable(name, type);
}

void compose(Context& context, const PartFunction& whole, const std::array<Expr, 4>& cell, Block& block) {
    const std::vector<Expr>& terms = whole.terms;
    if (!whole.divides()) {
        block.push_back(kernel::Assign{terms[1], times_plus(cell[0], terms[1], cell[1])});
        block.push_back(kernel::Assign{terms[0], cell[0] * terms[0]});
        return;
    }
    // A product of matrices of two rows: a, b and c, d.
    std::array<Expr, 4> product;
    for (int column = 0; column < 2; ++column) {
        for (int row = 0; row < 2; ++row) {
            const Expr& first = cell[2 * row];
            const Expr& second = cell[2 * row + 1];
            Expr sum = second.has_value() ? second * terms[2 + column] : Expr();
            if (first.has_value()) sum = times_plus(first, terms[column], sum);
            if (!sum.has_value()) sum = kernel::real_literal(0, whole.type);
            const int term = 2 * row + column;
            product[term] = declared(context, sum, whole.name + "_" + kPartTerms[term] + "_next", block);
        }
    }
    for (std::size_t term = 0; term < product.size(); ++term)
        block.push_back(kernel::Assign{terms[term], product[term]});
}

void scale(Context& context, const PartFunction& whole, Block& block) {
    const Expr size = kernel::call(kernel::Function::abs, {whole.terms[2]}) +
                      kernel::call(kernel::Function::abs, {whole.terms[3]});
    const Expr factor =
        declared(context, kernel::real_literal(1, whole.type) / size, whole.name + "_scale", block);
    for (const Expr& term : whole.terms)
        block.push_back(kernel::Assign{term, term * factor});
}

}  // namespace halo::lower
