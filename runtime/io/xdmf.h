// XDMF: a page of XML that says what the arrays in HDF5 files are, which is what ParaView and VisIt open.
//
// A value belongs to a point of a regular grid (centred at nodes): cell (i, j, k) lies at origin + index *
// spacing, half a cell further along the axes along which its field is staggered.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/field_file.h"

namespace halo::rt {

struct XdmfField {
    std::string name;  // also of the dataset
    FieldShape shape;
    ElementType type = ElementType::f32;    // in the file
    std::array<double, kMaxRank> origin{};  // of cell 0, by axis
};

// What one file holds.
struct XdmfFrame {
    std::string file;  // beside the page
    double time = 0;
    std::vector<XdmfField> fields;
    std::int64_t number = 0,
                 of = 0;  // where the file has several frames, as a first axis: which it is; of 0: one
};

// Whether XDMF has a grid of so many axes, two or three, and the field's numbers are real.
bool has_xdmf(const FieldShape& shape);

// The page; of a series of frames where `is_series`, else of the only one. All fields are such as has_xdmf()
// says, of the same grid.
std::string xdmf_page(const std::string& name, const std::array<double, kMaxRank>& spacing,
                      const std::vector<XdmfFrame>& frames, bool is_series);

}  // namespace halo::rt
