// How `haloc explain` lays out its text: a title in each entry's first column, what is said beside it.
#pragma once

#include <string>
#include <string_view>

namespace halo::driver {

// A title, and text that is wrapped in a column to its right.
std::string entry(std::string_view title, std::string_view text, int width);

// Text of several lines in that column, without wrapping.
std::string picture(std::string_view title, const std::string& text);

}  // namespace halo::driver
