#include "compiler/support/rational.h"

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace halo {

using Integer = boost::multiprecision::cpp_int;

// In lowest terms, denominator > 0.
struct Rational::Digits {
    Integer numerator;
    Integer denominator = 1;
};

namespace {

Integer power_of_ten(int exponent) {
    return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent));
}

std::size_t bit_length(const Integer& value) {
    if (value == 0) return 0;
    return boost::multiprecision::msb(boost::multiprecision::abs(value)) + 1;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// A binary floating-point format: `digits` significand bits, smallest normal 2^min_exponent, largest below
// 2^(max_exponent + 1).
struct FloatFormat {
    int digits;
    int min_exponent;
    int max_exponent;
};

// |numerator / denominator| rounded to the format, ties to even, as significand * 2^exponent with the
// significand an integer of at most `digits` bits. Both are positive.
struct Rounded {
    std::uint64_t significand = 0;
    int exponent = 0;
    bool overflow = false;
};

Rounded round_quotient(const Integer& numerator, const Integer& denominator, const FloatFormat& format) {
    // The quotient is in [2^(scale - 1), 2^(scale + 1)).
    const long scale = static_cast<long>(bit_length(numerator)) - static_cast<long>(bit_length(denominator));
    if (scale - 1 > format.max_exponent) return {0, 0, true};
    // Weight of the last significand bit: as fine as the format allows at this size, never finer than
    // subnormals.
    const long last_subnormal = format.min_exponent - format.digits + 1;
    if (scale + 1 < last_subnormal) return {};  // below half the smallest subnormal
    // One bit finer than needed where the quotient turns out below 2^scale; then the loop is entered again.
    for (long leading = scale; leading >= scale - 1; --leading) {
        const long last = std::max(leading - format.digits + 1, last_subnormal);
        const Integer shifted_numerator =
            last < 0 ? Integer(numerator << static_cast<unsigned>(-last)) : numerator;
        const Integer shifted_denominator =
            last > 0 ? Integer(denominator << static_cast<unsigned>(last)) : denominator;
        Integer quotient;
        Integer remainder;
        boost::multiprecision::divide_qr(shifted_numerator, shifted_denominator, quotient, remainder);
        const bool needs_finer =
            static_cast<long>(bit_length(quotient)) < format.digits && last > last_subnormal;
        if (needs_finer && leading == scale) continue;
        remainder *= 2;
        std::uint64_t significand = quotient.convert_to<std::uint64_t>();
        if (remainder > shifted_denominator ||
            (remainder == shifted_denominator && (significand & 1u) != 0)) {
            ++significand;
        }
        const int width = static_cast<int>(std::bit_width(significand));
        const bool overflow = width > 0 && last + width - 1 > format.max_exponent;
        return {significand, static_cast<int>(last), overflow};
    }
    throw std::logic_error("a quotient has no leading bit");
}

template <class Float>
Float to_floating(const Integer& numerator, const Integer& denominator) {
    constexpr FloatFormat kFormat{std::numeric_limits<Float>::digits,
                                  std::numeric_limits<Float>::min_exponent - 1,
                                  std::numeric_limits<Float>::max_exponent - 1};
    if (numerator == 0) return Float(0);
    const bool negative = numerator < 0;
    const Rounded rounded = round_quotient(boost::multiprecision::abs(numerator), denominator, kFormat);
    // The significand fits the format, so both conversions are exact.
    const Float magnitude = rounded.overflow
                                ? std::numeric_limits<Float>::infinity()
                                : std::ldexp(static_cast<Float>(rounded.significand), rounded.exponent);
    return negative ? -magnitude : magnitude;
}

}  // namespace

Rational::Rational() : Rational(std::int64_t{0}) {}

Rational::Rational(std::int64_t integer)
    : digits_(std::make_shared<const Digits>(Digits{Integer(integer), 1})) {}

Rational::Rational(std::int64_t numerator, std::int64_t denominator)
    : Rational(Rational(numerator) / Rational(denominator)) {}

Rational::Rational(std::shared_ptr<const Digits> digits) : digits_(std::move(digits)) {}

namespace {

// The exponent behind an `e` at the end of a number. Values past any limit stay past it.
std::optional<long> parse_exponent(std::string_view text) {
    const bool negative = !text.empty() && text.front() == '-';
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
    if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
    constexpr long kPastAnyLimit = 1'000'000'000;
    long value = 0;
    for (const char digit : text)
        value = std::min(value * 10 + (digit - '0'), kPastAnyLimit);
    return negative ? -value : value;
}

// Numbers of one digit are most of a spec; they share their digits.
const Rational& small_integer(std::int64_t value) {
    static const std::vector<Rational> shared = [] {
        std::vector<Rational> all;
        for (std::int64_t i = 0; i < 10; ++i)
            all.emplace_back(i);
        return all;
    }();
    return shared[static_cast<std::size_t>(value)];
}

}  // namespace

std::optional<Rational> Rational::parse(std::string_view decimal) {
    if (decimal.size() == 1 && is_digit(decimal[0])) return small_integer(decimal[0] - '0');
    const std::size_t mark = decimal.find_first_of("eE");
    long exponent = 0;
    if (mark != std::string_view::npos) {
        const std::optional<long> written = parse_exponent(decimal.substr(mark + 1));
        if (!written) return std::nullopt;
        exponent = *written;
    }
    std::string digits;
    bool has_point = false;
    for (const char c : decimal.substr(0, mark)) {
        if (c == '.' && !has_point) {
            has_point = true;
        } else if (is_digit(c)) {
            digits += c;
            if (has_point) --exponent;
        } else {
            return std::nullopt;
        }
    }
    if (digits.empty()) return std::nullopt;
    // Leading and trailing zeros carry nothing; what is left bounds the work.
    const std::size_t first = digits.find_first_not_of('0');
    if (first == std::string::npos) return Rational();
    const std::size_t last = digits.find_last_not_of('0');
    exponent += static_cast<long>(digits.size() - 1 - last);
    digits = digits.substr(first, last - first + 1);
    const long leading = exponent + static_cast<long>(digits.size()) - 1;
    if (digits.size() > kMaxDigits || std::abs(leading) > kMaxDecimalExponent) return std::nullopt;
    const Integer numerator(digits);
    const Integer scale = power_of_ten(static_cast<int>(std::abs(exponent)));
    if (exponent >= 0) return Rational(std::make_shared<const Digits>(Digits{Integer(numerator * scale), 1}));
    return Rational(std::make_shared<const Digits>(Digits{numerator, 1})) /
           Rational(std::make_shared<const Digits>(Digits{scale, 1}));
}

Rational Rational::from_double(double finite) {
    if (finite == 0) return Rational();
    int exponent = 0;
    const double fraction = std::frexp(finite, &exponent);
    Integer numerator(static_cast<std::int64_t>(std::ldexp(fraction, 53)));
    exponent -= 53;
    if (exponent >= 0) {
        numerator <<= static_cast<unsigned>(exponent);
        return Rational(std::make_shared<const Digits>(Digits{std::move(numerator), 1}));
    }
    const Integer denominator = Integer(1) << static_cast<unsigned>(-exponent);
    return Rational(std::make_shared<const Digits>(Digits{std::move(numerator), 1})) /
           Rational(std::make_shared<const Digits>(Digits{denominator, 1}));
}

bool Rational::is_zero() const {
    return digits_->numerator == 0;
}
bool Rational::is_negative() const {
    return digits_->numerator < 0;
}
bool Rational::is_integer() const {
    return digits_->denominator == 1;
}

std::optional<std::int64_t> Rational::as_int64() const {
    using Limits = std::numeric_limits<std::int64_t>;
    if (!is_integer() || digits_->numerator > Limits::max() || digits_->numerator < Limits::min())
        return std::nullopt;
    return digits_->numerator.convert_to<std::int64_t>();
}

std::size_t Rational::bits() const {
    return bit_length(digits_->numerator) + bit_length(digits_->denominator);
}

double Rational::to_double() const {
    return to_floating<double>(digits_->numerator, digits_->denominator);
}
float Rational::to_float() const {
    return to_floating<float>(digits_->numerator, digits_->denominator);
}

std::string Rational::to_string() const {
    std::string text = digits_->numerator.str();
    if (!is_integer()) text += "/" + digits_->denominator.str();
    return text;
}

Rational Rational::operator-() const {
    return Rational(
        std::make_shared<const Digits>(Digits{Integer(-digits_->numerator), digits_->denominator}));
}

Rational operator+(const Rational& a, const Rational& b) {
    if (a.is_integer() && b.is_integer()) {
        return Rational(std::make_shared<const Rational::Digits>(
            Rational::Digits{Integer(a.digits_->numerator + b.digits_->numerator), 1}));
    }
    Integer numerator =
        a.digits_->numerator * b.digits_->denominator + b.digits_->numerator * a.digits_->denominator;
    Integer denominator = a.digits_->denominator * b.digits_->denominator;
    const Integer common = boost::multiprecision::gcd(numerator, denominator);
    numerator /= common;
    denominator /= common;
    return Rational(std::make_shared<const Rational::Digits>(
        Rational::Digits{std::move(numerator), std::move(denominator)}));
}

Rational operator-(const Rational& a, const Rational& b) {
    return a + (-b);
}

Rational operator*(const Rational& a, const Rational& b) {
    // Common factors are across only; taking them out first keeps the products small.
    const Integer left = boost::multiprecision::gcd(a.digits_->numerator, b.digits_->denominator);
    const Integer right = boost::multiprecision::gcd(b.digits_->numerator, a.digits_->denominator);
    Integer numerator = (a.digits_->numerator / left) * (b.digits_->numerator / right);
    Integer denominator = (a.digits_->denominator / right) * (b.digits_->denominator / left);
    return Rational(std::make_shared<const Rational::Digits>(
        Rational::Digits{std::move(numerator), std::move(denominator)}));
}

Rational operator/(const Rational& a, const Rational& b) {
    if (b.is_zero()) throw std::domain_error("division of a rational by zero");
    Integer numerator = b.digits_->denominator;
    Integer denominator = b.digits_->numerator;
    if (denominator < 0) {
        numerator = -numerator;
        denominator = -denominator;
    }
    return a * Rational(std::make_shared<const Rational::Digits>(
                   Rational::Digits{std::move(numerator), std::move(denominator)}));
}

bool operator==(const Rational& a, const Rational& b) {
    return a.digits_->numerator == b.digits_->numerator && a.digits_->denominator == b.digits_->denominator;
}

std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
    const int sign = Integer(a.digits_->numerator * b.digits_->denominator)
                         .compare(b.digits_->numerator * a.digits_->denominator);
    return sign <=> 0;
}

Rational power(const Rational& base, int exponent) {
    Rational result(1);
    Rational factor = exponent < 0 ? Rational(1) / base : base;
    for (unsigned left = exponent < 0 ? 0u - static_cast<unsigned>(exponent)
                                      : static_cast<unsigned>(exponent);
         left != 0; left >>= 1) {
        if ((left & 1u) != 0) result = result * factor;
        if (left > 1) factor = factor * factor;
    }
    return result;
}

Rational abs(const Rational& value) {
    return value.is_negative() ? -value : value;
}

}  // namespace halo
