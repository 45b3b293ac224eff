// Exact rational numbers: what a number in a spec means until it is rounded, once, to the type it meets.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace halo {

// An immutable value; copies share their digits. Numerator and denominator are of any length.
class Rational {
public:
    Rational();  // 0
    Rational(std::int64_t integer);
    Rational(std::int64_t numerator, std::int64_t denominator);  // denominator != 0

    // "12", "0.25", "6.02e23", exactly. nullopt where the text is no decimal number, has more than kMaxDigits
    // significant digits, or is not between 1e-400 and 1e400: far past what any type can tell apart, and it
    // bounds the work on a number.
    static constexpr int kMaxDigits = 800;
    static constexpr int kMaxDecimalExponent = 400;
    static std::optional<Rational> parse(std::string_view decimal);
    static Rational from_double(double finite);  // exactly

    bool is_zero() const;
    bool is_negative() const;
    bool is_integer() const;
    std::optional<std::int64_t> as_int64() const;  // nullopt where it is no integer or does not fit
    std::size_t bits() const;  // size of numerator and denominator together, to bound work

    double to_double() const;       // correctly rounded, ties to even; overflows to infinity
    float to_float() const;         // correctly rounded from the exact value (not through double)
    std::string to_string() const;  // "4/5", "-3"

    Rational operator-() const;
    friend Rational operator+(const Rational&, const Rational&);
    friend Rational operator-(const Rational&, const Rational&);
    friend Rational operator*(const Rational&, const Rational&);
    friend Rational operator/(const Rational&, const Rational&);  // divisor != 0
    friend bool operator==(const Rational&, const Rational&);
    friend std::strong_ordering operator<=>(const Rational&, const Rational&);

private:
    struct Digits;
    explicit Rational(std::shared_ptr<const Digits> digits);
    std::shared_ptr<const Digits> digits_;
};

Rational power(const Rational& base, int exponent);  // base != 0 where exponent < 0
Rational abs(const Rational& value);

}  // namespace halo
