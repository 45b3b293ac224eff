// Pipeline: how the stages of several time steps run one behind the other along the slowest axis, in one
// sweep over memory (the strategy `temporal`).
//
// A plane of the initial levels arrives at each turn. Stage j of step s then computes the plane that came
// `period * s + lag(j)` turns ago, just late enough for all that it reads to be there. What later stages read
// of a level waits in a queue of planes. A plane's values are exchanged between the threads that hold
// neighbouring cells (its *window*) at one distance behind the newest plane of its level.
//
// One step's places are enough: those of step s are the same, `period * s` planes later.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/schedule/fold.h"

namespace halo::schedule {

struct Pipeline {
    // A level that a stage reads. For a state `time` counts from the stage's own step.
    struct Use {
        ir::FieldId field;
        int time = 0;
        std::vector<ir::Offset> offsets;  // sorted, each once
        // Planes from the newest of the level back to the one at the stage's own cells; of an input, from the
        // plane that arrives at this turn.
        int distance = 0;
    };
    struct Stage {
        ir::Stage stage;
        int lag = 0;  // turns behind the plane's arrival, in step 0
        std::vector<Use> uses;
    };
    // The planes of one field's levels. One queue for each level: of a state one for the initial ones that
    // are read and for each step's; of a let one for each step; inputs stay where they arrive.
    struct Queue {
        ir::FieldId field;
        ir::Role role = ir::Role::state;
        int writer = -1;  // stage; -1 of an input
        // Of a state and an input: the levels that are read where they arrive from memory, t and those of the
        // past; none where a state is only read once it is written.
        int arriving = 0;
        bool is_read_next = false;  // level t+1, by a later stage of its step
        int past() const { return arriving > 0 ? arriving - 1 : 0; }
        int slots = 1;  // planes of own cells, the newest last
        // The one time at which neighbours within a plane are read, and how far: [axis][side].
        bool has_window = false;
        int window_time = 0;
        std::array<std::array<int, 2>, 2> reach{};
        bool has_corners = false;  // neighbours along two axes of the plane at once are read
        int window_distance = 0;   // of the newest window behind the newest plane
        int windows = 1;           // planes that are kept with their neighbours
        bool keeps_windows() const { return has_window && windows > 1; }
        // Where one stage alone reads neighbours in several planes: its sums grow plane by plane instead.
        std::optional<Fold> fold;
        int lines() const { return reach[1][0] + reach[1][1]; }  // rows that other threads have
    };

    int rank = 2;
    int steps = 1;
    int period = 1;  // turns from one step to the next
    // No plane is read in the turn that brings it, and none after the next one: later steps go first in a
    // turn, and a new plane takes the place of the one just read. Distances then count from the newest plane
    // that the turn before has left.
    bool later_first = false;
    std::vector<Stage> stages;
    std::vector<Queue> queues;  // by field, of those that are read or written
    // Cells around a tile's output that have to be there for all steps, [axis][side].
    std::array<std::array<int, 2>, 3> halo{};

    const Queue* find(ir::FieldId field) const;
    int levels(const Queue& queue) const;    // that wait in it over all steps; 0 of an input
    int walked() const { return rank - 1; }  // the axis
    int last_lag() const;                    // of the last step's last stage
    // Turns behind its arrival at which level t + time of step `step` has a plane; may be negative.
    int ready(const Queue& queue, int step, int time) const;
    // Planes relative to the turn's own that are read where they arrived: [first, last]; of an input or of
    // the initial levels of a state.
    std::array<int, 2> arrival(const Queue& queue) const;
    std::array<int, 2> arrival() const;  // of all
    // Turns before the output's first plane at which the walk starts, and after its last one where it ends.
    int lead() const;
    int tail() const { return last_lag(); }
    int new_levels(const ir::Program& program) const;  // of each state that are there after all steps
};

// Whether an offset leads to a neighbour within the plane across the walked axis.
bool is_within_plane(const ir::Offset& offset, int walked);

// What of a program no pipeline can have, however many steps; empty where nothing.
std::string pipeline_refusal(const ir::Program& program);
// The pipeline of `steps` steps, or why the program has none.
std::variant<Pipeline, std::string> form_pipeline(const ir::Program& program, int steps);

}  // namespace halo::schedule
