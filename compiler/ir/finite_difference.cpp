#include "compiler/ir/finite_difference.h"

#include <algorithm>
#include <cstdint>

#include "compiler/support/error.h"

namespace halo::ir {

namespace {

template <class Number>
void require_distinct(const std::vector<Number>& nodes) {
    std::vector<Number> sorted = nodes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        throw InternalError("finite difference over nodes that are not distinct");
    }
}

// Multiplies the weights of node j by (x - x_i) / (x_j - x_i), as Lagrange's polynomials do when node i
// joins.
template <class Number>
void extend_node(std::vector<Number>& weights, int highest, const Number& to_new, const Number& distance) {
    for (int k = highest; k >= 1; --k) {
        weights[k] = (to_new * weights[k] - Number(k) * weights[k - 1]) / distance;
    }
    weights[0] = to_new * weights[0] / distance;
}

template <class Number>
std::vector<Number> weights_of(int derivative, const std::vector<Number>& nodes, const Number& at) {
    const int count = static_cast<int>(nodes.size());
    if (derivative < 0 || count <= derivative) throw InternalError("finite difference with too few nodes");
    require_distinct(nodes);

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
            extend_node(table[j], highest, to_new, distance);
        }
        previous_product = product;
    }

    std::vector<Number> weights;
    weights.reserve(nodes.size());
    for (const std::vector<Number>& node : table)
        weights.push_back(node[derivative]);
    return weights;
}

}  // namespace

std::vector<Rational> difference_weights(int derivative, const std::vector<Rational>& nodes,
                                         const Rational& at) {
    return weights_of(derivative, nodes, at);
}

std::vector<double> difference_weights(int derivative, const std::vector<double>& nodes) {
    return weights_of(derivative, nodes, 0.0);
}

int centred_radius(int derivative, int accuracy) {
    return (derivative + 1) / 2 - 1 + accuracy / 2;
}

std::vector<Tap> centred_difference(int derivative, int accuracy) {
    if (derivative < 1 || accuracy < 2 || accuracy % 2 != 0) {
        throw InternalError("centred difference of an order that has none");
    }
    const int radius = centred_radius(derivative, accuracy);
    std::vector<Rational> nodes;
    for (int offset = -radius; offset <= radius; ++offset)
        nodes.emplace_back(std::int64_t{offset});
    const std::vector<Rational> weights = difference_weights(derivative, nodes);

    std::vector<Tap> taps;
    for (int offset = -radius; offset <= radius; ++offset) {
        const Rational& weight = weights[offset + radius];
        if (!weight.is_zero()) taps.push_back({offset, weight});
    }
    return taps;
}

// With n points on each side the first monomial that is not exact has the degree 2n + 1 for an odd derivative
// and 2n for an even one.
int staggered_radius(int derivative, int accuracy) {
    return (accuracy + derivative - (derivative % 2)) / 2;
}

std::vector<Tap> staggered_difference(int derivative, int accuracy) {
    if (derivative < 0 || accuracy < 2 || accuracy % 2 != 0) {
        throw InternalError("staggered difference of an order that has none");
    }
    const int radius = staggered_radius(derivative, accuracy);
    std::vector<Rational> nodes;
    for (int r = 1 - radius; r <= radius; ++r)
        nodes.push_back(Rational(std::int64_t{2 * r - 1}, 2));
    const std::vector<Rational> weights = difference_weights(derivative, nodes);

    std::vector<Tap> taps;
    for (int r = 1; r <= radius; ++r) {
        const Rational& weight = weights[static_cast<std::size_t>(radius + r - 1)];
        if (!weight.is_zero()) taps.push_back({r, weight});
    }
    return taps;
}

}  // namespace halo::ir
