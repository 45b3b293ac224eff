// Where the values of an array lie, as far as its file says so by dimension scales, as NetCDF-4 files do.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace halo::rt {

struct Hdf5Coordinates {
    std::string name;            // of the dimension
    std::vector<double> places;  // empty: the dimension has none
    std::string unit = {};       // of the places; empty: it does not say, or not as text of a fixed length
};

struct Hdf5Axes {
    std::vector<std::optional<Hdf5Coordinates>> axes;  // slowest first; nullopt where no scale is known
    std::string unit;                                  // of the dataset's values, likewise
};

// Throws Error (io): no such file, a damaged one. Of a dataset that is not there nothing is known.
Hdf5Axes read_coordinates(const std::string& path, const std::string& dataset);

}  // namespace halo::rt
