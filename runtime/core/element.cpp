#include "runtime/core/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace halo::rt {

namespace {

template <class T>
void put(T value, void* element) {
    std::memcpy(element, &value, sizeof value);
}
template <class T>
T get(const void* element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return value;
}

template <class Integer>
Integer whole(double value) {
    if (std::isnan(value)) return 0;
    const double nearest = std::nearbyint(value);
    if (nearest <= static_cast<double>(std::numeric_limits<Integer>::min()))
        return std::numeric_limits<Integer>::min();
    if (nearest >= static_cast<double>(std::numeric_limits<Integer>::max()))
        return std::numeric_limits<Integer>::max();
    return static_cast<Integer>(nearest);
}

std::uint16_t half_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7fffffffU;
    std::uint32_t result = 0;
    if (magnitude > 0x7f800000U) {
        result = 0x7e00U;  // NaN
    } else if (magnitude >= 0x47800000U) {
        result = 0x7c00U;  // 65536 and more
    } else if (magnitude >= 0x38800000U) {
        // Rounding may carry into the exponent: then it is the next power of two, or infinity.
        result = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
    } else {
        result = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::fabs(value), 24)));  // subnormal
    }
    return static_cast<std::uint16_t>(sign | result);
}

float half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
    float value = 0;
    if (exponent == 0x1f) {
        value = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    } else if (exponent == 0) {
        value = std::ldexp(static_cast<float>(mantissa), -24);
    } else {
        value = std::ldexp(static_cast<float>(0x400 | mantissa), exponent - 25);
    }
    return bits & 0x8000 ? -value : value;
}

std::uint16_t brain_bits(float value) {
    if (std::isnan(value)) return 0x7fff;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

float brain_value(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Infinite and NaN are those with all bits of the exponent set. The loop has no branch, so that compilers
// make vectors of it.
template <class Bits>
std::int64_t count_with_exponent(const void* elements, std::int64_t count, Bits exponent) {
    std::int64_t found = 0;
    for (std::int64_t n = 0; n < count; ++n) {
        const Bits bits = get<Bits>(static_cast<const char*>(elements) + n * std::int64_t{sizeof(Bits)});
        found += (bits & exponent) == exponent ? 1 : 0;
    }
    return found;
}

}  // namespace

void encode(double value, ElementType type, void* element) {
    switch (type) {
        case ElementType::f64:
            return put(value, element);
        case ElementType::f32:
            return put(static_cast<float>(value), element);
        case ElementType::f16:
            return put(half_bits(static_cast<float>(value)), element);
        case ElementType::bf16:
            return put(brain_bits(static_cast<float>(value)), element);
        case ElementType::u8:
            return put(whole<std::uint8_t>(value), element);
        case ElementType::i32:
            return put(whole<std::int32_t>(value), element);
        case ElementType::i64:
            return put(whole<std::int64_t>(value), element);
        case ElementType::boolean:
            return put(static_cast<std::uint8_t>(value != 0), element);
    }
}

double decode(const void* element, ElementType type) {
    switch (type) {
        case ElementType::f64:
            return get<double>(element);
        case ElementType::f32:
            return get<float>(element);
        case ElementType::f16:
            return half_value(get<std::uint16_t>(element));
        case ElementType::bf16:
            return brain_value(get<std::uint16_t>(element));
        case ElementType::u8:
            return get<std::uint8_t>(element);
        case ElementType::i32:
            return get<std::int32_t>(element);
        case ElementType::i64:
            return static_cast<double>(get<std::int64_t>(element));
        case ElementType::boolean:
            return get<std::uint8_t>(element) != 0;
    }
    return 0;
}

namespace {

template <class Value>
void encode_row(const Value* values, std::int64_t count, ElementType type, void* elements) {
    const std::int64_t size = size_of(type);
    for (std::int64_t i = 0; i < count; ++i)
        encode(static_cast<double>(values[i]), type, static_cast<char*>(elements) + i * size);
}

template <class Value>
void decode_row(const void* elements, std::int64_t count, ElementType type, Value* values) {
    const std::int64_t size = size_of(type);
    for (std::int64_t i = 0; i < count; ++i)
        values[i] = static_cast<Value>(decode(static_cast<const char*>(elements) + i * size, type));
}

}  // namespace

void encode(const double* values, std::int64_t count, ElementType type, void* elements) {
    encode_row(values, count, type, elements);
}

void encode(const float* values, std::int64_t count, ElementType type, void* elements) {
    encode_row(values, count, type, elements);
}

void decode(const void* elements, std::int64_t count, ElementType type, double* values) {
    decode_row(elements, count, type, values);
}

void decode(const void* elements, std::int64_t count, ElementType type, float* values) {
    decode_row(elements, count, type, values);
}

const char* name_of(ElementType type) {
    static constexpr const char* kNames[] = {"f32", "f64", "f16", "bf16", "u8", "i32", "i64", "bool"};
    return kNames[static_cast<int>(type)];
}

std::int64_t count_not_finite(const void* elements, std::int64_t count, ElementType type) {
    switch (type) {
        case ElementType::f32:
            return count_with_exponent(elements, count, std::uint32_t{0x7f800000});
        case ElementType::f64:
            return count_with_exponent(elements, count, std::uint64_t{0x7ff0000000000000});
        case ElementType::f16:
            return count_with_exponent(elements, count, std::uint16_t{0x7c00});
        case ElementType::bf16:
            return count_with_exponent(elements, count, std::uint16_t{0x7f80});
        case ElementType::u8:
        case ElementType::i32:
        case ElementType::i64:
        case ElementType::boolean:
            break;
    }
    return 0;
}

}  // namespace halo::rt
