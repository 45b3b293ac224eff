#include "runtime/pieces/interior_first.h"

#include <algorithm>

namespace halo::rt {

namespace {

constexpr std::int64_t kInteriorToBorders =
    8;  // planes of a traversal of the interior, for each of all borders

}  // namespace

InteriorFirst interior_first(const PlaneRange& planes, const std::array<std::int64_t, 2>& bound,
                             int traversals) {
    const int sides = (bound[0] > 0 ? 1 : 0) + (bound[1] > 0 ? 1 : 0);
    const int of_interior = traversals > 0 ? std::max(1, traversals - sides) : 0;
    const int of_border = traversals > 0 ? 1 : 0;
    const std::int64_t borders =
        traversals > 0 ? planes.planes() / (kInteriorToBorders * of_interior + 1) : 0;
    const std::int64_t border = borders / std::max(1, sides);
    InteriorFirst result;
    result.interior = {planes.begin, planes.end, of_interior};
    if (bound[0] > 0) {
        result.interior.begin = std::min(planes.begin + std::max(bound[0], border), planes.end);
        result.borders[0] = {planes.begin, result.interior.begin, of_border};
    }
    if (bound[1] > 0) {
        result.interior.end = std::max(planes.end - std::max(bound[1], border), result.interior.begin);
        result.borders[1] = {result.interior.end, planes.end, of_border};
    }
    return result;
}

}  // namespace halo::rt
