// The kinds of files that a run reads and writes. The ending of a name says the kind, and one table says what
// a file of it can hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halo {

// What is taken from a file or put into it.
enum class FileUse : std::uint16_t {
    save_field = 1 << 0,
    share = 1 << 1,        // several fields
    frames = 1 << 2,       // of fields, together
    save_column = 1 << 3,  // of reductions, a row for each step that is due
    save_trace = 1 << 4,   // of points
    load_field = 1 << 5,
    load_picture = 1 << 6,  // as a field
    load_rows = 1 << 7,     // of tables
    load_points = 1 << 8,   // and their numbers
    plot = 1 << 9,
    movie = 1 << 10
};

enum class FileFormat : std::uint8_t { npy, hdf5, netcdf, vtkhdf, csv, segy, png, movie };

struct FileKind {
    std::string_view ending;
    FileFormat format;
    std::uint16_t uses;          // of FileUse
    bool is_other_name = false;  // for the kind before it; messages leave it out

    bool serves(FileUse use) const { return (uses & static_cast<std::uint16_t>(use)) != 0; }
    bool needs_hdf5() const {  // its library
        return format == FileFormat::hdf5 || format == FileFormat::netcdf || format == FileFormat::vtkhdf;
    }
};

// nullptr: of no kind. A name has more than the ending.
const FileKind* kind_of_file(std::string_view file);
bool serves(std::string_view file, FileUse use);
bool is_of(std::string_view file, FileFormat format);
bool needs_hdf5(std::string_view file);
// The endings of all kinds that serve it, as in a sentence: ".npy, .csv or .h5"; `last` joins the last.
std::string endings_for(FileUse use, std::string_view last = " or ");
std::string_view usual_ending(FileUse use);  // the first of them

// Names of files with arrays, as users write them: "u.npy", "u.h5", and of one dataset "in.h5:/run/u".
struct ArrayName {
    std::string file;
    std::string dataset;  // "/run/u"; empty where the name does not say
};
ArrayName parse_array_name(const std::string& text);

}  // namespace halo
