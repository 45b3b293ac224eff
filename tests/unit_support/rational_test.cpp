// Exact numbers, and that they are rounded once and correctly.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "catch.h"
#include "compiler/support/rational.h"

using halo::Rational;

namespace {

Rational parsed(const std::string& text) {
    const std::optional<Rational> value = Rational::parse(text);
    REQUIRE(value.has_value());
    return *value;
}

// The C library rounds decimals correctly: the reference.
void check_like_libc(const std::string& text) {
    INFO(text);
    const Rational value = parsed(text);
    CHECK(value.to_double() == std::strtod(text.c_str(), nullptr));
    CHECK(value.to_float() == std::strtof(text.c_str(), nullptr));
}

}  // namespace

TEST_CASE("a decimal is its exact value") {
    CHECK(parsed("12").to_string() == "12");
    CHECK(parsed("0.25").to_string() == "1/4");
    CHECK(parsed("1.").to_string() == "1");
    CHECK(parsed(".5").to_string() == "1/2");
    CHECK(parsed("1e3").to_string() == "1000");
    CHECK(parsed("1.5E+2").to_string() == "150");
    CHECK(parsed("25e-4").to_string() == "1/400");
    CHECK(parsed("000").is_zero());
    CHECK(parsed("0e999999999999999999999").is_zero());
    CHECK(parsed("0010").to_string() == "10");
    CHECK(parsed("0.1") + parsed("0.2") == parsed("0.3"));
}

TEST_CASE("what is no decimal has no value") {
    for (const char* text : {"", ".", "e5", "1e", "1e+", "1.2.3", "-1", "1x", "0x10", "1e5.0", " 1", "1 "}) {
        INFO(text);
        CHECK_FALSE(Rational::parse(text).has_value());
    }
}

TEST_CASE("numbers of absurd size are refused before any work is done on them") {
    CHECK_FALSE(Rational::parse("1e401").has_value());
    CHECK_FALSE(Rational::parse("1e-401").has_value());
    CHECK_FALSE(Rational::parse("1e99999999999999999999").has_value());
    CHECK_FALSE(Rational::parse(std::string(4'000'000, '7')).has_value());
    CHECK_FALSE(Rational::parse("0." + std::string(4'000'000, '7')).has_value());
    CHECK(Rational::parse("1" + std::string(400, '0')).has_value());
    CHECK(Rational::parse("0." + std::string(800, '3')).has_value());
    CHECK(Rational::parse("1" + std::string(3'000'000, '0') + "e-3000000").has_value());
}

TEST_CASE("arithmetic is exact and in lowest terms") {
    const Rational a(4, 5);
    const Rational b(-1, 5);
    CHECK((a + b).to_string() == "3/5");
    CHECK((a - b).to_string() == "1");
    CHECK((a * b).to_string() == "-4/25");
    CHECK((a / b).to_string() == "-4");
    CHECK(Rational(6, -4).to_string() == "-3/2");
    CHECK((-a).is_negative());
    CHECK(abs(b) == Rational(1, 5));
    CHECK((Rational() * b).is_zero());
    CHECK(Rational() == Rational(0, -7));
    CHECK(power(Rational(2, 3), 4).to_string() == "16/81");
    CHECK(power(Rational(2, 3), -3).to_string() == "27/8");
    CHECK(power(Rational(-2), 3) == Rational(-8));
    CHECK(power(Rational(), 0) == Rational(1));
    CHECK_THROWS_AS(a / Rational(), std::domain_error);
}

TEST_CASE("numbers are ordered") {
    CHECK(Rational(1, 3) < Rational(1, 2));
    CHECK(Rational(-1, 2) < Rational(-1, 3));
    CHECK(Rational(7, 7) == Rational(1));
    CHECK((Rational(1, 3) <=> Rational(2, 6)) == std::strong_ordering::equal);
}

TEST_CASE("integers are told from the rest") {
    CHECK(Rational(8, 4).as_int64() == 2);
    CHECK(Rational(-5).as_int64() == -5);
    CHECK_FALSE(Rational(1, 2).as_int64().has_value());
    using Limits = std::numeric_limits<std::int64_t>;
    CHECK(Rational(Limits::max()).as_int64() == Limits::max());
    CHECK(Rational(Limits::min()).as_int64() == Limits::min());
    CHECK_FALSE((Rational(Limits::max()) + Rational(1)).as_int64().has_value());
    CHECK_FALSE((Rational(Limits::min()) - Rational(1)).as_int64().has_value());
    CHECK(Rational(8).bits() == 5);  // 1000 and 1
    CHECK(Rational().bits() == 1);
}

TEST_CASE("rounding to double and float agrees with the C library at every edge") {
    for (const char* text :
         {"0.1", "0.3", "1e22", "1e23", "9007199254740993", "9007199254740992.5", "16777217", "16777219",
          "0.5",
          // Largest, just below and at the tie to infinity.
          "1.7976931348623157e308", "1.7976931348623158e308", "1.797693134862315807e308",
          "1.7976931348623159e308", "3.4028234663852886e38", "3.4028235677973366e38", "3.4028235677973365e38",
          "3.4028235e38", "1e39", "1e400",
          // Smallest normals and subnormals, and the tie to zero.
          "2.2250738585072014e-308", "2.2250738585072011e-308", "4.9e-324", "2.4703282292062328e-324",
          "2.4703282292062327e-324", "2.5e-324", "1e-330", "1e-400", "1.1754943508222875e-38",
          "1.1754942807573643e-38", "1.401298464324817e-45", "7.006492321624085e-46", "7.006492321624086e-46",
          "7.1e-46", "1e-46"}) {
        check_like_libc(text);
    }
}

TEST_CASE("ties go to even") {
    const Rational one(1);
    const Rational half_ulp = power(Rational(2), -53);
    CHECK((one + half_ulp).to_double() == 1.0);
    CHECK((one + half_ulp + half_ulp + half_ulp).to_double() == 1.0 + 4 * std::ldexp(1.0, -53));
    CHECK((one + half_ulp + power(Rational(2), -2000)).to_double() > 1.0);
    const Rational half_smallest = power(Rational(2), -1075);
    CHECK(half_smallest.to_double() == 0.0);
    CHECK((half_smallest * Rational(3)).to_double() == std::ldexp(1.0, -1073));
    CHECK((half_smallest + power(Rational(2), -1200)).to_double() == std::ldexp(1.0, -1074));
}

TEST_CASE("a float is rounded once, not through double") {
    // 1 + 2^-24 + 2^-60: to double it is the tie 1 + 2^-24, which would go down.
    const Rational value = Rational(1) + power(Rational(2), -24) + power(Rational(2), -60);
    CHECK(static_cast<float>(value.to_double()) == 1.0f);
    CHECK(value.to_float() == 1.0f + std::numeric_limits<float>::epsilon());
}

TEST_CASE("random decimals round like the C library") {
    std::mt19937_64 random(20240521);
    for (int i = 0; i < 3000; ++i) {
        const int digits = 1 + static_cast<int>(random() % 40);
        std::string text;
        for (int d = 0; d < digits; ++d)
            text += static_cast<char>('0' + random() % 10);
        text.insert(1 + random() % text.size(), ".");
        text += "e" + std::to_string(static_cast<int>(random() % 700) - 350);
        check_like_libc(text);
    }
}

TEST_CASE("a double is an exact rational and comes back") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t bits = random();
        double value = 0;
        static_assert(sizeof value == sizeof bits);
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        INFO(value);
        CHECK(Rational::from_double(value).to_double() == value);
    }
    CHECK(Rational::from_double(0.75).to_string() == "3/4");
    CHECK(Rational::from_double(-0.0).is_zero());
    const double smallest = std::numeric_limits<double>::denorm_min();
    CHECK(Rational::from_double(smallest) == power(Rational(2), -1074));
}

TEST_CASE("quotients of integers round like an exact division") {
    std::mt19937_64 random(11);
    for (int i = 0; i < 3000; ++i) {
        // Numbers of up to 53 and 24 bits: the machine's own division is correctly rounded.
        const auto a = static_cast<std::int64_t>(random() >> (11 + random() % 50));
        const auto b = static_cast<std::int64_t>(random() >> (11 + random() % 50)) + 1;
        INFO(a << " / " << b);
        CHECK(Rational(a, b).to_double() == static_cast<double>(a) / static_cast<double>(b));
        const std::int64_t c = a >> 29;
        const std::int64_t d = (b >> 29) + 1;
        CHECK(Rational(c, d).to_float() == static_cast<float>(c) / static_cast<float>(d));
    }
}
