// Lowers the arithmetic of one cell: a stage's expressions become kernel expressions; a value that is used
// twice gets a name.
#pragma once

#include <functional>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

class TabulatedFunctions;

// The sources of a cell's operands, in which strategies differ.
struct CellSources {
    std::function<kernel::Expr(const Level&, const ir::Offset&)> load;  // of the field's arithmetic type
    CellIndex index;                                // the cell's index along each axis, i32
    bool coefs_as_parameters = false;               // else in constant memory
    std::function<kernel::Expr(ir::ExprId)> given;  // values that exist already; empty for the others
    const TabulatedFunctions* tabulated = nullptr;  // values that are looked up in tables
    kernel::Expr far_from_faces;                    // where true, the cell is in no margin; empty: unknown
    // By axis: the cell may lie past the face, where its values are of no use.
    std::array<bool, ir::kMaxRank> may_pass_low_face{};
    std::array<bool, ir::kMaxRank> may_pass_high_face{true, true, true, true};
    std::array<bool, ir::kMaxRank>
        is_in_region{};           // by axis: of statements that share a box, the cell lies in it
    bool fast_functions = false;  // the target has approximations for `fast` calls
    // Cheap sides of a choice are computed whatever its condition is. Where all is in registers that takes
    // less time than a branch, which cells of a thread pass one after the other.
    bool chooses_late = false;
    // The thread has this cell alone (choices.h), and no other thread changes what it reads.
    bool is_alone = false;
};

struct CellValues {
    // For each StageView::assigns: a variable or literal of the storage type, with margins applied.
    std::vector<kernel::Expr> assigned;
    std::vector<kernel::Expr> reduced;  // for each reduction
    std::vector<kernel::Expr> counted;  // for each reduction: whether the cell counts; empty where all do
};

// A lowered statement at one cell, of a stage that changes levels in place.
struct InPlaceCell {
    kernel::Expr inside;  // whether the statement is for this cell; empty where it is for all
    kernel::Block body;   // what `value` needs, where the statement is for the cell
    kernel::Expr value;   // that is stored
};

// The statements of a stage that shares a box, at one cell.
struct BoxCell {
    kernel::Expr inside;  // whether they are for this cell; empty where they are for all
    kernel::Block body;   // what the values need, where they are for the cell
    CellValues values;
};

// The value that `write`, one of the stage's, stores.
kernel::Expr stored_value(const StageView& stage, const Write& write, const CellValues& values);

// Appends the statements to `body`. They take names in an inner scope, as the body may be printed several
// times.
CellValues lower_cell(Context& context, const CellSources& sources, kernel::Block& body);

// The same for a statement of a stage that changes a level in place; appends what its lets need to `body`.
InPlaceCell lower_in_place(Context& context, const CellSources& sources, const ir::Assign& changing,
                           kernel::Block& body);

// The same for all statements of a stage that shares a box.
BoxCell lower_in_box(Context& context, const CellSources& sources, kernel::Block& body);

// The same for all statements of a sweep, which share what they have in common: `store` appends what stores a
// level's value. False, and nothing appended, where one of them is not for every cell.
bool lower_line_cell(Context& context, const CellSources& sources, kernel::Block& body,
                     const std::function<void(const Level&, kernel::Expr)>& store);

// The values of `roots` at one cell, in order; else like lower_cell().
std::vector<kernel::Expr> lower_values(Context& context, const CellSources& sources,
                                       const std::vector<ir::ExprId>& roots, kernel::Block& body);
// The same, with the stage's lets that they read.
std::vector<kernel::Expr> lower_with_lets(Context& context, const CellSources& sources,
                                          std::vector<ir::ExprId> roots, kernel::Block& body);
// A value at one cell that a stage at points reads; appends what the stage's lets need to `body`.
kernel::Expr lower_at_point(Context& context, const CellSources& sources, ir::ExprId value,
                            kernel::Block& body);
inline kernel::Expr lower_inline(Context& context, const CellSources& sources, ir::ExprId id,
                                 kernel::Block& body) {
    return lower_values(context, sources, {id}, body).front();
}
// Declares values, and computes them by statements in an inner scope.
struct NamedValue {
    std::string name;
    kernel::Expr value;
};
void declare_values(std::vector<NamedValue> values, kernel::Block before, kernel::Block& body);
// Declares a value under a name that is unique in the kernel.
kernel::Expr lower_value(Context& context, const CellSources& sources, ir::ExprId id,
                         const std::string& wanted, kernel::Block& body);

}  // namespace halo::lower
