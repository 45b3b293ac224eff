// Pictures as data: PNG files of grey pixels, a number from 0 (black) to 255 (white) for each cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo::rt {

// Reads a PNG of width × height pixels, 8 bits a channel or fewer (fewer are spread over 0 … 255; interlaced
// ones, too). Numbers are as in the file, whatever gamma it names. Colours become their luminance,
// 0.299 red + 0.587 green + 0.114 blue, to the nearest whole number. Values are x fastest, the picture's
// lowest row first: cell (0, 0) is the lower left pixel, as pictures of fields are drawn.
//
// Throws Error (io) that names the file and what is wrong with it: not there, no PNG, cut short or damaged,
// 16 bits a channel, pixels that one can see through, or of another size; `what` names its destination in
// that message ("field u").
std::vector<std::uint8_t> read_photo(const std::string& path, std::int64_t width, std::int64_t height,
                                     const std::string& what);

}  // namespace halo::rt
