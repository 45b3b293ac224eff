// Statements that are done cell after cell along an axis (LineSweep in program.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "compiler/ir/program.h"

namespace halo::ir {

// The sweep that a statement is part of; nullptr where it is for all cells at once.
const LineSweep* sweep_of(const Statement& statement);

// The index past the last statement of the sweep whose first statement is at `first`; of a statement of none,
// the next.
std::size_t end_of_sweep(const Program& program, std::size_t first);

// The index of the first statement of the sweep that has the one at `last`; `last` where that is of none.
std::size_t first_of_sweep(const Program& program, std::size_t last);

// A sweep may read what it writes along its axis alone. What it is first to write, it reads at the cells
// before, and at the cell itself where an earlier statement of it has written that. Past a face lie fixed
// values, or nothing: others would show cells of which it is not said whether they are done.
struct SweepMistake {
    enum class Kind {
        across,    // at another place than along the axis
        ahead,     // a value that is not computed yet
        no_start,  // the first cells of an output read past a free face, and nothing gives them a value
        left_out,  // of an output, cells that the sweep begins behind, as what else it reads has no value
                   // there
        shows      // past a face that shows cells, or a formula of them
    };
    Kind kind = Kind::across;
    std::size_t statement = 0;
    ExprId read;  // an Access
};
// is_written: whether a statement before the sweep writes the field's level of this step.
std::optional<SweepMistake> find_sweep_mistake(const Program& program, std::size_t first,
                                               const std::function<bool(FieldId)>& is_written);

}  // namespace halo::ir
