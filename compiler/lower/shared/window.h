// A thread's window: the box of cells that it computes, with all neighbours that they read, in registers.
#pragma once

#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// Rows of a window that are loaded in the same way: window coordinates [y.first, y.second) × [z.first,
// z.second) at w, and the numbers of cells that are needed left and right of the thread's own.
struct RowBlock {
    std::pair<int, int> y, z;
    int w = 0;
    int left = 0, right = 0;
    friend bool operator==(const RowBlock&, const RowBlock&) = default;
};

// Covers all rows that the cells of a box read through `read` by few blocks of rows.
std::vector<RowBlock> row_blocks(const Read& read, const rt::Lengths& cells);

// Neighbours left and right of a thread's vector are loaded one by one where they are few, else as whole
// vectors. A vector of bytes takes as long as one of them.
struct Sides {
    int left = 0, right = 0;  // elements loaded on either side
    bool left_vectors = false, right_vectors = false;
};
// element: bytes.
Sides sides(const Read& read, int vector, int element);
// The same of packed cells (packed.h): words beside the thread's own.
int words_beside(int cells);
Sides words_beside(const Read& read);

}  // namespace halo::lower
