// .npy files in parts: one field of a grid each.
#pragma once

#include <memory>
#include <string>

#include "runtime/io/field_file.h"

namespace halo::rt {

// Of elements of `type`; of complex numbers f32 or f64.
FieldLayout npy_layout(const FieldShape& shape, ElementType type);

// Throws Error (io) as read_npy() does.
std::unique_ptr<FieldReader> open_npy_field(const std::string& path, const FieldShape& shape,
                                            const std::string& what);

}  // namespace halo::rt
