// Fold: how the value of a stage grows as planes arrive, instead of waiting for all that it reads.
//
// A box of 27 points reads nine cells of each of three planes. Once a plane and its neighbours are there, its
// part of three sums can be added: what is carried from turn to turn is a partial sum or two for each cell,
// and no plane with its neighbours. Nothing is computed in another order than the expression says: a node is
// computed at the last plane that it needs, so sums whose terms are in the order of their planes carry least.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"

namespace halo::schedule {

struct Fold {
    // A value that is there once a plane is, and needed when a later one is.
    struct Carried {
        bool own = false;  // the level's value at the cell itself, else `expr`
        ir::ExprId expr{};
        friend bool operator==(const Carried&, const Carried&) = default;
    };
    int low = 0, high = 0;  // planes that are read, around the stage's own
    // by_plane[i]: what is carried past plane low + i; none is carried past the last one.
    std::vector<std::vector<Carried>> by_plane;
    const std::vector<Carried>& before(int plane) const {
        return by_plane[static_cast<std::size_t>(plane - low - 1)];
    }
    const std::vector<Carried>& after(int plane) const {
        return by_plane[static_cast<std::size_t>(plane - low)];
    }
    int values() const;  // that a cell carries
};

// Of a stage of one assignment, and reductions beside it, that reads `field` at `time`; none where other
// levels are needed before the last plane is there, or where a face shows planes that have gone by (a
// mirror).
std::optional<Fold> form_fold(const ir::Program& program, const ir::Stage& stage, ir::FieldId field,
                              int time);

}  // namespace halo::schedule
