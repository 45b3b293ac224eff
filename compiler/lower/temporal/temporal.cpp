#include "compiler/lower/temporal/temporal.h"

#include <algorithm>

#include "compiler/lower/temporal/share.h"
#include "compiler/lower/temporal/stage.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

namespace {

Expr variable(const char* name, Type type = Type::i32) {
    return kernel::variable(name, type);
}

Expr as_long(const Expr& value) {
    return kernel::convert(value, Type::i64);
}

// The walk of a worker over its share of the grid.
class Walk {
public:
    Walk(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
         const schedule::TemporalSchedule& schedule, const schedule::TemporalShape& shape, int levels)
        : frame_(context, pipeline, schedule, shape),
          whole_(context.stage()),
          pipeline_(pipeline),
          stages_(frame_, views, levels) {}

    TemporalResult lower() {
        for (const auto& queue : pipeline_.queues)
            shares_ring_ =
                shares_ring_ || (frame_.meets && queue.role == ir::Role::input && queue.has_window);
        declare_constants();
        out_ = declare_share(frame_, body());
        declare_storage();
        Block tile;
        declare_tile(tile);
        declare_turns(tile);
        fill_ring(tile);
        walk(tile);
        tile.push_back(kernel::AwaitCopies{0});
        body().push_back(kernel::BlankLine{});
        body().push_back(kernel::For{"tile", variable("first_tile"), variable("end_tile"), 1,
                                     kernel::Unroll::none, std::move(tile)});
        context().enter(whole_);
        stages_.finish_reductions(body());
        return {std::move(kernel_), frame_.shape.least_extent};
    }

private:
    Context& context() { return frame_.context; }
    Block& body() { return kernel_.function.body; }
    kernel::KernelFunction& function() { return kernel_.function; }
    Expr extent() { return context().extent(frame_.walked); }

    void declare_constants() {
        frame_.k_steps = named_constant(function(), "kSteps", frame_.steps, "that one pass over memory does");
        frame_.k_cells_x = named_constant(function(), "kCellsX", frame_.cells_x, "of a thread, in a row");
        frame_.k_cells_y = named_constant(function(), "kCellsY", frame_.cells_y, "rows of a thread");
        if (!frame_.two_rows) frame_.k_warps = named_constant(function(), "kWarps", frame_.warps);
        frame_.k_tile_x = named_constant(function(), "kTileX", frame_.shape.tile[0], "a warp's row");
        frame_.k_out_x =
            named_constant(function(), "kOutX", frame_.shape.out[0], "cells of it that come out right");
        if (frame_.two_rows) {
            frame_.k_tile_y = named_constant(function(), "kTileY", frame_.shape.tile[1]);
            frame_.k_out_y = named_constant(function(), "kOutY", frame_.shape.out[1]);
        }
        frame_.k_ring_row = named_constant(function(), "kRingRow", frame_.shape.ring_row(),
                                           "a row in shared memory, which lies as in its line of memory");
        frame_.k_ring =
            named_constant(function(), "kRing", frame_.shape.ring_planes, "planes in shared memory");
    }

    void declare_storage() {
        body().push_back(kernel::BlankLine{});
        Block queues;
        std::int64_t shared = 0;
        // Rings come first: their rows are copied in vectors.
        Block rows;
        shared = stages_.declare(queues, 0);
        for (const Level& level : stages_.arriving()) {
            const Type type = frame_.type_of(level.field);
            kernel::DeclareArray ring{type, stages_.ring(level), {}};
            const int elements = frame_.shape.ring_planes * frame_.shape.rows * frame_.shape.ring_row();
            ring.dims = {elements};
            ring.memory = kernel::Memory::dynamic_shared;
            ring.offset = shared;
            shared += std::int64_t{elements} * kernel::size_of(type);
            body().push_back(std::move(ring));
        }
        append(body(), std::move(queues));
        stages_.begin_reductions(body());
        kernel_.dynamic_shared_bytes = shared;
        if (shared != frame_.shape.shared_bytes)
            throw InternalError("a temporal kernel has other shared memory than its shape");
    }

    // ---- a tile
    // ------------------------------------------------------------------------------------------------------

    void declare_tile(Block& tile) {
        const auto local = [&](const char* name, const Expr& value, Type type = Type::i32) {
            tile.push_back(kernel::Declare{type, name, value});
            return variable(name, type);
        };
        const Expr number = variable("tile");
        const Expr before = as_long(number) * out_.count;
        const auto in_share = [&](const char* bound) {
            return kernel::convert(variable(bound, Type::i64) - before, Type::i32);
        };
        Expr out_begin = kernel::max(in_share("share_begin"), 0);
        Expr out_end = kernel::min(in_share("share_end"), out_.count);
        if (out_.begin) {
            out_begin = out_.begin + out_begin;
            out_end = out_.begin + out_end;
        }
        frame_.out_begin = local("out_begin", out_begin);
        frame_.out_end = local("out_end", out_end);
        static constexpr const char* kBegins[] = {"begin_i", "begin_j"};
        static constexpr const char* kEnds[] = {"end_i", "end_j"};
        static constexpr const char* kOrigins[] = {"tile_i", "tile_j"};
        std::array<Expr, 2> origin;
        for (int axis = 0; axis < frame_.walked; ++axis) {
            Expr place = number;
            if (frame_.two_rows)
                place = axis == 0 ? local("tile_x", number % variable("tiles_x"))
                                  : local("tile_y", number / variable("tiles_x"));
            const Expr size = axis == 0 ? frame_.k_tile_x : frame_.k_tile_y;
            const Expr out = axis == 0 ? frame_.k_out_x : frame_.k_out_y;
            const int first_more = frame_.shape.first_more[static_cast<std::size_t>(axis)];
            Expr begin = place * out, end = (place + 1) * out;
            if (first_more > 0) {
                begin = kernel::select(place > 0, begin + first_more, 0);
                end = end + first_more;
            }
            frame_.in_begin[axis] = local(kBegins[axis], begin);
            if (frame_.shape.periodic[axis]) {
                end = kernel::min(frame_.in_begin[axis] + out, context().extent(axis));
            } else {
                const Expr tiles = variable(axis == 0 ? "tiles_x" : "tiles_y");
                end = kernel::select(place + 1 < tiles, end, context().extent(axis));
            }
            frame_.in_end[axis] = local(kEnds[axis], end);
            Expr start = frame_.in_begin[axis] - frame_.shape.halo_low[axis];
            // At a face the tile ends with the grid.
            if (!frame_.shape.periodic[axis])
                start = kernel::min(kernel::max(start, 0), context().extent(axis) - size);
            origin[axis] = local(kOrigins[axis], start);
        }
        frame_.i = local("i", origin[0] + frame_.lane * frame_.k_cells_x);
        if (frame_.two_rows) frame_.j = local("j", origin[1] + frame_.row);
        declare_place_in_line(origin[0], tile);
        declare_rows(tile);
        declare_faces(origin, tile);
        declare_own_columns(tile);
    }

    // In whole vectors: where the tile begins within one, its cells are copied one by one.
    void declare_place_in_line(Expr start, Block& tile) {
        const int line = frame_.shape.line;
        // Past the first cell of a periodic axis the start is negative.
        if (frame_.shape.periodic[0]) start = start + (frame_.shape.halo_low[0] + line - 1) / line * line;
        Expr place = start % line;
        if (frame_.cells_x > 1) place = place / frame_.k_cells_x * frame_.k_cells_x;
        tile.push_back(kernel::Declare{Type::i32, "into_line", place});
        frame_.into_line = variable("into_line");
    }

    void declare_rows(Block& tile) {
        if (!frame_.two_rows) return;
        const Expr pitch = context().pitch();
        if (!frame_.shape.periodic[1]) {
            tile.push_back(kernel::Declare{Type::i64, "first_row", as_long(frame_.j) * pitch});
            return;
        }
        tile.push_back(kernel::DeclareArray{Type::i64, "row", {frame_.cells_y}});
        const Expr at = frame_.wrapped(frame_.j + frame_.y(), 1);
        append(tile, loop_over("y", frame_.k_cells_y,
                               {kernel::Assign{kernel::element("row", {frame_.y()}, Type::i64),
                                               as_long(at) * pitch}}));
    }

    void declare_faces(const std::array<Expr, 2>& origin, Block& tile) {
        const auto local = [&](const char* name, const Expr& value) {
            tile.push_back(kernel::Declare{Type::boolean, name, value});
            return variable(name, Type::boolean);
        };
        static constexpr const char* kNames[2][2] = {{"at_first_column", "at_last_column"},
                                                     {"at_first_row", "at_last_row"}};
        const std::array<Expr, 2> first{frame_.i, frame_.j};
        const std::array<Expr, 2> cells{frame_.k_cells_x, frame_.k_cells_y};
        inside_ = Expr();
        for (int axis = 0; axis < frame_.walked; ++axis) {
            if (frame_.shape.periodic[axis]) continue;
            const Expr size = axis == 0 ? frame_.k_tile_x : frame_.k_tile_y;
            local(kNames[axis][0], first[axis] == 0);
            local(kNames[axis][1], first[axis] + cells[axis] == context().extent(axis));
            inside_ = inside_ && origin[axis] > 0 && origin[axis] + size < context().extent(axis);
        }
        declare_alignment(origin[0], tile);
    }

    // Whether a thread's cells are a vector in memory. In two dimensions warps of an SM take different turns
    // at the same time, and tiles at a side are rare: where theirs are no vectors all tiles take the turns of
    // a side, as two loops at once are more than the instruction cache holds.
    void declare_alignment(const Expr& origin, Block& tile) {
        const bool periodic = frame_.shape.periodic[0];
        frame_.from_i = frame_.i;
        if (periodic) {
            tile.push_back(kernel::Declare{Type::i32, "from_i", frame_.wrapped(frame_.i, 0)});
            frame_.from_i = variable("from_i");
        }
        frame_.aligned = kernel::int_literal(1, Type::boolean);
        if (frame_.cells_x == 1) return;
        // Periodic tiles begin with a vector. Where the grid ends with one, too, none is in part at the other
        // end.
        const Expr whole = (periodic ? context().extent(0) : origin) % frame_.k_cells_x == 0;
        Expr aligned = whole;
        if (periodic) aligned = whole || (origin >= 0 && origin + frame_.k_tile_x <= context().extent(0));
        tile.push_back(kernel::Declare{Type::boolean, "aligned", aligned});
        frame_.aligned = kernel::variable("aligned", Type::boolean);
        inside_ = inside_ && (periodic && !frame_.two_rows ? whole : frame_.aligned);
    }

    // Whether the thread's cells are of those that come out: all or none, where the tile is at no side.
    void declare_own_columns(Block& tile) {
        if (whole_.reductions.empty()) return;
        const Expr begin = frame_.in_begin[0], end = frame_.in_end[0];
        tile.push_back(kernel::Declare{Type::boolean, "own_columns", frame_.i >= begin && frame_.i < end});
    }

    // Turns in which nothing is within reach of a face of the walked axis, where the tile is not, either.
    // What pieces beside this one are given counts as a face.
    void declare_turns(Block& tile) {
        const schedule::Pipeline& pipeline = frame_.pipeline;
        const int lead = pipeline.lead(), tail = pipeline.tail();
        int low = 0, high = 0;
        for (const auto& stage : pipeline.stages) {
            for (const auto& use : stage.uses) {
                for (const ir::Offset& offset : use.offsets) {
                    low = std::max(low, -offset[frame_.walked]);
                    high = std::max(high, offset[frame_.walked]);
                }
            }
        }
        for (const ir::Statement& statement : context().program().statements) {
            const ir::Margins& margins = ir::margins_of(statement);
            low = std::max(low, margins[frame_.walked][0]);
            high = std::max(high, margins[frame_.walked][1]);
        }
        const int ahead = pipeline.arrival()[1] + frame_.schedule.ahead;
        const auto local = [&](const char* name, const Expr& value) {
            tile.push_back(kernel::Declare{Type::i32, name, value});
            return variable(name);
        };
        const Expr turns = local("turns", frame_.out_end - frame_.out_begin + (lead + tail));
        // Plane k of turn 0 is out_begin - lead.
        const Expr first = frame_.out_begin - lead;
        Expr first_inner = low, last_inner = extent() - std::max(high, ahead);
        if (frame_.schedule.gives_ghosts) {
            const int lag = stages_.least_stored_lag();
            first_inner = kernel::max(first_inner, frame_.below_end);
            last_inner = kernel::min(last_inner - lag, frame_.above_begin) + lag;
        }
        const Expr begin = kernel::min(kernel::max(first_inner + pipeline.last_lag() - first, 0), turns);
        const Expr end = last_inner - first;
        const Expr inner = local("inner_begin", begin);
        const Expr inner_end = local("inner_end", kernel::max(inner, kernel::min(end, turns)));
        local("plain_begin", inside_ ? kernel::select(inside_, inner, inner_end) : inner);
        lead_ = lead;
    }

    // ---- planes from memory
    // ------------------------------------------------------------------------------------------

    // Copies the plane so far from the turn's own into the ring, in the background.
    void copy_plane(const Expr& plane_from_turn, const Expr& plane, Block& body) {
        const Expr index = frame_.shape.periodic[frame_.walked]
                               ? frame_.wrapped(plane, frame_.walked)
                               : kernel::min(kernel::max(plane, 0), extent() - 1);
        Expr offset = frame_.plane_offset(index);
        if (frame_.near_face)
            offset = kernel::select(frame_.near_face, offset, frame_.at + plane_from_turn * frame_.stride());
        const std::string name = "source";
        body.push_back(kernel::Declare{Type::i64, name, offset});
        const Expr source = kernel::variable(name, Type::i64);
        for (const Level& level : stages_.arriving()) {
            const Type type = frame_.type_of(level.field);
            const Expr y = frame_.y(), x = frame_.x();
            const Expr place = frame_.ring_place(frame_.row + y, plane_from_turn);
            const Expr row = source + frame_.own_row(y);
            const auto copy = [&](const Expr& to, const Expr& from, int width) {
                return kernel::CopyAsync{kernel::element(stages_.ring(level), {to}, type),
                                         kernel::address_of(context().array(level), from, type), width};
            };
            Block line{copy(place, row + frame_.from_i, frame_.cells_x)};
            if (frame_.cells_x > 1) {
                Block single = loop_over("x", frame_.k_cells_x,
                                         {copy(place + x, row + frame_.wrapped(frame_.i + x, 0), 1)});
                line = {kernel::If{frame_.near_side && kernel::logical_not(frame_.aligned), std::move(single),
                                   std::move(line)}};
            }
            append(body, loop_over("y", frame_.k_cells_y, std::move(line)));
        }
        body.push_back(kernel::CommitCopies{});
    }

    int arrived() const { return frame_.pipeline.arrival()[1]; }

    // All planes of the first turn, and those that are on their way then.
    void fill_ring(Block& tile) {
        frame_.oldest = frame_.near_face = frame_.near_side = Expr();
        tile.push_back(kernel::BlankLine{});
        // Rows of this tile lie elsewhere in the ring than those of the one before, which have been read.
        if (shares_ring_) {
            tile.push_back(kernel::Barrier{});
        } else {
            tile.push_back(kernel::Barrier{kernel::Barrier::Of::warp});
        }
        Block fill;
        const Expr ahead = variable("plane");
        copy_plane(ahead, frame_.out_begin - lead_ + ahead, fill);
        tile.push_back(kernel::For{"plane", frame_.shape.first_plane, arrived() + frame_.schedule.ahead, 1,
                                   kernel::Unroll::none, std::move(fill)});
        tile.push_back(kernel::AwaitCopies{frame_.schedule.ahead - 1});
    }

    // ---- the walk
    // ----------------------------------------------------------------------------------------------------

    void walk(Block& tile) {
        frame_.turn = variable("turn");
        frame_.plane = variable("k");
        frame_.near_face = kernel::variable("near_face", Type::boolean);
        frame_.near_side = kernel::variable("near_side", Type::boolean);
        Block turn;
        turn.push_back(kernel::Declare{Type::i32, "k", frame_.out_begin - lead_ + frame_.turn});
        tile.push_back(kernel::BlankLine{});
        tile.push_back(kernel::Declare{Type::i64, "at", frame_.plane_offset(frame_.out_begin - lead_), true});
        frame_.at = kernel::variable("at", Type::i64);
        if (frame_.shape.ring_planes > 1) {
            tile.push_back(kernel::Declare{Type::i32, "oldest", 0, true});
            frame_.oldest = variable("oldest");
        }
        const int ahead = arrived() + frame_.schedule.ahead;
        Block copies;
        copy_plane(ahead, frame_.plane + ahead, copies);
        stages_.take_turn(kernel::Scope{std::move(copies)}, turn);
        turn.push_back(kernel::Assign{frame_.at, frame_.at + frame_.stride()});
        if (frame_.oldest) {
            const Expr next = frame_.oldest + 1;
            turn.push_back(kernel::Assign{frame_.oldest, kernel::select(next < frame_.k_ring, next, 0)});
        }
        turn.push_back(kernel::AwaitCopies{frame_.schedule.ahead - 1});

        Block part;
        const Expr number = variable("part");
        const auto one_of = [&](const Expr& first, const Expr& second, const Expr& third, const Expr& last) {
            return kernel::select(
                number == 0, first,
                kernel::select(number == 1, second, kernel::select(number == 2, third, last)));
        };
        const Expr begin = variable("inner_begin"), end = variable("inner_end");
        part.push_back(kernel::Declare{Type::boolean, "near_face", number == 0 || number == 3});
        part.push_back(kernel::Declare{Type::boolean, "near_side", number != 2});
        part.push_back(kernel::Declare{Type::i32, "begin", one_of(0, begin, variable("plain_begin"), end)});
        part.push_back(kernel::Declare{Type::i32, "end",
                                       one_of(begin, variable("plain_begin"), end, variable("turns"))});
        kernel::For turns{"turn", variable("begin"),    variable("end"),
                          1,      kernel::Unroll::none, std::move(turn)};
        if (frame_.schedule.unroll > 1) {
            turns.unroll = kernel::Unroll::some;
            turns.turns = frame_.schedule.unroll;
        }
        part.push_back(std::move(turns));
        tile.push_back(kernel::BlankLine{});
        tile.push_back(
            kernel::Comment{"Turns near a face of the walk, those of a tile at a side, of one at none, and "
                            "near a face again."});
        tile.push_back(kernel::For{"part", 0, 4, 1, kernel::Unroll::full, std::move(part)});
    }

    TemporalFrame frame_;
    const StageView& whole_;  // the step
    const schedule::Pipeline& pipeline_;
    TemporalStages stages_;
    StrategyResult kernel_;
    PlanesOut out_;  // of a launch
    Expr inside_;
    int lead_ = 0;
    bool shares_ring_ = false;  // threads read what others have copied
};

}  // namespace

TemporalResult lower_temporal(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::TemporalSchedule& schedule, int levels) {
    const auto shaped = schedule::temporal_shape(context.program(), pipeline, schedule, schedule::Target{});
    if (const auto* why = std::get_if<std::string>(&shaped)) throw UnsupportedError("temporal: " + *why);
    return Walk(context, views, pipeline, schedule, std::get<schedule::TemporalShape>(shaped), levels)
        .lower();
}

}  // namespace halo::lower
