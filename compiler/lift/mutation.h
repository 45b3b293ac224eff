// Faults that a test puts into the lifter, to see that running both finds each of them (tests/lift/
// mutation_test.cpp). There is none in the command.
#pragma once

#include <cstdint>

namespace halo::lift {

enum class Mutation : std::uint8_t {
    none,
    drop_condition,        // around a store
    drop_index_condition,  // that narrows a loop
    drop_else,
    drop_continue,
    drop_statement,   // the last one of several
    drop_narrowing,   // of a double to a float
    drop_wrap,        // of unsigned numbers
    drop_minus,       // in front of a number
    drop_assignment,  // in a branch, of a variable
    shift_read,       // by one cell
    shorten_loop,     // by its last iteration
    drop_equal,       // <= as <
    swap_difference,  // of reals
    swap_extremes,    // min and max
    swap_comparison,  // what is not below is below or the same
    keep_counter,     // a number as it was before a loop around has changed it
    keep_pointer,     // a pointer as it was before
    keep_order,       // what a step has written is not seen
    keep_arrays,      // rotating arrays stay
    drop_zero,        // that a sum begins with: it makes 0 of -0
    drop_bound,       // that a parameter puts somewhere
    drop_assumption,  // what --assume says is not asked for
    drop_need,        // nor whether a box lies within the arrays
    shorten_window,   // around a cell, by its last iteration
    drop_cut,         // of a window at an edge
    shift_weight,     // a given one is the next one
    swap_boundary,    // clamp and periodic
    turn_profile,     // an array of fewer axes lies over other ones
    drop_apart,       // that strides of their own are far enough apart
    drop_origin,      // that an array begins elsewhere on the grid
    drop_front,       // what a variable holds in front of a loop that carries it along
    drop_kept,        // that an array is written of which a loop keeps cells in variables
    last_mutation = drop_kept,
    // Of threads that share memory (tests/lift/random_tiles_test.cpp).
    shift_tile,      // by one thread
    drop_unwritten,  // an element that nobody has written is zero
    drop_race,       // what a thread reads is what was there at the barrier
    // Of objects (tests/lift/random_objects_test.cpp).
    keep_member,    // what is set anew in an object is not seen
    swap_members,   // the numbers of a list go to its members in the other order
    drop_check,     // what a function ends the program for is taken to hold
    shift_element,  // of a short array that is handed over
    keep_turn,      // loops that have no order have that of the text
    // Of Fortran (tests/lift/fortran_test.cpp).
    swap_subscripts,   // the last one goes along the row
    drop_lower_bound,  // arrays begin at 0
    drop_section,      // it begins where its array begins
    swap_ways,         // an IF that is made of blocks goes the other way
};

inline Mutation mutation = Mutation::none;  // of all threads

inline bool has(Mutation which) {
    return mutation == which;
}

}  // namespace halo::lift
