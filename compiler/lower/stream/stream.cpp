// stream (2.5D): a block traverses the slowest axis, one plane an iteration. Planes are copied to a ring in
// shared memory asynchronously, some iterations ahead; each thread keeps its own columns in registers.
#include <algorithm>

#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/stream/levels.h"
#include "compiler/lower/stream/stream.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::Type;

class Stream {
public:
    Stream(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context),
          schedule_(schedule),
          images_(images),
          levels_(context, schedule),
          streaming_axis_(context.rank() - 1) {}

    StrategyResult lower() {
        result_.dynamic_shared_bytes = levels_.dynamic_bytes();
        declare_block();
        Block iteration;
        levels_.arrive(iteration);
        levels_.load(iteration);
        iteration.push_back(kernel::BlankLine{});
        compute(iteration);
        store_images(iteration);
        iteration.push_back(kernel::BlankLine{});
        levels_.advance(iteration);
        body().push_back(kernel::BlankLine{});
        body().push_back(traversal(std::move(iteration)));
        finish_reductions(context_, body());
        return std::move(result_);
    }

private:
    Block& body() { return result_.function.body; }
    kernel::KernelFunction& function() { return result_.function; }
    Type type_of(const Level& level) const { return kernel_type(context_.stage().field(level).type); }
    int rows() const { return streaming_axis_ == 2 ? schedule_.cells[1] : 1; }
    Expr x() const { return schedule_.cells[0] > 1 ? kernel::variable("x", Type::i32) : Expr(0); }
    Expr y() const { return rows() > 1 ? kernel::variable("y", Type::i32) : Expr(0); }
    Expr inside_block() const {
        Expr inside;
        for (int axis = 0; axis < streaming_axis_; ++axis)
            inside = inside && place_.first[axis] < context_.extent(axis);
        return inside;
    }

    kernel::Statement traversal(Block iteration) {
        const int unroll = schedule::unroll_factor(
            schedule::footprint(context_.program(), context_.stage().stage), schedule_);
        kernel::For loop{Context::kIndexNames[streaming_axis_],
                         place_.first_plane,
                         place_.end_plane,
                         1,
                         unroll > 1 ? kernel::Unroll::some : kernel::Unroll::none,
                         std::move(iteration)};
        loop.turns = unroll;
        return loop;
    }

    // ---- the block's position
    // ---------------------------------------------------------------------------------------

    void declare_block() {
        declare_in_plane();
        declare_planes();
        levels_.declare_rings(body());
        levels_.declare(place_, function());
        begin_reductions(context_, body());
        levels_.begin(body());
    }

    void declare_in_plane() {
        static constexpr const char* kCellNames[] = {"kCellsX", "kCellsY"};
        static constexpr const char* kThreadNames[] = {"kThreadsX", "kThreadsY"};
        static constexpr Builtin kBlocks[] = {Builtin::block_x, Builtin::block_y};
        place_.counts = {1, 1, 1};
        Expr thread = 0, threads = 1;
        for (int axis = 0; axis < streaming_axis_; ++axis) {
            result_.tile[axis] = schedule_.tile(axis);
            place_.counts[axis] = named_constant(function(), kCellNames[axis], schedule_.cells[axis]);
            const Expr along = named_constant(function(), kThreadNames[axis], schedule_.threads[axis]);
            const std::string origin = context_.local(axis == 0 ? "tile_i" : "tile_j");
            body().push_back(kernel::Declare{Type::i32, origin,
                                             kernel::builtin(kBlocks[axis]) * along * place_.counts[axis]});
            place_.tile[axis] = kernel::variable(origin, Type::i32);
            const Expr index = thread_along(schedule_, axis);
            body().push_back(kernel::Declare{Type::i32, Context::kIndexNames[axis],
                                             place_.tile[axis] + index * place_.counts[axis]});
            place_.first[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
            thread = axis == 0 ? index : index * threads + thread;
            threads = threads * along;
        }
        place_.first[streaming_axis_] = kernel::variable(Context::kIndexNames[streaming_axis_], Type::i32);
        const std::string name = context_.local("thread");
        body().push_back(kernel::Declare{Type::i32, name, thread});
        place_.thread = kernel::variable(name, Type::i32);
        place_.threads = threads;
    }

    void declare_planes() {
        const Expr extent = context_.extent(streaming_axis_);
        place_.first_plane = 0;
        place_.end_plane = extent;
        result_.tile[streaming_axis_] = 2147483647;
        const int count = std::get<schedule::Stream>(schedule_.strategy).planes;
        if (count == 0) return;
        const Expr planes = named_constant(function(), "kPlanes", count, "that a block traverses");
        result_.tile[streaming_axis_] = count;
        const Expr block = kernel::builtin(streaming_axis_ == 2 ? Builtin::block_z : Builtin::block_y);
        const std::string first = context_.local("first_plane"), end = context_.local("end_plane");
        body().push_back(kernel::Declare{Type::i32, first, block * planes});
        place_.first_plane = kernel::variable(first, Type::i32);
        body().push_back(kernel::Declare{Type::i32, end, kernel::min(place_.first_plane + planes, extent)});
        place_.end_plane = kernel::variable(end, Type::i32);
    }

    // ---- cells
    // ---------------------------------------------------------------------------------------------------

    // Threads past the grid compute, too, from copies of the last cells; their results are not stored.
    void compute(Block& iteration) {
        CellSources sources;
        sources.index = place_.first;
        sources.index[0] = place_.first[0] + x();
        if (streaming_axis_ == 2) sources.index[1] = place_.first[1] + y();
        sources.load = [&](const Level& level, const ir::Offset& shift) {
            return levels_.read(level, shift, y(), x());
        };
        Block cell;
        const CellValues values = lower_cell(context_, sources, cell);
        Expr inside;
        for (int axis = 0; axis < streaming_axis_; ++axis)
            inside = inside && sources.index[axis] < context_.extent(axis);
        reduce_cell(context_, values, inside, cell);
        Block row;
        for (const Write& write : context_.stage().writes) {
            row.push_back(kernel::DeclareArray{type_of(write.level), result_name(write), {place_.counts[0]}});
            cell.push_back(kernel::Assign{kernel::element(result_name(write), {x()}, type_of(write.level)),
                                          stored_value(context_.stage(), write, values)});
        }
        // A scope of its own, so that names of a cell's values do not collide.
        if (schedule_.cells[0] == 1) cell = {kernel::Scope{std::move(cell)}};
        append(row, loop_over("x", place_.counts[0], std::move(cell)));
        for (const Write& write : context_.stage().writes)
            append(row, store_row(write, sources.index));
        append(iteration, loop_over("y", Expr(rows()), std::move(row)));
    }

    std::string result_name(const Write& write) {
        return context_.local(context_.array(write.level) + "_result");
    }

    Block store_row(const Write& write, const CellIndex& index) {
        const Type type = type_of(write.level);
        const std::string array = context_.array(write.level);
        Expr in_row;
        for (int axis = 1; axis < context_.rank(); ++axis) {
            const auto [low, high] = store_bounds(context_.stage(), write, axis);
            if (low) in_row = in_row && index[axis] >= low;
            if (high || axis < streaming_axis_) in_row = in_row && index[axis] < context_.extent(axis) - high;
        }
        const auto [low, high] = store_bounds(context_.stage(), write, 0);
        const Expr end = context_.extent(0) - high, first = place_.first[0];
        const Expr offset = context_.element_offset({first, index[1], index[2]});
        const auto single = [&](const Expr& at) {
            Expr inside = first + at < end;
            if (low) inside = first + at >= low && inside;
            return Block{kernel::If{inside,
                                    {kernel::Assign{kernel::element(array, {offset + at}, type),
                                                    kernel::element(result_name(write), {at}, type)}},
                                    {}}};
        };
        Block store = single(0);
        if (schedule_.cells[0] > 1) {
            Expr whole = first + place_.counts[0] <= end;
            if (low) whole = first >= low && whole;
            store = {kernel::If{
                whole,
                {kernel::StoreVector{kernel::address_of(array, offset, type),
                                     kernel::element(result_name(write), {0}, type), schedule_.cells[0]}},
                loop_over("x", place_.counts[0], single(x()))}};
        }
        if (in_row.has_value()) store = {kernel::If{in_row, std::move(store), {}}};
        return store;
    }

    void store_images(Block& iteration) {
        Block images;
        images_.append(context_, place_.first, {schedule_.cells[0], rows(), 1}, {1, 1, 1}, images);
        if (!images.empty()) iteration.push_back(kernel::If{inside_block(), std::move(images), {}});
    }

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    StreamLevels levels_;
    const int streaming_axis_;
    StreamPlace place_;
    StrategyResult result_;
};

}  // namespace

StrategyResult lower_stream(Context& context, const schedule::Schedule& schedule, Images& images) {
    if (context.rank() < 2) throw UnsupportedError("stream traverses the slowest of two axes or more");
    return Stream(context, schedule, images).lower();
}

}  // namespace halo::lower
