#include "compiler/lower/shared/plan.h"

#include <algorithm>

#include "compiler/ir/repeats.h"
#include "compiler/ir/shifted.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/lower/shared/points.h"
#include "compiler/lower/shared/table_sums.h"

namespace halo::lower {
namespace {

rt::Role plan_role(ir::Role role) {
    switch (role) {
        case ir::Role::input:
            return rt::Role::input;
        case ir::Role::state:
            return rt::Role::state;
        case ir::Role::output:
            return rt::Role::output;
        case ir::Role::intermediate:
            return rt::Role::intermediate;
    }
    return rt::Role::input;
}

rt::FieldPlan plan_field(const ir::Program& program, ir::FieldId id) {
    const ir::Field& field = program[id];
    rt::FieldPlan plan;
    plan.name = field.name;
    plan.type = element_type(field.storage);
    plan.role = plan_role(field.role);
    plan.history = field.history;
    const ir::Interleave place = ir::interleave(program, id);
    if (place.group != nullptr) {  // the array has the most levels that any component needs
        for (const ir::FieldId other : place.group->fields)
            plan.history = std::max(plan.history, program[other].history);
        plan.interleave = place.count();
        plan.component = place.component;
    }
    plan.grid = field.grid;
    plan.halo = field.halo;
    for (int axis = 0; axis < program.rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const ir::Face& face = field.boundary[axis][side];
            plan.boundary[axis][side].kind = face.kind;
            plan.boundary[axis][side].reach = face.reach;
            if (face.kind == ir::BoundaryKind::fixed)
                plan.boundary[axis][side].value = host_scalar(program, face.value);
        }
    }
    return plan;
}

void add_stretched_axes(const ir::Program& program, const ProgramLayout& layout, rt::LaunchPlan& plan) {
    const auto find = [&](const std::string& name) {
        return std::ranges::find(program.fields, name, &ir::Field::name);
    };
    const auto in_plan = [&](std::vector<ir::Field>::const_iterator field) {
        return layout.plan_field[static_cast<std::size_t>(field - program.fields.begin())];
    };
    for (const ir::StretchedAxis& axis : program.stretched) {
        rt::StretchedAxisPlan made;
        made.axis = axis.axis;
        made.is_periodic = axis.is_periodic;
        if (axis.formula) {
            made.distance = distance_scalar(*axis.formula, program.params);
            if (made.distance.steps.empty()) continue;
        } else {
            // A program that computes the distances themselves, from a run's `init`, has no tables of them.
            const auto distances = find(axis.field);
            if (distances == program.fields.end() || distances->role != ir::Role::input) continue;
            made.field = in_plan(distances);
        }
        for (const ir::StretchedAxis::Table& table : axis.tables)
            made.tables.push_back({in_plan(find(table.field)), table.holds});
        plan.stretched.push_back(std::move(made));
    }
}

void describe_exprs(const ir::Program& program, ProgramLayout& layout) {
    layout.uniform = ir::uniform_exprs(program);
    layout.shapes.clear();
    ir::ShiftedShapes shapes(program);
    for (std::uint32_t e = 0; e < program.exprs.size(); ++e)
        layout.shapes.push_back(shapes.of({e}).shape);
}

}  // namespace

ProgramLayout layout_of_part(const ProgramLayout& layout, const ir::Program& part) {
    ProgramLayout of_part = layout;
    describe_exprs(part, of_part);
    of_part.plan_field.resize(part.fields.size(), -1);
    of_part.halo_kernels.resize(part.fields.size(), false);
    return of_part;
}

ProgramLayout make_layout(const ir::Program& program, const StageViews& views, Machine machine) {
    ProgramLayout layout;
    layout.halo = views.halo;
    layout.halo_kernels = fields_with_halo_kernels(program, machine);
    describe_exprs(program, layout);
    for (std::uint32_t c = 0; c < program.coefs.size(); ++c)
        layout.names.take(coef_symbol(program, ir::CoefId{c}));
    for (const ir::Field& field : program.fields)
        layout.names.take("store_images_" + field.name);
    for (const ir::Group& group : program.groups)
        if (group.interleaved) layout.names.take("store_images_" + group.name);
    int next = 0;
    for (std::size_t f = 0; f < program.fields.size(); ++f) {
        layout.plan_field.push_back(views.stored[f] ? next++ : -1);
        for (int axis = 0; axis < program.rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                layout.halo[axis][side] =
                    std::max(layout.halo[axis][side], program.fields[f].halo[axis][side]);
            }
        }
    }
    return layout;
}

rt::LaunchPlan begin_plan(const ir::Program& program, const StageViews& views, const ProgramLayout& layout) {
    rt::LaunchPlan plan;
    plan.name = program.name;
    plan.rank = program.rank();
    plan.halo = layout.halo;
    for (const ir::Axis& axis : program.axes) {
        plan.axes.push_back(axis.name);
        plan.spacing.push_back(host_scalar(program, axis.spacing));
        plan.origin.push_back(host_scalar(program, axis.origin));
    }
    for (std::size_t axis = 0; axis < plan.window.size(); ++axis)
        if (const auto& along = program.window.axes[axis])
            plan.window[axis] = rt::WindowPlan{static_cast<int>(along->first.index),
                                               static_cast<int>(along->length.index), along->wraps};
    add_stretched_axes(program, layout, plan);
    for (const ir::Param& param : program.params)
        plan.params.push_back({param.name, param.default_value});
    for (std::size_t c = 0; c < program.coefs.size(); ++c) {
        const ir::Coef& coef = program.coefs[c];
        plan.coefs.push_back({coef.name, coef_symbol(program, ir::CoefId{static_cast<std::uint32_t>(c)}),
                              element_type(kernel_type(coef.type)), coef.low, coef.high, coef.defaults});
    }
    for (std::uint32_t f = 0; f < program.fields.size(); ++f) {
        if (views.stored[f]) plan.fields.push_back(plan_field(program, ir::FieldId{f}));
    }
    for (const ir::Table& table : program.tables) {
        const TableShape shape = table_shape(table);
        rt::TablePlan made;
        made.name = table.name;
        made.type = element_type(shape.type);
        for (const ir::Table::Column& column : table.columns)
            made.columns.push_back(column.name);
        made.given = static_cast<int>(ir::given_columns(table));
        made.width = shape.width;
        made.is_series = table.is_series;
        plan.tables.push_back(std::move(made));
    }
    plan.points = point_plans(program);
    for (const ir::ExprId condition : ir::conditions_of_steps(program))
        plan.full_steps.push_back(host_scalar(program, condition));
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (!reduce) continue;
        rt::ReductionPlan reduction;
        reduction.name = reduce->name;
        reduction.op = reduce->op == ir::ReduceOp::sum   ? rt::ReductionPlan::Op::sum
                       : reduce->op == ir::ReduceOp::min ? rt::ReductionPlan::Op::min
                                                         : rt::ReductionPlan::Op::max;
        reduction.square_root = reduce->square_root;
        reduction.initial = reduce->initial;
        plan.reductions.push_back(reduction);
    }
    return plan;
}

rt::Domain launch_domain(const StageView& stage) {
    rt::Domain domain;
    domain.factor = stage.factor;
    if (!stage.is_launched_for_box()) return domain;
    domain.ranges = stage.in_place->region.ranges;
    return domain;
}

namespace {

// Levels without an array are read by nothing later. Components that lie side by side are in one.
std::vector<rt::KernelPlan::Written> ghosts_due(const ir::Program& program, const ProgramLayout& layout,
                                                const rt::LaunchPlan& plan, int repeat) {
    std::vector<rt::KernelPlan::Written> due;
    const auto found = std::ranges::find(program.ghosts_due, repeat, &ir::GhostsDue::repeat);
    if (found == program.ghosts_due.end()) return due;
    for (const ir::Level& level : found->levels) {
        const int field = layout.plan_field[level.field.index];
        if (field < 0) continue;
        const int first = field - plan.fields[static_cast<std::size_t>(field)].component;
        const auto is_it = [&](const rt::KernelPlan::Written& other) {
            return other.field == first && other.time == level.time;
        };
        if (std::ranges::none_of(due, is_it)) due.push_back({first, level.time});
    }
    return due;
}

rt::RepeatPlan::Until until(const ir::Program& program, const ir::RepeatEnd& end) {
    rt::RepeatPlan::Until until;
    until.condition = host_scalar(program, end.until);
    until.text = end.text;
    for (const ir::ReductionId reduction : ir::own_reductions_of(program, end))
        until.reductions.push_back(static_cast<int>(reduction.index));
    return until;
}

}  // namespace

std::vector<RepeatedKernels::Ended> RepeatedKernels::ended(const StageView& stage,
                                                           const StageView* next) const {
    std::vector<Ended> all;
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
        const bool goes_on =
            next != nullptr && std::ranges::find(next->repeats(), open->repeat) != next->repeats().end();
        if (!goes_on && ir::may_end_on_device(*stage.program, open->repeat))
            all.push_back({ir::end_condition(*stage.program, open->repeat), open->index});
    }
    return all;
}

void RepeatedKernels::begin(const rt::LaunchPlan& plan) {
    first_ = static_cast<int>(plan.kernels.size());
}

void RepeatedKernels::end(const StageView& stage, const ProgramLayout& layout, rt::LaunchPlan& plan) {
    const std::vector<ir::Repeat>& repeats = stage.repeats();
    const int past = static_cast<int>(plan.kernels.size());
    const auto common = std::ranges::mismatch(open_, repeats, {}, &Open::repeat).in1 - open_.begin();
    open_.resize(static_cast<std::size_t>(common));
    if (repeats.empty() || past == first_) return;
    for (std::size_t depth = open_.size(); depth < repeats.size(); ++depth) {
        open_.push_back({repeats[depth], plan.repeats.size()});
        plan.repeats.push_back({first_, past, repeats[depth].count, {}});
        plan.repeats.back().ghosts_due = ghosts_due(*stage.program, layout, plan, repeats[depth].number);
        if (const ir::RepeatEnd* const end = ir::end_condition(*stage.program, repeats[depth]))
            plan.repeats.back().until = until(*stage.program, *end);
    }
    for (const Open& open : open_)
        plan.repeats[open.index].past = past;
    std::vector<rt::RepeatPlan::Exchange>& exchanges = plan.repeats[open_.back().index].exchanges;
    const auto first_statement = static_cast<std::size_t>(stage.stage.statements.front());
    const auto other = ir::exchanged_with(*stage.program, first_statement);
    const bool is_copy = other && stage.stage.statements.size() == 1 && past - first_ == 1 &&
                         plan.kernels.back().steps == rt::Steps::all;
    if (!is_copy) return exchanges.clear();  // an exchange comes after all else
    const auto& assign = std::get<ir::Assign>(stage.program->statements[first_statement]);
    if (layout.halo_kernels[assign.target.index] || layout.halo_kernels[other->index])
        return exchanges.clear();
    exchanges.push_back(
        {first_, layout.plan_field[assign.target.index], assign.time, layout.plan_field[other->index]});
}

std::vector<int> plan_reductions(const StageView& stage, const rt::LaunchPlan& plan) {
    std::vector<int> indices;
    for (const ir::Reduce* reduce : stage.reductions)
        indices.push_back(
            static_cast<int>(std::ranges::find(plan.reductions, reduce->name, &rt::ReductionPlan::name) -
                             plan.reductions.begin()));
    return indices;
}

void add_stage_kernel(const StageView& stage, rt::KernelPlan kernel, rt::LaunchPlan& plan) {
    if (kernel.runs(true))
        for (const int reduction : plan_reductions(stage, plan))
            plan.reductions[static_cast<std::size_t>(reduction)].kernel =
                static_cast<int>(plan.kernels.size());
    plan.kernels.push_back(std::move(kernel));
}

}  // namespace halo::lower
