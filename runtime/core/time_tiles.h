// Time tiles: several time steps done at once on pieces of the grid that stay in a cache.
//
// The kernels of some steps, one after the other, are sweeps 0, 1, 2 … over the grid. Done piece by piece,
// sweep s lags behind sweep r where it must: nothing may be read before its last writer before it in the
// order of the sweeps has been there, nor written before all who read or write what was there. A lag for each
// sweep and axis says all of that (find_lags), and order_pieces() walks the grid by it. Which sweep computes
// what never changes, so results are those of one sweep after the other, bit for bit.
//
// The slowest axis (of planes; rows, where there are two axes) is cut into chunks, one for each thread. A
// chunk is first done as far as it can be alone, narrower by the lag at each later sweep; after all have done
// so, what is missing around each border is done, and nothing twice. Of three axes, the rows of a chunk are
// cut into strips, each later sweep's shifted back by its lag. Where a boundary is periodic the axis is a
// ring: there the first and the last chunk share a border, and strips are done as chunks are.
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
        std::array<std::int64_t, kMaxRank> reach{};  // cells past its own, either way; see image_distance
    };
    std::vector<Use> uses;
    struct Refresh {  // images to be filled where it has written
        const std::vector<HaloPass>* images = nullptr;
        ElementType type = ElementType::f32;
        void* array = nullptr;
    };
    std::vector<Refresh> refresh;
};

// How far from a cell of an axis of n cells those lie that it reads within `reach`, at most, whether directly
// or as images past a face. On a ring the first cell is next to the last.
std::int64_t image_distance(const FieldPlan& field, int axis, std::int64_t n, std::int64_t reach, bool ring);

// Cells along each axis that each sweep stays behind sweep 0; nullopt where a sweep reads beside its own cell
// what it changes itself.
using Lags = std::vector<std::array<std::int64_t, kMaxRank>>;
std::optional<Lags> find_lags(const std::vector<Sweep>& sweeps);

// What a thread may count on of the machine's caches.
struct CacheShare {
    int threads = 1;
    std::int64_t own_bytes = 0;     // of a cache that no other thread uses
    std::int64_t common_bytes = 0;  // a thread's part of the last cache
};

// What a caller wants.
struct TimeTileOptions {
    int steps = 0;          // at once; 0: what suits the caches; 1: one after the other
    std::int64_t rows = 0;  // of a strip; 0: what suits the caches
};

struct TileShape {
    int steps = 1;          // done at once; 1: no tiles
    std::int64_t rows = 0;  // of a strip; all, where there are two axes or strips cannot be
    int chunks = 1;
    std::int64_t planes = 1;  // of a piece
};

// What is known of a program's steps where a shape is chosen.
struct TileNeeds {
    std::int64_t cell_bytes = 0;  // of all arrays that a step touches
    bool strips = false;          // rows may be cut
    std::array<bool, kMaxRank> rings{};
    // Of the last sweep of each number of steps, from 1 on: its lag; and the farthest reach of any sweep.
    Lags lags;
    std::array<std::int64_t, kMaxRank> reach{};
};

// The shape that moves the fewest bytes, where that is well below a sweep for each step; see the source for
// the model.
TileShape choose_shape(const Geometry& geometry, const TileNeeds& needs, const CacheShare& cache,
                       const TimeTileOptions& asked);

struct TimeTiles {
    Geometry geometry;
    TileShape shape;
    std::vector<Sweep> sweeps;
    Lags lags;
    std::array<bool, kMaxRank> rings{};  // axes, of those that are cut
};

// Calls visit(sweep, piece) for the part of one chunk: phase 0 what it can do alone; phase 1 what is missing
// at its border to the next chunk, once phase 0 of all chunks is done. The chunks of a phase may run at once.
using VisitPiece = std::function<void(const Sweep&, const HaloPiece&)>;
void order_pieces(const TimeTiles& tiles, int chunk, int phase, const VisitPiece& visit);

}  // namespace halo::rt
