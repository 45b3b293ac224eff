// Halo cells that show interior ones: whoever stores a cell near a face stores its images, too.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// A face as face_source of the prelude takes it, which follows reflections that leave through the other face.
kernel::Expr face_constant(const rt::ImageMap& map);
// The cell that a face shows at `index`, past it, of an axis of n cells: for maps that show cells.
kernel::Expr shown_cell(const rt::ImageMap& map, const kernel::Expr& index, const kernel::Expr& n);

// The helper function that stores the images of cell (i, j, k) of `write`; empty name where the level has
// none. Helpers of equal boundaries and type are one.
class Images {
public:
    explicit Images(kernel::Program& program) : program_(&program) {}

    // A kernel's last paragraph: for a thread's box of cells at (i, j, k), `cells` along each axis, `strides`
    // apart. `valid` guards a cell: it is given the coordinates of the loops.
    void append(Context& context, const std::array<kernel::Expr, 3>& first, const std::array<int, 3>& cells,
                const std::array<int, 3>& strides, kernel::Block& body);

    static bool needed(const Context& context, const Write& write);

private:
    std::string helper(Context& context, const Write& write, bool all_components);
    static bool shown_alike(const Context& context, const Level& level);

    kernel::Program* program_;
    std::map<std::string, std::string> helpers_;  // by boundary, halo and type
    Names names_;
};

}  // namespace halo::lower
