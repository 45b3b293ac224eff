#include "compiler/emit/launch_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/emit/host_expression.h"
#include "compiler/kernel/part.h"
#include "compiler/support/error.h"
#include "compiler/support/writer.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::emit {

namespace {

std::string at_level(int time) {
    return time == 0 ? "t" : fmt::format("t{:+}", time);
}

class LaunchRule {
public:
    LaunchRule(const kernel::Program& kernels, const rt::LaunchPlan& plan)
        : kernels_(kernels),
          plan_(plan),
          names_{[&](int index) { return plan.params[index].name; }, [&](int axis) { return extent(axis); },
                 [] { return std::string("step"); },
                 [&](int index) { return plan.reductions[static_cast<std::size_t>(index)].name; },
                 [&](int index, const std::string& at) {
                     return fmt::format("{}({})", plan.tables[static_cast<std::size_t>(index)].name, at);
                 }} {}

    std::string print() {
        out_.line("// To launch them, in this order for each time step:");
        out_.line("//");
        for (std::size_t index = 0; index < plan_.kernels.size(); ++index) {
            write_launch(plan_.kernels[index]);
            explain_steps(index);
        }
        if (plan_.time_block) write_block(*plan_.time_block);
        out_.line("//");
        for (const std::string& line : legend_)
            out_.line("// {}", line);
        out_.line("// After each step what was t+1 is t: let the pointers change places.");
        write_arrays();
        return out_.take();
    }

private:
    std::string extent(int axis) const {
        const auto at = static_cast<std::size_t>(axis);
        return plan_.fixed_grid ? std::to_string(plan_.fixed_grid->extent[at]) : "n" + plan_.axes[at];
    }

    std::string bound(const rt::Bound& bound, int axis) const {
        if (!bound.from_high) return std::to_string(bound.offset);
        return bound.offset == 0 ? extent(axis)
                                 : fmt::format("{} {} {}", extent(axis), bound.offset < 0 ? "-" : "+",
                                               std::abs(bound.offset));
    }

    // What blocks are laid over along an axis.
    std::string domain(const rt::KernelPlan& kernel, int axis) const {
        using Kind = rt::Domain::Kind;
        if (kernel.domain.kind == Kind::rows)
            return "rows of " + plan_.tables[static_cast<std::size_t>(kernel.domain.index)].name;
        if (kernel.domain.kind == Kind::cells) return "cells that points touch";
        if (kernel.domain.kind == Kind::samples) return "points";
        if (kernel.domain.kind != Kind::faces) return cells(kernel.domain, axis);
        if (axis == plan_.rank - 1) return std::to_string(kernel.domain.index);
        return fmt::format("max({}, {})", cells(kernel.domain, axis), cells(kernel.domain, axis + 1));
    }

    std::string cells(const rt::Domain& domain, int axis) const {
        const rt::Range& range = domain.ranges[static_cast<std::size_t>(axis)];
        if (range.begin.from_high == range.end.from_high && rt::is_halo(domain))
            return std::to_string(range.end.offset - range.begin.offset);
        if (!range.begin.from_high && range.begin.offset == 0) return bound(range.end, axis);
        return fmt::format("{} - ({})", bound(range.end, axis), bound(range.begin, axis));
    }

    std::string blocks(const rt::KernelPlan& kernel) const {
        if (kernel.blocks > 0) return fmt::format("{}", kernel.blocks);
        std::string text;
        const bool is_of_cells = kernel.domain.kind == rt::Domain::Kind::grid || rt::is_halo(kernel.domain);
        const int axes = is_of_cells ? plan_.rank : 1;
        for (int axis = 0; axis < axes; ++axis) {
            const int tile = kernel.tile[static_cast<std::size_t>(axis)];
            if (!text.empty()) text += ", ";
            if (tile == std::numeric_limits<int>::max()) {
                text += "1";
            } else if (tile == 1) {
                text += domain(kernel, axis);
            } else {
                text += fmt::format("({} + {}) / {}", domain(kernel, axis), tile - 1, tile);
            }
        }
        return text;
    }

    std::string argument(const rt::Argument& argument, const std::string& parameter) {
        using Kind = rt::Argument::Kind;
        switch (argument.kind) {
            case Kind::field:
                explain(fmt::format("{}: cell 0 of `{}` at {}.", parameter, plan_.fields[argument.field].name,
                                    at_level(argument.time)));
                return parameter;
            case Kind::scalar:
                for (const rt::HostScalar::Step& step : argument.scalar.steps) {
                    if (step.op == rt::HostScalar::Op::reduction)
                        explain(fmt::format(
                            "{}: the latest value of that reduction, {} before the first step.",
                            plan_.reductions[step.index].name, plan_.reductions[step.index].initial));
                    if (step.op == rt::HostScalar::Op::series)
                        explain(fmt::format("{}(n): value n of that series, linear between whole numbers.",
                                            plan_.tables[step.index].name));
                }
                return print_host_argument(argument.scalar, argument.type, names_);
            case Kind::extent:
                return extent(argument.index);
            case Kind::partials:
                explain(fmt::format("{}: a double for each block, to be combined to `{}`.", parameter,
                                    plan_.reductions[argument.index].name));
                return parameter;
            case Kind::step_partials:
                explain(fmt::format("{}: [step][block], a double each, to be combined to `{}`.", parameter,
                                    plan_.reductions[argument.index].name));
                return parameter;
            case Kind::table:
                explain(fmt::format("{}: the rows of `{}`, one after the other.", parameter,
                                    plan_.tables[argument.index].name));
                return parameter;
            case Kind::iterations:  // a copy in the place of an exchange is done each time here, as all
                                    // others
                explain(fmt::format(
                    "{}: {} words (long long) of what repeats until {}; the first {} are 0 before "
                    "its first iteration in a step.",
                    parameter, static_cast<int>(rt::RepeatWord::words),
                    plan_.repeats[argument.index].until->text, static_cast<int>(rt::RepeatWord::total)));
                if (const int outer = rt::ended_around(plan_, argument.index); outer >= 0)
                    explain(
                        fmt::format("{}: then the first two take the first word of what repeats until {}.",
                                    parameter, plan_.repeats[outer].until->text));
                return parameter;
            case Kind::device_scalars:
                explain(
                    fmt::format("{}: {} doubles, which kernels of the step compute for those that follow.",
                                parameter, plan_.device_scalars));
                return parameter;
            case Kind::partial_count:
                explain(fmt::format("{}: how many doubles there are of `{}`{}.", parameter,
                                    plan_.reductions[argument.index].name, values_before(argument.index)));
                return parameter;
            case Kind::pitch:
            case Kind::slice:
            case Kind::volume:
            case Kind::coefs:
            case Kind::rows:
            case Kind::points:
            case Kind::count:
            case Kind::exchange:
            case Kind::steps:
            case Kind::sent:
            case Kind::planes:
            case Kind::neighbour:
                return parameter;
        }
        throw InternalError("an argument of an unknown kind");
    }

    // Where a kernel reads what blocks have found: what is there before, and what is behind it.
    std::string values_before(int index) const {
        const rt::ReductionPlan& reduction = plan_.reductions[static_cast<std::size_t>(index)];
        if (rt::is_combined_by_repeat(plan_, index)) return "; its value comes behind them";
        if (reduction.ahead_of >= 0) return "; a step finds them for the next one";
        if (rt::is_read_on_device(plan_, index))
            return fmt::format("; before the first step all are {}", reduction.initial);
        return "";
    }

    void explain(std::string text) {
        if (std::ranges::find(legend_, text) == legend_.end()) legend_.push_back(std::move(text));
    }

    // Of an array: as the first kernel of the step that takes it calls it, whatever this one does.
    std::string known_name(const rt::Argument& argument, const std::string& own) const {
        if (argument.kind != rt::Argument::Kind::field) return own;
        for (const rt::KernelPlan& kernel : plan_.kernels) {
            const auto same = std::ranges::find_if(kernel.arguments, [&](const rt::Argument& each) {
                return each.kind == argument.kind && each.field == argument.field &&
                       each.time == argument.time;
            });
            if (same == kernel.arguments.end() || kernel.fills_halo) continue;
            const auto place = static_cast<std::size_t>(same - kernel.arguments.begin());
            return kernel::kernel_named(kernels_, kernel.name).parameters[place].name;
        }
        return own;
    }

    void write_launch(const rt::KernelPlan& kernel) {
        const auto& parameters = kernel::kernel_named(kernels_, kernel.name).parameters;
        std::string arguments;
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
            arguments += (i == 0 ? "" : ", ") +
                         argument(kernel.arguments[i], known_name(kernel.arguments[i], parameters[i].name));
        const std::string shared =
            kernel.dynamic_shared_bytes > 0 ? fmt::format(", {}", kernel.dynamic_shared_bytes) : "";
        out_.line("//   {}<<<dim3({}), dim3({}, {}, {}){}>>>(", kernel.name, blocks(kernel),
                  kernel.threads[0], kernel.threads[1], kernel.threads[2], shared);
        out_.line("//       {});", arguments);
        constexpr std::int64_t kWithoutAsking = 48 << 10;  // bytes
        if (kernel.dynamic_shared_bytes > kWithoutAsking)
            explain(fmt::format("{}: set cudaFuncAttributeMaxDynamicSharedMemorySize to {} once before.",
                                kernel.name, kernel.dynamic_shared_bytes));
    }

    void explain_steps(std::size_t index) {
        const rt::KernelPlan& kernel = plan_.kernels[index];
        if (kernel.steps == rt::Steps::first || kernel.steps == rt::Steps::first_or_with_results)
            explain(fmt::format(
                "{}: in the first step{} alone, and whenever what it reads was changed.", kernel.name,
                kernel.steps == rt::Steps::first ? "" : " and in steps whose results are read"));
        if (!kernel.within.is_all())
            explain(fmt::format("{}: {} alone.", kernel.name, rt::words_for(kernel.within)));
        if (kernel.fills_after_uploads)
            explain(fmt::format("{}: in no step, but for each level that was given cells from elsewhere.",
                                kernel.name));
        if (kernel.steps == rt::Steps::without_results)
            explain(fmt::format("{}: in place of {} in steps whose results are not read.", kernel.name,
                                plan_.kernels[index - 1].name));
        const bool has_other =
            index + 1 < plan_.kernels.size() && plan_.kernels[index + 1].steps == rt::Steps::without_results;
        if (kernel.steps == rt::Steps::with_results && !has_other)
            explain(kernel.name + ": in steps whose results are read alone.");
        for (const rt::RepeatPlan& repeat : plan_.repeats) {
            if (!repeat.until || std::cmp_not_equal(repeat.until->kernel, index)) continue;
            explain(fmt::format("{} to {}: in this order, again and again until {}, {} times at most.",
                                plan_.kernels[static_cast<std::size_t>(repeat.first)].name, kernel.name,
                                repeat.until->text, repeat.count));
        }
    }

    void write_block(const rt::TimeBlock& block) {
        std::string least;
        for (int axis = 0; axis < plan_.rank; ++axis)
            least += (least.empty() ? "" : " x ") +
                     std::to_string(block.least_extent[static_cast<std::size_t>(axis)]);
        out_.line("//");
        std::string steps =
            fmt::format("{}{} steps", block.resident() != nullptr ? "at least " : "", block.steps);
        if (block.of_repeat() != nullptr) {
            const rt::RepeatPlan& repeat = plan_.repeats[static_cast<std::size_t>(block.of_repeat()->repeat)];
            steps = fmt::format("{} of the {} iterations of {}", block.steps, repeat.count,
                                plan_.kernels[static_cast<std::size_t>(repeat.first)].name);
        }
        out_.line("// In place of {}, on grids of {} cells and more:", steps, least);
        out_.line("//");
        for (const rt::KernelPlan* const kernel : block.kernels())
            write_launch(*kernel);
        if (block.resident() != nullptr)
            explain(block.kernel.name +
                    ": its blocks wait for each other; launch it by cudaLaunchCooperativeKernel alone.");
        const std::string unit = block.of_repeat() != nullptr ? "iteration" : "step";
        const std::string last = block.of_repeat() != nullptr ? "the last iteration" : "a run's last step";
        explain(fmt::format("It leaves halos as they were: set them before single {}s that follow{}.", unit,
                            block.is_whole ? "" : "; do " + last + " singly"));
    }

    static std::string face_words(const rt::FacePlan& face) {
        switch (face.kind) {
            case rt::BoundaryKind::periodic:
                return "the cells from the other end";
            case rt::BoundaryKind::clamp:
                return "the edge cell again";
            case rt::BoundaryKind::mirror:
                return "the cells reflected about the edge cell";
            case rt::BoundaryKind::fixed:
            case rt::BoundaryKind::formula:
            case rt::BoundaryKind::free:
                break;
        }
        return "";
    }

    void write_face(const rt::FieldPlan& field, int axis, int side) {
        const auto at = static_cast<std::size_t>(axis), end = static_cast<std::size_t>(side);
        const rt::FacePlan& face = field.boundary[at][end];
        const int cells = field.halo[at][end];
        if (cells == 0) return;
        std::string words = face_words(face);
        if (face.kind == rt::BoundaryKind::fixed) words = print_host_scalar(face.value, names_);
        if (words.empty()) return;
        out_.line("//   {}, {} {} {} along {}: {}", field.name, cells, cells == 1 ? "cell" : "cells",
                  side == 0 ? "before" : "after", plan_.axes[at], words);
    }

    void write_arrays() {
        out_.line("//");
        if (plan_.fixed_grid && plan_.rank > 1)
            out_.line("// Rows of all arrays are {} elements apart{}.", plan_.fixed_grid->pitch,
                      plan_.rank > 2 ? fmt::format(", planes {}", plan_.fixed_grid->slice) : "");
        out_.line(
            "// Kernels keep halos up to date at every level that they write. Before the first step, at all "
            "levels:");
        for (const rt::FieldPlan& field : plan_.fields)
            for (int axis = 0; axis < plan_.rank; ++axis)
                for (int side = 0; side < 2; ++side)
                    write_face(field, axis, side);
    }

    const kernel::Program& kernels_;
    const rt::LaunchPlan& plan_;
    HostNames names_;
    std::vector<std::string> legend_;
    Writer out_;
};

}  // namespace

std::string print_launch_rule(const kernel::Program& kernels, const rt::LaunchPlan& plan) {
    return LaunchRule(kernels, plan).print();
}

}  // namespace halo::emit
