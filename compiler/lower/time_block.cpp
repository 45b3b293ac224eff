#include "compiler/lower/time_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/step_choice.h"
#include "compiler/lower/header.h"
#include "compiler/lower/resident/resident.h"
#include "compiler/lower/shared/plan.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/temporal/temporal.h"
#include "compiler/schedule/temporal_passes.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

// The levels of fields over fewer axes that some stage reads besides, each once.
std::vector<Level> levels_elsewhere(const StageViews& views) {
    std::vector<Level> levels;
    for (const StageView& view : views.stages)
        for (const Level& level : view.elsewhere)
            if (std::ranges::find(levels, level) == levels.end()) levels.push_back(level);
    return levels;
}

// The whole step as one stage: the levels that come from memory, and those that are left there.
StageView whole_step(const ir::Program& core, const schedule::Pipeline& pipeline, int levels) {
    StageView view;
    view.program = &core;
    view.name = core.name;
    for (const schedule::Pipeline::Queue& queue : pipeline.queues) {
        for (int back = 0; back < queue.arriving; ++back)
            view.reads.push_back({{queue.field, -back}, {ir::Offset{}}, {}, {}});
        if (queue.role != ir::Role::state) continue;
        for (int back = 0; back < std::min(levels, core[queue.field].history + 1); ++back)
            view.writes.push_back({{queue.field, levels - back}, nullptr});
    }
    for (const ir::Statement& statement : core.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) view.reductions.push_back(reduce);
    return view;
}

std::string schedule_line(const std::string& words) {
    return "Schedule: " + words + ".";
}

void put_time_block(rt::TimeBlock block, rt::LaunchPlan& plan) {
    for (rt::FieldPlan& field : plan.fields)
        if (field.role == rt::Role::state) field.spare_levels = block.levels - 1;
    plan.time_block = std::move(block);
}

void add(const ir::Program&, const ProgramLayout&, const schedule::SingleSteps&, Names&, Lowered&) {}

// Of a part of the program, which has several levels of one field as fields: each has the number that it has
// there, until give_levels() puts the plan's in its place.
ProgramLayout number_fields(const ProgramLayout& layout, const ir::Program& part) {
    ProgramLayout numbered = layout_of_part(layout, part);
    for (std::size_t field = 0; field < numbered.plan_field.size(); ++field)
        numbered.plan_field[field] = static_cast<int>(field);
    return numbered;
}

void give_levels(const ProgramLayout& layout, const std::vector<schedule::StandIn>& stand_ins,
                 std::vector<rt::Argument>& arguments) {
    for (rt::Argument& argument : arguments) {
        if (argument.kind != rt::Argument::Kind::field && argument.kind != rt::Argument::Kind::neighbour)
            continue;
        const Level own{{static_cast<std::uint32_t>(argument.field)}, argument.time};
        const Level level = schedule::origin(stand_ins, own);
        argument.field = layout.plan_field[level.field.index];
        argument.time = level.time;
    }
}

// What a kernel says of itself: the first words of its comment, and the end of its name.
struct KernelWords {
    std::string comment, name;
};

// A kernel that does several steps at once, or one pass of a step.
kernel::KernelFunction lower_block(const ir::Program& core, const std::vector<schedule::StandIn>& stand_ins,
                                   const ProgramLayout& layout, const schedule::TemporalSchedule& schedule,
                                   const KernelWords& words, Names& kernel_names, const rt::LaunchPlan& plan,
                                   rt::TimeBlock& block) {
    const auto formed = schedule::form_pipeline(core, schedule.steps);
    if (const auto* why = std::get_if<std::string>(&formed)) throw UnsupportedError("temporal: " + *why);
    const auto& pipeline = std::get<schedule::Pipeline>(formed);
    const StageViews views = view_stages(core);
    block.levels = pipeline.new_levels(core);
    StageView whole = whole_step(core, pipeline, block.levels);
    whole.name += "_" + words.name;
    whole.elsewhere = levels_elsewhere(views);
    if (schedule.of_pieces && !whole.reductions.empty())
        throw UnsupportedError("temporal: pieces of a grid are reduced by single steps alone");
    const ProgramLayout numbered = number_fields(layout, core);
    Context context(whole, numbered, temporal_roles());
    TemporalResult result = lower_temporal(context, views, pipeline, schedule, block.levels);
    kernel::KernelFunction function = std::move(result.kernel.function);
    function.name = kernel_names.take(whole.name);
    context.enter(whole);
    function.comment = {words.comment + ". " + level_words(context),
                        schedule_line(schedule::print(schedule, core.rank()))};
    function.threads = 32 * schedule.warps;
    function.min_blocks = schedule.min_blocks;
    function.parameters = context.parameters();
    block.reductions = plan_reductions(whole, plan);
    block.kernel.name = function.name;
    block.kernel.threads = {32, schedule.warps, 1};
    block.kernel.blocks = schedule.blocks;
    block.kernel.dynamic_shared_bytes = result.kernel.dynamic_shared_bytes;
    block.kernel.arguments = context.arguments(block.reductions);
    give_levels(layout, stand_ins, block.kernel.arguments);
    for (std::size_t axis = 0; axis < block.least_extent.size(); ++axis)
        block.least_extent[axis] = std::max(block.least_extent[axis], result.least_extent[axis]);
    return function;
}

// Makes the steps of the block iterations of the plan's repeat, which exchanges what the core carries on.
void give_to_repeat(const schedule::TemporalCore& core, const ProgramLayout& layout,
                    const rt::LaunchPlan& plan, rt::TimeBlock& block) {
    const Level next = schedule::origin(core.stand_ins, {core.carried.front(), 1});
    const auto repeat = std::ranges::find_if(plan.repeats, [&](const rt::RepeatPlan& each) {
        return std::ranges::find(each.exchanges, layout.plan_field[next.field.index],
                                 &rt::RepeatPlan::Exchange::other) != each.exchanges.end();
    });
    if (repeat == plan.repeats.end() || repeat->exchanges.size() != core.carried.size())
        throw UnsupportedError("temporal: the repeat does not exchange the arrays that it carries on");
    block.kind = rt::TimeBlock::OfRepeat{static_cast<int>(repeat - plan.repeats.begin())};
}

void add_passes(const ir::Program& program, const schedule::TemporalCore& core, const ProgramLayout& layout,
                const schedule::TemporalSchedule& schedule, Names& kernel_names, rt::TimeBlock& block,
                Lowered& lowered) {
    if (core.iterations) throw UnsupportedError("temporal: several passes are of a time step");
    if (schedule.steps != 1 || schedule.of_pieces)
        throw UnsupportedError("temporal: several passes are of a single step, on a whole grid");
    const auto made = schedule::temporal_passes(program, core.program, schedule.passes);
    if (const auto* why = std::get_if<std::string>(&made)) throw UnsupportedError("temporal: " + *why);
    const auto& passes = std::get<std::vector<schedule::TemporalPass>>(made);
    for (std::size_t p = 0; p < passes.size(); ++p) {
        if (p > 0) block.earlier.push_back(std::exchange(block.kernel, {}));
        const KernelWords words{fmt::format("Pass {} of a time step's {} over memory", p + 1, passes.size()),
                                fmt::format("1_step_pass_{}", p + 1)};
        lowered.kernels.functions.push_back(lower_block(passes[p].program, passes[p].kept, layout, schedule,
                                                        words, kernel_names, lowered.plan, block));
    }
}

// The kernels that do several steps at once, or a step in several passes.
void add(const ir::Program& program, const ProgramLayout& layout, const schedule::TemporalSchedule& schedule,
         Names& kernel_names, Lowered& lowered) {
    const schedule::TemporalCore core = schedule::temporal_core(program, schedule.reductions);
    if (!core.refused.empty()) throw UnsupportedError("temporal: " + core.refused);
    if (!core.left_out.empty())
        throw UnsupportedError("temporal: `" + core.left_out.front().reduction +
                               "` at every step: " + core.left_out.front().why);
    rt::TimeBlock block;
    block.steps = schedule.steps;
    block.is_whole = core.is_whole;
    if (schedule.passes > 1) {
        add_passes(program, core, layout, schedule, kernel_names, block, lowered);
    } else {
        if (schedule.of_pieces) block.kind = rt::TimeBlock::OfPieces{schedule.traversals};
        const char* const plural = schedule.steps == 1 ? "" : "s";
        const KernelWords words{
            fmt::format("{} {}{} in one pass over memory", schedule.steps,
                        core.iterations ? "iteration" : "time step", plural),
            fmt::format("{}_{}{}", schedule.steps, core.iterations ? "iteration" : "step", plural)};
        lowered.kernels.functions.push_back(lower_block(core.program, core.stand_ins, layout, schedule, words,
                                                        kernel_names, lowered.plan, block));
        if (core.iterations) give_to_repeat(core, layout, lowered.plan, block);
    }
    put_time_block(std::move(block), lowered.plan);
}

// As whole_step(), of a kernel that keeps all levels on the chip for any number of steps.
StageView whole_run(const ir::Program& core, const schedule::Pipeline& pipeline, int levels) {
    StageView view;
    view.program = &core;
    view.name = core.name + "_resident";
    for (const schedule::Pipeline::Queue& queue : pipeline.queues) {
        if (queue.role == ir::Role::intermediate) continue;
        const bool is_state = queue.role == ir::Role::state;
        const int history = is_state ? core[queue.field].history : 0;
        for (int back = 0; back <= history; ++back)
            view.reads.push_back({{queue.field, -back}, {ir::Offset{}}, {}, {}});
        for (int back = 0; is_state && back <= history; ++back)
            view.writes.push_back({{queue.field, levels - back}, nullptr});
    }
    return view;
}

// The kernel that does all steps of a run with the grid on the chip.
void add(const ir::Program& program, const ProgramLayout& layout, const schedule::ResidentSchedule& schedule,
         Names& kernel_names, Lowered& lowered) {
    if (std::string why = schedule::refused_rest(program); !why.empty())
        throw UnsupportedError("resident: " + why);
    const ir::Program core = schedule::state_core(program);
    const auto formed = schedule::form_pipeline(core, 1);
    if (const auto* why = std::get_if<std::string>(&formed)) throw UnsupportedError("resident: " + *why);
    const auto& pipeline = std::get<schedule::Pipeline>(formed);
    if (std::string why = schedule::resident_refusal(core, pipeline); !why.empty())
        throw UnsupportedError("resident: " + why);
    const auto shaped = schedule::resident_shape(core, pipeline, schedule, schedule::Target{});
    if (const auto* why = std::get_if<std::string>(&shaped)) throw UnsupportedError("resident: " + *why);
    const auto& shape = std::get<schedule::ResidentShape>(shaped);
    const StageViews views = view_stages(core);
    rt::TimeBlock block;
    for (const schedule::Pipeline::Queue& queue : pipeline.queues)
        if (queue.role == ir::Role::state)
            block.levels = std::max(block.levels, core[queue.field].history + 1);
    StageView whole = whole_run(core, pipeline, block.levels);
    whole.elsewhere = levels_elsewhere(views);
    Context context(whole, layout, resident_roles());
    ResidentResult result = lower_resident(context, views, pipeline, schedule, shape, block.levels);
    kernel::KernelFunction& function = result.kernel.function;
    function.name = kernel_names.take(whole.name);
    context.enter(whole);
    function.comment = {"All time steps of a launch, with the grid on the chip. " + level_words(context),
                        schedule_line(schedule::print(schedule, program.rank())),
                        "Blocks wait for each other: launched so that all are there at once."};
    function.threads = schedule.all_threads();
    function.min_blocks = 1;
    function.parameters = context.parameters();
    rt::TimeBlock::Resident resident;
    resident.exchanges = result.exchanges;
    resident.divisors[0] = schedule.cells[0];
    resident.remainders[0] = schedule.row_rest;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int tile = schedule.tile(static_cast<int>(axis));
        if (schedule.is_whole[axis]) resident.divisors[axis] = tile;
        if (schedule.is_alone[axis]) resident.most_extent[axis] = tile;
    }
    block.kind = std::move(resident);
    block.is_whole = std::cmp_equal(
        core.statements.size(), std::ranges::count_if(program.statements, [](const ir::Statement& statement) {
            return ir::steps_of(statement).contains(0);
        }));
    block.least_extent = shape.least_extent;
    block.kernel.name = function.name;
    block.kernel.threads = schedule.threads;
    block.kernel.tile = result.kernel.tile;
    block.kernel.dynamic_shared_bytes = result.kernel.dynamic_shared_bytes;
    block.kernel.arguments = context.arguments({});
    lowered.kernels.functions.push_back(std::move(function));
    put_time_block(std::move(block), lowered.plan);
}

}  // namespace

void add_grouping(const ir::Program& program, const ProgramLayout& layout, const schedule::Grouping& grouping,
                  Names& kernel_names, Lowered& lowered) {
    std::visit([&](const auto& of) { add(program, layout, of, kernel_names, lowered); }, grouping);
    if (!lowered.plan.time_block) return;
    const rt::StepRange first = ir::first_steps(program);
    lowered.plan.time_block->kernel.within = first;
    for (rt::KernelPlan& each : lowered.plan.time_block->earlier)
        each.within = first;
}

}  // namespace halo::lower
