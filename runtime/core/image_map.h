// What lies past a face of a grid: the one definition, by which go the reference interpreter, every lowering
// and the runtime.
#pragma once

#include <cstdint>

namespace halo::rt {

enum class BoundaryKind : std::uint8_t {
    periodic,  // u[-1] = u[n-1]
    fixed,     // a given value
    clamp,     // u[-1] = u[0]: zero gradient across the face
    mirror,    // u[-1] = u[1]: reflected about the edge cell's centre
    free,      // not defined: cells that would read past it are left as they are
    formula    // an expression for each distance past the face
};

// What is read past one face of an axis of n cells. Where that is a cell, its index is an affine function of
// the index that is read: sign * index + extents * n + offset. A value or a formula stands in the face
// itself.
struct ImageMap {
    enum class Shows : std::uint8_t { cell, value, formula, nothing };
    Shows shows = Shows::nothing;
    int sign = 0;  // 1: shifted by a period; 0: the same cell at every distance; -1: reflected
    int extents = 0;
    int offset = 0;

    constexpr bool shows_cell() const { return shows == Shows::cell; }
    constexpr bool shows_value() const { return shows == Shows::value; }
    constexpr bool shows_nothing() const { return shows == Shows::nothing; }
    constexpr bool wraps() const { return shows_cell() && sign > 0; }
    constexpr bool repeats_edge() const { return shows_cell() && sign == 0; }
    constexpr bool reflects() const { return shows_cell() && sign < 0; }
    constexpr std::int64_t cell(std::int64_t index, std::int64_t n) const {
        return sign * index + extents * n + offset;
    }
    // Of maps that show cells beside their own face: how far inside the edge cell the one lies that is shown
    // `distance` cells past the face.
    constexpr int inwards(int distance) const {
        if (!reflects()) return 0;
        return extents == 0 ? distance + offset : distance - 2 - offset;
    }
    friend bool operator==(const ImageMap&, const ImageMap&) = default;
};

constexpr ImageMap image_map(BoundaryKind kind, int side) {
    using Shows = ImageMap::Shows;
    switch (kind) {
        case BoundaryKind::periodic:
            return side == 0 ? ImageMap{Shows::cell, 1, 1, 0} : ImageMap{Shows::cell, 1, -1, 0};
        case BoundaryKind::clamp:
            return side == 0 ? ImageMap{Shows::cell, 0, 0, 0} : ImageMap{Shows::cell, 0, 1, -1};
        case BoundaryKind::mirror:
            return side == 0 ? ImageMap{Shows::cell, -1, 0, 0} : ImageMap{Shows::cell, -1, 2, -2};
        case BoundaryKind::fixed:
            return {Shows::value};
        case BoundaryKind::formula:
            return {Shows::formula};
        case BoundaryKind::free:
            break;
    }
    return {};
}

// Where a read at `index` (any integer) along an axis of n >= 1 cells goes.
struct ImageSource {
    ImageMap::Shows shows = ImageMap::Shows::cell;
    std::int64_t cell = 0;  // where a cell is shown: in [0, n)
    int side = 0;           // where none is: the face that is read past, 0 low, 1 high
};

// Inside the domain: the cell itself. Periods and reflections repeat, so that they hold for any n. A
// reflection that leaves through the other face is treated by that face's map; a free face reflects it as a
// mirror does, so that images always have a value. Where several axes are past an edge, each axis maps its
// own index; if any is past a fixed face, the first such axis in declaration order gives the value.
ImageSource image_source(BoundaryKind low, BoundaryKind high, std::int64_t index, std::int64_t n);

}  // namespace halo::rt
