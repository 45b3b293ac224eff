// The layout of `haloc explain`.
#pragma once

#include <string>
#include <string_view>

namespace halo::driver {

// One entry of a stage: a title, and text that is wrapped in a column to its right.
std::string entry(std::string_view title, std::string_view text, int width);

// Text of several lines in that column, without wrapping.
std::string picture(std::string_view title, const std::string& text);

}  // namespace halo::driver
