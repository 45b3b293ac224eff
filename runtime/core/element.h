// Single elements of arrays: numbers to and from how each ElementType lies in memory.
//
// Reals round to nearest, ties to even; what is too large becomes infinite. Integers take the nearest whole
// number, ties to even, within what they hold; NaN gives 0. A boolean is whether the number is not 0.
#pragma once

#include <cstdint>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

void encode(double value, ElementType type, void* element);
double decode(const void* element, ElementType type);  // an i64 past 2^53 is rounded

// `count` elements in a row.
void encode(const double* values, std::int64_t count, ElementType type, void* elements);
void encode(const float* values, std::int64_t count, ElementType type, void* elements);
void decode(const void* elements, std::int64_t count, ElementType type, double* values);
void decode(const void* elements, std::int64_t count, ElementType type, float* values);

constexpr bool is_real(ElementType type) {
    return type == ElementType::f32 || type == ElementType::f64 || type == ElementType::f16 ||
           type == ElementType::bf16;
}
const char* name_of(ElementType type);  // "f32"

// How many of `count` elements in a row are infinite or NaN; 0 for types that hold neither.
std::int64_t count_not_finite(const void* elements, std::int64_t count, ElementType type);

}  // namespace halo::rt
