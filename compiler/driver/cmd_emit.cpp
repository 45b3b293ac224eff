// haloc emit: the code that a spec becomes.
#include <fmt/format.h>

#include <filesystem>

#include "compiler/driver/commands.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/request.h"
#include "compiler/driver/spec.h"
#include "compiler/emit/launcher.h"
#include "compiler/ir/print.h"
#include "compiler/kernel/print.h"
#include "runtime/core/plan_json.h"

namespace halo::driver {

namespace {

// Kernels that go to a .cu file get their host side with them.
bool is_cuda_file(const EmitOptions& options) {
    return options.target == EmitTarget::cuda && std::filesystem::path(options.output).extension() == ".cu";
}

struct Emitted {
    std::string text;
    std::string header;  // the C launcher's, for CUDA that is written to a file
};

Emitted emitted(const ir::Program& checked, const EmitOptions& options, const CodeOptions& code_options) {
    ir::Program program = optimize(checked, code_options);
    if (options.target == EmitTarget::stencil) return {ir::print(program), {}};
    if (options.target == EmitTarget::cpu) return {cpu_code(program).text, {}};
    const std::vector<StageChoice> stages = choose_schedules(program, code_options);
    // Only where it is asked for: such kernels take long to compile.
    std::optional<schedule::TemporalSchedule> temporal;
    if (pins_temporal(code_options)) temporal = choose_temporal(program, stages, code_options).schedule;
    std::optional<schedule::ResidentSchedule> resident;
    if (pins_resident(code_options)) resident = choose_resident(program, stages, {}, code_options).schedule;
    if (resident && is_cuda_file(options))
        throw CommandError(
            ExitCode::usage,
            "an emitted launcher cannot start kernels whose blocks wait for each other, as `resident` does",
            "emit the kernels alone (`haloc emit SPEC` without -o), or choose another schedule, such as "
            "`temporal`");
    Code code = cuda_code(program, stages, temporal, resident);
    if (options.target == EmitTarget::plan) return {rt::plan_to_json(code.lowered.plan) + '\n', {}};
    if (options.target == EmitTarget::kernel) return {kernel::Printer().print(code.lowered.kernels), {}};
    if (!is_cuda_file(options)) return {code.text, {}};
    std::string stem = std::filesystem::path(options.output).stem().string();
    emit::OfflineFiles files = emit::print_offline(code.lowered.kernels, code.lowered.plan, stem);
    return {files.source, files.header};
}

}  // namespace

ExitCode emit(const EmitOptions& options, const Console& console) {
    CheckedSpec spec = read_spec(options.file, options.include, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, options.stencil);
    CodeOptions code_options;
    code_options.schedules = options.schedule;
    if (stencil.schedule) code_options.file_schedule = stencil.schedule->text;
    code_options.extent = choose_grid(spec, stencil.program, "");
    code_options.strict_fp = options.strict_fp;
    // The launcher takes the number of steps, and looks at nothing between them.
    if (!is_cuda_file(options)) code_options.watched = watched_reductions(spec, stencil.program);
    Emitted result = emitted(stencil.program, options, code_options);
    if (options.output.empty() || options.output == "-") {
        console.result(result.text);
        return ExitCode::ok;
    }
    write_text(options.output, result.text);
    console.message(fmt::format("wrote {}", options.output));
    if (!result.header.empty()) {
        std::string header = std::filesystem::path(options.output).replace_extension(".h").string();
        write_text(header, result.header);
        console.message(fmt::format("wrote {}", header));
    }
    return ExitCode::ok;
}

}  // namespace halo::driver
