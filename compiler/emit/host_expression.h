// Host scalars (launch_plan.h) as C++ expressions in double.
#pragma once

#include <functional>
#include <string>

#include "runtime/core/launch_plan.h"

namespace halo::emit {

// How the expression names what it reads.
struct HostNames {
    std::function<std::string(int)> param;                // a double
    std::function<std::string(int)> extent;               // an integer: cells along an axis
    std::function<std::string()> step;                    // a double: steps done before
    std::function<std::string(int)> reduction = nullptr;  // a double: its latest value
    // A double: what table `index`, a series, gives at a number.
    std::function<std::string(int index, const std::string& at)> series = nullptr;
};

// "std::exp(-x) * 2.0": the same operations in the same order as rt::evaluate. Needs <cmath>.
std::string print_host_scalar(const rt::HostScalar& scalar, const HostNames& names);

// The value as a kernel argument of the type: for f32 rounded once more, which changes nothing where the
// scalar was rounded already.
std::string print_host_argument(const rt::HostScalar& scalar, rt::ElementType type, const HostNames& names);

// True for a single param or constant, rounded or not: short enough to stand in an argument list.
bool is_plain(const rt::HostScalar& scalar);

}  // namespace halo::emit
