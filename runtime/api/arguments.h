// What the arguments of the interfaces for host programs must be: one check for each kind of argument, which
// every call with such an argument makes. Each throws Error (bad_argument) that says what is possible. Not
// for users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halocline/runtime.hpp"
#include "runtime/core/launch_plan.h"

namespace halocline::detail {

halo::rt::ElementType checked_type(Type type);

// 1 to 4 axes of 1 cell or more, all of which can be counted.
void check_grid(const Grid& grid);

// Where cells lie in an array: within its elements, no two in one place.
struct Place {
    std::int64_t pitch = 0, slice = 0, volume = 0;
    std::int64_t first_cell = 0, elements = 0;
    std::int64_t element_bytes = 0;  // for the message; 0 where it is of no type
};
void check_place(const Grid& grid, const Place& place);

// Elements from a volume of a view to the next; 0 where there is one.
std::int64_t volume_of(const View& view, const Grid& grid);

// Levels of the past, and arrays that are written next: 0 or more, and no more than a program could have.
void check_levels(int past, int scratch);

// How many items a list of the caller's has.
std::size_t checked_count(int count, const char* what);

// Neither infinite nor not a number.
void check_finite(std::span<const double> values, const std::string& what);

void check_steps(std::int64_t count, std::int64_t done);

}  // namespace halocline::detail
