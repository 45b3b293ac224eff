// The letters of pictures: printable ASCII, five pixels wide, seven high, two more below the line for g, j,
// p, q, y.
#pragma once

#include <cstdint>

namespace halo::rt {

inline constexpr int kGlyphColumns = 5;
inline constexpr int kGlyphRows = 9;

// kGlyphRows rows from top to bottom; bit 4 is the leftmost pixel. Other letters than ASCII look like '?'.
const std::uint8_t* glyph_rows(char letter);

}  // namespace halo::rt
