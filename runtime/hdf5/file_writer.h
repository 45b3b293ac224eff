// A new HDF5 file that the library writes to memory, in which the elements of fields take no room. Not for
// other rooms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/hdf5/hdf5.h"
#include "runtime/hdf5/library.h"

namespace halo::rt::hdf5 {

[[noreturn]] void fail_layout(const std::string& why);  // throws Error (io)

// A file without a name, in memory: it is sparse, so that only what is written takes room.
class MemoryFile {
public:
    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const;
    std::int64_t bytes() const;
    std::string read(std::int64_t begin, std::int64_t end) const;

private:
    int descriptor_;
};

// Of a field's dataset, slowest axis first: a complex number is one element, other components are the last
// axis.
std::vector<Size> extents_of(const Hdf5Field& field);

// Throws Error (io), as all here.
class FileWriter {
public:
    explicit FileWriter(const Library& library) : lib_(library), file_(create()) {}

    const Library& library() const { return lib_; }
    const MemoryFile& memory() const { return memory_; }
    Handle checked(Handle handle) const;
    void flush();
    void close();

    // Without its elements. is_series: with frames as a first axis, of which there are none yet; each is a
    // chunk.
    Handle create_dataset(const Hdf5Field& field, bool is_series);
    // A list of numbers that grows.
    Handle create_list(const char* name, Id type);

    void describe(const Handle& dataset, const Hdf5Field& field, bool is_series);  // its attributes
    // Of the file, of any length.
    void write_long_text(const std::string& name, const std::string& text);

private:
    Handle create();
    // A list, or with count 0 a single number.
    void write_numbers(const Handle& owner, const char* name, Id type, const void* numbers,
                       std::size_t count);
    void write_text(const Handle& owner, const char* name, const std::string& text);

    const Library& lib_;
    MemoryFile memory_;
    Handle file_;
};

}  // namespace halo::rt::hdf5
