// Stages of a temporal kernel whose sums grow as planes arrive (schedule/fold.h): each iteration gathers the
// newest plane with its neighbours, completes one plane's sums and adds to those of the planes ahead.
#include <algorithm>

#include "compiler/lower/temporal/stage.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using schedule::Fold;

const TemporalStages::Use* TemporalStages::folded_use(int stage) const {
    for (const Use& use : frame_.pipeline.stages[static_cast<std::size_t>(stage)].uses) {
        const Queue& queue = *frame_.pipeline.find(use.field);
        if (queue.fold && use.time == queue.window_time) return &use;
    }
    return nullptr;
}

// What is carried past `plane`, counted from the plane that the sum is for.
Expr TemporalStages::sum(const Use& use, int plane, const Fold::Carried& value) const {
    const Fold& fold = *frame_.pipeline.find(use.field)->fold;
    int index = 0;
    for (int earlier = fold.low; earlier < plane; ++earlier)
        index += static_cast<int>(fold.after(earlier).size());
    const auto& carried = fold.after(plane);
    index += static_cast<int>(std::ranges::find(carried, value) - carried.begin());
    return planes_.at(use.field).sums.at({step(), index, frame_.y(), frame_.x()});
}

CellSources TemporalStages::folded_sources(int stage, const Expr& stage_plane, const Use& use, int plane) {
    const Queue& queue = *frame_.pipeline.find(use.field);
    const Fold& fold = *queue.fold;
    CellSources given = sources(stage, stage_plane);
    const auto elsewhere = given.load;
    const Window window = window_at(use, queue, fold.high);
    given.load = [this, &use, &queue, &fold, window, plane, elsewhere](const Level& level,
                                                                       const ir::Offset& offset) {
        if (level != Level{use.field, use.time}) return elsewhere(level, offset);
        if (offset[frame_.streaming_axis] == plane) {
            const int y = frame_.two_rows ? offset[1] : 0;
            return window(frame_.y() + (y + queue.reach[1][0]),
                          frame_.x() + (offset[0] + frame_.beside(queue, 0)));
        }
        if (offset == ir::Offset{} && plane > fold.low) return sum(use, plane - 1, {true, {}});
        throw InternalError("a plane is read that has gone by");
    };
    given.given = [this, &use, &fold, plane, invariant = given.given](ir::ExprId id) {
        const Fold::Carried value{false, id};
        if (plane == fold.low || std::ranges::find(fold.before(plane), value) == fold.before(plane).end())
            return invariant(id);
        return sum(use, plane - 1, value);
    };
    return given;
}

// What the newest plane adds to the sums for which it is `plane`.
Block TemporalStages::add_plane(int stage, const Expr& stage_plane, const Use& use, int plane) {
    const Fold& fold = *frame_.pipeline.find(use.field)->fold;
    const CellSources given = folded_sources(stage, stage_plane, use, plane);
    Block cell;
    std::vector<ir::ExprId> grown;
    for (const Fold::Carried& value : fold.after(plane))
        if (!value.own) grown.push_back(value.expr);
    std::vector<Expr> values = lower_values(frame_.context, given, grown, cell);
    auto next = values.begin();
    for (const Fold::Carried& value : fold.after(plane)) {
        const Expr now = value.own ? given.load({use.field, use.time}, {}) : *next++;
        cell.push_back(kernel::Assign{sum(use, plane, value), now});
    }
    // The names of one cell's values are its own.
    if (frame_.values_x * frame_.cells_y == 1) cell = {kernel::Scope{std::move(cell)}};
    return frame_.over_cells(std::move(cell));
}

void TemporalStages::add_planes(int stage, const Expr& stage_plane, const Use& use, Block& body) {
    const Fold& fold = *frame_.pipeline.find(use.field)->fold;
    body.push_back(kernel::Comment{"What this plane adds to the sums of those ahead."});
    for (const ir::Assign* assign : frame_.context.stage().assigns)
        frame_.context.note(assign->where, body);
    for (int plane = fold.high - 1; plane >= fold.low; --plane)
        append(body, add_plane(stage, stage_plane, use, plane));
}

// The first plane is shown in place of those before it: by now it is there.
void TemporalStages::show_first_plane(int stage, const Expr& stage_plane, const Use& use, Block& body) {
    const Fold& fold = *frame_.pipeline.find(use.field)->fold;
    if (!frame_.face(use.field, frame_.streaming_axis, 0).map.repeats_edge() || fold.low >= 0) return;
    Block images;
    for (int plane = fold.low; plane < 0; ++plane)
        append(images, add_plane(stage, stage_plane, use, plane));
    body.push_back(kernel::If{frame_.near_face && stage_plane == -fold.high, std::move(images), {}});
}

void TemporalStages::show_past_faces(const Queue& queue, const Expr& plane, const Expr& newest, Block& body) {
    for (int side = 0; side < 2; ++side) {
        const FaceRule rule = frame_.face(queue.field, frame_.streaming_axis, side);
        if (!rule.value) continue;
        const Expr past = side == 0 ? plane < 0 : plane >= frame_.context.extent(frame_.streaming_axis);
        body.push_back(
            kernel::If{frame_.near_face && past, {fill_cells(newest, rule.value, frame_.all_values())}, {}});
    }
}

}  // namespace halo::lower
