// What reads past the faces of a field are made of, and the cells that therefore feel a change: the transpose
// of the one image map (runtime/core/image_map.h).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compiler/adjoint/algebra.h"

namespace halo::adjoint {

// A cell that a read past a face shows, `inwards` cells from the edge cell, times a weight of the field's
// type that is the same in all cells.
struct Image {
    int inwards = 0;
    ir::ExprId weight;
};
// What a formula gives `distance` cells past its face: a sum of cells, and of what reads none.
struct GhostSum {
    std::vector<Image> images;
    ir::ExprId rest;
};
GhostSum ghost_sum(Algebra& algebra, ir::FieldId field, int axis, int side, int distance);

// Of a face that shows cells or a formula of them: none where it shows a value alone. nullopt of a free face.
std::optional<std::vector<Image>> images_past(Algebra& algebra, ir::FieldId field, int axis, int side,
                                              int distance);

// Sets the boundary of `to` to the linear part of that of `from`: what is fixed is 0.
void set_linear_boundary(Algebra& algebra, ir::FieldId from, ir::FieldId to);

// A cell c of a field is read as `field[cell + offset]` by the cell c + shift, times `weight`, where all of
// `conditions` hold at c.
struct Reader {
    ir::Offset shift{};
    std::optional<ir::ExprId> weight;     // none: 1
    std::optional<ir::ExprId> condition;  // none: in all cells for which c + shift is a cell
};
// Past `undefined` faces no cell that counts reads anything.
using FaceSet = std::array<std::array<bool, 2>, ir::kMaxRank>;  // [axis][side]
FaceSet free_faces(const ir::Field& field);
std::vector<Reader> readers_of(Algebra& algebra, ir::FieldId field, const ir::Offset& offset,
                               const FaceSet& undefined);

}  // namespace halo::adjoint
