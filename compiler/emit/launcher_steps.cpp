// The launches of one step, and of the iterations in it.
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_writer.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::emit {

namespace {

class StepWriter : LauncherWriter {
public:
    StepWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write() { write_all(0, count(plan_.kernels), 0); }

    void write_to_full_step() {
        if (!has_turns()) return;
        std::string conditions;
        HostNames names = names_;
        names.step = [] { return std::string("step"); };
        for (const rt::HostScalar& condition : plan_.full_steps)
            conditions += (conditions.empty() ? "" : " || ") + print_host_scalar(condition, names);
        const std::set<std::int64_t> bounds = bounds_of_kernels();
        out_.blank_line();
        if (!conditions.empty())
            out_.line("// The number of steps up to the next that runs statements which others leave out{}.",
                      bounds.empty() ? "" : ", or");
        if (!bounds.empty())
            out_.line("// {} to the last before other kernels run.",
                      conditions.empty() ? "The number of steps up" : "up");
        out_.line("long long to_full_step(const {}& solver, long long most) {{", model_.solver);
        for (const std::int64_t bound : bounds)
            out_.line("    if (solver.steps < {0}) most = std::min(most, {0} - solver.steps);", bound);
        if (!conditions.empty()) {
            out_.line("    for (long long count = 1; count <= most; ++count) {{");
            out_.line("        const double step = double(solver.steps + count - 1);");
            out_.line("        if ({}) return count;", conditions);
            out_.line("    }}");
        }
        out_.line("    return most;");
        out_.line("}}");
    }

    void write_turns_comment() {
        if (bounds_of_kernels().empty()) {
            out_.line("// A turn ends with a step that runs statements which those before it leave out,");
            out_.line("// or with the last step.");
        } else if (plan_.full_steps.empty()) {
            out_.line("// A turn ends before steps that other kernels do, or with the last step.");
        } else {
            out_.line("// A turn ends with a step that runs statements which those before it leave out,");
            out_.line("// before steps that other kernels do, or with the last step.");
        }
    }

private:
    // The steps with which kernels begin and end to run.
    std::set<std::int64_t> bounds_of_kernels() const {
        std::set<std::int64_t> bounds;
        for (const rt::KernelPlan& kernel : plan_.kernels) {
            if (kernel.within.first > 0) bounds.insert(kernel.within.first);
            if (kernel.within.past != rt::StepRange::kNoEnd) bounds.insert(kernel.within.past);
        }
        return bounds;
    }

    // What lies past the faces of t+1 has the step of t+1.
    std::string launch_arguments(const rt::KernelPlan& kernel) const {
        if (!kernel.fills_halo) return "*solver";
        const auto& [field, time] = *kernel.fills_halo;
        return fmt::format("*solver, solver->{}, double(solver->steps{})",
                           model_.fields[field].level(time).member,
                           time == 0  ? ""
                           : time > 0 ? fmt::format(" + {}", time)
                                      : fmt::format(" - {}", -time));
    }

    // A statement reads a reduction's value of the sweep before it, which costs a wait for the device.
    void write_kernel_of_step(int index) {
        const rt::KernelPlan& kernel = plan_.kernels[index];
        for (int reduction = 0; reduction < count(plan_.reductions); ++reduction) {
            if (!LauncherModel::reads_reduction(kernel, reduction)) continue;
            out_.line("if (solver->{}) {{", model_.due_member(reduction));
            return_unless_ok(fmt::format("launcher::{}(*solver, &solver->{})", combine_function(reduction),
                                         model_.latest_member(reduction)),
                             "    ");
            out_.line("    solver->{} = false;", model_.due_member(reduction));
            out_.line("}}");
        }
        return_unless_ok(fmt::format("launcher::{}({})", launch_function(kernel), launch_arguments(kernel)));
        for (int reduction = 0; reduction < count(plan_.reductions); ++reduction) {
            if (!LauncherModel::finds_reduction(kernel, reduction)) continue;
            if (model_.is_read(reduction)) out_.line("solver->{} = true;", model_.due_member(reduction));
            if (model_.is_given_by_steps(reduction))
                out_.line("solver->{} = false;", model_.in_steps_member(reduction));
        }
    }

    // The kernels from `from` on and the repeats among them, of which `repeat` is the first in the plan.
    void write_all(int from, int past, std::size_t repeat) {
        while (repeat < plan_.repeats.size() && plan_.repeats[repeat].first < past) {
            const rt::RepeatPlan& inner = plan_.repeats[repeat];
            write_kernels(from, inner.first);
            ++depth_;
            inner.until ? write_iterations_until(static_cast<int>(repeat)) : write_iterations(repeat);
            --depth_;
            from = inner.past;
            repeat = rt::next_repeat(plan_, repeat);
        }
        write_kernels(from, past);
    }

    // A variable of the repeat: those within it have their own.
    std::string variable(const char* name) const {
        return depth_ == 1 ? name : fmt::format("{}{}", name, depth_);
    }

    void write_iterations(std::size_t index) {
        const rt::RepeatPlan& repeat = plan_.repeats[index];
        const int past = repeat.past - count(repeat.exchanges);
        const std::string iteration = variable("iteration");
        const bool has_block = rt::block_of_repeat(plan_, index) != nullptr;
        if (has_block) write_iterations_at_once(model_, iteration, out_);
        if (has_block && plan_.time_block->is_whole && repeat.count % plan_.time_block->steps == 0 &&
            model_.is_fixed())
            return;
        out_.line("for ({}; {} < {}; ++{}) {{", has_block ? "" : fmt::format("int {} = 0", iteration),
                  iteration, repeat.count, iteration);
        {
            const auto loop = out_.indent();
            write_all(repeat.first, past, index + 1);
            write_exchanges(repeat);
        }
        out_.line("}}");
        if (!copies_exchanged(static_cast<int>(index))) return;
        if (repeat.count % 2 == 1) write_exchanges(repeat);
        if (repeat.count % 2 == 1) write_kernels(past, repeat.past);
    }

    // Where a repeat around it is over, it begins as one that is, after which no copy is due.
    void write_beginning(int index) {
        const std::string words = "solver->" + words_member(index);
        const auto check = [&] { return_unless_ok("launcher::check(error, \"beginning iterations\")"); };
        const int outer = rt::ended_around(plan_, index);
        fill(
            outer < 0 ? "const cudaError_t error = cudaMemsetAsync(" : "cudaError_t error = cudaMemsetAsync(",
            {words, "0", fmt::format("{} * sizeof(long long)", static_cast<int>(rt::RepeatWord::total)),
             "solver->stream"},
            ");");
        check();
        if (outer < 0) return;
        for (const rt::RepeatWord word : {rt::RepeatWord::done, rt::RepeatWord::even}) {
            fill("error = cudaMemcpyAsync(",
                 {fmt::format("{} + {}", words, static_cast<int>(word)), "solver->" + words_member(outer),
                  "sizeof(long long)", "cudaMemcpyDeviceToDevice", "solver->stream"},
                 ");");
            check();
        }
    }

    // Iterations are launched ahead of what the device says, and those after the last one do nothing.
    void write_iterations_until(int index) {
        const rt::RepeatPlan& repeat = plan_.repeats[static_cast<std::size_t>(index)];
        const auto within = static_cast<std::size_t>(index) + 1;
        const int copies = count(repeat.exchanges);
        const std::string together = variable("together"), looks = variable("looks"),
                          is_done = variable("is_done"), iteration = variable("iteration"),
                          turn = variable("turn"), ahead = variable("ahead"), looked = variable("looked");
        out_.line("{{  // until {}", repeat.until->text);
        {
            const auto scope = out_.indent();
            write_beginning(index);
            if (rt::has_repeat_within(plan_, within - 1)) {
                out_.line("const int {} = 1;", together);
            } else {
                std::int64_t launches = 0;
                for (int kernel = repeat.first; kernel < repeat.past; ++kernel)
                    launches += plan_.kernels[kernel].stands_for;
                std::vector<std::string> blocks{fmt::format("{}", launches)};
                for (int kernel = repeat.first; kernel < repeat.past; ++kernel)
                    if (plan_.kernels[kernel].steps != rt::Steps::without_results)
                        blocks.push_back(
                            fmt::format("launcher::{}(*solver)", blocks_function(plan_.kernels[kernel])));
                fill(fmt::format("const int {} = launcher::iterations_ahead(", together), blocks, ");");
            }
            out_.line("const bool {} = !launcher::is_recorded(*solver);", looks);
            out_.line("bool {} = false;", is_done);
            out_.line("int {} = 0;", iteration);
            out_.line("for (int {0} = 0; {1} < {2} && !{3}; ++{0}) {{", turn, iteration, repeat.count,
                      is_done);
            {
                const auto turns = out_.indent();
                out_.line("for (int {0} = 0; {0} < {1} && {2} < {3}; ++{0}, ++{2}) {{", ahead, together,
                          iteration, repeat.count);
                {
                    const auto loop = out_.indent();
                    write_all(repeat.first, repeat.past - 1 - copies, within);
                    write_kernels(repeat.past - 1, repeat.past);
                    write_exchanges(repeat);
                }
                out_.line("}}");
                out_.line("if (!{} || {} == {}) continue;", looks, iteration, repeat.count);
                fill(fmt::format("const {} {} = launcher::is_done(", model_.status, looked),
                     {"*solver", "solver->" + words_member(index), "solver->" + done_member(index),
                      "solver->" + copied_member(index), turn, "&" + is_done},
                     ");");
                out_.line("if ({0} != {1}) return {0};", looked, model_.code("OK"));
            }
            out_.line("}}");
            if (copies > 0) {
                out_.line("if ({} % 2 == 1) {{  // of the launches, which may be more than were needed",
                          iteration);
                {
                    const auto then = out_.indent();
                    write_exchanges(repeat);
                }
                out_.line("}}");
                write_kernels(repeat.past - 1 - copies, repeat.past - 1);
            }
        }
        out_.line("}}");
    }

    void write_kernels(int from, int past) {
        while (from < past) {
            const rt::StepRange& within = plan_.kernels[from].within;
            int other = from + 1;
            while (other < past && plan_.kernels[other].within == within)
                ++other;
            if (within.is_all()) {
                write_kernels_of_same_steps(from, other);
            } else {
                out_.line("if ({}) {{", condition_of(within));
                {
                    const auto body = out_.indent();
                    write_kernels_of_same_steps(from, other);
                }
                out_.line("}}");
            }
            from = other;
        }
    }

    // Those without results are in place of the ones before them.
    void write_kernels_of_same_steps(int from, int past) {
        rt::Steps before = rt::Steps::all;
        for (int index = from; index < past; ++index) {
            const rt::KernelPlan& kernel = plan_.kernels[index];
            if (!rt::runs_in_step(plan_, kernel)) continue;
            if (kernel.steps != before) write_choice(before, kernel.steps);
            before = kernel.steps;
            if (kernel.steps == rt::Steps::all) {
                write_kernel_of_step(index);
            } else {
                const auto body = out_.indent();
                write_kernel_of_step(index);
            }
        }
        if (before != rt::Steps::all) out_.line("}}");
    }

    void write_choice(rt::Steps before, rt::Steps next) {
        if (before == rt::Steps::with_results && next == rt::Steps::without_results) {
            out_.line("}} else {{");
            return;
        }
        if (before != rt::Steps::all) out_.line("}}");
        switch (next) {
            case rt::Steps::with_results:
                return out_.line("if (is_last) {{");
            case rt::Steps::without_results:
                return out_.line("if (!is_last) {{");
            case rt::Steps::first:
                return out_.line("if (is_first) {{");
            case rt::Steps::first_or_with_results:
                return out_.line("if (is_first || is_last) {{");
            case rt::Steps::all:
                return;
        }
    }

    int depth_ = 0;  // repeats around what is written
};

}  // namespace

void write_kernels_of_step(const LauncherModel& model, Writer& out) {
    StepWriter(model, out).write();
}

void write_full_steps(const LauncherModel& model, Writer& out) {
    StepWriter(model, out).write_to_full_step();
}

void write_turns_comment(const LauncherModel& model, Writer& out) {
    StepWriter(model, out).write_turns_comment();
}

}  // namespace halo::emit
