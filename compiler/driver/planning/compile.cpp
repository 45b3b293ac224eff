#include "compiler/driver/planning/compile.h"

#include <algorithm>
#include <utility>

#include "compiler/driver/console/stopwatch.h"
#include "compiler/emit/emit.h"
#include "compiler/lower/fixed_grid.h"
#include "compiler/passes/pipeline.h"
#include "runtime/core/background.h"

namespace halo::driver {

namespace {

void end_with_newline(std::string& text) {
    if (!text.ends_with('\n')) text += '\n';
}

}  // namespace

ir::Program optimize(ir::Program program, const CodeOptions& options) {
    passes::optimize(program, options.strict_fp ? passes::FloatingPoint::strict() : passes::FloatingPoint{});
    return program;
}

Code cuda_code(const ir::Program& program, const schedule::Plan& plan, const CudaDetails& details) {
    Code code;
    Stopwatch watch;
    code.lowered = lower::lower_cuda(program, plan, details.notes);
    if (details.fixed_grid) lower::fix_grid(code.lowered, *details.fixed_grid);
    if (details.block_grid) lower::fix_time_block(code.lowered, *details.block_grid);
    code.lower_seconds = watch.lap();
    code.text = emit::print_cuda(code.lowered.kernels);
    end_with_newline(code.text);
    code.print_seconds = watch.lap();
    return code;
}

CodeParts parts_of(const Code& code) {
    const std::optional<rt::TimeBlock>& block = code.lowered.plan.time_block;
    if (!block || !code.edited.empty()) return {code.text, {}};
    emit::CudaParts parts = emit::print_cuda_parts(code.lowered.kernels, block->kernel_names());
    end_with_newline(parts.others);
    end_with_newline(parts.kernels);
    return {std::move(parts.others), std::move(parts.kernels)};
}

CudaDetails details_of_run(const CodeOptions& options) {
    CudaDetails details;
    if (options.edited == nullptr && !options.arrays_of_host) details.block_grid = options.extent;
    return details;
}

FindKernel find_kernel_in(const rt::Nvrtc& nvrtc, const std::string& arch, const rt::DiskCache& cache,
                          const CudaDetails& details) {
    return [&nvrtc, &cache, arch, details](const ir::Program& program,
                                           const schedule::Plan& plan) -> KnownKernel {
        const CodeParts parts = parts_of(cuda_code(program, plan, details));
        if (parts.block.empty()) return {};
        rt::NvrtcOptions options;
        options.arch = arch;
        return {nvrtc.find_compiled(parts.block, options, cache).has_value(),
                nvrtc.key_of(parts.block, options)};
    };
}

CompiledCode compile_parts(rt::Nvrtc& nvrtc, const Code& code, const std::string& arch,
                           const rt::DiskCache& cache) {
    rt::NvrtcOptions options;
    options.arch = arch;
    options.text_of_user = !code.edited.empty();
    const CodeParts parts = parts_of(code);
    const std::string name = code.edited.empty() ? code.lowered.plan.name + ".cu" : code.edited;
    CompiledCode compiled{nvrtc.compile(parts.steps, name, options, &cache), {}};
    if (!parts.block.empty()) compiled.block = nvrtc.compile(parts.block, name, options, &cache);
    return compiled;
}

SplitCode compile_without_waiting(rt::Nvrtc& nvrtc, const Code& code, const std::string& arch,
                                  const rt::DiskCache& cache) {
    rt::NvrtcOptions options;
    options.arch = arch;
    const std::string name = code.lowered.plan.name + ".cu";
    CodeParts parts = parts_of(code);
    SplitCode split;
    split.compiled.steps = nvrtc.compile(parts.steps, name, options, &cache);
    if (parts.block.empty()) return split;
    split.compiled.block = nvrtc.find_compiled(parts.block, options, cache);
    if (split.compiled.block) return split;
    split.async_key = nvrtc.key_of(parts.block, options);
    split.async_block =
        rt::run_in_background([nvrtc = &nvrtc, cache, text = std::move(parts.block), name, options] {
            Stopwatch watch;
            rt::AsyncCode compiled{nvrtc->compile(text, name, options, &cache).cubin, 0};
            compiled.seconds = watch.lap();
            return compiled;
        });
    return split;
}

Code cpu_code(const ir::Program& program) {
    Code code;
    Stopwatch watch;
    code.lowered = lower::lower_cpu(program);
    code.lower_seconds = watch.lap();
    code.text = emit::print_cpp(code.lowered.kernels);
    end_with_newline(code.text);
    code.print_seconds = watch.lap();
    return code;
}

const rt::KernelUsage* find_usage(const CompiledCode& compiled, const std::string& kernel) {
    const auto find = [&](const rt::CompiledCuda& part) -> const rt::KernelUsage* {
        const auto found = std::find_if(part.usage.begin(), part.usage.end(),
                                        [&](const rt::KernelUsage& usage) { return usage.name == kernel; });
        return found == part.usage.end() ? nullptr : &*found;
    };
    const rt::KernelUsage* const usage = find(compiled.steps);
    return usage == nullptr && compiled.block ? find(*compiled.block) : usage;
}

}  // namespace halo::driver
