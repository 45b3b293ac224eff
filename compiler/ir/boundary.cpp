#include "compiler/ir/boundary.h"

namespace halo::ir {

namespace {

struct Image {
    std::optional<std::int64_t> cell;
    int side = 0;  // where there is no cell: the face that is read past
};

std::int64_t wrap(std::int64_t index, std::int64_t period) {
    const std::int64_t rest = index % period;
    return rest < 0 ? rest + period : rest;
}

Image image_of(BoundaryKind low, BoundaryKind high, std::int64_t index, std::int64_t n) {
    if (index >= 0 && index < n) return {index};
    bool reflected = false;
    // Two reflections are a shift by 2(n-1): taking those off at once leaves at most two rounds of the loop.
    if (low == BoundaryKind::mirror && high == BoundaryKind::mirror && n > 1)
        index = wrap(index, 2 * (n - 1));
    while (index < 0 || index >= n) {
        const int side = index < 0 ? 0 : 1;
        const BoundaryKind kind = side == 0 ? low : high;
        const std::int64_t edge = side == 0 ? 0 : n - 1;
        switch (kind) {
            case BoundaryKind::periodic:
                return {wrap(index, n)};
            case BoundaryKind::fixed:
            case BoundaryKind::formula:
                return {std::nullopt, side};
            case BoundaryKind::clamp:
                return {edge};
            case BoundaryKind::free:
                if (!reflected) return {std::nullopt, side};
                [[fallthrough]];
            case BoundaryKind::mirror:
                if (n == 1 && reflected) return {0};  // every image of the only cell is that cell
                index = 2 * edge - index;
                reflected = true;
                break;
        }
    }
    return {index};
}

}  // namespace

std::optional<std::int64_t> source_index(BoundaryKind low, BoundaryKind high, std::int64_t index,
                                         std::int64_t n) {
    return image_of(low, high, index, n).cell;
}

int outside_side(BoundaryKind low, BoundaryKind high, std::int64_t index, std::int64_t n) {
    return image_of(low, high, index, n).side;
}

}  // namespace halo::ir
