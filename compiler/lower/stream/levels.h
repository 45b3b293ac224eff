// The levels that a streaming block reads: their rings in shared memory, the copies of planes to them, and a
// thread's loads from them to registers (schedule/stream_plan.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lower/shared/staging.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/schedule/stream_plan.h"

namespace halo::lower {

// The position of a block and its threads.
struct StreamPlace {
    CellIndex tile;                // the block's first cell; none along the streaming axis
    CellIndex first;               // the thread's first cell; there, the plane of the iteration
    CellIndex counts;              // cells of a thread
    kernel::Expr thread, threads;  // the thread's number in the block, and the number of threads
    kernel::Expr first_plane, end_plane;
};

class StreamLevels {
public:
    StreamLevels(Context& context, const schedule::Schedule& schedule);

    std::int64_t dynamic_bytes() const { return staging_.dynamic_bytes(); }
    void declare_rings(kernel::Block& body) { staging_.declare_flat("_ring", body); }
    // Declares everything else that lasts for the whole traversal; then the prologue: the first planes, and
    // what is read behind them.
    void declare(const StreamPlace& place, kernel::KernelFunction& function);
    void begin(kernel::Block& body);

    // The parts of an iteration: waits for the plane that is due and starts copies of the next; loads what
    // the cells need; and at the end rotates queues and rings.
    void arrive(kernel::Block& iteration);
    void load(kernel::Block& iteration);
    void advance(kernel::Block& iteration);

    // The value at `offset` from the thread's cell (x, y), which are loop variables or 0.
    kernel::Expr read(const Level& level, const ir::Offset& offset, const kernel::Expr& y,
                      const kernel::Expr& x) const;

private:
    // Levels whose planes have the same layout in shared memory share the addresses of a thread's copies and
    // of its cells.
    struct Shape {
        const schedule::StagedLevel* level = nullptr;
        // Where each thread copies vectors of a single column of the tile: from row to row of its vectors,
        // and the first row and the column; else row_step is 0.
        int row_step = 0;
        kernel::Expr row, column;
        // The other vectors: arrays of the places in a plane that this thread copies from, and of those in a
        // slot that it copies to; empty where each iteration computes them.
        std::string source, target;
        kernel::Expr own;  // the place of the thread's first cell in a slot
    };
    struct Stream {
        Level level;
        const schedule::StagedLevel* ring = nullptr;
        schedule::StreamPlan plan;
        std::size_t shape = 0;
        std::string queue, near, slot;
    };
    // Pieces of adjacent rows that differ in nothing else.
    struct Rows {
        schedule::StreamPiece first;
        int count = 1;
    };

    kernel::Type type_of(const Stream& stream) const;
    bool has_rows() const { return streaming_axis_ == 2; }
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
    void gather_own(const Stream& stream, kernel::Block& iteration) const;

    Context& context_;
    const schedule::Schedule& schedule_;
    Staging staging_;
    const int streaming_axis_, ahead_;
    StreamPlace place_;
    std::vector<Shape> shapes_;
    std::vector<Stream> streams_;
};

}  // namespace halo::lower
