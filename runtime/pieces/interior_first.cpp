#include "runtime/pieces/interior_first.h"

#include <algorithm>

namespace halo::rt {

namespace {

constexpr std::int64_t kLonger = 8;  // so many times as all borders is a walk of the interior

}  // namespace

InteriorFirst interior_first(const PlaneRange& own, const std::array<std::int64_t, 2>& ghosts, int walks) {
    const int sides = (ghosts[0] > 0 ? 1 : 0) + (ghosts[1] > 0 ? 1 : 0);
    const int of_interior = walks > 0 ? std::max(1, walks - sides) : 0;
    const int of_border = walks > 0 ? 1 : 0;
    const std::int64_t borders = walks > 0 ? own.planes() / (kLonger * of_interior + 1) : 0;
    const std::int64_t border = borders / std::max(1, sides);
    InteriorFirst result;
    result.interior = {own.begin, own.end, of_interior};
    if (ghosts[0] > 0) {
        result.interior.begin = std::min(own.begin + std::max(ghosts[0], border), own.end);
        result.borders[0] = {own.begin, result.interior.begin, of_border};
    }
    if (ghosts[1] > 0) {
        result.interior.end = std::max(own.end - std::max(ghosts[1], border), result.interior.begin);
        result.borders[1] = {result.interior.end, own.end, of_border};
    }
    return result;
}

}  // namespace halo::rt
