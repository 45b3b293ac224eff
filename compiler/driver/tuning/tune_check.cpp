#include "compiler/driver/tuning/tune_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/tuning/tune_compare.h"

namespace halo::driver {

Extent odd_grid(int rank) {
    if (rank == 3) return {67, 35, 21};
    return rank == 2 ? Extent{301, 77, 1} : Extent{1031, 1, 1};
}

// Odd sizes, where that can be.
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

std::string TuneCheck::difference(const Code& code, const CompiledCode& compiled, int steps) {
    const Extent small = grid_of_checks(code, smallest_);
    std::string text = against_interpreter(code, compiled, steps, small);
    if (!text.empty())
        return fmt::format("on {} x {} x {} cells, against the interpreter: {}", small[0], small[1], small[2],
                           text);
    text = grid_.difference(code, compiled, steps);
    return text.empty() ? text : "on the run's grid, against one cell a thread: " + text;
}

std::string TuneCheck::against_interpreter(const Code& code, const CompiledCode& compiled, int steps,
                                           const Extent& extent) {
    auto entry = small_.find({steps, extent});
    if (entry == small_.end()) {
        Small small{small_inputs(program_, inputs_, extent, steps), {}};
        const std::unique_ptr<Engine> interpreter = make_interpreter_engine(program_, extent);
        small.expected = results_from(small.inputs, *interpreter, program_, steps);
        entry = small_.emplace(std::pair(steps, extent), std::move(small)).first;
    }
    const std::unique_ptr<Engine> engine = machine_.start(code, extent, compiled);
    return first_difference(entry->second.expected,
                            results_from(entry->second.inputs, *engine, program_, steps), extent,
                            tolerance_of(program_));
}

}  // namespace halo::driver
