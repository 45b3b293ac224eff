// Files of runs that differ in how they ran, and not in what they computed.
#pragma once

#include <string>

#include "catch.h"

namespace halo::test {

// The bytes of an HDF5 file but for what it says of its run, which takes 4096 bytes for a spec of a few
// lines. Other files as they are.
inline std::string without_provenance(std::string bytes) {
    if (!bytes.starts_with("\x89HDF")) return bytes;
    const std::size_t begin = bytes.find("{\n \"haloc\"");
    REQUIRE(begin != std::string::npos);
    constexpr std::size_t kSize = 4096;
    const std::string text = bytes.substr(begin, kSize);
    CHECK(text.find("\"engine\"") != std::string::npos);
    REQUIRE(text.ends_with('\0'));
    return bytes.replace(begin, kSize, "");
}

}  // namespace halo::test
