// Polynomials with whole coefficients over symbols: bounds, subscripts and strides such as nx*ny*k + nx*j + i
// + 1. Sums and products throw std::overflow_error where a coefficient does not fit into 64 bits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halo::lift {

class Polynomial {
public:
    using Monomial = std::vector<int>;  // symbols, sorted, with repetition; empty: 1

    Polynomial() = default;
    Polynomial(std::int64_t constant) {  // NOLINT: numbers are polynomials
        if (constant != 0) terms_[{}] = constant;
    }
    static Polynomial symbol(int id) {
        Polynomial made;
        made.terms_[{id}] = 1;
        return made;
    }

    Polynomial operator+(const Polynomial& other) const;
    Polynomial operator-(const Polynomial& other) const;
    Polynomial operator*(const Polynomial& other) const;
    friend bool operator==(const Polynomial&, const Polynomial&) = default;
    friend bool operator<(const Polynomial& a, const Polynomial& b) { return a.terms_ < b.terms_; }

    const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
    bool is_zero() const { return terms_.empty(); }
    std::optional<std::int64_t> constant() const;  // where it is a number
    bool has(int symbol) const;
    // p = coefficient(s) * s + remainder, where s appears in no higher power; nullopt where it does.
    std::optional<Polynomial> coefficient(int symbol) const;
    Polynomial without(int symbol) const;                        // the terms that do not have it
    Polynomial with(int symbol, const Polynomial& value) const;  // in its place
    std::int64_t of(const Monomial& monomial) const;
    void add(const Monomial& monomial, std::int64_t factor);
    // The quotient of a division without remainder.
    std::optional<Polynomial> divided_by(const Polynomial& divisor) const;
    // Quotient and remainder by the divisor's largest term; of numbers, the quotient is the nearest one.
    std::pair<Polynomial, Polynomial> divide(const Polynomial& divisor) const;
    bool is_below_zero() const;  // for large values of the symbols: the sign of the largest term

    std::int64_t evaluate(const std::function<std::int64_t(int)>& value) const;
    std::string text(const std::function<std::string(int)>& name) const;  // "nx*ny - 1"

private:
    std::map<Monomial, std::int64_t> terms_;  // none is zero
};

}  // namespace halo::lift
