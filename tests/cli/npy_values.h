// Arrays that the command has saved.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "catch.h"

// The values of a little-endian f8 .npy file, by numpy's description of the format.
inline std::vector<double> npy_values(const std::string& bytes) {
    REQUIRE(bytes.size() > 10);
    REQUIRE(bytes.compare(1, 5, "NUMPY") == 0);
    std::size_t header = static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
    REQUIRE(bytes.find("'<f8'") != std::string::npos);
    std::vector<double> values((bytes.size() - 10 - header) / 8);
    std::memcpy(values.data(), bytes.data() + 10 + header, values.size() * 8);
    return values;
}
