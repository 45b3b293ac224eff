// Faces whose ghosts each show one cell of the domain, so that whoever stores the cell can store them, too.
#pragma once

#include "compiler/ir/program.h"
#include "runtime/core/image_map.h"

namespace halo::ir {

// What lies past a face: the field's image map or, where a formula does no more than reflect, the map that it
// comes to. `symmetric` shows the edge cell next to the face, `antisymmetric` its negative.
struct ShownCells {
    rt::ImageMap map;
    bool negates = false;
    friend bool operator==(const ShownCells&, const ShownCells&) = default;
};
ShownCells shown_cells(const Program& program, const Field& field, int axis, int side);

// Whether kernels that store the field's cells can store all that lies past its faces: each ghost shows a
// cell, or a fixed value that is there already.
bool stores_can_fill(const Program& program, const Field& field);

// Whether a cell whose statement reads the field `offset` further on is the only one that what it finds past
// a face shows: then a statement that changes the field in place may store images, as no other cell reads
// them.
bool reads_own_images(const Program& program, const Field& field, const Offset& offset);

}  // namespace halo::ir
