// numpy's .npy files: one array each. Shapes list the axes from slowest to fastest, as numpy prints them;
// values are in C order, so the last axis of the shape is the spec's first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

struct NpyArray {
    std::vector<std::int64_t> shape;  // slowest to fastest; empty for a single number
    std::vector<double> values;       // C order
    std::string element;              // as numpy names the file's type: "<f4"
};

// Reads f4, f8, i1 … i8, u1 … u8 and bool, either byte order, C or Fortran order; integers past 2^53 lose
// their last digits. Complex numbers (c8, c16, C order) are read as pairs, an axis of 2 more. Throws Error
// that names the file and what is wrong with it: not there, no .npy, a type that is no number, cut short or
// longer than its header says.
NpyArray read_npy(const std::string& path);

// The same, and the array must have `shape`; `what` names its destination in the message ("field u").
NpyArray read_npy(const std::string& path, const std::vector<std::int64_t>& shape, const std::string& what);

// Writes values (C order, as many as the shape says) rounded to `type`. The file appears whole or not at all:
// it is written under another name in the same folder, flushed to the disk and renamed. Throws Error: no such
// folder, not allowed, disk full.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, ElementType type);

// For arrays too large to widen: values are `bytes` bytes of `type`, little endian.
void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, const void* values,
               std::size_t bytes, ElementType type);

// Pairs of `type` (f32 or f64), real and imaginary part, as complex64 or complex128; `shape` is that of the
// complex numbers.
void write_npy_complex(const std::string& path, const std::vector<std::int64_t>& shape, const void* values,
                       std::size_t bytes, ElementType type);

}  // namespace halo::rt
