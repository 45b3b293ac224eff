#include "compiler/lower/temporal/temporal.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

// The traversals of a worker through its share of the grid.
class Traversal {
public:
    Traversal(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
              const schedule::TemporalSchedule& schedule, const schedule::TemporalShape& shape, int levels)
        : frame_(context, pipeline, schedule, shape),
          whole_(context.stage()),
          pipeline_(pipeline),
          stages_(frame_, views, levels) {}

    TemporalResult lower() {
        declare_constants();
        out_ = declare_share(frame_, body());
        declare_storage();
        if (frame_.steps > 1) context().do_steps(frame_.steps, variable("s"));
        const std::size_t after_storage = body().size();
        Block tile;
        declare_tile(tile);
        declare_iterations(tile);
        fill_ring(tile);
        traverse(tile);
        tile.push_back(kernel::AwaitCopies{0});
        body().push_back(kernel::BlankLine{});
        body().push_back(kernel::For{"tile", variable("first_tile"), variable("end_tile"), 1,
                                     kernel::Unroll::none, std::move(tile)});
        context().enter(whole_);
        stages_.finish_reductions(body());
        const Block step_values = context().declare_step_values();
        body().insert(body().begin() + static_cast<std::ptrdiff_t>(after_storage), step_values.begin(),
                      step_values.end());
        return {std::move(kernel_), frame_.shape.least_extent};
    }

private:
    Context& context() { return frame_.context; }
    Block& body() { return kernel_.function.body; }
    kernel::KernelFunction& function() { return kernel_.function; }
    Expr extent() { return context().extent(frame_.streaming_axis); }

    void declare_constants() {
        // Constants of two axes share a line, and its comment.
        const auto of_axes = [&](const std::string& stem, int x, int y, const char* comment) {
            const Expr first = named_constant(function(), stem + "X", x, y > 1 ? "" : comment);
            return std::pair(first, named_constant(function(), stem + "Y", y, comment));
        };
        const schedule::TemporalShape& shape = frame_.shape;
        frame_.k_steps = named_constant(function(), "kSteps", frame_.steps, "in one pass over memory");
        const bool shares_rows = std::ranges::any_of(pipeline_.queues, [](const auto& queue) {
            return queue.role != ir::Role::input && queue.lines() > 0;
        });
        if (!frame_.two_rows || shares_rows)
            frame_.k_warps = named_constant(function(), "kWarps", frame_.warps, "of a block");
        std::tie(frame_.k_cells_x, frame_.k_cells_y) =
            of_axes("kCells", frame_.cells_x, frame_.cells_y, "of a thread");
        frame_.k_values_x = frame_.k_cells_x;
        if (pipeline_.is_packed())
            frame_.k_values_x =
                named_constant(function(), "kWordsX", frame_.values_x, "that hold these, four in each");
        std::tie(frame_.k_tile_x, frame_.k_tile_y) =
            of_axes("kTile", shape.tile[0], shape.tile[1], "cells of a tile");
        std::tie(frame_.k_out_x, frame_.k_out_y) =
            of_axes("kOut", shape.out[0], shape.out[1], "of these, the output: right after all steps");
        for (TemporalFrame::Rings& each : frame_.rings)
            each.k_planes = named_constant(function(), own_name("kRing", each), each.ring.planes,
                                           "planes of the ring" + of_fields(each) + " in shared memory");
        frame_.k_ring_row = named_constant(function(), "kRingRow", shape.ring_row,
                                           "elements of a row there, aligned as in memory");
    }

    void declare_storage() {
        body().push_back(kernel::BlankLine{});
        Block queues;
        std::int64_t shared = 0;
        // Rings come first: their rows are copied in vectors.
        shared = stages_.declare(queues, 0);
        for (const Level& level : stages_.arriving()) {
            const Type type = frame_.memory_type(level.field);
            kernel::DeclareArray ring{type, stages_.ring(level), {}};
            const TemporalFrame::Rings& rings = frame_.rings_of(level.field);
            const Expr rows = frame_.two_rows ? frame_.k_tile_y : frame_.k_warps;
            ring.dims = {rings.k_planes * rows * frame_.k_ring_row + frame_.shape.ring_padding};
            ring.memory = kernel::Memory::dynamic_shared;
            ring.offset = shared;
            shared += std::int64_t{frame_.shape.elements_of(rings.ring)} * kernel::size_of(type);
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
        for (int axis = 0; axis < frame_.streaming_axis; ++axis) {
            Expr place = number;
            if (frame_.two_rows)
                place = axis == 0 ? local("tile_x", number % variable("tiles_x"))
                                  : local("tile_y", number / variable("tiles_x"));
            const Expr size = axis == 0 ? frame_.k_tile_x : frame_.k_tile_y;
            const Expr out = axis == 0 ? frame_.k_out_x : frame_.k_out_y;
            const int first_extra = frame_.shape.first_extra[static_cast<std::size_t>(axis)];
            Expr extra = first_extra;
            const bool shifts = axis == 0 && frame_.shape.shift > 0;
            if (shifts) {
                // Where the tiles would not reach the grid's end without it. It is found anew for each tile,
                // as a register that holds it all the time would be one too many.
                const Expr reached = (variable("tiles_x") - 1) * out + frame_.shape.out_single[0];
                const Expr shift =
                    local("shift_x", kernel::select(reached < context().extent(0), frame_.shape.shift, 0));
                extra = first_extra > 0 ? shift + extra : shift;
            }
            Expr begin = place * out, end = (place + 1) * out;
            if (first_extra > 0 || shifts) {
                begin = kernel::select(place > 0, begin + extra, 0);
                end = end + extra;
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
        frame_.i = local("i", origin[0] + frame_.lane_x);
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

    // Where the thread's rows lie in a plane. Around periodic axes cells are copied from elsewhere.
    void declare_rows(Block& tile) {
        frame_.first_cell = frame_.shape.periodic[0] ? Expr(0) : frame_.i;
        if (!frame_.two_rows) return;
        const Expr pitch = context().pitch();
        if (!frame_.shape.periodic[1]) {
            tile.push_back(
                kernel::Declare{Type::i64, "first_cell", as_long(frame_.j) * pitch + frame_.first_cell});
            frame_.first_cell = kernel::variable("first_cell", Type::i64);
            return;
        }
        tile.push_back(kernel::DeclareArray{Type::i64, "row", {frame_.cells_y}});
        const Expr at = frame_.wrapped(frame_.j + frame_.y(), 1);
        append(tile, loop_over("y", frame_.k_cells_y,
                               {kernel::Assign{kernel::element("row", {frame_.y()}, Type::i64),
                                               as_long(at) * pitch}}));
    }

    void declare_faces(const std::array<Expr, 2>& origin, Block& tile) {
        inside_ = Expr();
        for (int axis = 0; axis < frame_.streaming_axis; ++axis) {
            if (frame_.shape.periodic[axis]) continue;
            const Expr size = axis == 0 ? frame_.k_tile_x : frame_.k_tile_y;
            inside_ = inside_ && origin[axis] > 0 && origin[axis] + size < context().extent(axis);
        }
        declare_alignment(origin[0], tile);
    }

    // Whether a thread's cells are a vector in memory. In two dimensions warps of an SM are in different
    // iterations at the same time, and tiles at a side are rare: where theirs are no vectors all tiles take
    // the loop of those at a side, as two loops at once are more than the instruction cache holds.
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

    // Iterations in which nothing is within reach of a face of the streaming axis, where the tile is not,
    // either. What pieces beside this one are given counts as a face.
    void declare_iterations(Block& tile) {
        const schedule::Pipeline& pipeline = frame_.pipeline;
        const int lead = pipeline.lead(), tail = pipeline.tail();
        int low = 0, high = 0;
        for (const auto& stage : pipeline.stages) {
            for (const auto& use : stage.uses) {
                for (const ir::Offset& offset : use.offsets) {
                    low = std::max(low, -offset[frame_.streaming_axis]);
                    high = std::max(high, offset[frame_.streaming_axis]);
                }
            }
        }
        for (const ir::Statement& statement : context().program().statements) {
            const ir::Margins& margins = ir::margins_of(statement);
            low = std::max(low, margins[frame_.streaming_axis][0]);
            high = std::max(high, margins[frame_.streaming_axis][1]);
        }
        const int ahead = pipeline.arrival()[1] + frame_.schedule.ahead;
        const auto local = [&](const char* name, const Expr& value) {
            tile.push_back(kernel::Declare{Type::i32, name, value});
            return variable(name);
        };
        const Expr iterations = local("iterations", frame_.out_end - frame_.out_begin + (lead + tail));
        // Plane k of iteration 0 is out_begin - lead.
        const Expr first = frame_.out_begin - lead;
        Expr first_inner = low, last_inner = extent() - std::max(high, ahead);
        if (frame_.schedule.gives_ghosts) {
            const int lag = stages_.least_stored_lag();
            first_inner = kernel::max(first_inner, frame_.below_end);
            last_inner = kernel::min(last_inner - lag, frame_.above_begin) + lag;
        }
        const Expr begin = kernel::max(kernel::min(first_inner + pipeline.last_lag() - first, iterations), 0);
        const Expr end = last_inner - first;
        const Expr inner = local("inner_begin", begin);
        const Expr inner_end = local("inner_end", kernel::max(inner, kernel::min(end, iterations)));
        local("steady", inside_ ? kernel::select(inside_, inner, inner_end) : inner);
        lead_ = lead;
    }

    // ---- planes from memory
    // ------------------------------------------------------------------------------------------

    // Lambdas that copy this thread's cells of a plane to a slot of its ring, in the background.
    void declare_fetch(Block& tile) {
        kernel::DeclareLambda place{"in_ring", {{"slot"}}, {}, {}};
        if (frame_.cells_y > 1) place.parameters.push_back({"y"});
        place.value = frame_.ring_place(frame_.row + frame_.y(), variable("slot"));
        tile.push_back(std::move(place));
        for (const TemporalFrame::Rings& rings : frame_.rings) {
            tile.push_back(kernel::Comment{"Copies this thread's cells of a plane" + of_fields(rings) +
                                           " to the ring, asynchronously."});
            tile.push_back(fetch_to(rings));
        }
    }

    std::string own_name(const std::string& stem, const TemporalFrame::Rings& rings) {
        return rings.suffix.empty() ? stem : context().local(stem + rings.suffix);
    }

    std::string of_fields(const TemporalFrame::Rings& rings) {
        if (frame_.rings.size() == 1) return "";
        std::string names;
        for (const ir::FieldId field : rings.fields)
            names += (names.empty() ? " of " : " and ") + context().program()[field].name;
        return names;
    }

    static std::string name_of_fetch(const TemporalFrame::Rings& rings) { return "fetch" + rings.suffix; }

    kernel::DeclareLambda fetch_to(const TemporalFrame::Rings& rings) {
        kernel::DeclareLambda fetch{rings.fetch, {{"slot"}, {"source", Type::i64}}, {}, {}};
        if (frame_.cells_x > 1) fetch.parameters.push_back({"unaligned", Type::boolean});
        const Expr y = frame_.y(), x = frame_.cell_x();
        for (const Level& level : stages_.arriving()) {
            if (&frame_.rings_of(level.field) != &rings) continue;
            const Type type = frame_.memory_type(level.field);
            const Expr row = variable("source", Type::i64) + frame_.own_row(y);
            const auto copy = [&](const Expr& column, const Expr& from, int width) -> kernel::Statement {
                const Expr place = frame_.own_ring_place(variable("slot")) + column;
                // There is no copy of a single byte in the background.
                if (kernel::size_of(type) == 1 && width == 1)
                    return kernel::Assign{kernel::element(stages_.ring(level), {place}, type),
                                          kernel::element(context().array(level), {from}, type)};
                return kernel::CopyAsync{kernel::element(stages_.ring(level), {place}, type),
                                         kernel::address_of(context().array(level), from, type), width};
            };
            const bool wraps = frame_.shape.periodic[0];
            Block line{copy(0, wraps ? row + frame_.from_i : row, frame_.cells_x)};
            if (frame_.cells_x > 1) {
                const Expr column = wraps ? frame_.wrapped(frame_.i + x, 0) : x;
                Block single = frame_.over_vector({copy(x, row + column, 1)});
                line = {kernel::If{variable("unaligned", Type::boolean), std::move(single), std::move(line)}};
            }
            append(fetch.body, loop_over("y", frame_.k_cells_y, std::move(line)));
        }
        return fetch;
    }

    // Fetches the plane so far from the iteration's own.
    kernel::Statement fetch_plane(const TemporalFrame::Rings& rings, const Expr& plane_from_iteration,
                                  const Expr& plane) {
        const Expr index = frame_.shape.periodic[frame_.streaming_axis]
                               ? frame_.wrapped(plane, frame_.streaming_axis)
                               : kernel::min(kernel::max(plane, 0), extent() - 1);
        // From `at` where there is one: a register less to keep.
        Expr offset = frame_.plane_offset(index) + frame_.first_cell;
        if (frame_.near_face) {
            const Expr planes = kernel::select(frame_.near_face, index - frame_.plane, plane_from_iteration);
            offset = frame_.at + planes * frame_.stride();
        }
        kernel::RunLambda fetch{rings.fetch, {TemporalFrame::ring_slot(rings, plane_from_iteration), offset}};
        if (frame_.cells_x > 1)
            fetch.arguments.push_back(frame_.near_side && kernel::logical_not(frame_.aligned));
        return fetch;
    }

    // The plane that an iteration fetches, from the iteration's own.
    static int last_of(const TemporalFrame::Rings& rings) { return rings.ring.first + rings.ring.planes - 1; }

    // All planes of the first iteration, and those that are on their way then.
    void fill_ring(Block& tile) {
        frame_.near_face = frame_.near_side = Expr();
        for (TemporalFrame::Rings& each : frame_.rings)
            each.oldest = Expr();
        tile.push_back(kernel::BlankLine{});
        declare_fetch(tile);
        // Rows of this tile lie elsewhere in the ring than those of the one before, which have been read.
        if (frame_.two_rows) {
            tile.push_back(kernel::Barrier{});
        } else {
            tile.push_back(kernel::Barrier{kernel::Barrier::Of::warp});
        }
        // The first group of copies has the planes of all rings but the last, which are in flight no longer
        // than the first plane of that one.
        const Expr ahead = variable("plane");
        for (const TemporalFrame::Rings& each : frame_.rings) {
            Block fetch{fetch_plane(each, ahead, frame_.out_begin - lead_ + ahead)};
            if (&each == &frame_.rings.back()) fetch.push_back(kernel::CommitCopies{});
            tile.push_back(kernel::For{"plane", each.ring.first, last_of(each), 1, kernel::Unroll::none,
                                       std::move(fetch)});
        }
        tile.push_back(kernel::AwaitCopies{frame_.schedule.ahead - 1});
    }

    // ---- a traversal
    // ----------------------------------------------------------------------------------------------------

    void traverse(Block& tile) {
        frame_.iteration = variable("iteration");
        frame_.plane = variable("k");
        frame_.near_face = kernel::variable("near_face", Type::boolean);
        frame_.near_side = kernel::variable("near_side", Type::boolean);
        Block iteration;
        iteration.push_back(kernel::Declare{Type::i32, "k", frame_.out_begin - lead_ + frame_.iteration});
        tile.push_back(kernel::BlankLine{});
        tile.push_back(kernel::Declare{
            Type::i64, "at", frame_.plane_offset(frame_.out_begin - lead_) + frame_.first_cell, true});
        frame_.at = kernel::variable("at", Type::i64);
        Block fetches;
        for (TemporalFrame::Rings& each : frame_.rings) {
            if (each.ring.planes > 1) {
                const std::string oldest = own_name("oldest", each);
                tile.push_back(kernel::Declare{Type::i32, oldest, 0, true});
                each.oldest = kernel::variable(oldest, Type::i32);
            }
            fetches.push_back(fetch_plane(each, last_of(each), frame_.plane + last_of(each)));
        }
        fetches.push_back(kernel::CommitCopies{});
        stages_.iterate(std::move(fetches), iteration);
        iteration.push_back(kernel::Assign{frame_.at, frame_.at + frame_.stride()});
        for (const TemporalFrame::Rings& each : frame_.rings) {
            if (!each.oldest) continue;
            const Expr next = each.oldest + 1;
            iteration.push_back(kernel::Assign{each.oldest, kernel::select(next < each.k_planes, next, 0)});
        }
        iteration.push_back(kernel::AwaitCopies{frame_.schedule.ahead - 1});

        kernel::For loop{"iteration", variable("begin"),    variable("end"),
                         1,           kernel::Unroll::none, std::move(iteration)};
        if (frame_.schedule.unroll > 1) {
            loop.unroll = kernel::Unroll::some;
            loop.turns = frame_.schedule.unroll;
        }
        // Inlined, and not a loop of four turns that is unrolled: compilers unroll none whose turns are as
        // long as these can be.
        kernel::DeclareLambda traverse{"traverse",
                                       {{"near_face", Type::boolean},
                                        {"near_side", Type::boolean},
                                        {"begin", Type::i32},
                                        {"end", Type::i32}},
                                       {},
                                       {std::move(loop)}};
        traverse.inlined = true;
        tile.push_back(kernel::BlankLine{});
        tile.push_back(std::move(traverse));
        const auto name = [&](int axis) {
            return context().program().axes[static_cast<std::size_t>(axis)].name;
        };
        const std::string along = name(frame_.streaming_axis);
        const std::string across = frame_.two_rows ? name(0) + " or " + name(1) : name(0);
        tile.push_back(kernel::Comment{"Near a face of " + along + ", at a face of " + across +
                                       ", in the steady state, and near a face of " + along + " again."});
        const auto run = [&](bool near_face, bool near_side, const Expr& begin, const Expr& end) {
            tile.push_back(kernel::RunLambda{"traverse",
                                             {kernel::int_literal(near_face, Type::boolean),
                                              kernel::int_literal(near_side, Type::boolean), begin, end}});
        };
        const Expr begin = variable("inner_begin"), steady = variable("steady"), end = variable("inner_end");
        // For a loop from a 0 that it knows to such an end, NVVM of CUDA 13.0 believes that the count of
        // turns is a multiple of 3 and 5, and makes no loop for what remains after turns that are unrolled.
        const Expr start = kernel::shuffle(kernel::Shuffle::From::lane, 0, 0);
        tile.push_back(
            kernel::Comment{"The shuffle hides the 0 from NVVM of CUDA 13.0, which unrolls the loop wrongly "
                            "where it knows it."});
        run(true, true, start, begin);
        run(false, true, begin, steady);
        run(false, false, steady, end);
        run(true, true, end, variable("iterations"));
    }

    TemporalFrame frame_;
    const StageView& whole_;  // the step
    const schedule::Pipeline& pipeline_;
    TemporalStages stages_;
    StrategyResult kernel_;
    PlanesOut out_;  // of a launch
    Expr inside_;
    int lead_ = 0;
};

}  // namespace

TemporalResult lower_temporal(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::TemporalSchedule& schedule, int levels) {
    const auto shaped = schedule::temporal_shape(context.program(), pipeline, schedule, schedule::Target{});
    if (const auto* why = std::get_if<std::string>(&shaped)) throw UnsupportedError("temporal: " + *why);
    return Traversal(context, views, pipeline, schedule, std::get<schedule::TemporalShape>(shaped), levels)
        .lower();
}

}  // namespace halo::lower
