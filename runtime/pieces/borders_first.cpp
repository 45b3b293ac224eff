#include "runtime/pieces/borders_first.h"

#include <algorithm>

namespace halo::rt {

namespace {

constexpr std::int64_t kShorter = 3;  // so many times is a walk of the inner planes

}  // namespace

BordersFirst borders_first(const PlaneRange& own, const std::array<std::int64_t, 2>& given, int walks) {
    const int sides = (given[0] > 0 ? 1 : 0) + (given[1] > 0 ? 1 : 0);
    std::int64_t border = 0;
    int of_border = 0, of_inner = 0;
    if (walks > 0 && sides > 0) {
        of_border = std::max(1, (walks - 1) / sides);
        of_inner = std::max(1, walks - sides * of_border);
        border = own.planes() * kShorter * of_border / (kShorter * sides * of_border + of_inner);
    }
    BordersFirst result;
    result.inner = {own.begin, own.end, of_inner};
    if (given[0] > 0) {
        result.inner.begin = std::min(own.begin + std::max(given[0], border), own.end);
        result.borders[0] = {own.begin, result.inner.begin, of_border};
    }
    if (given[1] > 0) {
        result.inner.end = std::max(own.end - std::max(given[1], border), result.inner.begin);
        result.borders[1] = {result.inner.end, own.end, of_border};
    }
    return result;
}

}  // namespace halo::rt
