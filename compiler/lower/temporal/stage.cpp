#include "compiler/lower/temporal/stage.h"

#include <algorithm>

#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

namespace {

std::string words(const Context& context, ir::FieldId field) {
    return context.program()[field].name;
}

}  // namespace

TemporalStages::TemporalStages(TemporalFrame& frame, const StageViews& views, int levels)
    : frame_(frame), levels_(levels) {
    for (const StageView& view : views.stages)
        views_.push_back(&view);
}

// ---- arrays
// ----------------------------------------------------------------------------------------------------------

std::vector<Level> TemporalStages::arriving() const {
    std::vector<Level> levels;
    for (const Queue& queue : frame_.pipeline.queues)
        for (int time = 1 - queue.arriving; time <= 0; ++time)
            levels.push_back({queue.field, time});
    return levels;
}

std::string TemporalStages::ring(const Level& level) const {
    return frame_.context.local(frame_.context.array(level) + "_ring");
}

std::int64_t TemporalStages::declare(Block& body, std::int64_t shared) {
    Context& context = frame_.context;
    const int steps = frame_.steps;
    for (const Queue& queue : frame_.pipeline.queues) {
        Planes& planes = planes_[queue.field];
        if (queue.role == ir::Role::input) continue;
        const Type type = frame_.type_of(queue.field);
        const std::string name = words(context, queue.field);
        planes.own =
            RegisterArray(context.local(name + "_planes"), type,
                          {frame_.pipeline.levels(queue), queue.slots, frame_.cells_y, frame_.values_x});
        body.push_back(planes.own.declaration(true));
        if (queue.keeps_windows()) {
            planes.windows =
                RegisterArray(context.local(name + "_windows"), type,
                              {steps, queue.windows, frame_.cells_y + queue.lines(),
                               frame_.values_x + frame_.beside(queue, 0) + frame_.beside(queue, 1)});
            body.push_back(planes.windows.declaration(true));
        }
        if (queue.fold) {
            planes.sums = RegisterArray(context.local(name + "_sums"), type,
                                        {steps, queue.fold->values(), frame_.cells_y, frame_.values_x});
            body.push_back(planes.sums.declaration(true));
        }
        for (const RowSum& sum : queue.row_sums) {
            planes.row_sums.emplace_back(context.names().take(name + "_row_sums"), type,
                                         std::vector<int>{steps, sum.high - sum.low + 1, frame_.values_x,
                                                          words_of_sum(context.program(), sum)});
            body.push_back(planes.row_sums.back().declaration(true));
        }
        if (!frame_.two_rows || queue.lines() == 0) continue;
        planes.rows = context.local(name + "_rows");
        kernel::DeclareArray rows{type, planes.rows, {}};
        rows.dims = {frame_.k_steps, 2, frame_.k_warps, queue.lines(), frame_.k_tile_x};
        rows.memory = kernel::Memory::dynamic_shared;
        rows.offset = shared;
        shared += std::int64_t{steps} * 2 * frame_.warps * queue.lines() * frame_.shape.tile[0] *
                  kernel::size_of(type);
        body.push_back(std::move(rows));
        clear_rows(queue, body);
    }
    return shared;
}

// The first iteration of a traversal reads what none has left there.
void TemporalStages::clear_rows(const Queue& queue, Block& body) {
    const Planes& planes = planes_.at(queue.field);
    const Expr s = kernel::variable("s", Type::i32), line = kernel::variable("line", Type::i32);
    const kernel::Statement clear =
        store_row(frame_, planes.rows, {s, 1, frame_.warp, line, frame_.lane_x}, planes.own.at({0, 0, 0, 0}));
    append(body, {kernel::For{"s",
                              0,
                              frame_.k_steps,
                              1,
                              kernel::Unroll::leave,
                              {kernel::For{"line", 0, queue.lines(), 1, kernel::Unroll::leave, {clear}}}}});
}

Expr TemporalStages::step() const {
    return frame_.steps > 1 ? kernel::variable("s", Type::i32) : Expr(0);
}

Expr TemporalStages::level_index(const Use& use, const Queue& queue) const {
    if (queue.role == ir::Role::intermediate) return step();
    return step() + (use.time + queue.past());
}

// Where one of a warp's outer lines lies: those that the warp before needs, then those for the warp after.
// Lines of this iteration and of the one before lie in two halves, by turns.
std::vector<Expr> TemporalStages::rows_place(const Expr& index, const Expr& warp, int line,
                                             bool earlier) const {
    const Expr now = kernel::variable("now", Type::i32);
    return {index, earlier ? 1 - now : now, warp, line, frame_.lane_x};
}

// ---- an iteration
// ----------------------------------------------------------------------------------------------------------

void TemporalStages::iterate(Block copies, Block& body) {
    if (frame_.meets) body.push_back(kernel::Declare{Type::i32, "now", frame_.iteration % 2});
    const bool later_first = frame_.pipeline.later_first;
    if (!later_first) arrive(body);
    if (frame_.meets) body.push_back(kernel::Barrier{});
    append(body, std::move(copies));
    compute_invariants(body);
    Block step_body;
    if (later_first && frame_.steps > 1)
        step_body.push_back(
            kernel::Declare{Type::i32, "s", frame_.k_steps - 1 - kernel::variable("later", Type::i32)});
    for (int index = 0; index < static_cast<int>(views_.size()); ++index)
        do_stage(index, step_body);
    append(body, loop_over(later_first ? "later" : "s", frame_.k_steps, std::move(step_body)));
    if (later_first) {
        body.push_back(kernel::Comment{"The plane that has arrived, for the next iteration."});
        arrive(body);
    }
    Block share;
    for (const Queue& queue : frame_.pipeline.queues)
        if (!planes_.at(queue.field).rows.empty()) share_rows(queue, share);
    if (!share.empty()) {
        body.push_back(kernel::Comment{"The outer rows, for the warps beside."});
        append(body, loop_over("s", frame_.k_steps, std::move(share)));
    }
    shift(body);
}

void TemporalStages::arrive(Block& body) {
    for (const Queue& queue : frame_.pipeline.queues) {
        if (queue.role != ir::Role::state) continue;
        const Planes& planes = planes_.at(queue.field);
        for (int time = 1 - queue.arriving; time <= 0; ++time) {
            const Level level{queue.field, time};
            const Expr y = frame_.y();
            const Expr to = planes.own.at({time + queue.past(), queue.slots - 1, y, 0});
            const Expr place = frame_.own_ring_place(TemporalFrame::ring_slot(
                frame_.rings_of(queue.field), -frame_.pipeline.ready(queue, 0, time)));
            append(body,
                   loop_over("y", frame_.k_cells_y,
                             {load_row(frame_, to, ring(level), {place}, frame_.memory_type(level.field))}));
            if (queue.is_carried() && time == queue.window_time)
                show_past_faces(queue, frame_.plane - frame_.pipeline.ready(queue, 0, time),
                                planes.own.at({time + queue.past(), queue.slots - 1, 0, 0}), body);
        }
    }
}

// Of the planes that the first stages to read them come to now: of a thread's own cells, which no other
// thread reads.
void TemporalStages::compute_invariants(Block& body) {
    Context& context = frame_.context;
    for (const Queue& queue : frame_.pipeline.queues) {
        if (!queue.invariant) continue;
        const Level level{queue.field, 0};
        const int newest = frame_.pipeline.arrival(queue)[1];
        const std::vector<Expr> place{
            frame_.own_ring_place(TemporalFrame::ring_slot(frame_.rings_of(queue.field), newest))};
        const RegisterArray row(context.local(words(context, queue.field) + "_row"),
                                frame_.type_of(queue.field), {frame_.values_x});
        CellSources cell_sources;
        cell_sources.load = [&](const Level&, const ir::Offset&) { return row.at({frame_.x()}); };
        Block cell;
        const Expr value = lower_values(context, cell_sources, {*queue.invariant}, cell).front();
        cell.push_back(kernel::Assign{row.at({frame_.x()}), value});
        Block rows{row.declaration(false),
                   load_row(frame_, row.at({0}), ring(level), place, frame_.memory_type(queue.field))};
        append(rows, loop_over("x", frame_.k_values_x, std::move(cell)));
        rows.push_back(store_row(frame_, ring(level), place, row.at({0})));
        body.push_back(kernel::Comment{"What all steps compute of " + words(context, queue.field) +
                                       " alike takes its place."});
        append(body, loop_over("y", frame_.k_cells_y, std::move(rows)));
    }
}

CellSources TemporalStages::sources(int stage, const Expr& plane) {
    CellSources sources;
    const auto& uses = frame_.pipeline.stages[static_cast<std::size_t>(stage)].uses;
    sources.given = [this, &uses](ir::ExprId id) {
        for (const Use& use : uses) {
            const Queue& queue = *frame_.pipeline.find(use.field);
            if (queue.invariant == id) return read(use, queue, {});
        }
        return Expr();
    };
    const Expr along_streaming = frame_.wrapped(plane, frame_.streaming_axis);
    sources.index = {frame_.wrapped(frame_.i + frame_.x(), 0),
                     frame_.two_rows ? frame_.wrapped(frame_.j + frame_.y(), 1) : along_streaming,
                     along_streaming};
    // Across the walk tiles end with the grid; along it planes come before the first one and after the last.
    sources.may_pass_high_face = {};
    const auto walk = static_cast<std::size_t>(frame_.streaming_axis);
    sources.may_pass_low_face[walk] = sources.may_pass_high_face[walk] = !frame_.shape.periodic[walk];
    sources.chooses_late = true;
    sources.far_from_faces = kernel::logical_not(frame_.near_face) && kernel::logical_not(frame_.near_side);
    sources.load = [this, &uses](const Level& level, const ir::Offset& offset) {
        for (const Use& use : uses)
            if (use.field == level.field && use.time == level.time)
                return read(use, *frame_.pipeline.find(use.field), offset);
        throw InternalError("a stage reads a level that its pipeline does not know");
    };
    return sources;
}

void TemporalStages::do_stage(int index, Block& body) {
    Context& context = frame_.context;
    const StageView& view = *views_[static_cast<std::size_t>(index)];
    const auto& stage = frame_.pipeline.stages[static_cast<std::size_t>(index)];
    context.enter(view);
    std::string written, reduced;
    for (const Write& write : view.writes)
        written += (written.empty() ? "" : " and ") + words(context, write.level.field);
    for (const ir::Reduce* reduce : view.reductions)
        reduced += (reduced.empty() ? "" : " and ") + reduce->name;
    if (written.empty()) {
        body.push_back(kernel::Comment{"What the next plane adds to " + reduced + "."});
        written = view.reductions.front()->name;
    } else {
        body.push_back(kernel::Comment{"The next plane of " + written +
                                       (reduced.empty() ? "." : ", and what it adds to " + reduced + ".")});
    }
    const Expr lag = step() * frame_.pipeline.period + stage.lag;
    const std::string name = context.names().take(written + "_plane");
    body.push_back(kernel::Declare{Type::i32, name, frame_.plane - lag});
    const Expr plane = kernel::variable(name, Type::i32);
    const Use* folded = folded_use(index);
    for (const Use& use : stage.uses) {
        const Queue& queue = *frame_.pipeline.find(use.field);
        if (queue.role == ir::Role::input) {
            gather_input(use, queue, body);
        } else if (gathers(use, queue, index)) {
            gather_window(use, queue, body);
        }
        if (&use == folded) {
            show_first_plane(index, plane, use, body);
        } else if (!queue.row_sums.empty() && use.time == queue.window_time) {
            add_row_sums(queue, use, plane, body);
        } else {
            show_face_planes(use, queue, plane, body);
        }
    }
    std::vector<RegisterArray> fresh;
    for (const Write& write : view.writes) {
        fresh.emplace_back(context.local(words(context, write.level.field) + "_fresh"),
                           frame_.type_of(write.level.field),
                           std::vector<int>{frame_.cells_y, frame_.values_x});
        body.push_back(fresh.back().declaration(false));
    }
    append(body, stage.packed ? packed_cells(index, fresh) : cells(index, plane, folded, fresh, written));
    if (folded) add_planes(index, plane, *folded, body);
    for (std::size_t w = 0; w < view.writes.size(); ++w) {
        const Queue& queue = *frame_.pipeline.find(view.writes[w].level.field);
        push(queue, plane, fresh[w], body);
        if (queue.role == ir::Role::state) store(queue, plane, fresh[w], body);
    }
}

Block TemporalStages::cells(int index, const Expr& plane, const Use* folded,
                            const std::vector<RegisterArray>& fresh, const std::string& stage_name) {
    Context& context = frame_.context;
    const StageView& view = context.stage();
    Block cell;
    const CellValues values = lower_cell(
        context,
        folded ? folded_sources(index, plane, *folded, frame_.pipeline.find(folded->field)->fold->high)
               : sources(index, plane),
        cell);
    for (std::size_t w = 0; w < view.writes.size(); ++w)
        cell.push_back(kernel::Assign{fresh[w].at({frame_.y(), frame_.x()}),
                                      stored_value(view, view.writes[w], values)});
    return reduced_rows(values, stage_name, plane, std::move(cell));
}

// ---- what a stage leaves
// ----------------------------------------------------------------------------------------------

void TemporalStages::push(const Queue& queue, const Expr& plane, const RegisterArray& fresh, Block& body) {
    const Planes& planes = planes_.at(queue.field);
    const bool is_state = queue.role == ir::Role::state;
    const int ahead = is_state ? 1 : 0;
    const Expr level = step() + (ahead + queue.past());
    const Expr newest = planes.own.at({level, queue.slots - 1, 0, 0});
    Block keep{copy_cells(newest, fresh.at({0, 0}), frame_.all_values())};
    if (queue.is_carried()) {
        if (frame_.face(queue.field, frame_.streaming_axis, 1).map.repeats_edge()) {
            // Past the last plane that one is shown.
            const Expr in_grid = plane < frame_.context.extent(frame_.streaming_axis);
            keep = {kernel::If{kernel::logical_not(frame_.near_face) || in_grid, std::move(keep), {}}};
        }
        show_past_faces(queue, plane, newest, keep);
    }
    const int last_step = frame_.pipeline.levels(queue) - 1 - ahead - queue.past();  // whose level is read
    if (last_step < 0) return;
    if (last_step < frame_.steps - 1) keep = {kernel::If{step() <= last_step, std::move(keep), {}}};
    append(body, std::move(keep));
}

// Once all steps of an iteration have read what the one before has left.
void TemporalStages::share_rows(const Queue& queue, Block& body) {
    const Planes& planes = planes_.at(queue.field);
    const Expr index = step();
    const int time = queue.role == ir::Role::state ? queue.window_time : 0;
    const Expr level = index + (time + queue.past());
    const int slot = queue.slots - queue.window_distance;  // one iteration before it is gathered
    for (int line = 0; line < queue.lines(); ++line) {
        const int high = queue.reach[1][1];
        const int y = line < high ? line : frame_.cells_y - queue.reach[1][0] + (line - high);
        body.push_back(store_row(frame_, planes.rows, rows_place(index, frame_.warp, line, false),
                                 planes.own.at({level, slot, y, 0})));
    }
}

int TemporalStages::stored_levels(const Queue& queue) const {
    return std::min(levels_, frame_.context.program()[queue.field].history + 1);
}

int TemporalStages::stored_lag(const Queue& queue, int back) const {
    const int of_stage = frame_.pipeline.stages[static_cast<std::size_t>(queue.writer)].lag;
    return of_stage + (frame_.steps - 1 - back) * frame_.pipeline.period;
}

int TemporalStages::least_stored_lag() const {
    int least = frame_.pipeline.last_lag();
    for (const Queue& queue : frame_.pipeline.queues)
        if (queue.role == ir::Role::state)
            least = std::min(least, stored_lag(queue, stored_levels(queue) - 1));
    return least;
}

void TemporalStages::store(const Queue& queue, const Expr& plane, const RegisterArray& fresh, Block& body) {
    Context& context = frame_.context;
    for (int back = 0; back < stored_levels(queue); ++back) {
        const Level level{queue.field, levels_ - back};
        const int lag = stored_lag(queue, back);
        Expr due = plane >= frame_.out_begin;
        if (lag < frame_.pipeline.last_lag()) due = due && plane < frame_.out_end;
        if (frame_.steps > 1) due = step() == frame_.steps - 1 - back && due;
        Block rows = stored_rows(queue, context.array(level), lag, fresh);
        if (frame_.schedule.gives_ghosts) {
            Block given;
            const auto give = [&](const Expr& is_given, int side) {
                given.push_back(
                    kernel::If{is_given, stored_rows(queue, context.neighbour(level, side), lag, fresh), {}});
            };
            give(plane < frame_.below_end, 0);
            give(plane >= frame_.above_begin, 1);
            rows.push_back(kernel::Comment{"Ghosts of the pieces beside this one."});
            rows.push_back(kernel::If{frame_.near_face, std::move(given), {}});
        }
        body.push_back(kernel::If{due, std::move(rows), {}});
    }
}

// The thread's cells of the plane that is `lag` behind the iteration's, to an array.
Block TemporalStages::stored_rows(const Queue& queue, const std::string& array, int lag,
                                  const RegisterArray& fresh) const {
    const Type type = frame_.memory_type(queue.field);
    Expr offset = frame_.at - lag * frame_.stride() + frame_.own_row(frame_.y());
    if (frame_.shape.periodic[0]) offset = offset + frame_.i;
    const Expr x = frame_.cell_x();
    const Expr inside = frame_.i + x >= frame_.in_begin[0] && frame_.i + x < frame_.in_end[0];
    const auto store_cell = [&](const Expr& to) -> kernel::Statement {
        return kernel::If{inside, {kernel::Assign{to, fresh_cell(queue, fresh)}}, {}};
    };
    // Where a row lies is found whether it is stored or not: compilers then do it for all rows at once.
    Block row, place;
    if (frame_.cells_x == 1) {
        row.push_back(store_cell(kernel::element(array, {offset}, type)));
    } else {
        place.push_back(kernel::DeclarePointer{type, "to", kernel::address_of(array, offset, type), true});
        const Expr whole = frame_.i >= frame_.in_begin[0] && frame_.i < frame_.in_end[0];
        Block vector{kernel::If{whole,
                                {kernel::StoreVector{kernel::address_of("to", 0, type),
                                                     fresh.at({frame_.y(), 0}), frame_.cells_x}},
                                {}}};
        row.push_back(kernel::If{frame_.near_side && kernel::logical_not(frame_.aligned),
                                 frame_.over_vector({store_cell(kernel::element("to", {x}, type))}),
                                 std::move(vector)});
    }
    if (frame_.two_rows) {
        const Expr at = frame_.j + frame_.y();
        row = {kernel::If{at >= frame_.in_begin[1] && at < frame_.in_end[1], std::move(row), {}}};
    }
    append(place, std::move(row));
    return frame_.two_rows ? loop_over("y", frame_.k_cells_y, std::move(place)) : place;
}

Expr TemporalStages::fresh_cell(const Queue& queue, const RegisterArray& fresh) const {
    const Expr x = frame_.cell_x();
    if (!frame_.pipeline.is_packed()) return fresh.at({frame_.y(), x});
    const Expr byte = kernel::call_helper(kernel::Helper::byte_of,
                                          {fresh.at({frame_.y(), x / kPackedCells}), x % kPackedCells});
    return kernel::convert(byte, frame_.memory_type(queue.field));
}

void TemporalStages::shift(Block& body) {
    const Expr level = kernel::variable("level", Type::i32);
    bool commented = false;
    const auto move_down = [&](const RegisterArray& array) {
        if (array.name().empty() || array.dim(1) < 2) return;
        if (!commented) body.push_back(kernel::Comment{"Every plane moves down its queue."});
        commented = true;
        const int moved = (array.dim(1) - 1) * array.dim(2) * array.dim(3);
        append(body, loop_over("level", array.dim(0),
                               {copy_cells(array.at({level, 0, 0, 0}), array.at({level, 1, 0, 0}), moved)}));
    };
    for (const Queue& queue : frame_.pipeline.queues) {
        move_down(planes_.at(queue.field).own);
        move_down(planes_.at(queue.field).windows);
        for (const RegisterArray& sums : planes_.at(queue.field).row_sums)
            move_down(sums);
    }
}

}  // namespace halo::lower
