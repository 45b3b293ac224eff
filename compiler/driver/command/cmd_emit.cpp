// haloc emit: the code that a spec becomes.
#include <fmt/format.h>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/planning/annotate.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/emission.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"

namespace halo::driver {

namespace {

void check_options(const EmitOptions& options) {
    const bool is_cuda = options.target == EmitTarget::cuda || options.target == EmitTarget::kernel ||
                         options.target == EmitTarget::plan;
    if (!is_cuda && (options.annotate || options.fixed_grid))
        throw CommandError(ExitCode::usage,
                           fmt::format("{} is for CUDA, and --target asks for something else",
                                       options.annotate ? "--annotate" : "--fixed-grid"),
                           "leave one of them out");
    if (is_cuda_file(options)) return;
    const char* const asked = !options.with.empty()                      ? "--with"
                              : options.style == EmitStyle::kernels_only ? "--style"
                                                                         : nullptr;
    if (asked != nullptr)
        throw CommandError(ExitCode::usage, fmt::format("{} is for a .cu file, and none is written", asked),
                           "add its name, such as -o heat.cu");
}

CudaDetails details_of(const EmitOptions& options, const CodeOptions& code_options, const CheckedSpec& spec) {
    CudaDetails details;
    if (options.annotate) details.notes = notes_of(spec.source);
    if (!options.fixed_grid) return details;
    if (!code_options.extent)
        throw CommandError(ExitCode::usage, "--fixed-grid: how large is the grid?",
                           "say it by --grid, such as --grid 512,512, or in a run block");
    details.fixed_grid = code_options.extent;
    return details;
}

}  // namespace

ExitCode emit(const EmitOptions& options, const Console& console) {
    check_options(options);
    CheckedSpec spec = read_spec(options.file, options.include, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, options.stencil);
    CodeOptions code_options;
    code_options.schedules = options.schedule;
    if (stencil.schedule) code_options.file_schedule = stencil.schedule->text;
    code_options.extent = choose_grid(spec, stencil.program, options.grid);
    code_options.strict_fp = options.strict_fp;
    code_options.single_steps = true;  // other kernels take long to compile
    if (!options.archs.empty()) code_options.target = target_of_archs(options);
    if (has_launcher(options) && !stencil.program.stretched.empty())
        throw CommandError(ExitCode::usage,
                           "a launcher is not built yet where a spacing differs from cell to cell",
                           "--style kernel-only has none, and `haloc run` runs it");
    // The launcher takes the number of steps, and reads nothing between them.
    if (!has_launcher(options)) code_options.watched = watched_reductions(spec, stencil.program);
    const std::vector<TextFile> files =
        emitted_files(stencil.program, options, code_options, details_of(options, code_options, spec));
    if (options.output.empty() || options.output == "-") {
        console.result(files.front().text);
        return ExitCode::ok;
    }
    write_texts(files);
    for (const TextFile& file : files)
        console.message(fmt::format("wrote {}", file.path));
    return ExitCode::ok;
}

}  // namespace halo::driver
