#include "compiler/driver/tune_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ir/analysis.h"
#include "compiler/schedule/space.h"
#include "runtime/core/element.h"

namespace halo::driver {

namespace {

// Functions of a device may be a few units in the last place away from those of the host, approximations
// further.
constexpr double kLibraryTolerance = 0x1p-18;
constexpr double kFastTolerance = 300 * 0x1p-17;
constexpr double kSumTolerance = 1e-15;  // of a sum of doubles in another order, for each cell

bool is_rounded_alike(ir::Function function) {
    switch (function) {
        case ir::Function::sqrt:
        case ir::Function::rsqrt:
        case ir::Function::abs:
        case ir::Function::floor:
        case ir::Function::ceil:
        case ir::Function::round:
        case ir::Function::trunc:
            return true;
        default:
            return false;
    }
}

// A step reads a reduction, whose last bits depend on how blocks cut the grid.
bool reads_reductions(const ir::Program& program) {
    return std::any_of(program.exprs.begin(), program.exprs.end(), [](const ir::Expr& expr) {
        return std::holds_alternative<ir::ReductionRef>(expr.node);
    });
}

bool agrees(double expected, double got, double tolerance) {
    return expected == got || std::isnan(expected) ||
           std::abs(expected - got) <= tolerance * (1 + std::abs(expected));
}

bool element_agrees(const FieldValues& expected, const FieldValues& got, std::int64_t i, double tolerance) {
    if (rt::is_real(expected.type)) return agrees(expected.at(i), got.at(i), tolerance);
    const std::int64_t size = rt::size_of(expected.type);
    return std::memcmp(expected.elements.data() + i * size, got.elements.data() + i * size,
                       static_cast<std::size_t>(size)) == 0;
}

std::string level_difference(const FieldLevel& expected, const FieldLevel& got, const Extent& extent,
                             double tolerance) {
    if (expected.values.elements == got.values.elements) return "";
    for (std::int64_t i = 0; i < expected.values.size(); ++i) {
        if (element_agrees(expected.values, got.values, i, tolerance)) continue;
        return fmt::format("{} at t{:+} differs at cell ({}, {}, {}): {} instead of {}", expected.field,
                           expected.time, i % extent[0], i / extent[0] % extent[1], i / extent[0] / extent[1],
                           got.values.at(i), expected.values.at(i));
    }
    return "";
}

// NaN agrees with everything, so a comparison of nothing else would prove nothing.
bool has_numbers(const TuneResults& results) {
    if (results.fields.empty()) return true;
    return std::any_of(results.fields.begin(), results.fields.end(), [](const FieldLevel& level) {
        if (!rt::is_real(level.values.type)) return true;
        for (std::int64_t i = 0; i < level.values.size(); ++i)
            if (!std::isnan(level.values.at(i))) return true;
        return false;
    });
}

// Odd sizes on which tiles of several steps meet: a smaller grid would be done by single steps.
Extent enough_for(const Code& code, Extent extent) {
    if (!code.lowered.plan.time_block) return extent;
    for (int axis = 0; axis < code.lowered.plan.rank; ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        const std::int64_t least = code.lowered.plan.time_block->least_extent[at];
        extent[at] = std::max(extent[at], (least + least / 2) | 1);
    }
    return extent;
}

TuneResults run_on(Engine& engine, const TuneInputs& inputs, const ir::Program& program, int steps) {
    inputs.give(engine);
    engine.run(steps, std::nullopt);
    return results_of(engine, program);
}

}  // namespace

double tolerance_of(const ir::Program& program) {
    double tolerance = 0;
    for (const ir::Expr& expr : program.exprs) {
        const auto* call = std::get_if<ir::Call>(&expr.node);
        const auto* noise = std::get_if<ir::Noise>(&expr.node);
        if (call != nullptr && call->fast) return kFastTolerance;
        if ((call != nullptr && !is_rounded_alike(call->function)) ||
            (noise != nullptr && noise->kind == ir::NoiseKind::normal))
            tolerance = kLibraryTolerance;
    }
    return reads_reductions(program) ? kLibraryTolerance : tolerance;
}

std::string first_difference(const TuneResults& expected, const TuneResults& got, const Extent& extent,
                             double tolerance) {
    if (!has_numbers(expected)) return "there is nothing to compare: after the steps no cell is a number";
    for (std::size_t i = 0; i < expected.fields.size(); ++i) {
        std::string text = level_difference(expected.fields[i], got.fields[i], extent, tolerance);
        if (!text.empty()) return text;
    }
    for (std::size_t i = 0; i < expected.traces.size(); ++i) {
        const auto& [name, values] = expected.traces[i];
        const std::vector<double>& others = got.traces[i].second;
        if (values.size() != others.size())
            return fmt::format("{} has {} values instead of {}", name, others.size(), values.size());
        for (std::size_t n = 0; n < values.size(); ++n) {
            if (!agrees(values[n], others[n], tolerance))
                return fmt::format("{}: value {} is {} instead of {}", name, n, others[n], values[n]);
        }
    }
    const auto cells = static_cast<double>(cell_count(extent));
    for (std::size_t i = 0; i < expected.reductions.size(); ++i) {
        const TuneResults::Reduction& reduction = expected.reductions[i];
        const double other = got.reductions[i].value;
        // What functions round differently adds up as the root of the cells.
        const double allowed =
            reduction.is_sum ? kSumTolerance * cells + tolerance * std::sqrt(cells) : tolerance;
        if (!agrees(reduction.value, other, allowed))
            return fmt::format("the reduction {} is {} instead of {}", reduction.name, other,
                               reduction.value);
    }
    return "";
}

std::string TuneCheck::difference(const Code& code, const CompiledCode& compiled, int steps) {
    const Extent small = enough_for(code, awkward_);
    std::string text = against_interpreter(code, compiled, steps, small);
    if (!text.empty())
        return fmt::format("on {} x {} x {} cells, against the interpreter: {}", small[0], small[1], small[2],
                           text);
    text = against_plain(code, compiled, steps);
    return text.empty() ? text : "on the run's grid, against one cell a thread: " + text;
}

std::string TuneCheck::against_interpreter(const Code& code, const CompiledCode& compiled, int steps,
                                           const Extent& extent) {
    auto entry = small_.find({steps, extent});
    if (entry == small_.end()) {
        Small small{small_inputs(program_, inputs_, extent, steps), {}};
        const std::unique_ptr<Engine> interpreter = make_interpreter_engine(program_, extent);
        small.expected = run_on(*interpreter, small.inputs, program_, steps);
        entry = small_.emplace(std::pair(steps, extent), std::move(small)).first;
    }
    const std::unique_ptr<Engine> engine = machine_.start(code, extent, compiled);
    return first_difference(entry->second.expected, run_on(*engine, entry->second.inputs, program_, steps),
                            extent, tolerance_of(program_));
}

std::string TuneCheck::against_plain(const Code& code, const CompiledCode& compiled, int steps) {
    auto entry = full_size_.find(steps);
    if (entry == full_size_.end()) {
        std::vector<schedule::Schedule> plain;
        for (const ir::Stage& stage : ir::form_stages(program_))
            plain.push_back(
                schedule::plain_schedule(schedule::footprint(program_, stage), machine_.target()));
        const Code plain_code = cuda_code(program_, plain);
        const std::unique_ptr<Engine> engine =
            machine_.start(plain_code, extent_, machine_.compile(plain_code));
        full_size_.clear();  // grids can be large
        entry = full_size_.emplace(steps, run_on(*engine, inputs_, program_, steps)).first;
    }
    const std::unique_ptr<Engine> engine = machine_.start(code, extent_, compiled);
    // The same functions on the same device: only sums that are read can differ.
    return first_difference(entry->second, run_on(*engine, inputs_, program_, steps), extent_,
                            reads_reductions(program_) ? kLibraryTolerance : 0);
}

}  // namespace halo::driver
