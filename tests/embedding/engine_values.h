// What an engine of the command has, to compare with.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/driver/running/engine.h"

inline std::vector<double> values_of(const halo::driver::FieldValues& values) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < values.size(); ++i)
        all.push_back(values.at(i));
    return all;
}
