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

// Throws Error (io), as all here.
class FileWriter {
public:
    // keeps_order: things are listed in the order in which they were made.
    explicit FileWriter(const Library& library, bool keeps_order = false)
        : lib_(library), file_(create(keeps_order)) {}

    const Library& library() const { return lib_; }
    const MemoryFile& memory() const { return memory_; }
    Handle checked(Handle handle) const;
    void flush();
    void close();

    Id top() const { return file_.id(); }  // the place of what lies in no group
    Handle create_group(Id place, const char* name);
    // Without its elements. Extents: slowest axis first. is_series: with frames as a first axis, of which
    // there are none yet; each is a chunk.
    Handle create_dataset(Id place, const Hdf5Field& field, std::vector<Size> extents, bool is_series);

    // Attributes of what `owner` is: what is known of a field; numbers, a list or with count 0 a single one;
    // text, with a zero behind it or without.
    void describe(const Handle& dataset, const Hdf5Field& field, bool is_series);
    Handle write_numbers(Id owner, const char* name, Id type, const void* numbers, std::size_t count);
    void write_text(Id owner, const char* name, const std::string& text);
    void write_unit(Id owner, const char* name, const std::string& unit);  // nothing where it is empty
    void write_exact_text(Id owner, const char* name, const std::string& text);
    // Of the file, of any length.
    void write_long_text(const std::string& name, const std::string& text);

private:
    Handle create(bool keeps_order);

    const Library& lib_;
    MemoryFile memory_;
    Handle file_;
};

// A list of numbers that grows.
class GrowingList {
public:
    GrowingList(FileWriter& writer, Id place, const char* name, Id type);

    void append(const void* number);
    const Handle& dataset() const { return dataset_; }

private:
    FileWriter* writer_;
    Id type_;
    Handle dataset_;
    Size length_ = 0;
};

}  // namespace halo::rt::hdf5
