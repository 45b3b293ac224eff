// A step as a list of values, each given once: what the adjoint goes through backwards.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/adjoint/algebra.h"
#include "compiler/adjoint/copy.h"

namespace halo::adjoint {

// Fields of a new program. Each statement gives a let of its own, for all cells: where the statement says
// nothing, what was there before. A level that changes in place is a let after the other, so that a statement
// reads what there was, whatever the cells are that it is for.
struct Flow {
    struct Definition {
        ir::FieldId field;
        ir::ExprId value;
        ir::FieldId source;  // of the given program
        // Added to it around points. The field is then an output, as nothing is injected into a let.
        std::optional<ir::Inject> inject;
    };
    std::vector<Definition> definitions;
    std::map<ir::FieldId, std::vector<ir::FieldId>>
        levels;                               // by field of the given program: now, then the past
    std::map<ir::FieldId, ir::FieldId> last;  // what a step leaves in it

    struct Objective {
        std::string name;
        ir::ExprId value;                 // at each cell
        std::optional<ir::ExprId> where;  // of the cells that count
        bool square_root = false;
    };
    std::vector<Objective> objectives;
    std::vector<ir::Sample> samples;   // those that are asked for
    std::optional<ir::ParamId> steps;  // the number of steps of the run; where the step's number is read
};

// `to` has the frame of `program`. Its reductions become objectives; all of its reductions and samples are
// asked for.
Flow make_flow(const ir::Program& program, Algebra& to, Names& names);

// idx and len say that the cell is one of the region, and outside of the margins. nullopt: all are.
std::optional<ir::ExprId> cells_of(Algebra& algebra, const ir::Region& region, const ir::Margins& margins);

// The number of the forward step that the adjoint's step undoes: steps - 1 - step.
ir::ExprId forward_step(Algebra& algebra, Names& names, std::optional<ir::ParamId>& steps);

}  // namespace halo::adjoint
