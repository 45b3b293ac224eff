// stream (2.5D): a block walks along the slowest axis. Each thread keeps a queue of its own columns in
// registers, one slot a plane; planes that are read sideways lie in a ring of planes in shared memory, filled
// from the queue, with the halo around them loaded by the block.
#include <algorithm>

#include "compiler/lower/cell.h"
#include "compiler/lower/reduce.h"
#include "compiler/lower/staging.h"
#include "compiler/lower/strategy.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::Type;

// A level's queue: planes `low` behind to `high` ahead of the one being computed.
struct Queue {
    const Read* read = nullptr;
    const schedule::StagedLevel* ring = nullptr;  // null where it is only read along its own column
    int low = 0, high = 0;
    int planes() const { return low + high + 1; }
};

class Stream {
public:
    Stream(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context),
          schedule_(schedule),
          images_(images),
          staging_(context, schedule),
          walked_(context.rank() - 1) {}

    StrategyResult lower() {
        if (context_.rank() < 2) throw UnsupportedError("stream walks along the slowest of two axes or more");
        result_.dynamic_shared_bytes = staging_.dynamic_bytes();
        find_queues();
        declare_block();
        Block walk;
        advance(walk);
        if (!staging_.levels().empty()) {
            fill_rings(first_[walked_], walk);
            walk.push_back(kernel::Barrier{});
        }
        Block work;
        compute(work);
        images_.append(context_, first_, box_of_plane(), {1, 1, 1}, work);
        walk.push_back(kernel::BlankLine{});
        walk.push_back(kernel::If{inside_, std::move(work), {}});
        shift_queues(walk);
        body().push_back(kernel::BlankLine{});
        body().push_back(
            kernel::For{walked_name(), first_plane_, end_plane_, 1, kernel::Unroll::leave, std::move(walk)});
        finish_reductions(context_, body());
        return std::move(result_);
    }

private:
    Block& body() { return result_.function.body; }
    kernel::KernelFunction& function() { return result_.function; }
    Type type_of(const Level& level) const { return kernel_type(context_.stage().field(level).type); }
    const char* walked_name() const { return Context::kIndexNames[walked_]; }
    int rows_of_thread() const { return walked_ == 2 ? schedule_.cells[1] : 1; }
    std::array<int, 3> box_of_plane() const {
        std::array<int, 3> box{schedule_.cells[0], 1, 1};
        if (walked_ == 2) box[1] = schedule_.cells[1];
        return box;
    }

    void find_queues() {
        for (const Read& read : context_.stage().reads) {
            Queue queue{&read, staging_.find(read.level), 0, 0};
            for (const ir::Offset& offset : read.offsets) {
                const bool own_column = offset[0] == 0 && (walked_ == 1 || offset[1] == 0);
                if (!own_column) continue;
                queue.low = std::max(queue.low, -offset[walked_]);
                queue.high = std::max(queue.high, offset[walked_]);
            }
            if (queue.ring) queue.high = std::max(queue.high, queue.ring->high[walked_]);
            queues_.push_back(queue);
        }
    }

    // ---- the block's place
    // ---------------------------------------------------------------------------------------

    void declare_block() {
        static constexpr const char* kCellNames[] = {"kCellsX", "kCellsY"};
        for (int axis = 0; axis < walked_; ++axis) {
            counts_[axis] = named_constant(function(), kCellNames[axis], schedule_.cells[axis]);
            result_.tile[axis] = schedule_.tile(axis);
        }
        declare_in_plane();
        declare_planes();
        staging_.declare("_ring", body());
        declare_clamped();
        for (const Queue& queue : queues_) {
            std::vector<Expr> dims;
            if (queue.planes() > 1) dims.push_back(queue.planes());
            if (rows_of_thread() > 1) dims.push_back(counts_[1]);
            dims.push_back(counts_[0]);
            body().push_back(
                kernel::DeclareArray{type_of(queue.read->level), queue_name(queue), std::move(dims)});
        }
        begin_reductions(context_, body());
        prologue();
    }

    void declare_in_plane() {
        static constexpr const char* kThreadConstants[] = {"kThreadsX", "kThreadsY"};
        static constexpr Builtin kBlocks[] = {Builtin::block_x, Builtin::block_y};
        for (int axis = 0; axis < walked_; ++axis) {
            const Expr threads = named_constant(function(), kThreadConstants[axis], schedule_.threads[axis]);
            threads_[axis] = threads;
            const std::string origin = context_.local(axis == 0 ? "tile_i" : "tile_j");
            body().push_back(
                kernel::Declare{Type::i32, origin, kernel::builtin(kBlocks[axis]) * threads * counts_[axis]});
            origin_[axis] = kernel::variable(origin, Type::i32);
            const Expr thread = thread_along(schedule_, axis);
            body().push_back(kernel::Declare{Type::i32, Context::kIndexNames[axis],
                                             origin_[axis] + thread * counts_[axis]});
            first_[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
            inside_ = inside_ && first_[axis] < context_.extent(axis);
        }
        first_[walked_] = kernel::variable(walked_name(), Type::i32);
    }

    void declare_planes() {
        const Expr extent = context_.extent(walked_);
        if (schedule_.planes == 0) {
            first_plane_ = 0;
            end_plane_ = extent;
            result_.tile[walked_] = 2147483647;
            return;
        }
        const Expr planes = named_constant(function(), "kPlanes", schedule_.planes, "that a block walks");
        result_.tile[walked_] = schedule_.planes;
        const Expr block = kernel::builtin(walked_ == 2 ? Builtin::block_z : Builtin::block_y);
        const std::string first = context_.local("first_plane"), end = context_.local("end_plane");
        body().push_back(kernel::Declare{Type::i32, first, block * planes});
        first_plane_ = kernel::variable(first, Type::i32);
        body().push_back(kernel::Declare{Type::i32, end, kernel::min(first_plane_ + planes, extent)});
        end_plane_ = kernel::variable(end, Type::i32);
    }

    // Where this thread's columns lie in a plane. Cells past the array's halo read its last ones instead:
    // they are not stored.
    void declare_clamped() {
        const auto& halo = context_.layout().halo;
        body().push_back(kernel::BlankLine{});
        body().push_back(kernel::Comment{
            "Where this thread's cells lie in a plane; past the halo, its last cells again."});
        Expr x = context_.extent(0) + (halo[0][1] - 1);
        if (schedule_.cells[0] > 1) x = x / counts_[0] * counts_[0];
        const std::string column = context_.local("column");
        body().push_back(kernel::Declare{Type::i32, column, kernel::min(first_[0], x)});
        column_ = kernel::variable(column, Type::i32);
        if (walked_ == 1) return;
        const Expr y = rows_of_thread() > 1 ? kernel::variable("y", Type::i32) : Expr(0);
        const Expr index = kernel::min(first_[1] + y, context_.extent(1) + (halo[1][1] - 1));
        if (rows_of_thread() == 1) {
            body().push_back(
                kernel::Declare{Type::i64, "row", kernel::convert(index, Type::i64) * context_.pitch()});
            return;
        }
        body().push_back(kernel::DeclareArray{Type::i64, "row", {counts_[1]}});
        append(body(), loop_over("y", counts_[1],
                                 {kernel::Assign{kernel::element("row", {y}, Type::i64),
                                                 kernel::convert(index, Type::i64) * context_.pitch()}}));
    }

    Expr plane_offset(const Expr& plane) {
        return walked_ == 2 ? plane * context_.slice() : kernel::convert(plane, Type::i64) * context_.pitch();
    }
    // The thread's row y of a plane, from its first column.
    Expr own_offset(const Expr& plane, const Expr& y) {
        Expr offset = plane_offset(plane);
        if (walked_ == 2) {
            offset = offset + (rows_of_thread() > 1 ? kernel::element("row", {y}, Type::i64)
                                                    : kernel::variable("row", Type::i64));
        }
        return offset + column_;
    }

    // ---- queues
    // --------------------------------------------------------------------------------------------------

    std::string queue_name(const Queue& queue) {
        return context_.local(context_.array(queue.read->level) + (queue.planes() > 1 ? "_queue" : "_cells"));
    }
    Expr queue_element(const Queue& queue, const Expr& slot, const Expr& y, const Expr& x) {
        std::vector<Expr> indices;
        if (queue.planes() > 1) indices.push_back(slot);
        if (rows_of_thread() > 1) indices.push_back(y);
        indices.push_back(x);
        return kernel::element(queue_name(queue), std::move(indices), type_of(queue.read->level));
    }

    // One row of the thread's cells from memory to `to`, whose first element is given.
    kernel::Statement load_cells(const Queue& queue, Expr to, Expr offset) {
        const std::string array = context_.array(queue.read->level);
        const Type type = type_of(queue.read->level);
        if (schedule_.cells[0] == 1)
            return kernel::Assign{std::move(to), kernel::element(array, {std::move(offset)}, type)};
        return kernel::LoadVector{std::move(to), kernel::address_of(array, std::move(offset), type),
                                  schedule_.cells[0]};
    }

    Block load_plane(const Queue& queue, const Expr& slot, const Expr& plane) {
        const Expr y = rows_of_thread() > 1 ? kernel::variable("y", Type::i32) : Expr(0);
        return loop_over("y", Expr(rows_of_thread()),
                         {load_cells(queue, queue_element(queue, slot, y, 0), own_offset(plane, y))});
    }

    // What is known before the first plane: the queues' slots but the last, the rings' planes but the last.
    void prologue() {
        for (const Queue& queue : queues_) {
            for (int slot = 0; slot + 1 < queue.planes(); ++slot) {
                append(body(), load_plane(queue, slot, first_plane_ + (slot - queue.low)));
            }
        }
        for (const Queue& queue : queues_) {
            if (!queue.ring) continue;
            const int low = queue.ring->low[walked_], high = queue.ring->high[walked_];
            for (int plane = -low; plane < high; ++plane)
                fill_ring(queue, first_plane_, plane, true, body());
        }
    }

    void advance(Block& walk) {
        for (const Queue& queue : queues_) {
            append(walk, load_plane(queue, queue.planes() - 1, first_[walked_] + queue.high));
        }
    }

    void shift_queues(Block& walk) {
        for (const Queue& queue : queues_) {
            if (queue.planes() == 1) continue;
            const Expr slot = kernel::variable("slot", Type::i32);
            const Expr y = rows_of_thread() > 1 ? kernel::variable("y", Type::i32) : Expr(0);
            const Expr x = schedule_.cells[0] > 1 ? kernel::variable("x", Type::i32) : Expr(0);
            Block shift{
                kernel::Assign{queue_element(queue, slot, y, x), queue_element(queue, slot + 1, y, x)}};
            shift = loop_over("y", Expr(rows_of_thread()), loop_over("x", counts_[0], std::move(shift)));
            walk.push_back(
                kernel::For{"slot", 0, queue.planes() - 1, 1, kernel::Unroll::full, std::move(shift)});
        }
    }

    // ---- rings
    // ---------------------------------------------------------------------------------------------------

    // The slot of the plane `shift` from one of the grid's: no further before plane 0 than a ring is long.
    Expr slot_of(const schedule::StagedLevel& ring, const Expr& plane, int shift) const {
        return (plane + (shift < 0 ? shift + ring.planes : shift % ring.planes)) % Expr(ring.planes);
    }

    void fill_rings(const Expr& plane, Block& walk) {
        for (const Queue& queue : queues_) {
            if (queue.ring) fill_ring(queue, plane, queue.ring->high[walked_], false, walk);
        }
    }

    // The thread's own cells go from the queue to the ring (from memory before the walk); the halo around the
    // block's is shared out over its threads.
    void fill_ring(const Queue& queue, const Expr& base, int shift, bool before_walk, Block& to) {
        const Expr plane = base + shift;
        const schedule::StagedLevel& ring = *queue.ring;
        const std::string array = context_.array(queue.read->level);
        const Type type = type_of(queue.read->level);
        Block fill;
        fill.push_back(kernel::Declare{Type::i32, "slot", slot_of(ring, base, shift)});
        const Expr slot = kernel::variable("slot", Type::i32);
        const Expr y = rows_of_thread() > 1 ? kernel::variable("y", Type::i32) : Expr(0);
        const Expr x = schedule_.cells[0] > 1 ? kernel::variable("x", Type::i32) : Expr(0);
        const Expr own_row = walked_ == 2 ? first_[1] - origin_[1] + y + ring.low[1] : Expr(0);
        const Expr own_column = first_[0] - origin_[0] + x + ring.low[0];
        const Expr value = before_walk ? kernel::element(array, {own_offset(plane, y) + x}, type)
                                       : queue_element(queue, queue.low + ring.high[walked_], y, x);
        Block own{kernel::Assign{staging_.element(ring, slot, own_row, own_column), value}};
        append(fill, loop_over("y", Expr(rows_of_thread()), loop_over("x", counts_[0], std::move(own))));
        if (walked_ == 2 && ring.low[1] + ring.high[1] > 0) append(fill, halo_rows(queue, plane, slot));
        if (ring.low[0] + ring.high[0] > 0) append(fill, halo_columns(queue, plane, slot));
        to.push_back(kernel::Comment{"A plane of " + array + " for the neighbours, with its halo."});
        to.push_back(kernel::Scope{std::move(fill)});
    }

    // Copies the halo cell at (row, column) of the ring's plane where it lies in the array.
    Block copy_halo(const Queue& queue, const Expr& plane, const Expr& slot, const Expr& row,
                    const Expr& column) {
        const schedule::StagedLevel& ring = *queue.ring;
        const std::string array = context_.array(queue.read->level);
        const Expr i = origin_[0] + column - ring.low[0];
        // Past the halo as far as the last vector of cells reads.
        Expr inside = i < context_.extent(0) + (context_.layout().halo[0][1] + schedule_.cells[0] - 1);
        Expr offset = plane_offset(plane);
        if (walked_ == 2) {
            const Expr j = origin_[1] + row - ring.low[1];
            inside = inside && j < context_.extent(1) + context_.layout().halo[1][1];
            offset = offset + kernel::convert(j, Type::i64) * context_.pitch();
        }
        const Type type = type_of(queue.read->level);
        return {kernel::If{inside,
                           {kernel::Assign{staging_.element(ring, slot, row, column),
                                           kernel::element(array, {offset + i}, type)}},
                           {}}};
    }

    // Rows before and after the block's, over the ring's whole width.
    Block halo_rows(const Queue& queue, const Expr& plane, const Expr& slot) {
        const schedule::StagedLevel& ring = *queue.ring;
        const Expr y = kernel::variable("y", Type::i32), column = kernel::variable("x", Type::i32);
        const Expr row = kernel::variable("halo_row", Type::i32);
        Block copy = copy_halo(queue, plane, slot, row, column);
        const int width = ring.low[0] + ring.tile[0] + ring.high[0];
        copy = {kernel::For{"x", thread_along(schedule_, 0), width, threads_[0], kernel::Unroll::leave,
                            std::move(copy)}};
        copy.insert(copy.begin(), kernel::Declare{Type::i32, "halo_row",
                                                  around(y, ring.low[1], ring.high[1], ring.tile[1])});
        return {kernel::For{"y", thread_along(schedule_, 1), ring.low[1] + ring.high[1], threads_[1],
                            kernel::Unroll::leave, std::move(copy)}};
    }

    // Columns left and right of the block's, beside its own rows.
    Block halo_columns(const Queue& queue, const Expr& plane, const Expr& slot) {
        const schedule::StagedLevel& ring = *queue.ring;
        const Expr x = kernel::variable("x", Type::i32), column = kernel::variable("halo_column", Type::i32);
        const Expr row = walked_ == 2 ? kernel::variable("y", Type::i32) + ring.low[1] : Expr(0);
        Block copy = copy_halo(queue, plane, slot, row, column);
        copy.insert(copy.begin(), kernel::Declare{Type::i32, "halo_column",
                                                  around(x, ring.low[0], ring.high[0], ring.tile[0])});
        copy = {kernel::For{"x", thread_along(schedule_, 0), ring.low[0] + ring.high[0], threads_[0],
                            kernel::Unroll::leave, std::move(copy)}};
        if (walked_ == 1) return copy;
        return {kernel::For{"y", thread_along(schedule_, 1), ring.tile[1], threads_[1], kernel::Unroll::leave,
                            std::move(copy)}};
    }

    // The n-th place of a halo that leaves out `inner` places behind its first `low`.
    static Expr around(const Expr& n, int low, int high, int inner) {
        if (low == 0) return n + inner;
        if (high == 0) return n;
        return kernel::select(n < low, n, n + inner);
    }

    // ---- cells
    // ---------------------------------------------------------------------------------------------------

    Expr read_element(const Level& level, const ir::Offset& shift, const Expr& y, const Expr& x) {
        const Queue& queue = *std::find_if(queues_.begin(), queues_.end(),
                                           [&](const Queue& each) { return each.read->level == level; });
        const bool own_column = shift[0] == 0 && (walked_ == 1 || shift[1] == 0);
        if (own_column) return queue_element(queue, queue.low + shift[walked_], y, x);
        const schedule::StagedLevel& ring = *queue.ring;
        const Expr row = walked_ == 2 ? first_[1] - origin_[1] + y + (ring.low[1] + shift[1]) : Expr(0);
        const Expr column = first_[0] - origin_[0] + x + (ring.low[0] + shift[0]);
        return staging_.element(ring, slot_of(ring, first_[walked_], shift[walked_]), row, column);
    }

    void compute(Block& work) {
        const Expr x = schedule_.cells[0] > 1 ? kernel::variable("x", Type::i32) : Expr(0);
        const Expr y = rows_of_thread() > 1 ? kernel::variable("y", Type::i32) : Expr(0);
        std::array<Expr, 3> index = first_;
        index[0] = first_[0] + x;
        if (walked_ == 2) index[1] = first_[1] + y;
        CellSources sources;
        sources.index = index;
        sources.load = [&](const Level& level, const ir::Offset& shift) {
            return read_element(level, shift, y, x);
        };
        Block cell;
        const CellValues values = lower_cell(context_, sources, cell);
        Expr inside;
        if (schedule_.cells[0] > 1) inside = index[0] < context_.extent(0);
        reduce_cell(context_, values, inside, cell);
        Block row;
        for (const Write& write : context_.stage().writes) {
            const Expr value = stored_value(context_.stage(), write, values);
            row.push_back(kernel::DeclareArray{type_of(write.level), result_name(write), {counts_[0]}});
            cell.push_back(
                kernel::Assign{kernel::element(result_name(write), {x}, type_of(write.level)), value});
        }
        append(row, loop_over("x", counts_[0], std::move(cell)));
        for (const Write& write : context_.stage().writes)
            append(row, store_row(write, index, y));
        // Rows past the grid have no neighbours in the ring.
        if (rows_of_thread() > 1) row = {kernel::If{index[1] < context_.extent(1), std::move(row), {}}};
        append(work, loop_over("y", Expr(rows_of_thread()), std::move(row)));
    }

    std::string result_name(const Write& write) {
        return context_.local(context_.array(write.level) + "_result");
    }

    Block store_row(const Write& write, const std::array<Expr, 3>& index, const Expr& y) {
        const Type type = type_of(write.level);
        const std::string array = context_.array(write.level);
        Expr in_row;
        for (int axis = 1; axis < context_.rank(); ++axis) {
            const auto [low, high] = store_bounds(context_, write, axis);
            if (low) in_row = in_row && index[axis] >= low;
            if (high) in_row = in_row && index[axis] < context_.extent(axis) - high;
        }
        const auto [low, high] = store_bounds(context_, write, 0);
        const Expr offset = own_offset(first_[walked_], y);
        const Expr end = context_.extent(0) - high;
        Block store;
        if (schedule_.cells[0] == 1) {
            store = {kernel::Assign{kernel::element(array, {offset}, type),
                                    kernel::element(result_name(write), {0}, type)}};
            Expr inside;
            if (low) inside = first_[0] >= low;
            if (high) inside = inside && first_[0] < end;
            if (inside.has_value()) store = {kernel::If{inside, std::move(store), {}}};
        } else {
            const Expr x = kernel::variable("x", Type::i32);
            Expr whole = first_[0] + counts_[0] <= end, one = first_[0] + x < end;
            if (low) {
                whole = first_[0] >= low && whole;
                one = first_[0] + x >= low && one;
            }
            Block single{kernel::If{one,
                                    {kernel::Assign{kernel::element(array, {offset + x}, type),
                                                    kernel::element(result_name(write), {x}, type)}},
                                    {}}};
            store = {kernel::If{
                whole,
                {kernel::StoreVector{kernel::address_of(array, offset, type),
                                     kernel::element(result_name(write), {0}, type), schedule_.cells[0]}},
                loop_over("x", counts_[0], std::move(single))}};
        }
        if (in_row.has_value()) store = {kernel::If{in_row, std::move(store), {}}};
        return store;
    }

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    Staging staging_;
    const int walked_;
    StrategyResult result_;
    std::vector<Queue> queues_;
    std::array<Expr, 3> counts_{1, 1, 1}, threads_{1, 1, 1}, origin_, first_;
    Expr inside_, first_plane_, end_plane_, column_;
};

}  // namespace

StrategyResult lower_stream(Context& context, const schedule::Schedule& schedule, Images& images) {
    return Stream(context, schedule, images).lower();
}

}  // namespace halo::lower
