#include "compiler/lower/stage_view.h"

#include <algorithm>
#include <set>

namespace halo::lower {
namespace {

ir::ExprId value_of(const ir::Statement& statement) {
    return std::visit([](const auto& node) { return node.value; }, statement);
}

void add_offset(Read& read, const ir::Offset& offset) {
    const auto place = std::lower_bound(read.offsets.begin(), read.offsets.end(), offset);
    if (place != read.offsets.end() && *place == offset) return;
    read.offsets.insert(place, offset);
    for (int axis = 0; axis < ir::kMaxRank; ++axis) {
        read.low[axis] = std::min(read.low[axis], offset[axis]);
        read.high[axis] = std::max(read.high[axis], offset[axis]);
    }
}

void add_read(StageView& view, const Level& level, const ir::Offset& offset) {
    auto read =
        std::find_if(view.reads.begin(), view.reads.end(), [&](const Read& r) { return r.level == level; });
    if (read == view.reads.end()) {
        view.reads.push_back({level, {}, {}, {}});
        read = view.reads.end() - 1;
    }
    add_offset(*read, offset);
}

void add_reads(StageView& view, const std::vector<ir::ExprId>& roots) {
    const std::vector<bool> needed = ir::reachable_exprs(*view.program, roots);
    for (std::size_t e = 0; e < needed.size(); ++e) {
        if (!needed[e]) continue;
        const auto* access = std::get_if<ir::Access>(&view.program->exprs[e].node);
        if (!access) continue;
        const Level level{access->field, access->time};
        if (!view.assigns_level(level)) add_read(view, level, access->offset);
    }
}

StageView view_stage(const ir::Program& program, const ir::Stage& stage, const std::vector<bool>& stored) {
    StageView view;
    view.program = &program;
    view.stage = stage;
    std::vector<ir::ExprId> roots;
    for (int index : stage.statements) {
        const ir::Statement& statement = program.statements[index];
        roots.push_back(value_of(statement));
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) {
            view.reductions.push_back(reduce);
            continue;
        }
        const auto& assign = std::get<ir::Assign>(statement);
        view.assigns.push_back(&assign);
        if (stored[assign.target.index]) view.writes.push_back({{assign.target, assign.time}, &assign});
    }
    add_reads(view, roots);
    for (const Write& write : view.writes) {
        const bool keeps = write.has_margins() && view.field(write.level).role == ir::Role::state;
        if (keeps) add_read(view, {write.level.field, 0}, {});
    }
    return view;
}

}  // namespace

bool Read::at_offsets() const {
    return offsets.size() > 1 || offsets.front() != ir::Offset{};
}

bool Write::has_margins() const {
    return assign->margins != ir::Margins{};
}

bool StageView::assigns_level(const Level& level) const {
    return std::any_of(assigns.begin(), assigns.end(), [&](const ir::Assign* assign) {
        return assign->target == level.field && assign->time == level.time;
    });
}

ir::Offset StageView::low() const {
    ir::Offset low{};
    for (const Read& read : reads) {
        for (int axis = 0; axis < ir::kMaxRank; ++axis)
            low[axis] = std::min(low[axis], read.low[axis]);
    }
    return low;
}

ir::Offset StageView::high() const {
    ir::Offset high{};
    for (const Read& read : reads) {
        for (int axis = 0; axis < ir::kMaxRank; ++axis)
            high[axis] = std::max(high[axis], read.high[axis]);
    }
    return high;
}

StageViews view_stages(const ir::Program& program) {
    StageViews views;
    const std::vector<ir::Stage> stages = ir::form_stages(program);
    views.stored = ir::stored_fields(program, stages);
    for (const ir::Stage& stage : stages) {
        StageView view = view_stage(program, stage, views.stored);
        view.name = program.name + "_";
        if (stages.size() == 1) {
            view.name += "step";
        } else if (!view.writes.empty()) {
            view.name += view.field(view.writes.front().level).name;
        } else {
            view.name += view.reductions.front()->name;
        }
        for (int axis = 0; axis < program.rank(); ++axis) {
            views.halo[axis][0] = std::max(views.halo[axis][0], -view.low()[axis]);
            views.halo[axis][1] = std::max(views.halo[axis][1], view.high()[axis]);
        }
        views.stages.push_back(std::move(view));
    }
    return views;
}

}  // namespace halo::lower
