// What a .npy file begins with, and its elements: for npy.h and npy_parts.h. Not for other rooms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

// Throws Error (io): the file cannot be read, and why.
[[noreturn]] void refuse_npy(const std::string& path, const std::string& why);

struct NpyHeader {
    std::string descr;  // "<f4"
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
};

struct NpyElement {
    std::size_t bytes;
    double (*widen)(const unsigned char*, bool swap);
};
std::optional<NpyElement> npy_element(const std::string& kind);  // "f4"; none: no number

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using NpyInput = std::unique_ptr<std::FILE, CloseFile>;
NpyInput open_npy(const std::string& path);

// Leaves the file where its values begin.
NpyHeader read_npy_header(std::FILE* file, const std::string& path);
// The number of values, checked against what is left of the file before anything is allocated.
std::size_t count_npy_values(std::FILE* file, const std::string& path, const NpyHeader& header,
                             std::size_t bytes);

// A file of numbers, opened where its values begin.
struct NpyNumbers {
    NpyInput file;
    NpyHeader header;  // complex numbers are an axis of 2 more
    std::string kind;  // "f4"
    NpyElement element;
    bool is_complex = false;
    bool swap = false;      // the bytes of an element
    std::size_t count = 0;  // of values
    std::int64_t offset = 0;
};
NpyNumbers open_npy_numbers(const std::string& path);

// What a file of this array begins with; `descr` as numpy names the type.
std::string npy_header(const std::vector<std::int64_t>& shape, const std::string& descr);
const char* npy_descr(ElementType type);
std::size_t npy_count(const std::vector<std::int64_t>& shape);
std::string print_npy_shape(const std::vector<std::int64_t>& shape);
std::string npy_shape_mismatch(const std::vector<std::int64_t>& shape,
                               const std::vector<std::int64_t>& wanted, const std::string& what);

}  // namespace halo::rt
