// Halo images of domain cells: a thread that stores a cell close to a face stores the cell's images, too, or
// their negatives where the face shows these (shown_cells.h).
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// The argument for a face of face_source, in the prelude, which follows reflections past the other face.
kernel::Expr face_constant(const rt::ImageMap& map);
// The domain cell of which the halo cell at `index`, past the face, is the image; the axis has n cells. Only
// for maps that show cells.
kernel::Expr shown_cell(const rt::ImageMap& map, const kernel::Expr& index, const kernel::Expr& n);

// The helper function that stores the images of cell (i, j, k) of `write`; its name is empty where the level
// has none. Levels with equal boundaries and types share a helper.
class Images {
public:
    explicit Images(kernel::Program& program) : program_(&program) {}

    // Appends the last part of a kernel, for a thread's box at (i, j, k): `cells` along each axis, `strides`
    // apart. `valid` makes the guard of a cell from the coordinates of the loops.
    void append(Context& context, const CellIndex& first, const rt::Lengths& cells,
                const rt::Lengths& strides, kernel::Block& body);

    static bool needed(const Context& context, const Write& write);

private:
    std::string helper(Context& context, const Write& write, bool all_components);
    static bool shown_alike(const Context& context, const Level& level);

    kernel::Program* program_;
    std::map<std::string, std::string> helpers_;  // by boundary, halo and type
    Names names_;
};

}  // namespace halo::lower
