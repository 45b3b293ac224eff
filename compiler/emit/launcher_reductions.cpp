// How the launcher makes a reduction's value of those that the blocks of its kernel give.
#include <fmt/format.h>

#include "compiler/emit/launcher_writer.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::emit {

namespace {

class CombinationWriter : LauncherWriter {
public:
    CombinationWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write() {
        for (int index = 0; index < count(plan_.reductions); ++index)
            if (!model_.get_reduction[index].empty() || model_.is_read(index)) write_combination(index);
    }

private:
    // In the same order each time, so that the result is the same; the least and the greatest of numbers of
    // which one is NaN is NaN, as the runtime has it.
    void write_combination(int index) {
        const rt::ReductionPlan& reduction = plan_.reductions[index];
        out_.blank_line();
        out_.line("{} {}(const {}& solver, double* value) {{", model_.status, combine_function(index),
                  model_.solver);
        if (rt::is_combined_by_repeat(plan_, index)) {
            const auto body = out_.indent();
            write_value_of_iterations(index);
        } else {
            const auto body = out_.indent();
            out_.line("const dim3 blocks = {}(solver);", blocks_function(plan_.kernels[reduction.kernel]));
            std::string partials = "solver." + model_.partials_member(index);
            if (model_.is_given_by_steps(index)) {
                write_last_of_steps(index);
                partials = "partials";
            } else {
                out_.line("std::vector<double> of_block(block_count(blocks));");
            }
            fill("const cudaError_t error = cudaMemcpyAsync(",
                 {"of_block.data()", partials, "of_block.size() * sizeof(double)", "cudaMemcpyDeviceToHost",
                  "solver.stream"},
                 ");");
            const std::string doing = fmt::format("\"reading {}\"", reduction.name);
            return_unless_ok(fmt::format("check(error, {})", doing));
            return_unless_ok(fmt::format("check(cudaStreamSynchronize(solver.stream), {})", doing));
            write_fold(reduction.op);
            out_.line("*value = {};", reduction.square_root ? "std::sqrt(result)" : "result");
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    // What ended the iterations has combined it, and gone by that.
    void write_value_of_iterations(int index) {
        const rt::ReductionPlan& reduction = plan_.reductions[index];
        out_.line("const double* const found = solver.{} + block_count({}(solver));",
                  model_.partials_member(index), blocks_function(plan_.kernels[reduction.kernel]));
        fill("const cudaError_t error = cudaMemcpyAsync(",
             {"value", "found", "sizeof(double)", "cudaMemcpyDeviceToHost", "solver.stream"}, ");");
        const std::string doing = fmt::format("\"reading {}\"", reduction.name);
        return_unless_ok(fmt::format("check(error, {})", doing));
        out_.line("return check(cudaStreamSynchronize(solver.stream), {});", doing);
    }

    // Its values by the kernel that did the last step.
    void write_last_of_steps(int index) {
        const rt::TimeBlock& block = *plan_.time_block;
        const std::string in_steps = "solver." + model_.in_steps_member(index);
        fill("const double* const partials =",
             {fmt::format(" {} ? solver.{} + {} * {} : solver.{}", in_steps, model_.of_steps_member(index),
                          block.steps - 1, block.kernel.blocks, model_.partials_member(index))},
             ";");
        out_.line("std::vector<double> of_block({} ? {} : block_count(blocks));", in_steps,
                  block.kernel.blocks);
    }

    void write_fold(rt::ReductionPlan::Op op) {
        const bool is_sum = op == rt::ReductionPlan::Op::sum, is_least = op == rt::ReductionPlan::Op::min;
        out_.line("double result = {};", is_sum ? "0" : is_least ? "INFINITY" : "-INFINITY");
        out_.line("for (const double part : of_block) {{");
        if (is_sum) {
            out_.line("    result += part;");
        } else {
            out_.line("    if (part {} result || std::isnan(part)) result = part;", is_least ? "<" : ">");
        }
        out_.line("}}");
    }
};

class ReductionCallWriter : LauncherWriter {
public:
    ReductionCallWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write() {
        for (int index = 0; index < count(plan_.reductions); ++index)
            if (!model_.get_reduction[index].empty()) write(index);
    }

private:
    void write(int index) {
        const std::string& name = model_.get_reduction[index];
        out_.blank_line();
        out_.line("{} {}({}* solver, double* value) {{", model_.status, name, model_.solver);
        {
            const auto body = out_.indent();
            refuse("launcher::", "solver == nullptr || value == nullptr", name + ": a pointer is NULL");
            refuse("launcher::", "solver->steps == 0", name + ": there is no value before the first step");
            write_other_steps(plan_.kernels[plan_.reductions[index].kernel].within);
            out_.line("return launcher::{}(*solver, value);", combine_function(index));
        }
        out_.line("}}");
    }

    void write_other_steps(rt::StepRange within) {
        if (within.is_all()) return;
        std::string done;  // the last step was none of these
        if (within.first > 0) done = fmt::format("solver->steps <= {}", within.first);
        if (within.past != rt::StepRange::kNoEnd)
            done += fmt::format("{}solver->steps > {}", done.empty() ? "" : " || ", within.past);
        out_.line("if ({}) {{  // the last step did not find it", done);
        out_.line("    *value = NAN;");
        out_.line("    return {};", model_.code("OK"));
        out_.line("}}");
    }
};

}  // namespace

void write_combinations(const LauncherModel& model, Writer& out) {
    CombinationWriter(model, out).write();
}

void write_reduction_calls(const LauncherModel& model, Writer& out) {
    ReductionCallWriter(model, out).write();
}

}  // namespace halo::emit
