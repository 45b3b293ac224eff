// Footprint: what one stage reads, writes and computes for each cell.
//
// A level is one field at one time (program.h). Levels that a statement of the stage writes and a later one
// of the same stage reads, at the cell itself, stay in registers and are not counted; neither are lets that
// no other stage reads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/program.h"
#include "compiler/ir/shifted.h"

namespace halo::schedule {

int size_of(ir::Scalar type);      // bytes of a value that is computed with
int size_of(ir::Storage storage);  // bytes of an element in memory

struct LevelRead {
    ir::FieldId field;
    int time = 0;
    ir::Scalar type = ir::Scalar::f32;
    ir::Storage storage = ir::Storage::f32;
    std::vector<ir::Offset> offsets;                        // sorted, each once
    std::array<std::array<int, 2>, ir::kMaxRank> radius{};  // [axis][side], cells reached, >= 0
    bool star = true;                                       // each offset lies along one axis
    bool at_neighbours() const;                             // at any offset but 0
    int reach(int axis) const { return radius[axis][0] + radius[axis][1]; }
};

struct LevelWrite {
    ir::FieldId field;
    int time = 0;
    ir::Scalar type = ir::Scalar::f32;
    ir::Storage storage = ir::Storage::f32;
};

// Operations on values that differ from cell to cell; what is the same for a whole launch is done on the
// host. Shared subexpressions count once, and so does what is the same at a shifted place, as the sums along
// the rows of a box: of these a cell computes one, and has the others from its neighbours.
struct Operations {
    int adds = 0;  // and subtractions
    int multiplies = 0;
    int fmas = 0;  // two flops each
    int divisions = 0;
    int roots = 0;        // square, reciprocal and cube roots
    int functions = 0;    // exp, sin, pow …
    int draws = 0;        // of random numbers; no flops
    int comparisons = 0;  // and min, max, floor, ceil; no flops
    int flops() const { return adds + multiplies + 2 * fmas + divisions + roots + functions; }
    Operations& operator+=(const Operations& more) {
        adds += more.adds;
        multiplies += more.multiplies;
        fmas += more.fmas;
        divisions += more.divisions;
        roots += more.roots;
        functions += more.functions;
        draws += more.draws;
        comparisons += more.comparisons;
        return *this;
    }
    Operations& operator-=(const Operations& less) {
        adds -= less.adds;
        multiplies -= less.multiplies;
        fmas -= less.fmas;
        divisions -= less.divisions;
        roots -= less.roots;
        functions -= less.functions;
        draws -= less.draws;
        comparisons -= less.comparisons;
        return *this;
    }
};

// Of one value.
Operations operations_in(const ir::Program& program, ir::ExprId value);

struct Footprint {
    int rank = 1;
    std::vector<LevelRead> reads;        // by field, then time
    int factor = 1;                      // of the grid whose cells these are (rt::FieldGrid::factor)
    std::vector<ir::FieldId> elsewhere;  // that are read besides: over fewer axes, or of another grid
    bool of_several_grids = false;       // it computes on a coarser grid, or reads one
    std::int64_t finer_bytes = 0;        // of what it reads of finer grids, of a cell
    std::vector<LevelWrite> writes;      // in order of statements
    std::array<std::array<int, 2>, ir::kMaxRank> radius{};  // the widest of all reads
    bool star = true;                                       // every read is a star
    Operations operations;
    int flops_alone = 0;    // of a cell that has nothing from its neighbours
    int reductions = 0;     // that the stage computes
    int table_sums = 0;     // over the rows of tables
    int row_bytes = 0;      // of the widest of these tables
    bool in_place = false;  // its statement changes a level in place, or is at points
    bool at_points =
        false;  // one thread for each cell that points touch, or for each point: nothing to choose
    std::optional<int> swept_axis;    // its statements go along it cell after cell, a thread for each line
    std::optional<int> swept_within;  // and along this one within it: a block of threads for each plane
    int slant = 0;                    // of these planes (ir::slant_of)
    bool sweeps_along(int axis) const { return axis == swept_axis || axis == swept_within; }
    // Where lines may be cut into parts, with a thread for each: the shared memory that one takes.
    std::optional<int> part_bytes;
    bool interleaved = false;  // reads or writes components that lie side by side in memory

    // Bytes a cell that must cross the memory bus in one sweep: each level once.
    std::int64_t bytes_read() const;
    std::int64_t bytes_written() const;
    std::int64_t bytes() const { return bytes_read() + bytes_written(); }
    double flops_per_byte() const;
    int widest_bytes() const;  // of any level's value; 4 where there is none
    // Of a level whose values lie in memory as something else than what is computed with, or in single bytes;
    // none where all levels are of 4 or 8 bytes and as they are computed with.
    std::optional<ir::Storage> narrow_storage() const;
    int reach(int axis) const { return radius[axis][0] + radius[axis][1]; }
};

// The cells of the stage's grid.
rt::Extent own_extent(const Footprint& footprint, const rt::Extent& extent);

Footprint footprint(const ir::Program& program, const ir::Stage& stage);

// The footprints of many stages of one program, which must outlive it: what is asked of the whole program is
// asked once, so that a program of many stages stays linear.
class Footprints {
public:
    explicit Footprints(const ir::Program& program);
    Footprint of(const ir::Stage& stage);

private:
    void add_writes(const ir::Stage& stage, Footprint& result) const;
    void add_reads(const ir::Stage& stage, Footprint& result);
    bool is_read_outside(ir::FieldId field, const ir::Stage& stage) const;

    const ir::Program& program_;
    ir::ReachWalk walk_;
    ir::ShiftedShapes shapes_;
    std::vector<bool> in_place_;
    ir::SharedCells shared_;
    std::vector<bool> uniform_;
    std::vector<std::vector<int>> readers_;  // by field: the statements that read any level of it
};

}  // namespace halo::schedule
