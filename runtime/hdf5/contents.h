// What an HDF5 file of haloc's holds: its arrays, and what it says of itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

struct Hdf5Array {
    std::string name;                 // with the groups that it lies in: "VTKHDF/PointData/u"
    std::vector<std::int64_t> shape;  // slowest axis first; complex numbers are an axis of 2 more
    bool is_complex = false;
    std::optional<ElementType> type;  // as haloc writes it; none: another, which read() does not take

    std::int64_t elements_of_row() const;  // at one index of the slowest axis
};

class Hdf5Contents {
public:
    // Throws Error (io), as all here: no such file, no HDF5 file, no libhdf5.
    explicit Hdf5Contents(const std::string& path);
    ~Hdf5Contents();
    Hdf5Contents(const Hdf5Contents&) = delete;
    Hdf5Contents& operator=(const Hdf5Contents&) = delete;

    const std::vector<Hdf5Array>& arrays() const;  // by name, those of a group one after another
    // An attribute of the file; nullopt: it has none of that name, or one that is no text.
    std::optional<std::string> text(const std::string& attribute) const;
    // So many rows along the slowest axis, from `first` on, as they are in the file.
    void read(const Hdf5Array& array, std::int64_t first, std::int64_t rows, void* elements) const;

private:
    class File;
    std::unique_ptr<File> file_;
};

}  // namespace halo::rt
