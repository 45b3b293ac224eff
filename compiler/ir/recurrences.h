// Sweeps whose lines can be cut into parts that are done side by side: each statement is a quotient of linear
// functions of what it gave the cell before (Recurrence in program.h). Such functions can be composed, so
// that a part's is known before what comes to it is.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// Why a sweep has to be done cell after cell.
struct RecurrenceMistake {
    enum class Kind : std::uint8_t {
        not_a_quotient,  // made of the value before by other operations than + - * / and `if`
        rounded,         // each value is rounded to a narrower type, or is an integer
        needs_later,     // reads before the cell what a later statement of the sweep writes
        leaves_out,      // some cells of a line are left out
        ahead,           // reads what the sweep has yet to change at the cells that follow
        further          // reads more than one cell back
    };
    Kind kind = Kind::not_a_quotient;
    std::size_t statement = 0;
    ExprId where;
};

// The recurrences of the sweep whose first statement is at `first`, in order. Their expressions are added to
// the program, which stays the same in all else.
std::variant<std::vector<Recurrence>, RecurrenceMistake> find_recurrences(Program& program,
                                                                          std::size_t first);

// Whether all statements of the sweep that has this one have a recurrence by now.
bool is_in_parts(const Assign& assign);

}  // namespace halo::ir
