// The levels that a streaming block reads: their rings in shared memory, how planes get there, and what a
// thread takes from them into registers (schedule/stream_plan.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lower/shared/staging.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/schedule/stream_plan.h"

namespace halo::lower {

// Where a block and its threads are.
struct StreamPlace {
    std::array<kernel::Expr, 3> tile;    // the block's first cell; none along the walk
    std::array<kernel::Expr, 3> first;   // the thread's first cell; along the walk the plane of the turn
    std::array<kernel::Expr, 3> counts;  // cells of a thread
    kernel::Expr thread, threads;        // number in the block, of so many
    kernel::Expr first_plane, end_plane;
};

class StreamLevels {
public:
    StreamLevels(Context& context, const schedule::Schedule& schedule);

    std::int64_t dynamic_bytes() const { return staging_.dynamic_bytes(); }
    void declare_rings(kernel::Block& body) { staging_.declare_flat("_ring", body); }
    // Everything else that lasts for the whole walk; then what is there before it.
    void declare(const StreamPlace& place, kernel::KernelFunction& function);
    void begin(kernel::Block& body);

    // At each turn: wait for the plane that is due, send for the next, take what the cells need; and in the
    // end make room.
    void arrive(kernel::Block& turn);
    void load(kernel::Block& turn);
    void advance(kernel::Block& turn);

    // The value so far from the thread's cell (x, y), which are loop variables or 0.
    kernel::Expr read(const Level& level, const ir::Offset& offset, const kernel::Expr& y,
                      const kernel::Expr& x) const;

private:
    // Levels whose planes lie alike in shared memory share what a thread knows of its copies and its place.
    struct Shape {
        const schedule::StagedLevel* level = nullptr;
        // Vectors of the tile's own columns: where each thread copies one of the same column in every so many
        // rows, its row and column; else 0 rows.
        int row_step = 0;
        kernel::Expr row, column;
        // The others: arrays of places that this thread copies from in a plane, and to in a slot; empty:
        // worked out anew at every turn.
        std::string source, target;
        kernel::Expr own;  // place of the thread's first cell
    };
    struct Stream {
        Level level;
        const schedule::StagedLevel* ring = nullptr;
        schedule::StreamPlan plan;
        std::size_t shape = 0;
        std::string queue, near, slot;
    };
    // Pieces that are loaded alike, in rows one below the other.
    struct Rows {
        schedule::StreamPiece first;
        int count = 1;
    };

    kernel::Type type_of(const Stream& stream) const;
    bool has_rows() const { return walked_ == 2; }
    int rows() const { return has_rows() ? schedule_.cells[1] : 1; }
    kernel::Expr row_variable(int count) const;
    kernel::Expr local(const char* name) const;
    std::size_t shape_of(const schedule::StagedLevel& level);
    void declare_shape(Shape& shape, kernel::Block& body);
    void declare_registers(Stream& stream, kernel::Block& body);
    std::vector<Rows> rows_of(const Stream& stream) const;

    struct Vector {
        kernel::Expr row, column;  // of the halo's first row, and of the tile's first column
    };
    Vector find_vector(const Shape& shape, const kernel::Expr& number, kernel::Block& body) const;
    kernel::Expr source_of(const Shape& shape, const Vector& vector) const;
    kernel::Expr target_of(const Shape& shape, const Vector& vector) const;
    kernel::Expr plane_offset(const kernel::Expr& plane) const;
    int numbered_vectors(const Shape& shape) const;
    void declare_numbered(Shape& shape, const std::string& name, kernel::Block& body) const;
    kernel::Expr last_column(int vector) const;
    kernel::Block copy_rows(const Stream& stream, const kernel::Expr& from, const kernel::Expr& to) const;
    kernel::Block copy_plane(const Stream& stream, const kernel::Expr& plane, const kernel::Expr& slot) const;
    kernel::Expr slot_after(const Stream& stream, int planes) const;

    kernel::Expr queue_element(const Stream& stream, const kernel::Expr& slot, const kernel::Expr& row,
                               int column) const;
    kernel::Expr near_element(const Stream& stream, int plane, const kernel::Expr& row,
                              const kernel::Expr& column) const;
    void preload(const Stream& stream, kernel::Block& body) const;
    void gather_own(const Stream& stream, kernel::Block& turn) const;

    Context& context_;
    const schedule::Schedule& schedule_;
    Staging staging_;
    const int walked_, ahead_;
    StreamPlace place_;
    std::vector<Shape> shapes_;
    std::vector<Stream> streams_;
};

}  // namespace halo::lower
