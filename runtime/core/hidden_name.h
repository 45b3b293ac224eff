// Names of what the compiler adds to the program of a spec, which users neither name nor see: that of a
// field, a dot, and a word; or of an axis, two dots, and a word. Components have dots in their names, too,
// but what stands before one is no field, and no two stand side by side.
#pragma once

#include <algorithm>
#include <string>

namespace halo::rt {

// Of a field; fields: all of the program, each with a name.
template <class Fields>
bool is_hidden_name(const std::string& name, const Fields& fields) {
    const std::size_t dot = name.rfind('.');
    if (name.find("..") != std::string::npos) return true;
    return dot != std::string::npos && std::any_of(fields.begin(), fields.end(), [&](const auto& other) {
               return name.compare(0, dot, other.name) == 0;
           });
}

inline bool is_hidden_reduction(const std::string& name) {
    return name.find('.') != std::string::npos;
}

}  // namespace halo::rt
