#include "compiler/lower/shared/stage_view.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/shown_cells.h"
#include "compiler/ir/unread_steps.h"

namespace halo::lower {
namespace {

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

void add_reads(StageView& view, ir::ReachWalk& walk, const std::vector<ir::ExprId>& roots) {
    for (const std::uint32_t e : walk.from(roots)) {
        const auto* access = std::get_if<ir::Access>(&view.program->exprs[e].node);
        if (!access) continue;
        const Level level{access->field, access->time};
        if (!view.is_of_its_grid(view.field(level))) {
            if (std::ranges::find(view.elsewhere, level) == view.elsewhere.end())
                view.elsewhere.push_back(level);
        } else if (!view.assigns_level(level)) {
            add_read(view, level, access->offset);
        }
    }
}

StageView view_stage(const ir::Program& program, const ir::Stage& stage, const std::vector<bool>& stored,
                     const std::vector<bool>& in_place, ir::ReachWalk& walk) {
    StageView view;
    view.program = &program;
    view.stage = stage;
    std::vector<ir::ExprId> roots;
    for (int index : stage.statements) {
        const ir::Statement& statement = program.statements[index];
        view.factor = ir::grid_factor(program, statement);
        view.within = ir::steps_of(statement);
        for (const ir::ExprId root : ir::roots_of(statement))
            roots.push_back(root);
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) {
            view.reductions.push_back(reduce);
            continue;
        }
        view.inject = std::get_if<ir::Inject>(&statement);
        view.sample = std::get_if<ir::Sample>(&statement);
        if (view.inject != nullptr)
            view.writes.push_back({{view.inject->target, view.inject->time}, nullptr});
        if (view.inject != nullptr || view.sample != nullptr) continue;
        const auto& assign = std::get<ir::Assign>(statement);
        view.assigns.push_back(&assign);
        if (in_place[index] && view.in_place == nullptr) view.in_place = &assign;
        if (assign.sweep) view.swept.push_back(&assign);
        if (stored[assign.target.index]) view.writes.push_back({{assign.target, assign.time}, &assign});
    }
    add_reads(view, walk, roots);
    for (const Write& write : view.writes) {
        if (write.assign == nullptr || write.assign == view.in_place || !view.swept.empty()) continue;
        const bool keeps = write.is_partial() && view.field(write.level).role == ir::Role::state;
        if (keeps) add_read(view, {write.level.field, 0}, {});
    }
    return view;
}

std::vector<StageView> views_of(const ir::Program& program, const std::vector<ir::Stage>& stages,
                                const std::vector<bool>& stored) {
    const std::vector<bool> in_place = ir::in_place_statements(program);
    ir::ReachWalk walk(program);
    std::vector<StageView> views;
    for (const ir::Stage& stage : stages)
        views.push_back(view_stage(program, stage, stored, in_place, walk));
    return views;
}

// Of one of so many stages.
std::string name_of(const StageView& view, std::size_t stages) {
    if (view.inject != nullptr) return "inject_" + (*view.program)[view.inject->points].name;
    if (view.sample != nullptr) return "sample_" + (*view.program)[view.sample->points].name;
    if (stages == 1) return "step";
    if (!view.writes.empty()) return view.field(view.writes.front().level).name;
    return view.reductions.front()->name;
}

}  // namespace

bool Read::at_offsets() const {
    return offsets.size() > 1 || offsets.front() != ir::Offset{};
}

bool Write::is_partial() const {
    return ir::is_partial(*assign);
}

const std::vector<ir::Repeat>& StageView::repeats() const {
    static const std::vector<ir::Repeat> none;
    if (stage.statements.empty()) return none;
    return ir::repeats_of(program->statements[static_cast<std::size_t>(stage.statements.front())]);
}

bool StageView::shares_box() const {
    if (in_place == nullptr || !swept.empty()) return false;
    const auto is_let = [&](const ir::Assign* assign) {
        return (*program)[assign->target].role == ir::Role::intermediate;
    };
    return !reductions.empty() || std::ssize(assigns) - std::ranges::count_if(assigns, is_let) > 1;
}

bool StageView::reads_nothing_changed() const {
    const bool reads_neighbours = std::ranges::any_of(reads, [&](const Read& read) {
        return read.at_offsets() && read.level == Level{in_place->target, in_place->time};
    });
    return shares_box() || (swept.empty() && !reads_neighbours);
}

bool StageView::assigns_level(const Level& level) const {
    const bool shares = shares_box();
    return std::any_of(assigns.begin(), assigns.end(), [&](const ir::Assign* assign) {
        return (shares || assign != in_place) && !assign->sweep && assign->target == level.field &&
               assign->time == level.time;
    });
}

bool StageView::sweeps_level(const Level& level) const {
    return std::ranges::any_of(swept, [&](const ir::Assign* assign) {
        return assign->target == level.field && assign->time == level.time;
    });
}

bool sweeps_whole_lines(const StageView& stage) {
    return std::ranges::all_of(stage.swept, [](const ir::Assign* assign) {
        return !assign->condition && ir::margins_within(assign->region, assign->margins) == ir::Margins{};
    });
}

std::vector<ir::ExprId> StageView::roots() const {
    std::vector<ir::ExprId> all;
    const auto add = [&](const auto* statement) {
        all.push_back(statement->value);
        if (statement->condition) all.push_back(*statement->condition);
    };
    for (const ir::Assign* assign : assigns)
        add(assign);
    for (const ir::Reduce* reduce : reductions)
        add(reduce);
    return all;
}

std::vector<const ir::Assign*> StageView::lets_for(std::vector<ir::ExprId> roots) const {
    std::set<Level> read;
    const auto add_reads = [&] {
        for (const std::uint32_t e : ir::reached_exprs(*program, roots))
            if (const auto* access = std::get_if<ir::Access>(&program->exprs[e].node))
                read.insert({access->field, access->time});
    };
    add_reads();
    std::vector<const ir::Assign*> lets;
    for (const ir::Assign* assign : std::views::reverse(assigns)) {
        const Level level{assign->target, assign->time};
        if (!assigns_level(level) || !read.contains(level)) continue;
        lets.push_back(assign);
        roots = {assign->value};
        add_reads();
    }
    std::ranges::reverse(lets);
    return lets;
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
    return view_stages(program, ir::form_stages(program));
}

StageViews view_stages(const ir::Program& program, const std::vector<ir::Stage>& stages) {
    StageViews views;
    views.stored = ir::stored_fields(program, stages);
    views.stages = views_of(program, stages, views.stored);
    for (StageView& view : views.stages) {
        view.name = program.name + "_" + name_of(view, stages.size());
        for (int axis = 0; axis < program.rank(); ++axis) {
            views.halo[axis][0] = std::max(views.halo[axis][0], -view.low()[axis]);
            views.halo[axis][1] = std::max(views.halo[axis][1], view.high()[axis]);
        }
    }
    return views;
}

std::vector<StageView> view_unread_stages(const StageViews& views) {
    if (views.stages.empty()) return {};
    const ir::Program& program = *views.stages.front().program;
    const std::vector<bool> done = ir::done_in_unread_steps(program);
    std::vector<ir::Stage> stages;
    for (const StageView& view : views.stages) {
        stages.push_back(view.stage);
        std::erase_if(stages.back().statements, [&](int statement) { return !done[statement]; });
    }
    std::vector<StageView> result = views_of(program, stages, ir::stored_fields(program, stages));
    for (std::size_t s = 0; s < result.size(); ++s)
        result[s].name = views.stages[s].name + "_states";
    return result;
}

std::vector<StageKernel> kernels_of(const StageView& stage, const StageView& unread) {
    if (unread.stage.statements.empty()) return {{&stage, rt::Steps::with_results}};
    if (unread.stage.statements.size() == stage.stage.statements.size() &&
        unread.writes.size() == stage.writes.size())
        return {{&stage, rt::Steps::all}};
    return {{&stage, rt::Steps::with_results}, {&unread, rt::Steps::without_results}};
}

std::string left_out(const StageView& stage, const StageView& unread) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    for (const Write& write : stage.writes)
        if (steps_writing(unread, write.level) != rt::Steps::all) add(stage.field(write.level).name);
    for (const ir::Reduce* reduce : stage.reductions)
        if (std::ranges::find(unread.reductions, reduce) == unread.reductions.end()) add(reduce->name);
    return names;
}

rt::Steps steps_writing(const StageView& unread, const Level& level) {
    return std::ranges::find(unread.writes, level, &Write::level) != unread.writes.end()
               ? rt::Steps::all
               : rt::Steps::with_results;
}

namespace {

// Whether the field's own writers can store all that lies past its faces, in each step: no line sweep reads
// that before, and all cells are written first, so that none lacks its images. Cells of a state that have no
// value are written, too.
bool is_filled_by_writers(const ir::Program& program, std::uint32_t index) {
    const ir::Field& field = program.fields[index];
    bool is_written = false;
    for (const ir::Statement& statement : program.statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        if (assign == nullptr || assign->target.index != index) continue;
        const bool is_first = !std::exchange(is_written, true);
        if (assign->sweep || (is_first && field.role != ir::Role::state && ir::is_partial(*assign)))
            return false;
    }
    return is_written && ir::stores_can_fill(program, field);
}

}  // namespace

std::vector<bool> fields_with_halo_kernels(const ir::Program& program, Machine machine) {
    const std::vector<bool> in_place = ir::in_place_statements(program);
    std::vector<bool> result(program.fields.size());
    for (std::uint32_t f = 0; f < result.size(); ++f)
        result[f] = ir::has_formula(program.fields[f]) &&
                    (machine == Machine::cpu || !is_filled_by_writers(program, f));
    for (std::size_t i = 0; i < in_place.size(); ++i) {
        const auto* assign = std::get_if<ir::Assign>(&program.statements[i]);
        // A sweep reads past faces with fixed values alone.
        if (assign == nullptr || !in_place[i] || assign->sweep) continue;
        const ir::Field& target = program[assign->target];
        bool shows_cells = false;  // the halo changes; past fixed faces it is constant
        for (int axis = 0; axis < program.rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                const rt::ImageMap map = target.image(axis, side);
                shows_cells = shows_cells || map.shows_cell() || map.shows == rt::ImageMap::Shows::formula;
            }
        }
        if (!shows_cells) continue;
        for (const std::uint32_t e : ir::reached_exprs(program, ir::roots_of(program.statements[i]))) {
            const auto* access = std::get_if<ir::Access>(&program.exprs[e].node);
            if (access == nullptr || access->field != assign->target || access->time != assign->time ||
                access->is_at_cell())
                continue;
            if (machine == Machine::cpu || !ir::reads_own_images(program, target, access->offset))
                result[assign->target.index] = true;
        }
    }
    return result;
}

}  // namespace halo::lower
