// The arithmetic of one cell: a stage's expressions as kernel expressions, with names where a value is used
// twice.
#pragma once

#include <functional>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// Where a cell's operands come from: what differs between strategies.
struct CellSources {
    std::function<kernel::Expr(const Level&, const ir::Offset&)> load;  // of the field's arithmetic type
    std::array<kernel::Expr, 3> index;              // the cell's index along each axis, i32
    bool coefs_as_parameters = false;               // else in constant memory
    std::function<kernel::Expr(ir::ExprId)> given;  // values that are there already; empty for the others
    kernel::Expr far_from_faces;                    // where it holds, the cell is in no margin; empty: ask
    bool fast_functions = false;                    // the machine has approximations for `fast` calls
};

struct CellValues {
    // For each StageView::assigns: a variable or literal, margins applied, as the field's storage has it.
    std::vector<kernel::Expr> assigned;
    std::vector<kernel::Expr> reduced;  // for each reduction
    std::vector<kernel::Expr> counted;  // for each reduction: whether the cell counts; empty where all do
};

// What a stage's statement that works in place does at one cell.
struct InPlaceCell {
    kernel::Expr inside;  // whether it has this cell; empty where it has all
    kernel::Block body;   // to be done where it does, before
    kernel::Expr value;   // is stored
};

// What `write`, one of the stage's, stores.
kernel::Expr stored_value(const StageView& stage, const Write& write, const CellValues& values);

// Appends the statements to `body`. Names are taken in a scope of their own: the body may be printed several
// times.
CellValues lower_cell(Context& context, const CellSources& sources, kernel::Block& body);

// The same for a stage whose statement works in place: what its lets need is appended to `body`.
InPlaceCell lower_in_place(Context& context, const CellSources& sources, kernel::Block& body);

// The values of `roots`, in order, at one cell; besides that as lower_cell.
std::vector<kernel::Expr> lower_values(Context& context, const CellSources& sources,
                                       const std::vector<ir::ExprId>& roots, kernel::Block& body);
// A value at one cell that a stage at points reads; what the stage's lets need is appended to `body`.
kernel::Expr lower_at_point(Context& context, const CellSources& sources, ir::ExprId value,
                            kernel::Block& body);
kernel::Expr lower_inline(Context& context, const CellSources& sources, ir::ExprId id, kernel::Block& body);
// Declares a value after the statements that lead to it, which stay in a scope of their own.
void declare_value(const std::string& name, kernel::Block before, kernel::Expr value, kernel::Block& body);
// Under a name, which the kernel keeps.
kernel::Expr lower_value(Context& context, const CellSources& sources, ir::ExprId id,
                         const std::string& wanted, kernel::Block& body);

}  // namespace halo::lower
