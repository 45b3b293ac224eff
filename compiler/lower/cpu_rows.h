// Pointers to the rows that a CPU's loop along a row reads and writes: one for each row of each array, so
// that an element is a pointer and the index along the first axis.
#pragma once

#include <string>

#include "compiler/lower/cpu_lines.h"
#include "compiler/lower/shared/context.h"

namespace halo::lower {

class CpuRows {
public:
    // index: of the cell whose row it is; it is read when rows are declared and used.
    CpuRows(Context& context, const CellIndex& index, const Together& together)
        : context_(context), index_(index), together_(together) {}

    std::string name(const Level& level, const ir::Offset& shift) const;
    // The element of a level at the cell, or beside it.
    kernel::Expr element(const Level& level, const ir::Offset& shift) const;
    // Of all rows that so many cells read and write that are computed together.
    void declare(int count, kernel::Block& body) const;

private:
    kernel::Expr offset(const ir::Offset& shift) const;

    Context& context_;
    const CellIndex& index_;
    const Together together_;
};

}  // namespace halo::lower
