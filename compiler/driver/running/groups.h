// Fields of several components as a user sees them: one name, one file.
//
// In a file the components are the last, fastest axis: shape (z, y, x, components). A complex field is
// an array of complex numbers of shape (z, y, x).
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/ir/program.h"

namespace halo::driver {

// What a name stands for in files: one field, or the members of a group.
struct FieldSet {
    std::string name;
    std::vector<std::string> fields;  // of the program, in order
    bool is_complex = false;          // two fields, saved as complex numbers

    bool is_single() const { return fields.size() == 1; }
};

// The field or group of this name, which the program has.
FieldSet find_fields(const ir::Program& program, const std::string& name);

// In which values of fields of these types are kept together: their own where they have one, else the widest
// real one.
rt::ElementType common_type(const std::vector<rt::ElementType>& types);

// Values of several fields, cell by cell, in their common type; and back.
FieldValues interleave(const std::vector<FieldValues>& fields);
std::vector<FieldValues> separate(const FieldValues& values, std::size_t count);

}  // namespace halo::driver
