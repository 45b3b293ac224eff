// What one turn of a CPU's loop along a row computes: a whole cache line of cells, which is stored at once,
// past the caches where nothing reads it soon, while what later lines read is fetched; in many stages of
// several planes or rows.
#pragma once

#include <vector>

#include "compiler/lower/shared/stage_view.h"

namespace halo::lower {

constexpr int kBytesOfLine = 64;

// How many cells a stage computes at a time: as many of the widest numbers that it stores as fill a line. 0
// where it goes cell by cell: where cells change in place, where a reduction adds them up, where some are not
// stored, and where components lie side by side.
int cells_of_line(const StageView& stage);

// Cells that one loop along the first axis computes together: so many beside each other along another axis.
struct Together {
    int axis = 1;
    int count = 1;
    ir::Offset offset(int number) const {  // of one of them from the first
        ir::Offset offset{};
        offset[axis] = number;
        return offset;
    }
};
Together cells_together(const StageView& stage);

// A row, by how far it is from the cell's, of which a line is fetched, and how many elements after the cell.
struct FetchedAhead {
    Level level;
    ir::Offset row;
    int elements;
};
// Of each array that the stage reads the row that a sweep comes to first, for each of the cells that are
// computed together.
std::vector<FetchedAhead> fetched_ahead(const StageView& stage, const Together& together);

}  // namespace halo::lower
