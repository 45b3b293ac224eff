#include "compiler/ir/finite_difference.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "compiler/support/error.h"
#include "runtime/core/difference_weights.h"

namespace halo::ir {

namespace {

void require_distinct(const std::vector<Rational>& nodes) {
    std::vector<Rational> sorted = nodes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        throw InternalError("finite difference over nodes that are not distinct");
    }
}

}  // namespace

std::vector<Rational> difference_weights(int derivative, const std::vector<Rational>& nodes,
                                         const Rational& at) {
    if (derivative < 0 || std::ssize(nodes) <= derivative)
        throw InternalError("finite difference with too few nodes");
    require_distinct(nodes);
    return rt::difference_weights(derivative, nodes, at);
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
