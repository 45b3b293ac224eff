#include "runtime/pieces/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/core/error.h"

namespace halo::rt {

namespace {

// The cost of a ghost cell, by the axis that is cut: along the first each row of memory holds a few of them,
// along the second each plane a few rows.
constexpr std::array<double, kMaxRank> kCost{4.0, 1.2, 1.0, 1.0};

std::int64_t cut_at(std::int64_t extent, std::int64_t unit, int number, int count) {
    return number == count ? extent : extent / unit * number / count * unit;
}

// Cells that a piece has of its own along an axis, at least.
std::int64_t least_own(const Grid& grid, const Depths& ghosts, std::size_t axis) {
    return std::max({ghosts[axis][0], ghosts[axis][1], grid.unit});
}

// Finds a piece that is too thin for the ghosts, as a sentence; nothing where all fit.
std::optional<std::string> find_thin(const Decomposition& cut, const Depths& ghosts,
                                     const std::vector<std::string>& axes) {
    for (const Piece& piece : cut.pieces)
        for (int axis = 0; axis < cut.grid.rank; ++axis) {
            if (!cut.is_cut(axis)) continue;
            const auto along = static_cast<std::size_t>(axis);
            const std::int64_t deep = least_own(cut.grid, ghosts, along);
            if (piece.own(axis) >= deep) continue;
            return fmt::format(
                "{} pieces along {} would have {} of its {} cells each, and each needs {} of "
                "its neighbour{}",
                cut.counts[along], axes[along], piece.own(axis), cut.grid.extent[along], deep,
                cut.grid.unit > 1
                    ? fmt::format(", as pieces are cut between the cells of all grids, every {}",
                                  cut.grid.unit)
                    : "");
        }
    return std::nullopt;
}

Decomposition cut_into(const Grid& grid, const Lengths& counts, const Depths& ghosts) {
    Decomposition cut;
    cut.grid = grid;
    cut.counts = counts;
    int total = 1;
    for (const int count : counts)
        total *= count;
    for (int number = 0; number < total; ++number) {
        Piece piece;
        int rest = number;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
            const int count = counts[axis], place = rest % count;
            rest /= count;
            piece.place[axis] = place;
            piece.end[axis] = grid.extent[axis];
            if (count == 1) continue;
            piece.begin[axis] = cut_at(grid.extent[axis], grid.unit, place, count);
            piece.end[axis] = cut_at(grid.extent[axis], grid.unit, place + 1, count);
            if (place > 0 || grid.wraps[axis]) piece.ghosts[axis][0] = ghosts[axis][0];
            if (place + 1 < count || grid.wraps[axis]) piece.ghosts[axis][1] = ghosts[axis][1];
        }
        cut.pieces.push_back(piece);
    }
    return cut;
}

// All ways to have so many pieces, cut along axes that may be.
std::vector<Lengths> all_counts(int rank, int count, const std::array<bool, kMaxRank>& may) {
    std::vector<Lengths> all;
    Lengths counts{};
    const auto divide = [&](const auto& self, std::size_t axis, int left) -> void {
        if (axis == kMaxRank) {
            if (left == 1) all.push_back(counts);
            return;
        }
        for (int along = 1; along <= left; ++along) {
            const bool is_allowed = std::cmp_less(axis, rank) && may[axis];
            if (left % along != 0 || (along > 1 && !is_allowed)) continue;
            counts[axis] = along;
            self(self, axis + 1, left / along);
        }
    };
    divide(divide, 0, count);
    return all;
}

double cost_of(const Decomposition& cut) {
    double most = 0;
    for (const Piece& piece : cut.pieces) {
        double cost = 0;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
            const Extent extent = piece.extent();
            const std::int64_t face = extent.cells() / extent[axis];
            cost += kCost[axis] * static_cast<double>(face) *
                    static_cast<double>(piece.ghosts[axis][0] + piece.ghosts[axis][1]);
        }
        most = std::max(most, cost);
    }
    return most;
}

}  // namespace

std::optional<int> Decomposition::axis_cut_besides_last() const {
    for (int axis = 0; axis < grid.rank - 1; ++axis)
        if (is_cut(axis)) return axis;
    return std::nullopt;
}

int Decomposition::beside(int piece, int axis, int side) const {
    const auto along = static_cast<std::size_t>(axis);
    std::array<int, kMaxRank> place = pieces[static_cast<std::size_t>(piece)].place;
    const int count = counts[along];
    place[along] += side == 0 ? -1 : 1;
    if (grid.wraps[along] && count > 1) place[along] = (place[along] + count) % count;
    if (place[along] < 0 || place[along] >= count) return -1;
    int number = 0;
    for (std::size_t other = kMaxRank; other-- > 0;)
        number = number * counts[other] + place[other];
    return number;
}

Decomposition Decomposition::of_grid(int factor) const {
    Decomposition coarse = *this;
    coarse.grid.unit /= factor;
    for (std::size_t axis = 0; std::cmp_less(axis, grid.rank); ++axis) {
        coarse.grid.extent[axis] /= factor;
        for (Piece& piece : coarse.pieces) {
            piece.begin[axis] /= factor;
            piece.end[axis] /= factor;
            for (std::int64_t& deep : piece.ghosts[axis])
                deep /= factor;
        }
    }
    return coarse;
}

Decomposition decompose(const Grid& grid, const Lengths& counts, const Depths& ghosts,
                        const std::vector<std::string>& axes) {
    Decomposition cut = cut_into(grid, counts, ghosts);
    if (const std::optional<std::string> thin = find_thin(cut, ghosts, axes))
        throw Error(ErrorCode::bad_argument, *thin + "; cut the grid into fewer pieces");
    return cut;
}

std::optional<Decomposition> find_decomposition(const Grid& grid, int count, const Depths& ghosts,
                                                const std::array<bool, kMaxRank>& may,
                                                const std::vector<std::string>& axes, std::string* why) {
    std::optional<Decomposition> best;
    double least = 0;
    for (const Lengths& counts : all_counts(grid.rank, count, may)) {
        Decomposition cut = cut_into(grid, counts, ghosts);
        if (std::optional<std::string> thin = find_thin(cut, ghosts, axes)) {
            if (why != nullptr) *why = std::move(*thin);
            continue;
        }
        const double cost = cost_of(cut);
        if (best && cost >= least) continue;
        least = cost;
        best = std::move(cut);
    }
    return best;
}

Decomposition choose_decomposition(const Grid& grid, int count, const Depths& ghosts,
                                   const std::array<bool, kMaxRank>& may,
                                   const std::vector<std::string>& axes) {
    std::string why;
    if (std::optional<Decomposition> best = find_decomposition(grid, count, ghosts, may, axes, &why))
        return std::move(*best);
    int most = 1;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
        if (may[axis])
            most = std::max(most, static_cast<int>(std::min<std::int64_t>(
                                      grid.extent[axis] / least_own(grid, ghosts, axis), 1 << 20)));
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("this grid cannot be cut into {} pieces{}; {}", count, why.empty() ? "" : ": " + why,
                    (most > 1 ? fmt::format("it can be cut into {}", most) : "use one device") +
                        (grid.unit > 1 ? ", or have fewer grids" : "")));
}

}  // namespace halo::rt
