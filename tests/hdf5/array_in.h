// The array of a file that a test reads.
#pragma once

#include <algorithm>
#include <string>

#include "catch.h"
#include "runtime/hdf5/contents.h"

namespace halo::test {

inline const rt::Hdf5Array& array_in(const rt::Hdf5Contents& contents, const std::string& name) {
    const auto found = std::ranges::find(contents.arrays(), name, &rt::Hdf5Array::name);
    REQUIRE(found != contents.arrays().end());
    return *found;
}

}  // namespace halo::test
