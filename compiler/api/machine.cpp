// What this machine has, and schedules that are measured on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "compiler/api/compiled_source.h"
#include "compiler/api/errors.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/running/machine_report.h"
#include "compiler/driver/tuning/tune_stencil.h"
#include "halocline/halocline.hpp"
#include "runtime/api/errors.h"

namespace halocline {

namespace driver = halo::driver;

namespace {

// As the command line would give them.
driver::RunArguments arguments_of(const detail::CheckedProgram& checked, const Grid& grid,
                                  const TuneOptions& options) {
    driver::RunArguments arguments;
    arguments.run_name = checked.program.name;
    arguments.grid = fmt::format("{}", fmt::join(grid, ","));
    for (const auto& [name, value] : options.params)
        arguments.set.push_back(fmt::format("{}={}", name, value));
    arguments.schedule = checked.options.schedules;
    arguments.strict_fp = checked.options.strict_fp;
    return arguments;
}

TunedStage told(const driver::StageReport& report, std::string name) {
    TunedStage stage;
    stage.name = std::move(name);
    stage.result = driver::kind_word(report.kind);
    stage.schedule = report.schedule;
    stage.model_schedule = report.model_schedule;
    stage.seconds = report.seconds;
    stage.model_seconds = report.model_seconds;
    stage.trials = report.trials + report.known_trials;
    stage.left_out = report.dropped;
    return stage;
}

TuneResult told(const driver::TuneReport& report, const driver::RunRequest& request,
                const halo::tune::Store& store) {
    TuneResult result;
    for (std::size_t i = 0; i < report.stages.size(); ++i)
        result.stages.push_back(told(report.stages[i], fmt::format("stage {}", i + 1)));
    if (report.steps) result.stages.push_back(told(*report.steps, "several steps at once"));
    result.text = driver::tuning_text(report, request.extent);
    result.store = store.file().string();
    result.interrupted = report.stop() == halo::tune::SearchResult::Stop::interrupted;
    return result;
}

}  // namespace

MachineReport examine_machine() {
    return detail::translated_of_compiler([&] {
        const driver::MachineReport found = driver::examine_machine();
        MachineReport report;
        for (const driver::Finding& each : found.findings)
            report.findings.push_back({each.name, each.title, each.found, each.detail});
        report.best_device = found.best_device;
        report.figures = driver::explain_figures(found.here);
        return report;
    });
}

TuneResult tune(const Program& program, const Device& gpu, const Grid& grid, const TuneOptions& options) {
    return detail::translated_of_compiler([&] {
        const auto source = std::dynamic_pointer_cast<detail::CompiledSource>(program.source());
        if (source == nullptr)
            detail::refuse("only a program from compile() can be tuned; this one comes from a bundle");
        if (gpu.state()->cuda == nullptr)
            detail::refuse("there is nothing to tune on the CPU: only a GPU runs by schedules");
        if (!(options.budget_seconds > 0))
            detail::refuse(fmt::format("a budget of {} seconds measures nothing; give more than 0",
                                       options.budget_seconds));
        detail::extent_of(program.info(), grid);
        const detail::CheckedProgram& checked = source->checked();
        const driver::CheckedSpec& spec = *checked.spec;
        const halo::sema::AnalyzedStencil& stencil = driver::choose_stencil(spec, checked.program.name);
        driver::Console console;
        console.set_silent(!options.says_progress);
        const driver::RunRequest request =
            driver::request_for_tuning(arguments_of(checked, grid, options), spec, stencil, console);
        const halo::tune::Store store = driver::open_store_for_tuning("");
        static_cast<void>(store.read());  // a file that is no store is said before anything is measured
        const auto machine = driver::open_gpu(gpu.state()->cuda->info().ordinal);
        machine->wait_for_device();
        std::optional<driver::InterruptGuard> guard;
        if (options.stops_on_signals) guard.emplace();
        driver::TunerSettings settings;
        settings.budget_seconds = options.budget_seconds;
        settings.again = options.again;
        settings.jobs = options.jobs;
        const driver::TuneReport report = driver::tune_stencil(
            *machine, spec, stencil, request,
            {checked.options.schedules, checked.options.strict_fp, checked.options.arrays_of_host}, store,
            settings, console);
        source->forget_codes();
        TuneResult result = told(report, request, store);
        if (report.failed() && !result.interrupted)
            throw Error(ErrorCode::unsupported,
                        "no schedule of a stage could be built, run and found right:\n" + result.text);
        return result;
    });
}

}  // namespace halocline
