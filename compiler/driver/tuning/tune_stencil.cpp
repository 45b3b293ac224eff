#include "compiler/driver/tuning/tune_stencil.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/compile.h"
#include "runtime/core/disk_cache.h"

namespace halo::driver {

namespace {

std::string how_it_ended(const StageReport& report) {
    switch (report.stop) {
        case tune::SearchResult::Stop::exhausted:
            return "all of them";
        case tune::SearchResult::Stop::settled:
            return "until nothing better came";
        case tune::SearchResult::Stop::budget:
            return "until the budget was spent; the same command goes on";
        case tune::SearchResult::Stop::interrupted:
            return "until it was interrupted; the same command goes on";
    }
    return "";
}

std::string model_text(const StageReport& report) {
    const bool is_same = report.schedule == report.model_schedule;
    if (report.model_schedule == schedule::kSingleSteps)
        return is_same ? "  several at once are slower\n"
                       : fmt::format("  single steps take {} each: {:.2f} times as long\n",
                                     format_step_time(*report.model_seconds),
                                     *report.model_seconds / report.seconds);
    return is_same ? "  the model's choice is the fastest\n"
                   : fmt::format("  the model's choice, {}, takes {} a step: {:.2f} times as long\n",
                                 report.model_schedule, format_step_time(*report.model_seconds),
                                 *report.model_seconds / report.seconds);
}

// name: "stage 2".
std::string stage_text(const StageReport& report, const std::string& name, double cells) {
    const std::string stage = name + ": ";
    if (report.kind == StageReport::Kind::no_choice)
        return stage + (report.why.empty() ? "there is nothing to choose" : "none, as " + report.why) + '\n';
    if (report.kind == StageReport::Kind::failed) {
        std::string text =
            stage + fmt::format("none of {} schedules could be used\n", report.trials + report.known_trials);
        for (const std::string& each : report.dropped)
            text += fmt::format("  left out  {}\n", each);
        return text;
    }
    std::string text = stage + report.schedule + '\n';
    text += fmt::format("  measured  {} a step, {}\n", format_step_time(report.seconds),
                        format_rate(cells / report.seconds));
    if (report.model_seconds) text += model_text(report);
    if (report.kind == StageReport::Kind::known) return text + "  it was tuned before; --again begins anew\n";
    text += fmt::format("  tried     {} schedules{}, {}\n", report.trials,
                        report.known_trials > 0 ? fmt::format(" and {} before", report.known_trials) : "",
                        how_it_ended(report));
    if (report.spilled + report.refused + report.wrong + report.unverified > 0) {
        text += fmt::format(
            "  left out  {} that spilled registers, {} that could not be run, {} with wrong results{}\n",
            report.spilled, report.refused, report.wrong,
            report.unverified > 0 ? fmt::format(", {} not verified", report.unverified) : "");
    }
    return text;
}

}  // namespace

tune::Store open_store_for_tuning(const std::string& file) {
    if (!file.empty()) return tune::Store(file);
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    if (!cache.usable())
        throw rt::Error(
            rt::ErrorCode::io,
            fmt::format("what is measured cannot be kept: {}; --store names a file for it", cache.why()));
    return tune::Store(usual_store());
}

TuneReport tune_stencil(GpuMachine& machine, const CheckedSpec& spec, const sema::AnalyzedStencil& stencil,
                        const RunRequest& request, const TunedCode& code, const tune::Store& store,
                        TunerSettings settings, const Console& console) {
    CodeOptions options;
    options.schedules = code.schedules;
    if (stencil.schedule) options.file_schedule = stencil.schedule->text;
    options.strict_fp = code.strict_fp;
    options.arrays_of_host = code.arrays_of_host;
    options.target = machine.target();
    options.extent = request.extent;
    options.watched = request.watched;
    // With a pinned grouping stages are not searched: they run as `run` would have them.
    const std::string grouping = pinned_grouping(options, stencil.program.rank());
    if (!grouping.empty())
        options.tuned = std::make_shared<TunedSchedules>(store.file(), machine.tune_device());
    const ir::Program program = optimize_for_gpu(stencil.program, options);
    const TunerInput input{machine,
                           program,
                           request,
                           spec.analysis.find_run(stencil.program.name),
                           choose_schedules(program, options),
                           grouping,
                           details_of_run(options)};
    if (settings.jobs <= 0)
        settings.jobs = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
    return tune_program(input, store, settings, console);
}

const char* kind_word(StageReport::Kind kind) {
    switch (kind) {
        case StageReport::Kind::tuned:
            return "tuned";
        case StageReport::Kind::known:
            return "known";
        case StageReport::Kind::no_choice:
            return "no choice";
        case StageReport::Kind::failed:
            return "failed";
    }
    return "";
}

std::string tuning_text(const TuneReport& report, const Extent& extent) {
    std::string text;
    const auto cells = static_cast<double>(cell_count(extent));
    for (std::size_t i = 0; i < report.stages.size(); ++i)
        text += stage_text(report.stages[i], fmt::format("stage {}", i + 1), cells);
    if (report.steps) text += stage_text(*report.steps, "several steps at once", cells);
    return text;
}

}  // namespace halo::driver
