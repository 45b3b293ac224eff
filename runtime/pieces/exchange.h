// What pieces give each other: the cells of a level that fill the ghosts of all pieces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/core/geometry.h"
#include "runtime/pieces/decomposition.h"

namespace halo::rt {

// A box of cells of piece `from`, and the same cells as ghosts of piece `to`, counted in each from the first
// cell that the piece computes. Along axes that are not exchanged it goes past the faces into the halos,
// which lie the same way in both.
struct Transfer {
    int from = 0, to = 0;
    int axis = 0;  // along which it goes
    Cells source{}, target{};
    Extent count{};
};

// By axis, to be done one after the other: what is given along the later axes holds what came along the
// earlier ones, so that edges and corners arrive, too. Transfers of one axis may run side by side.
std::array<std::vector<Transfer>, kMaxRank> transfers(const Decomposition& cut,
                                                      const std::array<std::array<int, 2>, kMaxRank>& halo);

// Elements of an array, one after the other.
struct ElementRange {
    std::int64_t first = 0, count = 0;
};
// Where a transfer along the last axis has whole planes (in two dimensions rows): the memory of all of them,
// with the room beside their rows, from the beginning of a line of memory on. cells: its source or target.
// Nothing for other transfers, and for arrays whose rows share that room.
std::optional<ElementRange> whole_planes(const Transfer& transfer, const Cells& cells,
                                         const Geometry& geometry);

// Of arrays that lie as `from` and `to` say, `element` bytes a cell; `source` and `target` are the arrays'
// first elements.
BoxCopy box_copy(const Transfer& transfer, const Geometry& from, const void* source, const Geometry& to,
                 void* target, std::int64_t element);

}  // namespace halo::rt
