// Fold: how a stage accumulates its value as planes arrive, instead of keeping all planes that it reads.
//
// A box of 27 points reads nine cells of each of three planes. Once a plane and its neighbours are there, its
// terms are added to three sums: a thread carries one or two partial sums for each cell from iteration to
// iteration, and no plane with its neighbours. The order of the arithmetic is that of the expression: a node
// is computed at the last plane that it needs, so sums whose terms are in the order of their planes carry the
// fewest values.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"

namespace halo::schedule {

struct Fold {
    // A value that is computed at one plane and used at a later one.
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

// Of a stage of one assignment, and reductions with it, that reads `field` at `time`. None where other levels
// are needed before the last plane is there, or where halo images at a face are of planes that were computed
// before (a mirror).
std::optional<Fold> form_fold(const ir::Program& program, const ir::Stage& stage, ir::FieldId field,
                              int time);

}  // namespace halo::schedule
