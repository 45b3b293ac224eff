// The text that calls a whole function, and what has to be made for its call; for whole_run.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lift/lift.h"

namespace halo::lift {

struct WholeValue {
    enum class Kind : unsigned char {
        number,  // one: drawn
        array,   // numbers behind a pointer
        rows,    // pointers to rows of numbers
        planes,  // pointers to those
        end,     // memory that ends there: of structs and pointers, which the call makes
        result   // what the function returns
    };
    Kind kind = Kind::number;
    c::Number number = c::Number::f64;
    std::string name;
    std::size_t least_bytes = 0;  // of an array: what the nests need of it, where that is a constant
    int like = -1;                // of a number: the value that it is in some draws, of another element
    bool is_one_of_many = false;  // of an array: with little room
    bool is_single = false;       // of an array: its first element alone is used, as a number
    std::string copied_to{};      // of that number: a variable of the function that begins as it
};

struct WholeHarness {
    // halo_lift_whole(void** values) calls the function; halo_lift_globals(void** places, long* bytes) says
    // where the globals are.
    std::string text;
    // Of a kernel, which is launched: the same with the stencil in its place.
    std::string replaced;
    std::vector<WholeValue> values;
    std::vector<WholeValue> globals;
};

// Throws SourceError where an argument cannot be made.
WholeHarness write_whole_harness(const c::Unit& unit, const Nests& found);

}  // namespace halo::lift
