#include "runtime/core/plan_check.h"

#include <algorithm>

#include "runtime/core/plan_check_parts.h"
#include "runtime/core/plan_repeats.h"

namespace halo::rt::checks {

bool is_of_resident(const Argument& argument) {
    return argument.kind == Argument::Kind::exchange || argument.kind == Argument::Kind::steps ||
           argument.kind == Argument::Kind::sent;
}

namespace {

bool is_of_pieces(const Argument& argument) {
    return argument.kind == Argument::Kind::planes || argument.kind == Argument::Kind::neighbour;
}

// The number of parts of an argument that is_of_pieces().
int parts_of_pieces(const Argument& argument) {
    constexpr int kSides = 2;
    return argument.kind == Argument::Kind::neighbour ? kSides
                                                      : static_cast<int>(PlanesPart::above_begin) + 1;
}

void check_kind(const LaunchPlan&, const TimeBlock& block, const TimeBlock::WholeGrid&) {
    require(block.levels <= block.steps, "its time block does {} steps and leaves {} levels", block.steps,
            block.levels);
}

void check_kind(const LaunchPlan& plan, const TimeBlock& block, const TimeBlock::OfPieces& pieces) {
    check_kind(plan, block, TimeBlock::WholeGrid());
    require(block.reductions.empty(), "its time block is of pieces, and gives reductions");
    const auto divides_blocks = [&] {
        if (plan.rank == 2) return pieces.traversals <= block.kernel.blocks * block.kernel.threads[1];
        return block.kernel.blocks % pieces.traversals == 0;
    };
    require(pieces.traversals == 0 || (pieces.traversals > 0 && divides_blocks()),
            "{} blocks of its time block make {} traversals of each column", block.kernel.blocks,
            pieces.traversals);
}

void check_kind(const LaunchPlan&, const TimeBlock& block, const TimeBlock::Resident& resident) {
    require(block.reductions.empty(), "its time block is resident, and gives reductions");
    for (const int words : resident.exchanges)
        require(words >= 1, "an exchange of its time block has {} words", words);
    for (std::size_t axis = 0; axis < resident.divisors.size(); ++axis) {
        const std::int64_t divisor = resident.divisors[axis], remainder = resident.remainders[axis];
        require(divisor >= 1 && remainder >= 0 && remainder < divisor,
                "its time block is for grids that leave {} when divided by {}", remainder, divisor);
    }
}

void check_kind(const LaunchPlan& plan, const TimeBlock& block, const TimeBlock::OfRepeat& of_repeat) {
    require(in_range(of_repeat.repeat, plan.repeats), "its time block is of repeat {}", of_repeat.repeat);
    const RepeatPlan& repeat = plan.repeats[of_repeat.repeat];
    require(!repeat.until && !repeat.exchanges.empty() && block.levels == 1 && block.reductions.empty() &&
                block.earlier.empty() && block.kernel.within.is_all(),
            "its time block is of a repeat that does not go on from exchanged arrays alone");
    for (const Argument& argument : block.kernel.arguments)
        require(argument.kind != Argument::Kind::scalar || !changes_with_step(argument.scalar),
                "kernel '{}' does several iterations, and takes what changes with the step",
                block.kernel.name);
}

}  // namespace

void check_time_block(const LaunchPlan& plan, const TimeBlock& block) {
    require(block.steps >= 1 && block.levels >= 1, "its time block does {} steps and leaves {} levels",
            block.steps, block.levels);
    if (block.fixed_grid)
        for (const std::int64_t cells : block.fixed_grid->extent)
            require(cells >= 1, "its time block is for a grid of {} cells along an axis", cells);
    for (const KernelPlan* const kernel : block.kernels()) {
        check_kernel(plan, *kernel);
        require(kernel->steps == Steps::all && kernel->within == block.kernel.within,
                "its time block runs in some steps alone");
    }
    for (const KernelPlan& kernel : block.earlier)
        for (const Argument& argument : kernel.arguments)
            require(argument.kind != Argument::Kind::step_partials && !is_of_pieces(argument) &&
                        !is_of_resident(argument),
                    "kernel '{}' is not the last of its time block, and takes what that alone does",
                    kernel.name);
    std::visit([&](const auto& kind) { check_kind(plan, block, kind); }, block.kind);
    for (const int reduction : block.reductions)
        require(in_range(reduction, plan.reductions), "its time block gives reduction {}", reduction);
    for (const Argument& argument : block.kernel.arguments) {
        require(argument.kind != Argument::Kind::partials,
                "its time block takes the partial results of a single step");
        require(argument.kind != Argument::Kind::step_partials ||
                    std::ranges::find(block.reductions, argument.index) != block.reductions.end(),
                "kernel '{}' takes the partial results of reduction {}, which it does not give",
                block.kernel.name, argument.index);
        if (is_of_pieces(argument))
            require(block.of_pieces() != nullptr && argument.part >= 0 &&
                        argument.part < parts_of_pieces(argument),
                    "kernel '{}' takes part {} of what pieces of a grid give each other", block.kernel.name,
                    argument.part);
        if (!is_of_resident(argument)) continue;
        require(block.resident() != nullptr, "its time block is not resident, and takes part in an exchange");
        if (argument.kind == Argument::Kind::exchange)
            require(in_range(argument.index, block.resident()->exchanges) &&
                        (argument.part == 0 || argument.part == 1),
                    "kernel '{}' takes half {} of exchange {}", block.kernel.name, argument.part,
                    argument.index);
    }
    for (const FieldPlan& field : plan.fields)
        require(field.role != Role::state || field.spare_levels >= block.levels - 1,
                "'{}' has too few levels for its time block", field.name);
}

namespace {

void check_until(const LaunchPlan& plan, const RepeatPlan& repeat) {
    check_scalar(plan, repeat.until->condition);
    require(!repeat.until->reductions.empty(), "a repeat ends by what it does not change");
    for (const int reduction : repeat.until->reductions) {
        require(in_range(reduction, plan.reductions), "a repeat ends by reduction {}", reduction);
        const int kernel = plan.reductions[reduction].kernel;
        require(kernel >= repeat.first && kernel < repeat.past,
                "a repeat ends by '{}', which it does not find", plan.reductions[reduction].name);
    }
    const int kernel = repeat.until->kernel;
    if (kernel == -1) return;
    require(kernel == repeat.past - 1 && plan.kernels[kernel].blocks == 1 &&
                plan.kernels[kernel].steps == Steps::all,
            "a repeat ends by kernel {}", kernel);
}

}  // namespace

void check_repeats(const LaunchPlan& plan) {
    std::vector<const RepeatPlan*> around;
    int first = 0;  // that the next may have
    for (std::size_t index = 0; index < plan.repeats.size(); ++index) {
        const RepeatPlan& repeat = plan.repeats[index];
        while (!around.empty() && repeat.first >= around.back()->past)
            around.pop_back();
        require(repeat.first >= first && repeat.past > repeat.first &&
                    in_range(repeat.past - 1, plan.kernels) &&
                    (around.empty() || repeat.past <= around.back()->past),
                "a repeat is of kernels {} to {}", repeat.first, repeat.past);
        require(repeat.count >= 1 && repeat.count <= kMostIterations, "a repeat is done {} times",
                repeat.count);
        around.push_back(&repeat);
        require(std::ssize(around) <= kMostNestedRepeats, "{} repeats are within each other", around.size());
        std::int64_t times = 1;
        for (const RepeatPlan* each : around) {
            require(each->count <= kMostTimesInStep / times, "repeats within each other are done too often");
            times *= each->count;
        }
        require(repeat.exchanges.empty() || !has_repeat_within(plan, index),
                "a repeat exchanges arrays, and another is within it");
        for (const RepeatPlan::Exchange& exchange : repeat.exchanges)
            require(exchange.kernel >= repeat.first && exchange.kernel < repeat.past &&
                        in_range(exchange.field, plan.fields) && in_range(exchange.other, plan.fields) &&
                        plan.fields[exchange.other].role == Role::intermediate &&
                        exchange.time == latest_time(plan.fields[exchange.field]),
                    "kernel {} exchanges fields {} and {}", exchange.kernel, exchange.field, exchange.other);
        if (repeat.until) check_until(plan, repeat);
        for (const KernelPlan::Written& due : repeat.ghosts_due)
            require(in_range(due.field, plan.fields) && due.time == latest_time(plan.fields[due.field]),
                    "ghosts of level {:+} of field {} are due after an iteration", due.time, due.field);
        first = repeat.first;
    }
}

}  // namespace halo::rt::checks
