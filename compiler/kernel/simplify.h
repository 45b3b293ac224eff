// Leaves out what cannot matter where some values are known: guards that never fail, choices that are always
// the same. By intervals: each integer has a least and a greatest value, as far as can be told.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compiler/kernel/program.h"

namespace halo::kernel {

struct Interval {  // both ends belong to it
    std::int64_t low = 0, high = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
};

struct Known {
    std::map<std::string, Interval> variables;  // parameters and constants
    std::map<Builtin, Interval> builtins;
};

// Of a kernel or helper whose integers never overflow (indices do not). Keeps what it computes; variables and
// constants that nothing asks for any more are gone.
void simplify(KernelFunction& function, const Known& known);

}  // namespace halo::kernel
