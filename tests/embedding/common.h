// What the tests of host programs share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "halocline/runtime.hpp"

inline std::vector<float> some_values(std::int64_t count, int seed = 0) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>((i * 37 + seed) % 64) / 16.0f);
    return values;
}

// What a call is refused with.
inline std::string refusal(const std::function<void()>& call,
                           halocline::ErrorCode code = halocline::ErrorCode::bad_argument) {
    try {
        call();
    } catch (const halocline::Error& error) {
        INFO(error.what());
        CHECK(error.code() == code);
        return error.what();
    }
    FAIL("nothing was thrown");
    return {};
}

inline bool says(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return true;
    UNSCOPED_INFO(text);
    return false;
}

inline std::vector<float> read_f32(halocline::Simulation& simulation, const std::string& field) {
    std::int64_t cells = 1;
    for (const std::int64_t n : simulation.grid())
        cells *= n;
    std::vector<float> values(static_cast<std::size_t>(cells));
    simulation.read(field, values);
    return values;
}
