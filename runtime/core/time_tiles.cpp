#include "runtime/core/time_tiles.h"

#include <algorithm>
#include <limits>

namespace halo::rt {

namespace {

// Cells of a piece whose computation takes longer than the call of its kernel.
constexpr std::int64_t kPieceCells = 4096;

// The model of choose_shape(): the cost of a step is its memory traffic, relative to that of one sweep. Bytes
// from the last-level cache cost this share.
constexpr double kCommonCost = 0.15;
// Of a cache, the share that a tile may fill; the rest is for data that is used once.
constexpr double kOwnShare = 0.6, kCommonShare = 0.5;
// The cost up to which tiles are used: prologues and epilogues of tiles, barriers and short pieces cost time,
// too.
constexpr double kMostCost = 0.8;
constexpr std::int64_t kFewestRows = 4;

int slowest_axis(const Geometry& geometry) {
    return geometry.rank - 1;
}

std::int64_t chunk_begin(const TimeTiles& tiles, int chunk) {
    const std::int64_t n = tiles.geometry.extent[slowest_axis(tiles.geometry)];
    return n * chunk / tiles.shape.chunks;
}

using Distance = std::array<std::int64_t, kMaxRank>;

// The distance by which sweep s must lag behind sweep r, which precedes it; nullopt where they are
// independent.
std::optional<Distance> distance(const Sweep& r, const Sweep& s) {
    std::optional<Distance> most;
    for (const Sweep::Use& first : r.uses) {
        for (const Sweep::Use& second : s.uses) {
            if (first.array != second.array || (!first.written && !second.written)) continue;
            if (!most) most = Distance{};
            for (std::size_t axis = 0; axis < kMaxRank; ++axis)
                (*most)[axis] = std::max({(*most)[axis], first.read ? first.reach[axis] : 0,
                                          second.read ? second.reach[axis] : 0});
        }
    }
    return most;
}

struct SweepRange {
    std::int64_t begin = 0, end = 0;
    bool is_empty() const { return begin >= end; }
};

SweepRange common_part(const SweepRange& a, const SweepRange& b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// A part of an axis of n cells, of which each sweep has a range that depends on its lag.
class Window {
public:
    enum class Kind : std::uint8_t {
        all,
        shrinking,  // a trapezoid, which is independent of the other parts
        growing,    // the inverted trapezoid at the end of the part, which fills the rest
        skewed      // a parallelogram, which depends on the parts before it
    };
    Window(Kind kind, const SweepRange& part, std::int64_t n, bool ring)
        : kind_(kind), part_(part), n_(n), ring_(ring) {}

    // On a ring the border at the end of the last part is in two pieces; else the second is empty.
    std::array<SweepRange, 2> of(std::int64_t lag) const {
        const bool first = part_.begin == 0, last = part_.end == n_;
        switch (kind_) {
            case Kind::all:
                break;
            case Kind::shrinking:
                return {SweepRange{first && !ring_ ? 0 : part_.begin + lag,
                                   last && !ring_ ? n_ : part_.end - lag},
                        SweepRange{}};
            case Kind::growing:
                if (!last) return {SweepRange{part_.end - lag, part_.end + lag}, SweepRange{}};
                return ring_ ? std::array<SweepRange, 2>{SweepRange{n_ - lag, n_}, SweepRange{0, lag}}
                             : std::array<SweepRange, 2>{};
            case Kind::skewed:
                return {SweepRange{std::max<std::int64_t>(part_.begin - lag, 0), last ? n_ : part_.end - lag},
                        SweepRange{}};
        }
        return {SweepRange{0, n_}, SweepRange{}};
    }

private:
    Kind kind_;
    SweepRange part_;
    std::int64_t n_;
    bool ring_;
};

class Traversal {
public:
    Traversal(const TimeTiles& tiles, int chunk, const VisitPiece& visit)
        : tiles_(tiles),
          visit_(visit),
          slowest_(slowest_axis(tiles.geometry)),
          planes_(tiles.geometry.extent[slowest_]),
          chunk_{chunk_begin(tiles, chunk), chunk_begin(tiles, chunk + 1)} {
        for (const auto& lag : tiles.lags)
            last_lag_ = std::max(last_lag_, lag[slowest_]);
        find_strips();
    }

    // A wavefront passes through the planes; each sweep follows it at its lag.
    void interior() const {
        const Window window(Window::Kind::shrinking, chunk_, planes_, tiles_.rings[slowest_]);
        const std::int64_t length = tiles_.shape.planes;
        for (const Window& strip : strips_) {
            for (std::int64_t front = chunk_.begin; front < chunk_.end + last_lag_; front += length) {
                for (std::size_t s = 0; s < tiles_.sweeps.size(); ++s) {
                    const std::int64_t lag = tiles_.lags[s][slowest_];
                    emit(s, common_part(window.of(lag)[0], {front - lag, front + length - lag}), strip);
                }
            }
        }
    }

    // Computes the cells around the chunk's end.
    void border() const {
        const Window window(Window::Kind::growing, chunk_, planes_, tiles_.rings[slowest_]);
        for (const Window& strip : strips_)
            for (std::size_t s = 0; s < tiles_.sweeps.size(); ++s)
                for (const SweepRange& planes : window.of(tiles_.lags[s][slowest_]))
                    emit(s, planes, strip);
    }

private:
    void find_strips() {
        const std::int64_t rows = tiles_.geometry.rank == 3 ? tiles_.geometry.extent[1] : 1;
        const bool ring = tiles_.geometry.rank == 3 && tiles_.rings[1];
        // On a ring strips must be as long as the chosen length at least, as trapezoids need it.
        const std::int64_t length = tiles_.shape.rows;
        const std::int64_t count =
            ring ? std::max<std::int64_t>(rows / length, 1) : (rows + length - 1) / length;
        const auto add = [&](Window::Kind kind) {
            for (std::int64_t strip = 0; strip < count; ++strip)
                strips_.emplace_back(kind, SweepRange{rows * strip / count, rows * (strip + 1) / count}, rows,
                                     ring);
        };
        if (count == 1) return add(Window::Kind::all);
        if (!ring) return add(Window::Kind::skewed);
        add(Window::Kind::shrinking);
        add(Window::Kind::growing);
    }

    void emit(std::size_t s, const SweepRange& planes, const Window& strip) const {
        if (planes.is_empty()) return;
        for (const SweepRange& rows : strip.of(tiles_.lags[s][1]))
            if (!rows.is_empty()) visit_(tiles_.sweeps[s], {planes.begin, planes.end, rows.begin, rows.end});
    }

    const TimeTiles& tiles_;
    const VisitPiece& visit_;
    int slowest_;
    std::int64_t planes_;
    SweepRange chunk_;
    std::vector<Window> strips_;
    std::int64_t last_lag_ = 0;
};

}  // namespace

std::int64_t image_distance(const FieldPlan& field, int axis, std::int64_t n, std::int64_t reach, bool ring) {
    const auto& faces = field.boundary[axis];
    std::int64_t most = reach;
    for (std::int64_t past = 1; past <= reach; ++past) {
        // inwards: the distance from the edge cell at the face to the source. On a ring the other way may be
        // shorter.
        const auto add = [&](const ImageSource& source, std::int64_t inwards) {
            if (source.shows != ImageMap::Shows::cell) return;
            const std::int64_t around = n - inwards + reach - past;
            most = std::max(most, ring ? std::min(inwards, around) : inwards);
        };
        const ImageSource low = image_source(faces[0].kind, faces[1].kind, -past, n);
        const ImageSource high = image_source(faces[0].kind, faces[1].kind, n - 1 + past, n);
        add(low, low.cell);
        add(high, n - 1 - high.cell);
    }
    return most;
}

std::optional<Lags> find_lags(const std::vector<Sweep>& sweeps) {
    for (const Sweep& sweep : sweeps)
        if (distance(sweep, sweep).value_or(Distance{}) != Distance{}) return std::nullopt;
    Lags lags(sweeps.size());
    for (std::size_t s = 0; s < sweeps.size(); ++s) {
        for (std::size_t r = 0; r < s; ++r) {
            const std::optional<Distance> behind = distance(sweeps[r], sweeps[s]);
            if (!behind) continue;
            for (std::size_t axis = 0; axis < kMaxRank; ++axis)
                lags[s][axis] = std::max(lags[s][axis], lags[r][axis] + (*behind)[axis]);
        }
    }
    return lags;
}

namespace {

class Chooser {
public:
    Chooser(const Geometry& geometry, const TileNeeds& needs, const CacheShare& cache,
            const TimeTileOptions& asked)
        : geometry_(geometry),
          needs_(needs),
          cache_(cache),
          asked_(asked),
          slowest_(slowest_axis(geometry)),
          rows_(geometry.rank == 3 ? geometry.extent[1] : 1),
          grid_bytes_(geometry.elements * needs.cell_bytes),
          fits_common_(grid_bytes_ < cache.common_bytes * cache.threads) {}

    TileShape choose() {
        const bool free = asked_.steps == 0;
        if (free && grid_bytes_ < cache_.own_bytes * cache_.threads) return {};
        cost_ = free ? kMostCost * (fits_common_ ? kCommonCost : 1) : std::numeric_limits<double>::infinity();
        for (std::size_t steps = 2; steps <= needs_.lags.size(); ++steps) {
            if (!free && static_cast<int>(steps) != asked_.steps) continue;
            consider(static_cast<int>(steps), false);
            if (!fits_common_ && cache_.common_bytes > 0) consider(static_cast<int>(steps), true);
        }
        return best_;
    }

private:
    // Considers a number of steps by its memory traffic, where that of one sweep over all arrays is 1: for
    // all its steps a tile reads once its own cells, and again those that it shares with the previous strip
    // or chunk.
    void consider(int steps, bool from_common) {
        const auto& lags = needs_.lags[static_cast<std::size_t>(steps) - 1];
        const std::int64_t planes = geometry_.extent[slowest_];
        const std::int64_t lag = lags[slowest_], reach = needs_.reach[slowest_];
        const std::int64_t shortest = std::max<std::int64_t>(2 * (lag + reach), 1);
        if (needs_.rings[slowest_] && planes < shortest) return;
        TileShape shape;
        shape.steps = steps;
        shape.chunks = static_cast<int>(std::clamp<std::int64_t>(planes / shortest, 1, cache_.threads));
        if (asked_.steps == 0 && shape.chunks < cache_.threads) return;
        const double room = from_common ? kCommonShare * static_cast<double>(cache_.common_bytes)
                                        : kOwnShare * static_cast<double>(cache_.own_bytes);
        const std::int64_t live = lag + 2 * reach + 1;
        shape.rows =
            rows_that_fit(lags[1], room / static_cast<double>(live * geometry_.pitch * needs_.cell_bytes));
        if (shape.rows == 0) return;
        shape.planes = std::max<std::int64_t>(1, kPieceCells / (geometry_.extent[0] * shape.rows));
        double again = 1, borders = 1;
        if (shape.rows < rows_)
            again += static_cast<double>(lags[1] * (needs_.rings[1] ? 2 : 1) + 2 * needs_.reach[1]) /
                     static_cast<double>(shape.rows);
        if (shape.chunks > 1)
            borders += static_cast<double>(shortest * shape.chunks) / static_cast<double>(planes);
        double cost = again * borders / steps;
        if (fits_common_) cost *= kCommonCost;
        if (from_common) cost += kCommonCost;
        if (cost >= cost_) return;
        best_ = shape;
        cost_ = cost;
    }

    // Rows of a strip, where the cache holds `fitting` rows of all live planes; 0 where no strip fits.
    std::int64_t rows_that_fit(std::int64_t lag, double fitting) const {
        const std::int64_t overlap = lag + 2 * needs_.reach[1];
        const std::int64_t fewest = needs_.rings[1] ? 2 * (lag + needs_.reach[1]) : 1;
        if (asked_.steps > 0) {
            const std::int64_t wanted = std::max(asked_.rows, fewest);
            return needs_.strips && asked_.rows > 0 ? std::min(rows_, wanted) : rows_;
        }
        if (fitting >= static_cast<double>(rows_)) return rows_;
        const std::int64_t rows = static_cast<std::int64_t>(fitting) - overlap;
        if (!needs_.strips || rows < std::max(fewest, kFewestRows)) return 0;
        return rows;
    }

    const Geometry& geometry_;
    const TileNeeds& needs_;
    const CacheShare& cache_;
    const TimeTileOptions& asked_;
    int slowest_;
    std::int64_t rows_;
    std::int64_t grid_bytes_;
    bool fits_common_;
    TileShape best_;
    double cost_ = 0;
};

}  // namespace

TileShape choose_shape(const Geometry& geometry, const TileNeeds& needs, const CacheShare& cache,
                       const TimeTileOptions& asked) {
    return Chooser(geometry, needs, cache, asked).choose();
}

void order_pieces(const TimeTiles& tiles, int chunk, int phase, const VisitPiece& visit) {
    const Traversal traversal(tiles, chunk, visit);
    if (phase == 0) {
        traversal.interior();
    } else {
        traversal.border();
    }
}

}  // namespace halo::rt
