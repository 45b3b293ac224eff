// Whether two HDF5 files of haloc's hold the same fields, bit by bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/hdf5/contents.h"

namespace halo::driver {

struct FieldComparison {
    std::string name;
    std::string trouble;         // why they cannot be compared, such as another shape; empty: they are
    std::int64_t elements = 0;   // numbers, two for each complex one
    std::int64_t different = 0;  // of these, in their bits
    double largest = 0;          // absolute difference; not a number where one of two is, and the other not
    std::optional<std::uint64_t>
        ulps;  // the largest, in units of the last place; none: of whole numbers, or NaN
};

// All arrays of `expected`. Throws rt::Error (io).
std::vector<FieldComparison> compare_files(const rt::Hdf5Contents& expected, const rt::Hdf5Contents& got);

// "u agrees in all 4096 numbers", or by how much it differs
std::string comparison_text(const FieldComparison& comparison);

}  // namespace halo::driver
