// Weights of finite differences: Fornberg, "Generation of finite difference formulas on arbitrarily spaced
// grids", Mathematics of Computation 51 (1988). In double and, for the compiler, in exact numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace halo::rt {

namespace detail {

// Multiplies the weights of node j by (x - x_i) / (x_j - x_i), as Lagrange's polynomials do when node i
// joins.
template <class Number>
void extend_node(std::vector<Number>& weights, int highest, const Number& to_new, const Number& distance) {
    for (int k = highest; k >= 1; --k) {
        weights[k] = (to_new * weights[k] - Number(k) * weights[k - 1]) / distance;
    }
    weights[0] = to_new * weights[0] / distance;
}

}  // namespace detail

// w[i] so that sum_i w[i] * f(nodes[i]) is the derivative of that order at `at` of the polynomial through all
// nodes, which are distinct and more than `derivative` (>= 0) in number.
template <class Number>
std::vector<Number> difference_weights(int derivative, const std::vector<Number>& nodes, const Number& at) {
    const int count = static_cast<int>(nodes.size());
    // table[i][k]: the weight of node i for derivative k, on the nodes met so far.
    std::vector<std::vector<Number>> table(nodes.size(), std::vector<Number>(derivative + 1));
    table[0][0] = Number(1);
    Number previous_product(1);  // of the distances from the previous node to those before it
    Number to_new = nodes[0] - at;
    for (int i = 1; i < count; ++i) {
        const int highest = std::min(i, derivative);
        const Number to_previous = to_new;
        to_new = nodes[i] - at;
        Number product(1);
        for (int j = 0; j < i; ++j) {
            const Number distance = nodes[i] - nodes[j];
            product = product * distance;
            if (j ==
                i - 1) {  // the new node's weights come from its predecessor's, before those are extended
                const Number ratio = previous_product / product;
                for (int k = highest; k >= 1; --k) {
                    table[i][k] = ratio * (Number(k) * table[j][k - 1] - to_previous * table[j][k]);
                }
                table[i][0] = -(ratio * to_previous * table[j][0]);
            }
            detail::extend_node(table[j], highest, to_new, distance);
        }
        previous_product = product;
    }

    std::vector<Number> weights;
    weights.reserve(nodes.size());
    for (const std::vector<Number>& node : table)
        weights.push_back(node[derivative]);
    return weights;
}

}  // namespace halo::rt
