#include "runtime/pieces/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/core/error.h"

namespace halo::rt {

namespace {

// The cost of a ghost cell, by the axis that is cut: along the first each row of memory holds a few of them,
// along the second each plane a few rows.
constexpr std::array<double, kMaxRank> kCost{4.0, 1.2, 1.0};

std::int64_t cut_at(std::int64_t extent, int number, int count) {
    return extent * number / count;
}

// Finds a piece that is too thin for the ghosts, as a sentence; nothing where all fit.
std::optional<std::string> find_thin(const Decomposition& cut, const Depths& ghosts,
                                     const std::vector<std::string>& axes) {
    for (const Piece& piece : cut.pieces)
        for (int axis = 0; axis < cut.grid.rank; ++axis) {
            if (!cut.is_cut(axis)) continue;
            const auto along = static_cast<std::size_t>(axis);
            const std::int64_t deep = std::max<std::int64_t>({ghosts[along][0], ghosts[along][1], 1});
            if (piece.own(axis) >= deep) continue;
            return fmt::format(
                "{} pieces along {} would have {} of its {} cells each, and each needs {} of "
                "its neighbour",
                cut.counts[along], axes[along], piece.own(axis), cut.grid.extent[along], deep);
        }
    return std::nullopt;
}

Decomposition cut_into(const Grid& grid, const std::array<int, kMaxRank>& counts, const Depths& ghosts) {
    Decomposition cut;
    cut.grid = grid;
    cut.counts = counts;
    for (int z = 0; z < counts[2]; ++z)
        for (int y = 0; y < counts[1]; ++y)
            for (int x = 0; x < counts[0]; ++x) {
                Piece piece;
                piece.place = {x, y, z};
                for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
                    const int place = piece.place[axis], count = counts[axis];
                    piece.begin[axis] = cut_at(grid.extent[axis], place, count);
                    piece.end[axis] = cut_at(grid.extent[axis], place + 1, count);
                    if (count == 1) continue;
                    if (place > 0 || grid.wraps[axis]) piece.ghosts[axis][0] = ghosts[axis][0];
                    if (place + 1 < count || grid.wraps[axis]) piece.ghosts[axis][1] = ghosts[axis][1];
                }
                cut.pieces.push_back(piece);
            }
    return cut;
}

double cost_of(const Decomposition& cut) {
    double most = 0;
    for (const Piece& piece : cut.pieces) {
        double cost = 0;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
            const Cells extent = piece.extent();
            const std::int64_t face = extent[0] * extent[1] * extent[2] / extent[axis];
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
    return place[0] + counts[0] * (place[1] + counts[1] * place[2]);
}

Decomposition decompose(const Grid& grid, const std::array<int, kMaxRank>& counts, const Depths& ghosts,
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
    for (int x = 1; x <= count; ++x) {
        for (int y = 1; count % x == 0 && y <= count / x; ++y) {
            if (count / x % y != 0) continue;
            const std::array<int, kMaxRank> counts{x, y, count / x / y};
            bool is_allowed = true;
            for (std::size_t axis = 0; axis < kMaxRank; ++axis)
                is_allowed = is_allowed && (counts[axis] == 1 || may[axis]);
            if (!is_allowed) continue;
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
            most = std::max(
                most, static_cast<int>(std::min<std::int64_t>(
                          grid.extent[axis] / std::max<std::int64_t>({ghosts[axis][0], ghosts[axis][1], 1}),
                          1 << 20)));
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("this grid cannot be cut into {} pieces{}; {}", count, why.empty() ? "" : ": " + why,
                    most > 1 ? fmt::format("it can be cut into {}", most) : "use one device"));
}

}  // namespace halo::rt
