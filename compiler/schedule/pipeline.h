// Pipeline: how the stages of several time steps run one behind the other along the slowest axis, in one
// sweep over memory (the strategy `temporal`).
//
// In each iteration a plane of the initial levels arrives. Stage j of step s then computes the plane that
// arrived `period * s + lag(j)` iterations ago, which is the least lag at which all that it reads is there.
// What later stages read of a level is kept in a queue of planes. Threads exchange the values of a plane with
// those that have neighbouring cells (its *window*) at one distance behind the newest plane of its level.
//
// The lags of one step are enough: those of step s are greater by `period * s`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/lower/packed/packed.h"
#include "compiler/schedule/fold.h"

namespace halo::schedule {

struct Pipeline {
    // A level that a stage reads. For a state `time` counts from the stage's own step.
    struct Use {
        ir::FieldId field;
        int time = 0;
        std::vector<ir::Offset> offsets;  // sorted, each once
        // Planes from the newest of the level back to the one at the stage's own cells; of an input, from the
        // plane that arrives in this iteration.
        int distance = 0;
    };
    struct Stage {
        ir::Stage stage;
        int lag = 0;  // iterations behind the plane's arrival, in step 0
        std::vector<Use> uses;
        std::optional<lower::PackedWork> packed;  // where words hold the cells
    };
    // The planes of one field's levels. Each level has a queue: of a state the initial levels that are read
    // and that of each step; of a let that of each step. Inputs stay in the ring.
    struct Queue {
        ir::FieldId field;
        ir::Role role = ir::Role::state;
        int writer = -1;  // stage; -1 of an input
        // Of a state and an input: the levels that arrive from memory, t and those of the past; none where a
        // state is only read after it is written.
        int arriving = 0;
        bool is_read_next = false;  // level t+1, by a later stage of its step
        int past() const { return arriving > 0 ? arriving - 1 : 0; }
        int slots = 1;  // planes of own cells, the newest last
        // The one time at which neighbours within a plane are read, and how far: [axis][side].
        bool has_window = false;
        int window_time = 0;
        std::array<std::array<int, 2>, 2> reach{};
        bool has_corners = false;  // diagonal neighbours within the plane are read
        int window_distance = 0;   // of the newest window behind the newest plane
        int windows = 1;           // planes that are kept with their neighbours' cells
        bool keeps_windows() const { return has_window && windows > 1; }
        // Where a single stage reads neighbours in several planes: it accumulates its sums plane by plane
        // instead.
        std::optional<Fold> fold;
        // Of packed cells, for the same: sums of neighbours in a row, of which a plane has its own.
        std::vector<lower::RowSum> row_sums;
        // Whether what is read of several planes is carried from plane to plane in place of the planes.
        bool is_carried() const { return fold || !row_sums.empty(); }
        // Of an input: what all steps compute of it alike (invariant.h), which its ring holds in its place.
        std::optional<ir::ExprId> invariant;
        int lines() const { return reach[1][0] + reach[1][1]; }  // rows that other threads have
    };

    int rank = 2;
    int steps = 1;
    int period = 1;         // iterations from one step to the next
    int cells_of_word = 1;  // of a row that a register holds: kPackedCells where all is arithmetic of bytes
    // No plane is read in the iteration that computes it, and none after the next iteration: later steps come
    // first in an iteration, and a new plane overwrites the one just read. Distances then count from the
    // newest plane of the previous iteration.
    bool later_first = false;
    std::vector<Stage> stages;
    std::vector<Queue> queues;  // by field, of those that are read or written
    // Width of the ghost zone that a tile computes redundantly around its output, [axis][side].
    std::array<std::array<int, 2>, ir::kMaxRank> halo{};

    const Queue* find(ir::FieldId field) const;
    int levels(const Queue& queue) const;  // that it keeps over all steps; 0 of an input
    int streaming_axis() const { return rank - 1; }
    bool is_packed() const { return cells_of_word > 1; }
    // Registers of a row that hold so many cells, at least.
    int words_of(int cells) const { return (cells + cells_of_word - 1) / cells_of_word; }
    int last_lag() const;  // of the last step's last stage
    // Iterations after its arrival at which level t + time of step `step` has a plane; may be negative.
    int ready(const Queue& queue, int step, int time) const;
    // Planes that are read from the ring, relative to the one that arrives: [first, last]; of an input or of
    // the initial levels of a state.
    std::array<int, 2> arrival(const Queue& queue) const;
    std::array<int, 2> arrival() const;  // of all
    // Iterations of a traversal before the output's first plane (its prologue), and after its last one (its
    // epilogue).
    int lead() const;
    int tail() const { return last_lag(); }
    int new_levels(const ir::Program& program) const;  // of each state, after all steps
};

// Why a field's values cannot be in registers, one in each, as they are in memory.
std::string not_as_computed(const ir::Field& field);
// Whether an offset leads to a neighbour within the plane, across the streaming axis.
bool is_within_plane(const ir::Offset& offset, int streaming_axis);

// Why a program has no pipeline, whatever the number of steps; empty where it has.
std::string pipeline_refusal(const ir::Program& program);
// The pipeline of `steps` steps, or why the program has none.
std::variant<Pipeline, std::string> form_pipeline(const ir::Program& program, int steps);

}  // namespace halo::schedule
