// The CPU's one strategy: plain loops over a range of rows or planes, which the runtime gives to threads and
// cuts into time tiles (runtime/core/time_tiles.h), the contiguous axis vectorised. Halos are filled by the
// runtime after each kernel.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/kernel/verify.h"
#include "compiler/lower/cpu_loops.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/shared/columns.h"
#include "compiler/lower/shared/halo_kernel.h"
#include "compiler/lower/shared/plan.h"
#include "compiler/lower/shared/points.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/shared/table_sums.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

// Rows of a table whose columns one block computes.
constexpr int kBlockOfRows = 1024;

// Names within a kernel, with those of its parameters.
std::vector<std::string> with_parameters(std::vector<std::string> roles) {
    roles.insert(roles.end(), kCpuCallNames.begin(), kCpuCallNames.end());
    return roles;
}

// The kernels of computed columns, before those of the step.
void add_column_loops(const ir::Program& program, const ProgramLayout& layout, Names& kernel_names,
                      Lowered& lowered) {
    for (std::uint32_t t = 0; t < program.tables.size(); ++t) {
        const ir::Table& table = program.tables[t];
        if (!has_computed_columns(table)) continue;
        const ir::TableId id{t};
        StageView nothing;
        nothing.program = &program;
        Context context(nothing, layout, with_parameters(table_roles()));
        kernel::KernelFunction function;
        const Expr block = kernel::variable("block", Type::i32), row = kernel::variable("row", Type::i32);
        Block work{
            kernel::Declare{Type::i64, "at", kernel::convert(row, Type::i64) * table_shape(table).width}};
        append(work, column_values(context, id, kernel::variable("at", Type::i64)));
        const Expr end = block * kBlockOfRows + kBlockOfRows, all = context.rows(id);
        Block rows{kernel::For{"row", block * kBlockOfRows, kernel::select(end < all, end, all), 1,
                               kernel::Unroll::leave, std::move(work)}};
        function.body.push_back(kernel::For{"block",
                                            kernel::convert(kernel::variable("begin", Type::i64), Type::i32),
                                            kernel::convert(kernel::variable("end", Type::i64), Type::i32), 1,
                                            kernel::Unroll::leave, std::move(rows)});
        function.name = kernel_names.take(program.name + "_" + table.name);
        function.parameters = context.parameters();
        rt::KernelPlan kernel;
        kernel.name = function.name;
        kernel.tile = {kBlockOfRows, 1, 1};
        kernel.domain.kind = rt::Domain::Kind::rows;
        kernel.domain.index = static_cast<int>(t);
        kernel.arguments = context.arguments({});
        lowered.plan.kernels.push_back(std::move(kernel));
        lowered.kernels.functions.push_back(std::move(function));
    }
}

// How the cells of a stage use the arrays among its arguments; what goes through lists of points, or changes
// cells in place, is left open.
void describe_uses(const StageView& stage, const ProgramLayout& layout,
                   std::vector<rt::Argument>& arguments) {
    if (is_at_points(stage) || stage.in_place != nullptr) return;
    const auto use_of = [&](const Level& level) -> rt::ArrayUse* {
        // Components side by side are in one argument, of the first of them.
        const ir::Group* group = ir::interleave(*stage.program, level.field).group;
        const ir::FieldId owner = group == nullptr ? level.field : group->fields.front();
        for (rt::Argument& argument : arguments) {
            if (argument.kind != rt::Argument::Kind::field || argument.time != level.time ||
                argument.field != layout.plan_field[owner.index])
                continue;
            if (!argument.use) argument.use.emplace();
            return &*argument.use;
        }
        return nullptr;
    };
    for (const Read& read : stage.reads) {
        rt::ArrayUse* use = use_of(read.level);
        if (use == nullptr) continue;
        use->read = true;
        for (int axis = 0; axis < stage.rank(); ++axis)
            use->reach[axis] = std::max({use->reach[axis], -read.low[axis], read.high[axis]});
    }
    for (const Level& level : stage.elsewhere)
        if (rt::ArrayUse* use = use_of(level)) use->read = true;
    for (const Write& write : stage.writes)
        if (rt::ArrayUse* use = use_of(write.level)) use->written = true;
}

void add_stage_loops(const StageKernel& use, const ProgramLayout& layout, Names& kernel_names,
                     Lowered& lowered) {
    const StageView& stage = *use.stage;
    Context context(stage, layout, with_parameters(is_at_points(stage) ? point_roles() : loop_roles(stage)));
    StrategyResult result = is_at_points(stage) ? lower_points_cpu(context) : lower_loops(context);
    result.function.name = kernel_names.take(stage.name);
    result.function.parameters = context.parameters();
    rt::KernelPlan kernel;
    kernel.name = result.function.name;
    kernel.steps = use.steps;
    kernel.within = stage.within;
    kernel.tile = result.tile;
    kernel.domain = is_at_points(stage) ? point_domain(stage) : launch_domain(stage);
    kernel.arguments = context.arguments(plan_reductions(stage, lowered.plan));
    describe_uses(stage, layout, kernel.arguments);
    for (const Write& write : stage.writes) {
        if (!Images::needed(context, write)) continue;
        kernel.refresh_halos.push_back({layout.plan_field[write.level.field.index], write.level.time});
    }
    add_stage_kernel(stage, std::move(kernel), lowered.plan);
    lowered.kernels.functions.push_back(std::move(result.function));
}

}  // namespace

Lowered lower_cpu(const ir::Program& program) {
    const StageViews views = view_stages(program);
    const ProgramLayout layout = make_layout(program, views, Machine::cpu);
    Lowered lowered;
    lowered.plan = begin_plan(program, views, layout);
    lowered.kernels.header = {fmt::format("{}: loops over a range of blocks.", program.name)};
    Names kernel_names;
    HaloKernels halo_kernels(program, layout, Machine::cpu, lowered.kernels, kernel_names);
    halo_kernels.append_inputs(lowered.plan);
    add_column_loops(program, layout, kernel_names, lowered);
    const std::vector<StageView> unread = view_unread_stages(views);
    RepeatedKernels repeats;
    for (std::size_t s = 0; s < views.stages.size(); ++s) {
        repeats.begin(lowered.plan);
        halo_kernels.append_before(views.stages[s], unread[s], lowered.plan);
        for (const StageKernel& use : kernels_of(views.stages[s], unread[s]))
            add_stage_loops(use, layout, kernel_names, lowered);
        for (const Write& write : views.stages[s].writes)
            halo_kernels.append(write.level, steps_writing(unread[s], write.level), views.stages[s].within,
                                lowered.plan);
        repeats.end(views.stages[s], layout, lowered.plan);
    }
#ifdef HALO_VERIFY
    kernel::require_valid(lowered.kernels);
#endif
    return lowered;
}

}  // namespace halo::lower
