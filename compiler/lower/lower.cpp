#include "compiler/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ir/analysis.h"
#include "compiler/ir/recurrences.h"
#include "compiler/kernel/tidy.h"
#include "compiler/kernel/verify.h"
#include "compiler/lower/ahead.h"
#include "compiler/lower/device_scalars.h"
#include "compiler/lower/direct/direct.h"
#include "compiler/lower/fuse.h"
#include "compiler/lower/header.h"
#include "compiler/lower/shared/columns.h"
#include "compiler/lower/shared/halo_kernel.h"
#include "compiler/lower/shared/plan.h"
#include "compiler/lower/shared/points.h"
#include "compiler/lower/shared/repeat_end.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/shared/table_sums.h"
#include "compiler/lower/stream/stream.h"
#include "compiler/lower/tile/tile.h"
#include "compiler/lower/time_block.h"
#include "compiler/schedule/strategies.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

// What lies side by side is read one by one.
void require_scalars(const Context& context, const schedule::Schedule& schedule) {
    if (has_table_sums(context.stage())) return;
    if (schedule::kind_of(schedule).refusals.interleaved.empty() && schedule.cells[0] == 1) return;
    const auto is_interleaved = [&](const auto& access) {
        return ir::interleave(context.program(), access.level.field).group != nullptr;
    };
    const StageView& stage = context.stage();
    if (std::any_of(stage.reads.begin(), stage.reads.end(), is_interleaved) ||
        std::any_of(stage.writes.begin(), stage.writes.end(), is_interleaved))
        throw UnsupportedError(
            "fields with `layout aos` are read and written by direct with 1 cell along the first axis");
}

StrategyResult lower_stage(Context& context, const schedule::Schedule& schedule, Images& images) {
    require_scalars(context, schedule);
    struct Lower {
        Context& context;
        const schedule::Schedule& schedule;
        Images& images;
        StrategyResult operator()(const schedule::Direct&) const {
            if (has_table_sums(context.stage())) return lower_table(context, schedule, images);
            if (!context.stage().swept.empty()) return lower_sweep(context, schedule, images);
            return lower_direct(context, schedule, images);
        }
        StrategyResult operator()(const schedule::Tile&) const {
            return lower_tile(context, schedule, images);
        }
        StrategyResult operator()(const schedule::Stream&) const {
            return lower_stream(context, schedule, images);
        }
    };
    return std::visit(Lower{context, schedule, images}, schedule.strategy);
}

// The kernels of computed columns, before those of the step.
void add_column_kernels(const ir::Program& program, const ProgramLayout& layout, Names& kernel_names,
                        Lowered& lowered) {
    for (std::uint32_t t = 0; t < program.tables.size(); ++t) {
        const ir::Table& table = program.tables[t];
        if (!has_computed_columns(table)) continue;
        StageView nothing;
        nothing.program = &program;
        Context context(nothing, layout, table_roles());
        StrategyResult result = lower_columns(context, ir::TableId{t});
        kernel::KernelFunction& function = result.function;
        function.name = kernel_names.take(program.name + "_" + table.name);
        function.comment = {"Computes columns of " + table.name +
                            ", a row a thread; runs where its rows or the params have changed."};
        function.threads = result.tile[0];
        function.parameters = context.parameters();
        rt::KernelPlan kernel;
        kernel.name = function.name;
        kernel.threads = {result.tile[0], 1, 1};
        kernel.tile = {result.tile[0], 1, 1};
        kernel.domain.kind = rt::Domain::Kind::rows;
        kernel.domain.index = static_cast<int>(t);
        kernel.arguments = context.arguments({});
        lowered.plan.kernels.push_back(std::move(kernel));
        lowered.kernels.functions.push_back(std::move(function));
    }
}

void add_point_kernel(const StageKernel& use, const ProgramLayout& layout, Images& images,
                      Names& kernel_names, Lowered& lowered) {
    const StageView& stage = *use.stage;
    Context context(stage, layout, point_roles());
    StrategyResult result = lower_points_cuda(context, images);
    kernel::KernelFunction& function = result.function;
    function.name = kernel_names.take(stage.name);
    function.comment = {point_words(stage)};
    function.threads = kPointThreads;
    function.parameters = context.parameters();
    rt::KernelPlan kernel;
    kernel.name = function.name;
    kernel.steps = use.steps;
    kernel.threads = {kPointThreads, 1, 1};
    kernel.tile = result.tile;
    kernel.domain = point_domain(stage);
    kernel.arguments = context.arguments({});
    lowered.plan.kernels.push_back(std::move(kernel));
    lowered.kernels.functions.push_back(std::move(function));
}

std::int64_t bytes_per_cell(const StageView& stage) {
    std::int64_t bytes = 0;
    for (const Read& read : stage.reads)  // what a sweep has just written is still in a cache
        if (!stage.sweeps_level(read.level)) bytes += size_of(storage_type(stage.field(read.level).storage));
    for (const Write& write : stage.writes)
        bytes += size_of(storage_type(stage.field(write.level).storage));
    return bytes;
}

std::string schedule_words(const StageView& stage, const schedule::Schedule& schedule) {
    const auto extents = [&](const rt::Lengths& lengths) {
        std::string text;
        for (int axis = 0; axis < stage.rank(); ++axis)
            text += fmt::format("{}{}", axis ? "x" : "", lengths[axis]);
        return text;
    };
    return fmt::format("Schedule: {}, blocks of {} threads, {} cell{} a thread.",
                       schedule::kind_of(schedule).title, extents(schedule.threads), extents(schedule.cells),
                       stage.rank() == 1 && schedule.cells[0] == 1 ? "" : "s");
}

// A box that is thin along the contiguous axis has no use for rows of threads: they lie along the next one.
schedule::Schedule fitted(schedule::Schedule schedule, const StageView& stage) {
    if (!stage.is_launched_for_box() || !stage.swept.empty() || stage.rank() == 1) return schedule;
    const ir::Region::Range& range = stage.in_place->region.ranges[0];
    const int width = range.end.offset - range.begin.offset;
    if (range.begin.from_high != range.end.from_high || width < 1 || width >= schedule.threads[0])
        return schedule;
    constexpr int kMostOfAxis = 1024;
    const int along = schedule.threads[0] / width * schedule.threads[1];
    schedule.threads[0] = width;
    schedule.threads[1] = std::min(along, kMostOfAxis / (width * schedule.threads[2]));
    return schedule;
}

// full: the stage with all of its statements.
void add_stage(const StageView& full, const StageKernel& use, const schedule::Schedule& planned,
               const ProgramLayout& layout, Images& images, Names& kernel_names, Lowered& lowered) {
    const StageView& stage = *use.stage;
    if (is_at_points(stage)) return add_point_kernel(use, layout, images, kernel_names, lowered);
    if (!stage.swept.empty() && !stage.in_place->sweep->inner &&
        planned.threads[stage.in_place->sweep->axis] != 1 &&
        !std::ranges::all_of(stage.swept, [](const ir::Assign* each) { return ir::is_in_parts(*each); }))
        throw UnsupportedError("a sweep has one thread for each line, and so one along its axis");
    Context context(stage, layout, has_table_sums(stage) ? table_roles() : std::vector<std::string>());
    take_repeat_word(context);
    schedule::Schedule schedule = fitted(planned, stage);
    // Of a sum over a table these go through its rows together, which the rest has no use for.
    if (has_table_sums(full) && !has_table_sums(stage)) schedule.cells = {1, 1, 1};
    StrategyResult result = lower_stage(context, schedule, images);
    kernel::KernelFunction& function = result.function;
    return_when_done(context, function);
    function.name = kernel_names.take(stage.name);
    function.comment = {
        level_words(context), schedule_words(stage, schedule),
        fmt::format("At least {} bytes move between memory and chip for a cell.", bytes_per_cell(stage))};
    if (use.steps == rt::Steps::without_results)
        function.comment.insert(
            function.comment.begin(),
            fmt::format("In place of {} in steps whose results nobody reads; leaves out {}.", full.name,
                        left_out(full, stage)));
    if (!stage.within.is_all())
        function.comment.push_back(fmt::format("Runs {} alone.", rt::words_for(stage.within)));
    function.threads = schedule.threads[0] * schedule.threads[1] * schedule.threads[2];
    function.min_blocks = schedule.min_blocks;
    if (!stage.reductions.empty() && function.threads % 32 != 0) {
        throw UnsupportedError(
            fmt::format("a stage with a reduction needs whole warps: {} threads a block is no multiple of 32",
                        function.threads));
    }
    function.parameters = context.parameters();
    rt::KernelPlan kernel;
    kernel.name = function.name;
    kernel.steps = use.steps;
    kernel.within = stage.within;
    kernel.threads = schedule.threads;
    kernel.tile = result.tile;
    kernel.domain = launch_domain(stage);
    kernel.dynamic_shared_bytes = result.dynamic_shared_bytes;
    kernel.arguments = context.arguments(plan_reductions(stage, lowered.plan));
    add_stage_kernel(stage, std::move(kernel), lowered.plan);
    lowered.kernels.functions.push_back(std::move(function));
}

// After the stage that finds a reduction in the first step: what puts it in the place of the step before's.
void add_first_values(const Ahead& ahead, std::size_t stage, Names& kernel_names, Lowered& lowered) {
    for (const Ahead::Carried& each : ahead.carried) {
        if (each.stage != stage) continue;
        rt::KernelPlan& finds =
            lowered.plan.kernels[static_cast<std::size_t>(lowered.plan.reductions[each.own.index].kernel)];
        finds.steps = rt::Steps::first_or_with_results;
        lowered.plan.reductions[each.ahead.index].ahead_of = static_cast<int>(each.own.index);
        add_first_value(ahead, each, kernel_names, lowered.kernels, lowered.plan);
    }
}

Lowered lower_stages(const ir::Program& program, const StageViews& views, const std::optional<Ahead>& ahead,
                     const schedule::Plan& plan, const Notes& notes) {
    if (plan.stages.size() != views.stages.size()) throw InternalError("one schedule a stage is needed");
    ProgramLayout layout = make_layout(program, views, Machine::cuda);
    layout.notes = notes;
    Lowered lowered;
    lowered.plan = begin_plan(program, views, layout);
    lowered.kernels.header = header(program, views, layout);
    for (std::size_t c = 0; c < program.coefs.size(); ++c) {
        const ir::CoefId id{static_cast<std::uint32_t>(c)};
        lowered.kernels.constant_arrays.push_back(
            {kernel_type(program.coefs[c].type), coef_symbol(program, id),
             static_cast<std::int64_t>(program.coefs[c].defaults.size()), ""});
    }
    Images images(lowered.kernels);
    Names kernel_names;  // unlike those of the constant arrays beside them
    for (const kernel::ConstantArray& array : lowered.kernels.constant_arrays)
        kernel_names.take(array.name);
    HaloKernels halo_kernels(program, layout, Machine::cuda, lowered.kernels, kernel_names);
    halo_kernels.append_inputs(lowered.plan);
    halo_kernels.append_states(lowered.plan);
    add_column_kernels(program, layout, kernel_names, lowered);
    const std::vector<StageView> unread = view_unread_stages(views);
    RepeatedKernels repeats;
    FusedThreads fused;
    for (std::size_t s = 0; s < views.stages.size(); ++s) {
        const StageView& stage = views.stages[s];
        repeats.begin(lowered.plan);
        halo_kernels.append_before(stage, unread[s], lowered.plan);
        lowered.kernels_of_stages.emplace_back();
        for (const StageKernel& use : kernels_of(stage, unread[s])) {
            add_stage(stage, use, plan.stages[s], layout, images, kernel_names, lowered);
            const std::string& kernel = lowered.plan.kernels.back().name;
            if (use.steps != rt::Steps::without_results) lowered.kernels_of_stages.back() = kernel;
            if (const int threads =
                    schedule::own_setting(plan.stages[s], schedule::Setting::fuse).value_or(0))
                fused[kernel] = threads;
        }
        for (const Write& write : stage.writes)
            halo_kernels.append(write.level, steps_writing(unread[s], write.level), stage.within,
                                lowered.plan);
        repeats.end(stage, layout, lowered.plan);
        const StageView* const next = s + 1 < views.stages.size() ? &views.stages[s + 1] : nullptr;
        for (const auto& [end, repeat] : repeats.ended(stage, next))
            add_repeat_end(program, *end, repeat, layout, kernel_names, lowered.kernels, lowered.plan);
        if (ahead) add_first_values(*ahead, s, kernel_names, lowered);
    }
    add_grouping(program, layout, plan.grouping, kernel_names, lowered);
    compute_scalars_on_device(lowered);
    fuse_kernels(fused, lowered);
    for (kernel::KernelFunction& function : lowered.kernels.functions)
        kernel::tidy(function);
#ifdef HALO_VERIFY
    kernel::require_valid(lowered.kernels);
#endif
    return lowered;
}

// Whole warps are needed by a stage that reduces.
bool can_reduce(const Ahead& ahead, const schedule::Plan& plan) {
    return std::ranges::all_of(ahead.carried, [&](const Ahead::Carried& each) {
        const rt::Lengths& threads = plan.stages[each.found_by].threads;
        return threads[0] * threads[1] * threads[2] % 32 == 0;
    });
}

}  // namespace

Lowered lower_cuda(const ir::Program& program, const schedule::Plan& plan, const Notes& notes) {
    const std::optional<Ahead> ahead = find_ahead(program);
    if (ahead && plan.stages.size() == ahead->stages.size() && can_reduce(*ahead, plan)) {
        Lowered lowered =
            lower_stages(ahead->program, view_stages(ahead->program, ahead->stages), ahead, plan, notes);
        if (lowered.plan.device_scalars > 0) return lowered;  // else the host reads them, in each step
    }
    return lower_stages(program, view_stages(program), std::nullopt, plan, notes);
}

}  // namespace halo::lower
