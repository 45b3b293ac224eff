#include "compiler/ir/finite_difference.h"
#include "catch.h"

using halo::Rational;
using namespace halo::ir;

namespace {

// k-th derivative of x^n at `at`.
Rational monomial_derivative(int n, int k, const Rational& at) {
    if (k > n) return Rational(0);
    Rational value(1);
    for (int i = 0; i < k; ++i)
        value = value * Rational(n - i);
    return n == k ? value : value * power(at, n - k);
}

Rational apply(const std::vector<Rational>& weights, const std::vector<Rational>& nodes, int n) {
    Rational sum;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Rational value = n == 0 ? Rational(1) : nodes[i].is_zero() ? Rational(0) : power(nodes[i], n);
        sum = sum + weights[i] * value;
    }
    return sum;
}

}  // namespace

TEST_CASE("centred differences have the textbook weights") {
    const std::vector<Tap> first = centred_difference(1, 8);
    REQUIRE(first.size() == 8);
    const Rational expected[] = {Rational(1, 280), Rational(-4, 105), Rational(1, 5),   Rational(-4, 5),
                                 Rational(4, 5),   Rational(-1, 5),   Rational(4, 105), Rational(-1, 280)};
    const int offsets[] = {-4, -3, -2, -1, 1, 2, 3, 4};
    for (std::size_t i = 0; i < first.size(); ++i) {
        CHECK(first[i].offset == offsets[i]);
        CHECK(first[i].weight == expected[i]);
    }
    const std::vector<Tap> second = centred_difference(2, 2);
    REQUIRE(second.size() == 3);
    CHECK(second[0].weight == Rational(1));
    CHECK(second[1].weight == Rational(-2));
    CHECK(second[2].weight == Rational(1));
}

TEST_CASE("centred differences are exact for polynomials up to their order, and no further") {
    for (int derivative = 1; derivative <= 4; ++derivative) {
        for (int accuracy = 2; accuracy <= 16; accuracy += 2) {
            INFO("derivative " << derivative << ", accuracy " << accuracy);
            const std::vector<Tap> taps = centred_difference(derivative, accuracy);
            std::vector<Rational> nodes, weights;
            for (const Tap& tap : taps) {
                nodes.emplace_back(std::int64_t{tap.offset});
                weights.push_back(tap.weight);
                CHECK(std::abs(tap.offset) <= centred_radius(derivative, accuracy));
            }
            CHECK(taps.back().offset == centred_radius(derivative, accuracy));
            for (int n = 0; n < derivative + accuracy; ++n) {
                CHECK(apply(weights, nodes, n) == monomial_derivative(n, derivative, Rational(0)));
            }
            const int next = derivative + accuracy;
            CHECK_FALSE(apply(weights, nodes, next) == monomial_derivative(next, derivative, Rational(0)));
        }
    }
}

TEST_CASE("differences on any nodes are exact for the polynomials through them") {
    // Half-way nodes (staggered grids), one-sided nodes and uneven ones; at a node, between nodes and
    // outside.
    const std::vector<std::vector<Rational>> node_sets = {
        {Rational(-3, 2), Rational(-1, 2), Rational(1, 2), Rational(3, 2)},
        {Rational(0), Rational(1), Rational(2), Rational(3), Rational(4)},
        {Rational(5), Rational(-2, 7), Rational(1, 3)}};
    for (const std::vector<Rational>& nodes : node_sets) {
        for (const Rational& at : {Rational(1), Rational(1, 5), Rational(-9)}) {
            for (int derivative = 0; derivative < static_cast<int>(nodes.size()); ++derivative) {
                const std::vector<Rational> weights = difference_weights(derivative, nodes, at);
                for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
                    CHECK(apply(weights, nodes, n) == monomial_derivative(n, derivative, at));
                }
            }
        }
    }
    const std::vector<Rational> staggered =
        difference_weights(1, {Rational(-3, 2), Rational(-1, 2), Rational(1, 2), Rational(3, 2)});
    CHECK(staggered[0] == Rational(1, 24));
    CHECK(staggered[1] == Rational(-9, 8));
}
