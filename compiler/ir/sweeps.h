// Statements that are done cell after cell along an axis, or along two (line_sweep.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// Whether a sweep does the cell at that offset before the cell itself (below 0), or after it (above 0).
int order_of(const LineSweep& sweep, const Offset& offset);

// Of a sweep along two axes, whose first statement is at `first`: the least number of cells along the second
// axis by which each line has to be behind the line before it, so that cells of all lines can be done at
// once: what a cell reads of other lines is then done before it, or after it, as in the sweep's own order.
int slant_of(const Program& program, std::size_t first);

// A sweep goes through as many places: cells along its axis, or pairs of cells along its axes.
using Place = std::array<std::int64_t, kMaxRank>;
std::int64_t places_of(const LineSweep& sweep, const Place& extent);
// Of these the one that is done after `number` others: a cell along each axis of the sweep, -1 along others.
Place place_of(const LineSweep& sweep, const Place& extent, std::int64_t number);

// A sweep may read what it writes along its axes alone. What it is first to write, it reads at the cells
// before, and at the cell itself where an earlier statement of it has written that. Past a face lie fixed
// values, or nothing: others would show cells of which it is not said whether they are done.
struct SweepMistake {
    enum class Kind {
        across,    // at another place than along its axes
        ahead,     // a value that is not computed yet
        no_start,  // the first cells of an output read past a free face, and nothing gives them a value
        left_out,  // of an output, cells that the sweep begins behind, as what else it reads has no value
                   // there
        shows      // past a face that shows cells, or a formula of them
    };
    Kind kind = Kind::across;
    std::size_t statement = 0;
    ExprId read;   // an Access
    int axis = 0;  // along which it reads past the face; of the sweep
};
// is_written: whether a statement before the sweep writes the field's level of this step.
std::optional<SweepMistake> find_sweep_mistake(const Program& program, std::size_t first,
                                               const std::function<bool(FieldId)>& is_written);

}  // namespace halo::ir
