#include "compiler/driver/tuning/edited_check.h"

#include <fmt/format.h>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/tuning/tune_check.h"
#include "compiler/driver/tuning/tune_compare.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/text.h"

namespace halo::driver {

namespace {

[[noreturn]] void refuse_edited(const rt::Error& trouble) {
    throw CommandError(ExitCode::spec, trouble_of_edited(trouble.what()),
                       "parameters and names stay as they were emitted; the bodies are free");
}

// Refuses kernels whose names C++ has mangled, as kernels are found by name.
void require_c_names(const Code& code, const CompiledCode& compiled) {
    if (compiled.steps.usage.empty()) return;  // nothing was said of any
    for (const kernel::KernelFunction& function : code.lowered.kernels.functions) {
        if (function.kind != kernel::KernelFunction::Kind::kernel) continue;
        if (find_usage(compiled, function.name) == nullptr)
            throw CommandError(
                ExitCode::spec,
                fmt::format("{}: kernel `{}` is not declared extern \"C\", so it cannot be found",
                            code.edited, function.name),
                "write `extern \"C\" __global__ void …`, as it was emitted");
    }
}

}  // namespace

std::string check_edited(GpuMachine& machine, const ir::Program& program, const sema::RunSpec* run,
                         const RunRequest& request, const CodeOptions& options,
                         std::uint64_t tolerance_ulps) {
    CodeOptions on_device = options;
    on_device.target = machine.target();
    on_device.extent = request.extent;
    const ir::Program optimized = optimize_for_gpu(program, on_device);
    Code code = cuda_code(optimized, choose_plan(optimized, on_device).plan());
    use_edited(code, *options.edited);
    CompiledCode compiled;
    std::string text, done;
    const auto check = [&](int steps) {
        const Extent grid = grid_of_checks(code, odd_grid(program.rank()));
        std::unique_ptr<Engine> edited;
        try {
            if (done.empty()) compiled = machine.compile(code);
            require_c_names(code, compiled);
            edited = machine.start_poisoned(code, grid, compiled);
        } catch (const rt::Error& trouble) {
            if (trouble.code() == rt::ErrorCode::compile_failed) refuse_edited(trouble);
            throw;
        }
        const Reference reference =
            make_reference(optimized, inputs_without_fields(optimized, run, request, machine), grid, steps);
        if (reference.steps == 0)
            throw CommandError(ExitCode::spec, fmt::format("{} could not be checked: {}", code.edited,
                                                           nothing_to_compare(fewer_steps(steps)).text));
        text = first_difference(reference.expected,
                                results_from(reference.inputs, *edited, optimized, reference.steps), grid,
                                tolerance_of(optimized), tolerance_ulps);
        done = fmt::format(
            "after {} step{} on {} cells {}", reference.steps, reference.steps == 1 ? "" : "s",
            rt::extent_text(program.rank(), grid),
            reference.inputs.start.init != nullptr ? "from initial data that were varied" : "of random data");
    };
    constexpr int kSingleSteps = 3;  // of which the last alone is with results
    std::optional<rt::TimeBlock>& block = code.lowered.plan.time_block;
    const bool is_of_steps = block && block->of_repeat() == nullptr;
    check(is_of_steps ? 2 * block->steps + 1 : kSingleSteps);  // whole kernels of several steps, and a rest
    if (text.empty() && block && rt::has_unread_steps(code.lowered.plan)) {
        // Checks the kernels of steps without results, too: they run on grids for which the kernel for
        // several steps does none.
        const std::string in_blocks = done;
        block.reset();
        check(kSingleSteps);
        if (text.empty()) done = in_blocks;
    }
    if (text.empty())
        return fmt::format("{} computes what the spec says{}, {}", code.edited,
                           tolerance_ulps > 0 ? fmt::format(" within {} ulps", tolerance_ulps) : "", done);
    throw CommandError(
        ExitCode::spec,
        fmt::format("{} does not compute what the spec says: {}, {}", code.edited, done, text),
        "where the edit rounds differently and that is meant, --tolerance-ulps N says by how much");
}

}  // namespace halo::driver
