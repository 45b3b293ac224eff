// HDF5 files with fields of one grid: a dataset for each, through libhdf5, which is opened at run time.
//
// The library lays a new file out, in memory, and says where the elements of each dataset will lie; they are
// written there as those of a .npy file are (FieldFile). So any build of the library serves any number of
// ranks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/io/field_file.h"

namespace halo::rt {

struct Hdf5Library {
    bool found = false;
    std::string detail;  // "1.10.8, libhdf5.so.103", or why it is missing and how to get it
};
Hdf5Library find_hdf5();

// A dataset, and what its attributes say. Lists have the slowest axis first, as the shape has.
struct Hdf5Field {
    std::string name;
    FieldShape shape;
    ElementType type = ElementType::f32;  // of what is written
    std::string stencil;
    std::int64_t step = 0;
    double time = 0;
    std::vector<std::string> axes;
    std::vector<double> spacing;  // empty: it is no array over the grid
    std::vector<double> origin;   // of the first cell's value; empty: its components lie at different places
    // The array in space, by axis of the grid, x first: one cell along axes that it does not have.
    struct Place {
        rt::Extent extent{};
        std::array<double, kMaxRank> spacing{1, 1, 1, 1}, origin{};
    } place{};
    // What NetCDF calls the axes: "x", or "x_half" where values lie half a cell further.
    std::vector<std::string> dimensions{};
    // Empty: not said. Of the axes as these are listed, or of none.
    std::string unit{}, time_unit{};
    std::vector<std::string> axis_units{};

    std::string axis_unit(std::size_t axis) const {
        return axis < axis_units.size() ? axis_units[axis] : std::string();
    }
};

// What a file keeps to beside HDF5.
enum class Hdf5Form : std::uint8_t {
    plain,
    vtk,    // VTKHDF; all fields have the same place, and real numbers
    netcdf  // NetCDF-4; all fields have an origin, and real numbers
};

// What the elements become: f16 and bf16 are widened to f32, as XDMF knows no shorter reals; booleans are
// bytes.
ElementType type_in_hdf5(ElementType type);

// The attribute with the unit of a dataset, as CF has it.
inline constexpr const char* kUnit = "units";

// The attribute of a file in which it says where it comes from.
inline constexpr const char* kProvenance = "provenance";

// Collective. provenance: the first rank's is written; empty: none. Throws Error (io) on all ranks, also
// where the library is not there.
FieldLayout hdf5_layout(Ranks& ranks, const std::vector<Hdf5Field>& fields,
                        const std::string& provenance = {}, Hdf5Form form = Hdf5Form::plain);

// A dataset of numbers of any type and layout, compressed or not; of complex numbers where two members "r"
// and "i" are what it has. Throws Error (io): no such file or dataset, no HDF5 file, no numbers, another
// shape than is wanted; `what` names its destination ("field u").
std::unique_ptr<FieldReader> open_hdf5_field(const std::string& path, const std::string& dataset,
                                             const FieldShape& shape, const std::string& what);

}  // namespace halo::rt
