// What the stages of a temporal kernel read: windows of planes, whose outer cells come from other threads,
// from other warps, or from what the boundary says.
#include <algorithm>

#include "compiler/lower/temporal/stage.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

// The first stage of a step that reads a window gathers it.
bool TemporalStages::gathers(const Use& use, const Queue& queue, int stage) const {
    if (!queue.has_window || use.time != queue.window_time) return false;
    for (int earlier = 0; earlier <= stage; ++earlier) {
        for (const Use& other : frame_.pipeline.stages[static_cast<std::size_t>(earlier)].uses) {
            if (other.field != use.field || other.time != use.time) continue;
            if (std::ranges::any_of(other.offsets, [&](const ir::Offset& offset) {
                    return schedule::is_within_plane(offset, frame_.streaming_axis);
                }))
                return earlier == stage;
        }
    }
    return false;
}

// Planes that a use reads, and those on the other side that a face may show in their place.
std::array<int, 2> TemporalStages::planes_read(const Use& use, const Queue& queue) const {
    std::array<int, 2> planes{0, 0};
    for (const ir::Offset& offset : use.offsets) {
        planes[0] = std::min(planes[0], offset[frame_.streaming_axis]);
        planes[1] = std::max(planes[1], offset[frame_.streaming_axis]);
    }
    if (queue.role != ir::Role::input) return planes;
    const int most = std::max(-planes[0], planes[1]);
    return {-most, most};
}

bool TemporalStages::is_window(const Use& use, const Queue& queue, int plane) const {
    return queue.keeps_windows() && use.time == queue.window_time &&
           use.distance - plane >= queue.window_distance;
}

TemporalStages::Window TemporalStages::window_at(const Use& use, const Queue& queue, int plane) {
    if (queue.role == ir::Role::input) {
        const RegisterArray& array = gathered_.at(use.field);
        const int first = planes_read(use, queue)[0];
        return [array, slot = plane - first](const Expr& y, const Expr& x) { return array.at({slot, y, x}); };
    }
    const int slot = queue.windows - 1 - (use.distance - plane - queue.window_distance);
    if (slot < 0 || slot >= queue.windows) throw InternalError("a window is read that is not kept");
    if (queue.keeps_windows()) {
        return [array = planes_.at(use.field).windows, step = step(), slot](const Expr& y, const Expr& x) {
            return array.at({step, slot, y, x});
        };
    }
    return [array = gathered_.at(use.field)](const Expr& y, const Expr& x) { return array.at({0, y, x}); };
}

Expr TemporalStages::cell_at(const Use& use, const Queue& queue, int plane, const Expr& y, const Expr& x) {
    if (queue.role == ir::Role::input || is_window(use, queue, plane))
        return window_at(use, queue, plane)(y + queue.reach[1][0], x + frame_.beside(queue, 0));
    const int slot = queue.slots - 1 - (use.distance - plane);
    if (slot < 0 || slot >= queue.slots) throw InternalError("a plane is read that is not in its queue");
    return planes_.at(use.field).own.at({level_index(use, queue), slot, y, x});
}

Expr TemporalStages::read(const Use& use, const Queue& queue, const ir::Offset& offset) {
    const int plane = offset[frame_.streaming_axis];
    const int y = frame_.two_rows ? offset[1] : 0;
    if (!schedule::is_within_plane(offset, frame_.streaming_axis))
        return cell_at(use, queue, plane, frame_.y(), frame_.x());
    return window_at(use, queue, plane)(frame_.y() + (y + queue.reach[1][0]),
                                        frame_.x() + (offset[0] + frame_.beside(queue, 0)));
}

// ---- gathering
// -------------------------------------------------------------------------------------------------------

// An input's planes are read from the ring, with the rows of other warps.
void TemporalStages::gather_input(const Use& use, const Queue& queue, Block& body) {
    Context& context = frame_.context;
    const auto [low, high] = planes_read(use, queue);
    const std::string name = context.names().take(context.program()[use.field].name + "_near");
    const int columns = frame_.values_x + frame_.beside(queue, 0) + frame_.beside(queue, 1);
    gathered_[use.field] = RegisterArray(name, frame_.type_of(use.field),
                                         {high - low + 1, frame_.cells_y + queue.lines(), columns});
    body.push_back(gathered_[use.field].declaration(false));
    const std::string array = ring({use.field, 0});
    for (int plane = low; plane <= high; ++plane) {
        const Window window = window_at(use, queue, plane);
        const Expr from_iteration = Expr(plane - use.distance) - step() * frame_.pipeline.period;
        const auto load = [&](const Expr& window_row, const Expr& row) {
            return load_row(frame_, window(window_row, frame_.beside(queue, 0)), array,
                            {frame_.ring_place(
                                row, TemporalFrame::ring_slot(frame_.rings_of(use.field), from_iteration))},
                            frame_.memory_type(use.field));
        };
        append(body, loop_over("y", frame_.k_cells_y,
                               {load(frame_.y() + queue.reach[1][0], frame_.row + frame_.y())}));
        if (!queue.has_window) continue;
        for (int line = 0; line < queue.reach[1][0]; ++line)
            body.push_back(load(line, kernel::max(frame_.row + (line - queue.reach[1][0]), 0)));
        for (int line = 0; line < queue.reach[1][1]; ++line)
            body.push_back(load(queue.reach[1][0] + frame_.cells_y + line,
                                kernel::min(frame_.row + (frame_.cells_y + line), frame_.shape.rows - 1)));
        show_face_rows(queue, window, false, body);
        gather_columns(queue, window, body);
        show_face_columns(queue, window, false, body);
    }
}

void TemporalStages::gather_window(const Use& use, const Queue& queue, Block& body) {
    Context& context = frame_.context;
    const Planes& planes = planes_.at(use.field);
    const int left = frame_.beside(queue, 0), above = queue.reach[1][0], below = queue.reach[1][1];
    const int plane = use.distance - queue.window_distance;  // as the use counts
    if (!queue.keeps_windows()) {
        const std::string name = context.names().take(context.program()[use.field].name + "_near");
        gathered_[use.field] = RegisterArray(
            name, frame_.type_of(use.field),
            {1, frame_.cells_y + above + below, frame_.values_x + left + frame_.beside(queue, 1)});
        body.push_back(gathered_[use.field].declaration(false));
    }
    const Window window = window_at(use, queue, plane);
    const int slot = queue.slots - 1 - queue.window_distance;
    append(body, loop_over("y", frame_.k_cells_y,
                           {copy_cells(window(frame_.y() + above, left),
                                       planes.own.at({level_index(use, queue), slot, frame_.y(), 0}),
                                       frame_.k_values_x)}));
    if (!planes.rows.empty()) {
        const Expr before = kernel::max(frame_.warp - 1, 0);
        const Expr after = kernel::min(frame_.warp + 1, frame_.k_warps - 1);
        for (int line = 0; line < above; ++line)
            body.push_back(load_row(frame_, window(line, left), planes.rows,
                                    rows_place(step(), before, below + line, true),
                                    frame_.memory_type(use.field)));
        for (int line = 0; line < below; ++line)
            body.push_back(load_row(frame_, window(above + frame_.cells_y + line, left), planes.rows,
                                    rows_place(step(), after, line, true), frame_.memory_type(use.field)));
    }
    show_face_rows(queue, window, false, body);
    gather_columns(queue, window, body);
    show_face_columns(queue, window, false, body);
}

void TemporalStages::gather_columns(const Queue& queue, const Window& window, Block& body) {
    const int left = frame_.beside(queue, 0), right = frame_.beside(queue, 1), above = queue.reach[1][0];
    const int first = queue.has_corners ? 0 : above;
    const int count = queue.has_corners ? frame_.cells_y + queue.lines() : frame_.cells_y;
    const Expr y = count > 1 ? kernel::variable("y", Type::i32) + first : Expr(first);
    Block row;
    for (int x = 0; x < left; ++x)
        row.push_back(kernel::Assign{
            window(y, x), kernel::shuffle(kernel::Shuffle::From::before, window(y, x + frame_.values_x), 1)});
    for (int x = 0; x < right; ++x)
        row.push_back(kernel::Assign{window(y, left + frame_.values_x + x),
                                     kernel::shuffle(kernel::Shuffle::From::after, window(y, left + x), 1)});
    if (!row.empty()) append(body, loop_over("y", count, std::move(row)));
}

// ---- faces
// -----------------------------------------------------------------------------------------------------------

Expr TemporalStages::at_face(int axis, int side) const {
    const Expr& first = axis == 0 ? frame_.i : frame_.j;
    const Expr& cells = axis == 0 ? frame_.k_cells_x : frame_.k_cells_y;
    return frame_.near_side && (side == 0 ? first == 0 : first + cells == frame_.context.extent(axis));
}

// Rows past a face, before the columns beside them are gathered: a corner is decided by the first axis.
void TemporalStages::show_face_rows(const Queue& queue, const Window& window, bool fixed_alone, Block& body) {
    const int above = queue.reach[1][0];
    // In a plane past a face nothing is gathered any more: there the columns beside are filled, too.
    const int columns =
        fixed_alone ? frame_.values_x + frame_.beside(queue, 0) + frame_.beside(queue, 1) : frame_.values_x;
    const int first = fixed_alone ? 0 : frame_.beside(queue, 0);
    const Expr count = fixed_alone ? Expr(columns) : frame_.k_values_x;
    for (int side = 0; side < 2; ++side) {
        const FaceRule rule = frame_.two_rows ? frame_.face(queue.field, 1, side) : FaceRule{};
        if (!rule.makes_images() || queue.reach[1][side] == 0) continue;
        if (fixed_alone && !rule.map.shows_value()) continue;
        Block rows;
        for (int past = 1; past <= queue.reach[1][side]; ++past) {
            const int edge = side == 0 ? above : above + frame_.cells_y - 1, out = side == 0 ? -1 : 1;
            const Expr to = window(edge + out * past, first);
            rows.push_back(rule.value ? fill_cells(to, rule.value, count)
                                      : copy_cells(to, window(edge - out * rule.inwards(past), first), count,
                                                   rule.negates));
        }
        body.push_back(kernel::If{at_face(1, side), std::move(rows), {}});
    }
}

void TemporalStages::show_face_columns(const Queue& queue, const Window& window, bool fixed_alone,
                                       Block& body) {
    const int left = frame_.beside(queue, 0);
    const int count = frame_.cells_y + queue.lines();
    const int columns = frame_.values_x + left + frame_.beside(queue, 1);
    const Expr y = count > 1 ? kernel::variable("y", Type::i32) : Expr(0);
    for (int side = 0; side < 2; ++side) {
        const FaceRule rule = frame_.face(queue.field, 0, side);
        if (!rule.makes_images() || frame_.beside(queue, side) == 0) continue;
        if (fixed_alone && !rule.map.shows_value()) continue;
        const int edge = side == 0 ? left : left + frame_.values_x - 1, out = side == 0 ? -1 : 1;
        Block fills, images;
        for (int past = 1; past <= frame_.beside(queue, side); ++past) {
            if (rule.value)
                fills.push_back(fill_cells(window(0, edge + out * past), rule.value, count, columns));
            else if (frame_.pipeline.is_packed())
                images.push_back(kernel::Assign{window(y, edge + out * past),
                                                image_word(queue, window, rule, y, side, past)});
            else
                images.push_back(copy_cells(window(y, edge + out * past),
                                            window(y, edge - out * rule.inwards(past)), 1, rule.negates));
        }
        if (!images.empty()) append(fills, loop_over("y", count, std::move(images)));
        body.push_back(kernel::If{at_face(0, side), std::move(fills), {}});
    }
}

// Planes past a face of the streaming axis take their values when the stage comes to read them: all below the
// first plane at that plane, those above the last one by one.
void TemporalStages::show_face_planes(const Use& use, const Queue& queue, const Expr& plane, Block& body) {
    const auto [low, high] = planes_read(use, queue);
    const FaceRule below = frame_.face(use.field, frame_.streaming_axis, 0);
    const FaceRule above = frame_.face(use.field, frame_.streaming_axis, 1);
    if (queue.role == ir::Role::input) {
        // Gathered anew in every iteration, so every plane beside a face has its own images.
        for (int from_face = 0; below.makes_images() && from_face < -low; ++from_face) {
            Block images;
            for (int past = 1; past <= -low - from_face; ++past)
                append(images,
                       face_plane(use, queue, below, -from_face - past, below.inwards(past) - from_face));
            body.push_back(kernel::If{frame_.near_face && plane == from_face, std::move(images), {}});
        }
        for (int from_face = 0; above.makes_images() && from_face < high; ++from_face) {
            Block images;
            for (int past = 1; past <= high - from_face; ++past)
                append(images,
                       face_plane(use, queue, above, from_face + past, from_face - above.inwards(past)));
            const Expr last = frame_.context.extent(frame_.streaming_axis) - (1 + from_face);
            body.push_back(kernel::If{frame_.near_face && plane == last, std::move(images), {}});
        }
        return;
    }
    if (below.makes_images() && low < 0) {
        Block images;
        for (int past = 1; past <= -low; ++past)
            append(images, face_plane(use, queue, below, -past, below.inwards(past)));
        body.push_back(kernel::If{frame_.near_face && plane == 0, std::move(images), {}});
    }
    for (int past = 1; above.makes_images() && past <= high; ++past) {
        // The plane ahead of which `past` planes of the image lie: it is `high` away from the last of them.
        const Expr due = plane == frame_.context.extent(frame_.streaming_axis) + (past - 1 - high);
        body.push_back(kernel::If{frame_.near_face && due,
                                  face_plane(use, queue, above, high, high - past - above.inwards(past)),
                                  {}});
    }
}

Block TemporalStages::face_plane(const Use& use, const Queue& queue, const FaceRule& rule, int to, int from) {
    const bool whole = is_window(use, queue, to) || (queue.role == ir::Role::input && queue.has_window);
    if (!whole) {
        const Expr cells = cell_at(use, queue, to, 0, 0);
        if (rule.value) return {fill_cells(cells, rule.value, frame_.all_values())};
        return {copy_cells(cells, cell_at(use, queue, from, 0, 0), frame_.all_values(), rule.negates)};
    }
    const int rows = frame_.cells_y + queue.lines();
    const int columns = frame_.values_x + frame_.beside(queue, 0) + frame_.beside(queue, 1);
    const Window target = window_at(use, queue, to);
    Block images;
    if (rule.value)
        images.push_back(fill_cells(target(0, 0), rule.value, rows * columns));
    else
        images.push_back(
            copy_cells(target(0, 0), window_at(use, queue, from)(0, 0), rows * columns, rule.negates));
    if (rule.value) {  // where two faces meet, the first axis says what lies there
        show_face_rows(queue, target, true, images);
        show_face_columns(queue, target, true, images);
    }
    return images;
}

}  // namespace halo::lower
