#include "compiler/driver/tuning/tune_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/tuning/tune_compare.h"

namespace halo::driver {

Extent odd_grid(int rank) {
    if (rank == 3) return {67, 35, 21};
    return rank == 2 ? Extent{301, 77, 1} : Extent{1031, 1, 1};
}

// A small grid for the checks, of odd sizes where the code allows it.
Extent grid_of_checks(const Code& code, Extent extent) {
    if (!code.lowered.plan.time_block) return extent;
    const rt::TimeBlock& block = *code.lowered.plan.time_block;
    const rt::TimeBlock::Resident any;
    const rt::TimeBlock::Resident& fits = block.resident() != nullptr ? *block.resident() : any;
    for (int axis = 0; axis < code.lowered.plan.rank; ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        const std::int64_t least = block.least_extent[at], divisor = fits.divisors[at];
        std::int64_t cells = std::max(extent[at], (least + least / 2) | 1);
        cells += (fits.remainders[at] + divisor - cells % divisor) % divisor;
        while (cells > fits.most_extent[at])
            cells -= divisor;
        extent[at] = cells;
    }
    return extent;
}

Reference make_reference(const ir::Program& program, const TuneInputs& of_run, const Extent& grid,
                         int steps) {
    const auto after = [&](int count, bool calm) {
        Reference reference{small_inputs(program, of_run, grid, count, calm), {}, count};
        const std::unique_ptr<Engine> interpreter = make_interpreter_engine(program, grid);
        reference.expected = results_from(reference.inputs, *interpreter, program, count);
        return reference;
    };
    Reference reference = after(steps, false);
    if (has_numbers(reference.expected)) return reference;
    reference = after(fewer_steps(steps), true);
    if (!has_numbers(reference.expected)) reference.steps = 0;
    return reference;
}

CheckResult TuneCheck::difference(const schedule::Plan& plan, const Code& code, const CompiledCode& compiled,
                                  int steps) {
    const Extent small = grid_of_checks(code, smallest_);
    CheckResult result = on_small_grid(plan, code, compiled, steps, small);
    if (result.kind != CheckResult::Kind::agrees) {
        result.text = fmt::format("on {} x {} x {} cells, against the interpreter: {}", small[0], small[1],
                                  small[2], result.text);
        return result;
    }
    result = grid_.difference(code, compiled, steps);
    if (result.kind != CheckResult::Kind::agrees)
        result.text = "on the run's grid, against one cell a thread: " + result.text;
    return result;
}

CheckResult TuneCheck::on_small_grid(const schedule::Plan& plan, const Code& code,
                                     const CompiledCode& compiled, int steps, const Extent& extent) {
    const std::optional<rt::TimeBlock>& block = code.lowered.plan.time_block;
    if (!block || !block->fixed_grid) return against_interpreter(code, compiled, steps, extent);
    CudaDetails details;
    details.block_grid = extent;
    const Code small = cuda_code(program_, plan, details);
    return against_interpreter(small, machine_.compile(small), steps, extent);
}

CheckResult TuneCheck::against_interpreter(const Code& code, const CompiledCode& compiled, int steps,
                                           const Extent& extent) {
    auto entry = small_.find({steps, extent});
    if (entry == small_.end())
        entry =
            small_.emplace(std::pair(steps, extent), make_reference(program_, inputs_, extent, steps)).first;
    const Reference& reference = entry->second;
    if (reference.steps == 0) return nothing_to_compare(fewer_steps(steps));
    const std::unique_ptr<Engine> engine = machine_.start(code, extent, compiled);
    std::string text = first_difference(reference.expected,
                                        results_from(reference.inputs, *engine, program_, reference.steps),
                                        extent, tolerance_of(program_));
    if (text.empty()) return {};
    return {CheckResult::Kind::differs, std::move(text)};
}

std::string TuneCheck::take_remark() {
    const bool is_calm = grid_.is_calm() || std::ranges::any_of(small_, [](const auto& entry) {
                             return entry.second.inputs.start.calm;
                         });
    if (has_remarked_ || !is_calm) return "";
    has_remarked_ = true;
    return fmt::format(
        "after a few steps from {} values no cell is a number: checks do fewer, from values closer to their "
        "mean",
        inputs_.start.init != nullptr ? "the run's initial" : "random");
}

}  // namespace halo::driver
