// Time tiles: several time steps are done at once on pieces of the grid that stay in a cache.
//
// The kernels of these steps, one after the other, are sweeps 0, 1, 2 … over the grid. Where they are done
// piece by piece, sweep s lags behind an earlier sweep r as their dependences demand: a cell may be read only
// after the last sweep that writes it before s, and written only after all earlier sweeps that read or write
// it. A lag for each sweep and axis expresses all dependences (find_lags), and order_pieces() traverses the
// grid by it. Each sweep computes the same cells from the same values, so results are those of one sweep
// after the other, bit for bit.
//
// The slowest axis (of planes; of rows, where there are two axes) is divided into chunks, one for each
// thread. In phase 0 each chunk is a trapezoid that shrinks by the lag at each later sweep; in phase 1, after
// all chunks have done phase 0, the inverted trapezoids between them are done. No cell is computed twice.
// With three axes the rows of a chunk are divided into strips, which are skewed: those of a later sweep are
// shifted back by its lag. Where a boundary is periodic the axis is a ring: there the last chunk has a border
// with the first one, and strips are trapezoids as well.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/geometry.h"
#include "runtime/core/halo_fill.h"
#include "runtime/core/launch_plan.h"

namespace halo::rt {

class Kernel;

struct Sweep {
    Kernel* kernel = nullptr;
    void** arguments = nullptr;
    bool rows = true;  // blocks are the grid's rows, else whole planes (of two axes both are the same)
    struct Use {
        const void* array = nullptr;
        bool read = false, written = false;
        std::array<std::int64_t, kMaxRank> reach{};  // cells past its own, on both sides; see image_distance
    };
    std::vector<Use> uses;
    struct Refresh {  // halo images to fill where the sweep has written
        const std::vector<HaloPass>* images = nullptr;
        ElementType type = ElementType::f32;
        void* array = nullptr;
    };
    std::vector<Refresh> refresh;
};

// The largest distance along an axis of n cells from a cell to those that it reads within `reach`, directly
// or as images past a face. On a ring the first cell is next to the last.
std::int64_t image_distance(const FieldPlan& field, int axis, std::int64_t n, std::int64_t reach, bool ring);

// Cells along each axis by which each sweep lags behind sweep 0; nullopt where a sweep reads neighbours that
// it changes itself.
using Lags = std::vector<std::array<std::int64_t, kMaxRank>>;
std::optional<Lags> find_lags(const std::vector<Sweep>& sweeps);

// A thread's share of the machine's caches.
struct CacheShare {
    int threads = 1;
    std::int64_t own_bytes = 0;     // of a cache that no other thread uses
    std::int64_t common_bytes = 0;  // a thread's share of the last-level cache
};

struct TimeTileOptions {
    int steps = 0;          // at once; 0: chosen by the caches; 1: one after the other
    std::int64_t rows = 0;  // of a strip; 0: chosen by the caches
};

struct TileShape {
    int steps = 1;          // done at once; 1: no tiles
    std::int64_t rows = 0;  // of a strip; all where there are two axes, or strips are not possible
    int chunks = 1;
    std::int64_t planes = 1;  // of a piece
};

// The properties of a program's steps by which a shape is chosen.
struct TileNeeds {
    std::int64_t cell_bytes = 0;  // of all arrays that a step touches
    bool strips = false;          // rows may be divided
    std::array<bool, kMaxRank> rings{};
    // Of the last sweep of each number of steps, from 1 on: its lag; and the farthest reach of any sweep.
    Lags lags;
    std::array<std::int64_t, kMaxRank> reach{};
};

// The shape with the least memory traffic, where that is clearly below one sweep for each step; the model is
// in the source.
TileShape choose_shape(const Geometry& geometry, const TileNeeds& needs, const CacheShare& cache,
                       const TimeTileOptions& asked);

struct TimeTiles {
    Geometry geometry;
    TileShape shape;
    std::vector<Sweep> sweeps;
    Lags lags;
    std::array<bool, kMaxRank> rings{};  // of the axes that are divided, the periodic ones
};

// Calls visit(sweep, piece) for one chunk: phase 0 is the chunk's trapezoid; phase 1 is the inverted
// trapezoid at its border to the next chunk, once phase 0 of all chunks is done. The chunks of a phase may
// run concurrently.
using VisitPiece = std::function<void(const Sweep&, const HaloPiece&)>;
void order_pieces(const TimeTiles& tiles, int chunk, int phase, const VisitPiece& visit);

}  // namespace halo::rt
