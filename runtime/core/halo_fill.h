// Filling the halo cells of one array: what lies past each face, as its field's boundary says.
//
// A fill is a list of passes, run in order; the units of one pass are independent of each other, so a thread
// pool may split them. First the images (periodic, clamp, mirror) along x, then y, then z, each over the
// halos already filled, which maps every axis of an edge or corner cell by its own rule. Then the constants
// of fixed faces, last axis first, each over everything, so that the first fixed axis in declaration order
// has the last word. Past a free face nothing is written but what other axes' passes carry there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/core/geometry.h"
#include "runtime/core/launch_plan.h"

namespace halo::rt {

// Offsets and strides in elements, relative to the start of the array.
struct HaloPass {
    struct Layer {
        std::int64_t destination = 0;
        std::int64_t source = 0;  // where `constant` is false
        double value = 0;         // where it is true; rounded to the field's type when stored
        bool constant = false;
        std::int64_t to = 0, from = 0;  // cells along `axis`: those of destination and source
    };
    std::vector<Layer> layers;
    int axis = 0;                  // whose faces these are
    std::int64_t outer_low = 0;    // cell along the outer axis that outer unit 0 is
    std::int64_t row_length = 1;   // contiguous elements that a layer sets per unit
    std::int64_t inner_units = 1;  // units are numbered inner + inner_units * (outer + outer_units * volume)
    std::int64_t outer_units = 1;
    std::int64_t volumes = 1;  // along the third of the other axes, where there are four
    std::int64_t inner_stride = 0;
    std::int64_t outer_stride = 0;
    std::int64_t volume_stride = 0;
    std::int64_t units() const { return inner_units * outer_units * volumes; }
    // Elements from unit 0 to this one.
    std::int64_t place_of(std::int64_t unit) const {
        const std::int64_t outer = unit / inner_units;
        return unit % inner_units * inner_stride + outer % outer_units * outer_stride +
               outer / outer_units * volume_stride;
    }
};

enum class HaloPart : std::uint8_t {
    all,     // after an upload, or when a fixed value changed
    images,  // after a kernel wrote the level: constants are still there
    fixed    // constants alone: a level whose cells are about to be written
};

// The passes for a field's halo as wide as FieldPlan::halo says. Empty where there is nothing to fill.
// geometry: of the field's array; grid: cells of the grid, by which values past faces are reckoned.
std::vector<HaloPass> make_halo_passes(const FieldPlan& field, const Geometry& geometry,
                                       const std::vector<double>& params, HaloPart part, const Extent& grid);
inline std::vector<HaloPass> make_halo_passes(const FieldPlan& field, const Geometry& geometry,
                                              const std::vector<double>& params, HaloPart part) {
    return make_halo_passes(field, geometry, params, part, geometry.extent);
}

// Runs units [begin, end) of one pass on an array in host memory; `array` is its first element, not cell
// (0,0,0).
void run_halo_pass(const HaloPass& pass, ElementType type, void* array, std::int64_t begin, std::int64_t end);

// The cells of a level that a kernel has just written: planes [begin, end) of the slowest axis and, of three
// axes, rows [row_begin, row_end) of each plane.
struct HaloPiece {
    std::int64_t begin = 0, end = 0;
    std::int64_t row_begin = 0, row_end = 1;
};

// The images of those cells alone. Once each cell of a level has been in a piece, its halo is as the whole
// passes (HaloPart::images) leave it wherever images are read. Two or three axes.
void fill_images(const std::vector<HaloPass>& passes, ElementType type, const Geometry& geometry, void* array,
                 const HaloPiece& piece);

// All passes, one after the other, on the calling thread.
void fill_halo(const std::vector<HaloPass>& passes, ElementType type, void* array);

}  // namespace halo::rt
