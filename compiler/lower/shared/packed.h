// Lowers the arithmetic of a stage for several neighbouring cells of a row at once, in the lanes of words,
// where all of it is arithmetic of small whole numbers and truths that lie in memory as single bytes.
#pragma once

#include <functional>
#include <optional>

#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/packed_lanes.h"

namespace halo::lower {

// The two words, one behind the other, that hold the bytes which a level has at the cells, shifted by the
// offset, and how many bytes of the first come before those; where none do, the second is not looked at.
struct PackedSource {
    kernel::Expr first, second;
    int before = 0;
};

// Some cells of a row that are added up: those at these shifts along the first axis. Cells below each other
// share the sums of rows, `low` to `high` along the second axis.
struct RowSum {
    Level level;
    std::vector<int> shifts;
    int plane = 0;  // the shift along the third axis
    int low = 0, high = 0;
    friend bool operator==(const RowSum&, const RowSum&) = default;
};

struct PackedSources {
    std::function<PackedSource(const Level&, const ir::Offset&)> load;
    // The sum of the row at that shift along the second axis; none where cells share nothing.
    std::function<Lanes(const RowSum&, int)> row_sum;
};

// What the level's bytes hold there.
Lanes load_bytes(const ir::Field& field, const PackedSource& source);

struct PackedValues {
    std::vector<kernel::Expr> assigned;  // for each StageView::assigns: a word of bytes, as they are stored
    std::vector<kernel::Expr> reduced;   // for each reduction, a sum: a word of bytes
};

// Appends the statements to `body`, in a scope of their own; empty where one of the stage's expressions is
// none that lanes can hold, or a statement is not for all cells.
std::optional<PackedValues> lower_packed(Context& context, const PackedSources& sources, kernel::Block& body);

// Whether that gives something.
bool can_pack(const Context& context);

}  // namespace halo::lower
