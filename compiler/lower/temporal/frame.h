// What the parts of a temporal kernel share: its sizes, where a thread's cells lie, and the arrays that hold
// planes.
#pragma once

#include "compiler/lower/shared/register_array.h"
#include "compiler/lower/temporal/temporal.h"

namespace halo::lower {

// A face's images along one axis, as seen from the cells beside it: how the `distance`-th value past it is
// made.
struct FaceRule {
    rt::ImageMap map;
    kernel::Expr value;    // of fixed
    bool negates = false;  // what it shows are the cells' negatives
    bool makes_images() const { return map.shows_value() || (map.shows_cell() && !map.wraps()); }
    // Cells from the face's own cell inwards to the one that is shown `distance` past the face.
    int inwards(int distance) const { return map.inwards(distance); }
};

struct TemporalFrame {
    TemporalFrame(Context& context, const schedule::Pipeline& pipeline,
                  const schedule::TemporalSchedule& schedule, const schedule::TemporalShape& shape);

    Context& context;
    const schedule::Pipeline& pipeline;
    const schedule::TemporalSchedule& schedule;
    const schedule::TemporalShape& shape;
    const int rank, streaming_axis, steps;
    const int cells_x, cells_y, warps;  // of a thread; of a block
    const int values_x;                 // in registers, of a thread's row: its cells, or words of packed ones
    const bool two_rows;                // three dimensions: a plane has rows
    bool meets = false;                 // threads exchange rows: they meet once in an iteration

    // Constants of the kernel, by name.
    kernel::Expr k_steps, k_cells_x, k_cells_y, k_values_x, k_warps, k_tile_x, k_tile_y, k_out_x, k_out_y,
        k_ring_row;
    kernel::Expr warp;
    kernel::Expr lane_x, row;       // a lane's first column of a tile, a warp's first row of a block
    kernel::Expr i, j;              // first cell of the thread
    kernel::Expr from_i;            // where its columns are copied from: of a periodic axis, within the grid
    kernel::Expr iteration, plane;  // and the plane k that belongs to it
    kernel::Expr into_line;         // elements from the start of a line of memory to the tile's first
    kernel::Expr first_cell;        // offset of its first cell in a plane, as far as all planes share it
    kernel::Expr at;                // and in memory, in plane k
    kernel::Expr near_face;         // false where no face of the streaming axis is within reach
    kernel::Expr below_end;         // of a piece: planes before it are stored at the piece below, too
    kernel::Expr above_begin;       // and those from it on at the piece above
    kernel::Expr near_side;         // false where the tile is at no face of another axis, and aligned
    kernel::Expr out_begin, out_end;               // planes that come out
    std::array<kernel::Expr, 2> in_begin, in_end;  // columns and rows that come out
    kernel::Expr aligned;                          // the tile's rows start at whole vectors

    kernel::Type type_of(ir::FieldId field) const;      // of values in registers
    kernel::Type memory_type(ir::FieldId field) const;  // of cells in memory and in rings
    // Values that come from the lanes before (side 0) or after.
    int beside(const schedule::Pipeline::Queue& queue, int side) const {
        return pipeline.words_of(queue.reach[0][static_cast<std::size_t>(side)]);
    }
    FaceRule face(ir::FieldId field, int axis, int side);
    // Offset of the thread's row y from `first_cell`.
    kernel::Expr own_row(const kernel::Expr& y) const;
    kernel::Expr plane_offset(const kernel::Expr& plane) const;
    kernel::Expr stride() const;                                // of the streaming axis, i64
    kernel::Expr wrapped(const kernel::Expr& index, int axis);  // into the grid, where the axis is periodic

    // Fields whose planes arrive and leave together turn around rings of the same size.
    struct Rings {
        schedule::TemporalShape::Ring ring;
        std::vector<ir::FieldId> fields;
        std::string suffix;     // of its names in the kernel, where there are several
        std::string fetch;      // the lambda that copies a plane there
        kernel::Expr k_planes;  // constant of the kernel
        kernel::Expr oldest;    // slot; empty where it is the first
    };
    std::vector<Rings> rings;
    const Rings& rings_of(ir::FieldId field) const;
    // The slot in its ring of the plane so far from the iteration's (negative: earlier), and the place in a
    // ring of the thread's first cell of a row.
    static kernel::Expr ring_slot(const Rings& of, const kernel::Expr& plane_from_iteration);
    kernel::Expr ring_place(const kernel::Expr& row, const kernel::Expr& slot) const;
    kernel::Expr own_ring_place(const kernel::Expr& slot) const;  // of the thread's own row y: by the lambda

    // y and x loops over a thread's values.
    kernel::Block over_cells(kernel::Block body) const;
    // An x loop that moves the cells of a vector one by one. At most four iterations without arithmetic need
    // no pragma: compilers unroll them by themselves.
    kernel::Block over_vector(kernel::Block body) const;
    kernel::Expr all_values() const { return k_cells_y * k_values_x; }  // of a thread in a plane
    kernel::Expr y() const {
        return cells_y > 1 ? kernel::variable("y", kernel::Type::i32) : kernel::Expr(0);
    }
    kernel::Expr x() const {  // of a value
        return values_x > 1 ? kernel::variable("x", kernel::Type::i32) : kernel::Expr(0);
    }
    kernel::Expr cell_x() const {  // of a cell of a vector
        return cells_x > 1 ? kernel::variable("x", kernel::Type::i32) : kernel::Expr(0);
    }

private:
    void group_rings();
};

// Cells of arrays in registers, from the first one on.
kernel::Statement copy_cells(kernel::Expr to, kernel::Expr from, const kernel::Expr& count,
                             bool negates = false);
kernel::Statement fill_cells(kernel::Expr to, kernel::Expr value, const kernel::Expr& count, int stride = 1);

// `to[0 … values_x)` from a row in shared memory, of elements of the type `memory`; and back.
kernel::Statement load_row(const TemporalFrame& frame, kernel::Expr to, const std::string& array,
                           std::vector<kernel::Expr> place, kernel::Type memory);
kernel::Statement store_row(const TemporalFrame& frame, const std::string& array,
                            std::vector<kernel::Expr> place, kernel::Expr from);

}  // namespace halo::lower
