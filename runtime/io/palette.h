// The colours of a picture as a palette: all of them where they are few, else the most frequent ones.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/io/canvas.h"

namespace halo::rt {

class Palette {
public:
    static constexpr int kMost = 256;

    explicit Palette(const Canvas& picture);

    const std::vector<Colour>& colours() const { return colours_; }  // at most kMost
    // Of a colour of the picture: where it is in colours(), or the one nearest to it.
    std::uint8_t index(Colour colour) const;

private:
    std::vector<Colour> colours_;
    std::map<std::uint32_t, std::uint8_t> places_;
};

}  // namespace halo::rt
