// haloc explain: how each stage would run on a GPU, and why.
#include <algorithm>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/explanation.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/planning/target_figures.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"

namespace halo::driver {

namespace {

std::shared_ptr<const TunedSchedules> tuned_for_target(const ExplainOptions& options, const TargetHere& here,
                                                       const Console& console) {
    if (options.no_tuned || !here.device) return nullptr;
    std::string remark;
    std::shared_ptr<const TunedSchedules> tuned =
        open_tuned(options.store, tune_device(*here.device), remark);
    if (!remark.empty()) console.warning(remark);
    return tuned;
}

std::optional<PiecesRequest> pieces_of(const ExplainOptions& options, const CodeOptions& code_options) {
    if (options.devices == 1) return std::nullopt;
    if (!code_options.extent)
        throw CommandError(ExitCode::usage, "--devices: how a grid is cut depends on the grid",
                           "give one, such as --grid 1024,1024,1024");
    return PiecesRequest{options.devices, options.exchange.interval, true,
                         parse_scheme(options.exchange.scheme)};
}

}  // namespace

ExitCode explain(const ExplainOptions& options, const Console& console) {
    CheckedSpec spec = read_spec(options.file, options.include, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, options.stencil);
    CodeOptions code_options;
    code_options.schedules = options.schedule;
    if (stencil.schedule) code_options.file_schedule = stencil.schedule->text;
    code_options.strict_fp = options.strict_fp;
    const TargetHere here = target_here();
    code_options.target = here.target;
    code_options.tuned = tuned_for_target(options, here, console);
    code_options.extent = choose_grid(spec, stencil.program, options.grid);
    const sema::RunSpec* run_spec = spec.analysis.find_run(stencil.program.name);
    if (options.grid.empty() && run_spec != nullptr) code_options.steps = run_spec->steps;
    code_options.watched = watched_reductions(spec, stencil.program);
    // Like `run`, which waits for the kernel of a pinned schedule.
    code_options.wait_for_time_block = !code_options.schedules.empty() || !code_options.file_schedule.empty();
    const std::optional<PiecesRequest> pieces = pieces_of(options, code_options);
    const int width = std::clamp(console.width(), 60, 110);
    console.result(explanation(stencil.program, std::move(code_options), here, pieces,
                               options.json ? ExplanationForm::json : ExplanationForm::text, width));
    return ExitCode::ok;
}

}  // namespace halo::driver
