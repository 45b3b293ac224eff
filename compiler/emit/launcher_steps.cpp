// The launches of one step, and of the iterations in it.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_writer.h"
#include "runtime/core/plan_check.h"

namespace halo::emit {

namespace {

class StepWriter : LauncherWriter {
public:
    StepWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write() {
        int from = 0;
        for (int index = 0; index < count(plan_.repeats); ++index) {
            const rt::RepeatPlan& repeat = plan_.repeats[index];
            write_kernels(from, repeat.first);
            if (repeat.until) {
                write_iterations_until(index);
            } else {
                out_.line("for (int iteration = 0; iteration < {}; ++iteration) {{", repeat.count);
                {
                    const auto loop = out_.indent();
                    write_kernels(repeat.first, repeat.past - count(repeat.exchanges));
                    write_exchanges(repeat);
                }
                out_.line("}}");
            }
            from = repeat.past;
        }
        write_kernels(from, count(plan_.kernels));
    }

    void write_to_full_step() {
        std::string conditions;
        HostNames names = names_;
        names.step = [] { return std::string("step"); };
        for (const rt::HostScalar& condition : plan_.full_steps)
            conditions += (conditions.empty() ? "" : " || ") + print_host_scalar(condition, names);
        out_.blank_line();
        out_.line("// The number of steps up to the next that runs statements which others leave out.");
        out_.line("long long to_full_step(const {}& solver, long long most) {{", model_.solver);
        out_.line("    for (long long count = 1; count <= most; ++count) {{");
        out_.line("        const double step = double(solver.steps + count - 1);");
        out_.line("        if ({}) return count;", conditions);
        out_.line("    }}");
        out_.line("    return most;");
        out_.line("}}");
    }

private:
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

    void write_exchanges(const rt::RepeatPlan& repeat) {
        for (const rt::RepeatPlan::Exchange& each : repeat.exchanges)
            out_.line("std::swap(solver->{}, solver->{});", model_.fields[each.field].level(each.time).member,
                      model_.fields[each.other].level(0).member);
    }

    // Iterations are launched ahead of what the device says, and those after the last one do nothing.
    void write_iterations_until(int index) {
        const rt::RepeatPlan& repeat = plan_.repeats[index];
        const int copies = count(repeat.exchanges);
        out_.line("{{  // until {}", repeat.until->text);
        {
            const auto scope = out_.indent();
            fill("const cudaError_t error = cudaMemsetAsync(",
                 {"solver->" + words_member(index), "0",
                  fmt::format("{} * sizeof(long long)", static_cast<int>(rt::RepeatWord::total)),
                  "solver->stream"},
                 ");");
            return_unless_ok("launcher::check(error, \"beginning iterations\")");
            std::int64_t launches = 0;
            for (int kernel = repeat.first; kernel < repeat.past; ++kernel)
                launches += plan_.kernels[kernel].stands_for;
            std::vector<std::string> blocks{fmt::format("{}", launches)};
            for (int kernel = repeat.first; kernel < repeat.past; ++kernel)
                if (plan_.kernels[kernel].steps != rt::Steps::without_results)
                    blocks.push_back(
                        fmt::format("launcher::{}(*solver)", blocks_function(plan_.kernels[kernel])));
            fill("const int together = launcher::iterations_ahead(", blocks, ");");
            out_.line("const bool looks = !launcher::is_recorded(*solver);");
            out_.line("bool is_done = false;");
            out_.line("int iteration = 0;");
            out_.line("for (int turn = 0; iteration < {} && !is_done; ++turn) {{", repeat.count);
            {
                const auto turns = out_.indent();
                out_.line("for (int ahead = 0; ahead < together && iteration < {}; ++ahead, ++iteration) {{",
                          repeat.count);
                {
                    const auto loop = out_.indent();
                    write_kernels(repeat.first, repeat.past - 1 - copies);
                    write_kernels(repeat.past - 1, repeat.past);
                    write_exchanges(repeat);
                }
                out_.line("}}");
                out_.line("if (!looks || iteration == {}) continue;", repeat.count);
                fill(fmt::format("const {} looked = launcher::is_done(", model_.status),
                     {"*solver", "solver->" + words_member(index), "solver->" + done_member(index),
                      "solver->" + copied_member(index), "turn", "&is_done"},
                     ");");
                out_.line("if (looked != {}) return looked;", model_.code("OK"));
            }
            out_.line("}}");
            if (copies > 0) {
                out_.line(
                    "if (iteration % 2 == 1) {{  // of the launches, which may be more than were needed");
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

    // Those without results are in place of the ones before them.
    void write_kernels(int from, int past) {
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
};

}  // namespace

void write_kernels_of_step(const LauncherModel& model, Writer& out) {
    StepWriter(model, out).write();
}

void write_full_steps(const LauncherModel& model, Writer& out) {
    if (!model.plan.full_steps.empty()) StepWriter(model, out).write_to_full_step();
}

}  // namespace halo::emit
