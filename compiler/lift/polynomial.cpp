#include "compiler/lift/polynomial.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace halo::lift {

namespace {

// By degree, then by symbols.
bool is_larger(const Polynomial::Monomial& a, const Polynomial::Monomial& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
}

// Rounds ties towards 0, so that the remainder shrinks with each division.
std::int64_t nearest(std::int64_t whole, std::int64_t part) {
    const std::int64_t size = part < 0 ? -part : part;
    const std::int64_t rest = whole < 0 ? -whole : whole;
    const std::int64_t times = (rest + (size - 1) / 2) / size;
    return (whole < 0) == (part < 0) ? times : -times;
}

std::optional<Polynomial::Monomial> quotient(Polynomial::Monomial whole, const Polynomial::Monomial& part) {
    for (const int symbol : part) {
        const auto found = std::find(whole.begin(), whole.end(), symbol);
        if (found == whole.end()) return std::nullopt;
        whole.erase(found);
    }
    return whole;
}

}  // namespace

void Polynomial::add(const Monomial& monomial, std::int64_t factor) {
    std::int64_t& held = terms_[monomial];
    if (__builtin_add_overflow(held, factor, &held)) throw std::overflow_error("a factor of 64 bits");
    if (held == 0) terms_.erase(monomial);
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
    Polynomial sum = *this;
    for (const auto& [monomial, factor] : other.terms_)
        sum.add(monomial, factor);
    return sum;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
    return *this + other * Polynomial(-1);
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
    Polynomial product;
    for (const auto& [left, a] : terms_) {
        for (const auto& [right, b] : other.terms_) {
            Monomial both = left;
            both.insert(both.end(), right.begin(), right.end());
            std::sort(both.begin(), both.end());
            std::int64_t factor = 0;
            if (__builtin_mul_overflow(a, b, &factor)) throw std::overflow_error("a factor of 64 bits");
            product.add(both, factor);
        }
    }
    return product;
}

std::optional<std::int64_t> Polynomial::constant() const {
    if (terms_.empty()) return 0;
    if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
    return std::nullopt;
}

bool Polynomial::has(int symbol) const {
    return std::any_of(terms_.begin(), terms_.end(), [symbol](const auto& term) {
        return std::find(term.first.begin(), term.first.end(), symbol) != term.first.end();
    });
}

std::optional<Polynomial> Polynomial::coefficient(int symbol) const {
    Polynomial result;
    for (const auto& [monomial, factor] : terms_) {
        const auto times = std::count(monomial.begin(), monomial.end(), symbol);
        if (times == 0) continue;
        if (times > 1) return std::nullopt;
        result.add(*quotient(monomial, {symbol}), factor);
    }
    return result;
}

Polynomial Polynomial::without(int symbol) const {
    Polynomial result;
    for (const auto& [monomial, factor] : terms_) {
        if (std::find(monomial.begin(), monomial.end(), symbol) == monomial.end())
            result.add(monomial, factor);
    }
    return result;
}

Polynomial Polynomial::with(int symbol, const Polynomial& value) const {
    if (!has(symbol)) return *this;
    Polynomial sum;
    for (const auto& [monomial, factor] : terms_) {
        Polynomial product = factor;
        for (const int each : monomial)
            product = product * (each == symbol ? value : Polynomial::symbol(each));
        sum = sum + product;
    }
    return sum;
}

std::int64_t Polynomial::of(const Monomial& monomial) const {
    const auto found = terms_.find(monomial);
    return found == terms_.end() ? 0 : found->second;
}

bool Polynomial::is_below_zero() const {
    const auto lead = std::min_element(terms_.begin(), terms_.end(), [](const auto& a, const auto& b) {
        return is_larger(a.first, b.first);
    });
    return lead != terms_.end() && lead->second < 0;
}

std::pair<Polynomial, Polynomial> Polynomial::divide(const Polynomial& divisor) const {
    const auto lead =
        std::min_element(divisor.terms_.begin(), divisor.terms_.end(),
                         [](const auto& a, const auto& b) { return is_larger(a.first, b.first); });
    Polynomial result, rest = *this;
    if (lead == divisor.terms_.end()) return {result, rest};
    for (bool found = true; found;) {
        found = false;
        for (const auto& [monomial, factor] : rest.terms_) {
            const auto part = quotient(monomial, lead->first);
            if (!part) continue;
            const std::int64_t times = nearest(factor, lead->second);
            if (times == 0) continue;
            Polynomial step;
            step.add(*part, times);
            result = result + step;
            rest = rest - step * divisor;
            found = true;
            break;
        }
    }
    return {result, rest};
}

std::optional<Polynomial> Polynomial::divided_by(const Polynomial& divisor) const {
    if (divisor.is_zero()) return std::nullopt;
    auto [result, rest] = divide(divisor);
    if (!rest.is_zero()) return std::nullopt;
    return result;
}

std::int64_t Polynomial::evaluate(const std::function<std::int64_t(int)>& value) const {
    std::int64_t sum = 0;
    for (const auto& [monomial, factor] : terms_) {
        std::int64_t product = factor;
        for (const int symbol : monomial)
            product *= value(symbol);
        sum += product;
    }
    return sum;
}

std::string Polynomial::text(const std::function<std::string(int)>& name) const {
    std::vector<std::pair<Monomial, std::int64_t>> sorted(terms_.begin(), terms_.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        if (a.first.size() != b.first.size()) return a.first.size() > b.first.size();
        return a.second > 0 && b.second < 0;  // n - h and not -h + n
    });
    std::string result;
    for (const auto& [monomial, factor] : sorted) {
        const std::int64_t size = factor < 0 ? -factor : factor;
        std::string term = size != 1 || monomial.empty() ? std::to_string(size) : "";
        for (const int symbol : monomial)
            term += (term.empty() ? "" : "*") + name(symbol);
        if (result.empty())
            result = (factor < 0 ? "-" : "") + term;
        else
            result += (factor < 0 ? " - " : " + ") + term;
    }
    return result.empty() ? "0" : result;
}

}  // namespace halo::lift
