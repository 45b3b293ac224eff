#include "runtime/core/image_map.h"

#include <array>

namespace halo::rt {

namespace {

std::int64_t modulo(std::int64_t index, std::int64_t period) {
    const std::int64_t rest = index % period;
    return rest < 0 ? rest + period : rest;
}

}  // namespace

ImageSource image_source(BoundaryKind low, BoundaryKind high, std::int64_t index, std::int64_t n) {
    using Shows = ImageMap::Shows;
    const std::array<ImageMap, 2> maps{image_map(low, 0), image_map(high, 1)};
    const auto is_outside = [&] { return index < 0 || index >= n; };
    bool reflected = false;
    // Two reflections are a shift by 2(n-1): taking those off at once leaves at most two rounds of the loop.
    if (is_outside() && maps[0].reflects() && maps[1].reflects() && n > 1) index = modulo(index, 2 * (n - 1));
    while (is_outside()) {
        const int side = index < 0 ? 0 : 1;
        ImageMap map = maps[static_cast<std::size_t>(side)];
        if (map.shows == Shows::nothing && reflected) map = image_map(BoundaryKind::mirror, side);
        if (!map.shows_cell()) return {map.shows, 0, side};
        if (map.wraps()) return {Shows::cell, modulo(index, n), 0};
        // Every reflection of an only cell is that cell, so the loop would not end.
        if (map.reflects() && reflected && n == 1) return {Shows::cell, 0, 0};
        reflected = reflected || map.reflects();
        index = map.cell(index, n);
    }
    return {Shows::cell, index, 0};
}

}  // namespace halo::rt
