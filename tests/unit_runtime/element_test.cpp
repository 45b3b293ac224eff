// Elements of every type: what is rounded how, and that each comes back.
#include "runtime/core/element.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "catch.h"

using namespace halo::rt;

namespace {

double through(double value, ElementType type) {
    unsigned char element[8] = {};
    encode(value, type, element);
    return decode(element, type);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("every half-precision number comes back as itself") {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const auto element = static_cast<std::uint16_t>(bits);
            const double value = decode(&element, type);
            if (std::isnan(value)) continue;
            std::uint16_t again = 0;
            encode(value, type, &again);
            if (again != element) FAIL("bits " << bits);
        }
    }
}

TEST_CASE("halfway between two half-precision numbers the even one is taken") {
    for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
        const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
        const double middle = (decode(&low, ElementType::f16) + decode(&high, ElementType::f16)) / 2;
        std::uint16_t rounded = 0;
        encode(middle, ElementType::f16, &rounded);
        if (rounded != (bits % 2 == 0 ? low : high)) FAIL("above " << bits);
    }
}

TEST_CASE("reals past the end are infinite, integers stop there") {
    CHECK(through(65504, ElementType::f16) == 65504);
    CHECK(through(65519, ElementType::f16) == 65504);
    CHECK(through(65520, ElementType::f16) == kInfinity);
    CHECK(through(-1e9, ElementType::f16) == -kInfinity);
    CHECK(through(std::ldexp(1, -24), ElementType::f16) == std::ldexp(1, -24));
    CHECK(through(std::ldexp(1, -25), ElementType::f16) == 0);
    CHECK(through(1e39, ElementType::bf16) == kInfinity);
    CHECK(through(1 + std::ldexp(1, -8), ElementType::bf16) == 1);
    CHECK(std::isnan(through(std::nan(""), ElementType::f16)));
    CHECK(std::isnan(through(std::nan(""), ElementType::bf16)));
    CHECK(through(300, ElementType::u8) == 255);
    CHECK(through(-3, ElementType::u8) == 0);
    CHECK(through(2.5, ElementType::u8) == 2);
    CHECK(through(3.5, ElementType::i32) == 4);
    CHECK(through(1e10, ElementType::i32) == 2147483647);
    CHECK(through(-1e10, ElementType::i32) == -2147483648.0);
    CHECK(through(1e19, ElementType::i64) == std::ldexp(1, 63));  // the largest one, rounded
    CHECK(through(std::nan(""), ElementType::i64) == 0);
    CHECK(through(-0.5, ElementType::boolean) == 1);
}

TEST_CASE("infinite elements and those that are no number are counted") {
    constexpr int kCount = 77;  // no multiple of a vector
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16}) {
        std::vector<double> values(kCount, -2);
        values[3] = 0;
        values[4] = 1e-40;  // subnormal, or 0
        values[5] = -60000;
        std::vector<unsigned char> elements(kCount * 8);
        const auto count = [&] {
            encode(values.data(), kCount, type, elements.data());
            return count_not_finite(elements.data(), kCount, type);
        };
        INFO(name_of(type));
        CHECK(count() == 0);
        values[0] = kInfinity;
        values[40] = -kInfinity;
        values[kCount - 1] = std::numeric_limits<double>::quiet_NaN();
        CHECK(count() == 3);
        CHECK(count_not_finite(elements.data(), 0, type) == 0);
    }
    const std::vector<unsigned char> ones(64, 0xff);
    for (const ElementType type : {ElementType::u8, ElementType::i32, ElementType::i64, ElementType::boolean})
        CHECK(count_not_finite(ones.data(), 8, type) == 0);
}
