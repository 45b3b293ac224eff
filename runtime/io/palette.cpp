#include "runtime/io/palette.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace halo::rt {

namespace {

std::uint32_t packed(Colour colour) {
    return static_cast<std::uint32_t>(colour.red) << 16 | static_cast<std::uint32_t>(colour.green) << 8 |
           colour.blue;
}

Colour unpacked(std::uint32_t key) {
    return {static_cast<std::uint8_t>(key >> 16), static_cast<std::uint8_t>(key >> 8),
            static_cast<std::uint8_t>(key)};
}

int distance(Colour one, Colour other) {
    const int red = one.red - other.red, green = one.green - other.green, blue = one.blue - other.blue;
    return red * red + green * green + blue * blue;
}

}  // namespace

Palette::Palette(const Canvas& picture) {
    std::map<std::uint32_t, std::int64_t> counts;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            ++counts[packed(picture.at(x, y))];
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    for (const auto& [key, count] : counts)
        order.emplace_back(-count, key);
    std::ranges::sort(order);  // the most frequent first; of equal ones by colour, so that bytes repeat
    for (const auto& [count, key] : order) {
        if (colours_.size() < kMost) {
            places_[key] = static_cast<std::uint8_t>(colours_.size());
            colours_.push_back(unpacked(key));
            continue;
        }
        const auto nearest = std::ranges::min_element(
            colours_, {}, [&](Colour each) { return distance(each, unpacked(key)); });
        places_[key] = static_cast<std::uint8_t>(nearest - colours_.begin());
    }
}

std::uint8_t Palette::index(Colour colour) const {
    return places_.at(packed(colour));
}

}  // namespace halo::rt
