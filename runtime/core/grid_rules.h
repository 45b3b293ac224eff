// What a range of cells means, and which grids a program can run on: the one definition, by which go the
// sessions of every device, the writer of launchers and the reference interpreter.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace halo::rt {

inline constexpr int kMaxRank = 4;
inline constexpr std::int64_t kMaxExtent = (std::int64_t{1} << 31) - 1;  // kernels count in 32 bits
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 60;      // 8 bytes each stay within 63 bits

// A number for each axis, as of cells or of threads; 1 for axes that are not given.
template <class Number>
struct ByAxis : std::array<Number, kMaxRank> {
    using Numbers = std::array<Number, kMaxRank>;
    constexpr ByAxis() : Numbers{} { this->fill(1); }
    constexpr ByAxis(std::initializer_list<Number> given) : Numbers{} {
        this->fill(1);
        auto next = this->begin();
        for (const Number each : given)
            *next++ = each;
    }
    constexpr ByAxis(const Numbers& given) : Numbers(given) {}

    std::array<Number, 3> first_three() const { return {(*this)[0], (*this)[1], (*this)[2]}; }
    constexpr Number product() const {
        Number product = 1;
        for (const Number each : *this)
            product *= each;
        return product;
    }
};

using Lengths = ByAxis<int>;

// Cells of a grid.
struct Extent : ByAxis<std::int64_t> {
    using ByAxis::ByAxis;
    constexpr Extent(const Numbers& given) : ByAxis(given) {}

    constexpr std::int64_t cells() const { return product(); }
    // Of a cell in the dense array of so many, x fastest.
    template <class Number>
    constexpr std::int64_t index_of(const std::array<Number, kMaxRank>& cell) const {
        std::int64_t index = 0;
        for (std::size_t axis = kMaxRank; axis-- > 0;)
            index = index * (*this)[axis] + cell[axis];
        return index;
    }
};

// Where a cell is along an axis.
struct Bound {
    bool from_high = false;  // counted from the cell past the last (-1 is the last), else from the first, 0
    int offset = 0;
    friend bool operator==(const Bound&, const Bound&) = default;
};

// Cells of an axis, from `begin` to before `end`. Any two bounds are legal; on a grid where the end is not
// past the beginning there are none.
struct Range {
    Bound begin{false, 0};
    Bound end{true, 0};
    friend bool operator==(const Range&, const Range&) = default;
};

// The cell that a bound names on an axis of n cells; it may be none of theirs.
constexpr std::int64_t place_of(const Bound& bound, std::int64_t n) {
    return (bound.from_high ? n : 0) + bound.offset;
}

struct Span {
    std::int64_t begin = 0, end = 0;  // begin <= end
    std::int64_t cells() const { return end - begin; }
};
// A range on an axis of n cells, clipped to them.
constexpr Span span_of(const Range& range, std::int64_t n) {
    const auto clipped = [&](const Bound& bound) {
        return std::clamp<std::int64_t>(place_of(bound, n), 0, n);
    };
    const std::int64_t begin = clipped(range.begin);
    return {begin, std::max(begin, clipped(range.end))};
}

// Whether there is a grid on which the range has no cells; the least grid is one cell.
constexpr bool may_be_empty(const Range& range) {
    const bool shrinks = range.begin.from_high && !range.end.from_high;  // as the grid grows
    return shrinks || span_of(range, 1).cells() == 0;
}

// The most cells that it has on any grid; kMaxExtent where it grows with the grid.
constexpr std::int64_t most_cells(const Range& range) {
    const std::int64_t from_low = std::max(range.end.offset, 0), from_high = std::max(-range.begin.offset, 0);
    if (range.begin.from_high && !range.end.from_high) return std::min(from_low, from_high);
    if (!range.begin.from_high && range.end.from_high) return kMaxExtent;
    return span_of(range, kMaxExtent).cells();
}

// What the boundary of a field at a face is computed from.
struct CellsNeeded {
    std::string field;
    int axis = 0, side = 0;  // 0 low, 1 high
    std::int64_t cells = 0;  // along the axis, at least
    int factor = 1;          // of the field's own grid (FieldGrid::factor)
};
// What a field on a coarser grid needs: a cell along each axis, and no rest along those that are periodic.
struct CoarseGrid {
    std::string field;
    int factor = 1;
    std::array<bool, kMaxRank> is_periodic{};
};

// Throws Error (bad_argument) for a grid of no cells along an axis, of more than can be counted, or of fewer
// than a boundary is computed from. Extents past the rank are 1.
void check_extents(int rank, const Extent& extent);
void check_cells_needed(const std::vector<std::string>& axes, const std::vector<CellsNeeded>& needs,
                        const Extent& extent);
// The same for a grid that coarser ones cannot be made of.
void check_coarse_grids(const std::vector<std::string>& axes, const std::vector<CoarseGrid>& fields,
                        const Extent& extent);

}  // namespace halo::rt
