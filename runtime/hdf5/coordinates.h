// Where the values of an array lie, as far as its file says so by dimension scales, as NetCDF-4 files do.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace halo::rt {

struct Hdf5Coordinates {
    std::string name;            // of the dimension
    std::vector<double> places;  // empty: the dimension has none
};

// By axis of the dataset, slowest first; nullopt where no scale is known. Throws Error (io): no such file or
// dataset, a damaged one.
std::vector<std::optional<Hdf5Coordinates>> read_coordinates(const std::string& path,
                                                             const std::string& dataset);

}  // namespace halo::rt
