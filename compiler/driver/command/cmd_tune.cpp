// haloc tune: the fastest schedules of a spec on a grid, by measuring them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/tuner.h"
#include "compiler/support/json_text.h"
#include "runtime/core/disk_cache.h"

namespace halo::driver {

namespace {

using Kind = StageReport::Kind;
using Stop = tune::SearchResult::Stop;

const char* search_stop_word(Stop stop) {
    switch (stop) {
        case Stop::exhausted:
            return "exhausted";
        case Stop::settled:
            return "settled";
        case Stop::budget:
            return "budget";
        case Stop::interrupted:
            return "interrupted";
    }
    return "";
}

const char* kind_word(Kind kind) {
    switch (kind) {
        case Kind::tuned:
            return "tuned";
        case Kind::known:
            return "known";
        case Kind::no_choice:
            return "no choice";
        case Kind::failed:
            return "failed";
    }
    return "";
}

std::string how_it_ended(const StageReport& report) {
    switch (report.stop) {
        case Stop::exhausted:
            return "all of them";
        case Stop::settled:
            return "until nothing better came";
        case Stop::budget:
            return "until the budget was spent; the same command goes on";
        case Stop::interrupted:
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
    if (report.kind == Kind::no_choice)
        return stage + (report.why.empty() ? "there is nothing to choose" : "none, as " + report.why) + '\n';
    if (report.kind == Kind::failed) {
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
    if (report.kind == Kind::known) return text + "  it was tuned before; --again begins anew\n";
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

nlohmann::ordered_json report_json(const StageReport& report) {
    nlohmann::ordered_json json;
    json["result"] = kind_word(report.kind);
    if (!report.why.empty()) json["why"] = report.why;
    json["schedule"] = report.schedule;
    json["model_schedule"] = report.model_schedule;
    json["seconds_per_step"] = report.seconds;
    if (report.model_seconds) json["model_seconds_per_step"] = *report.model_seconds;
    if (report.predicted) json["predicted_seconds"] = *report.predicted;
    json["trials"] = report.trials;
    json["known_trials"] = report.known_trials;
    json["spilled"] = report.spilled;
    json["refused"] = report.refused;
    json["wrong"] = report.wrong;
    json["unverified"] = report.unverified;
    json["left_out"] = report.dropped;
    json["stopped"] = search_stop_word(report.stop);
    return json;
}

// Opens the store. Throws where results cannot be kept, before anything is measured.
tune::Store open_store(const std::string& file) {
    if (!file.empty()) return tune::Store(file);
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    if (!cache.usable())
        throw rt::Error(
            rt::ErrorCode::io,
            fmt::format("what is measured cannot be kept: {}; --store names a file for it", cache.why()));
    return tune::Store(usual_store());
}

void show_report(const TuneReport& reports, const TunerInput& input, const tune::Store& store, bool as_json,
                 const Console& console) {
    if (as_json) {
        nlohmann::ordered_json json;
        json["stencil"] = input.program.name;
        json["device"] = input.machine.tune_device().text();
        json["grid"] = std::vector<std::int64_t>(input.request.extent.begin(),
                                                 input.request.extent.begin() + input.program.rank());
        json["store"] = store.file().string();
        json["stages"] = nlohmann::ordered_json::array();
        for (const StageReport& report : reports.stages)
            json["stages"].push_back(report_json(report));
        if (reports.steps) json["temporal"] = report_json(*reports.steps);
        return console.result(json_text(json));
    }
    if (console.quiet()) return;
    std::string text;
    const auto cells = static_cast<double>(cell_count(input.request.extent));
    for (std::size_t i = 0; i < reports.stages.size(); ++i)
        text += stage_text(reports.stages[i], fmt::format("stage {}", i + 1), cells);
    if (reports.steps) text += stage_text(*reports.steps, "several steps at once", cells);
    console.result(text + fmt::format("kept in {}\n", store.file().string()));
}

}  // namespace

ExitCode tune(const TuneArguments& arguments, const Console& console) {
    const RunArguments& run = arguments.run;
    if (run.device != "cuda" && !run.device.starts_with("cuda:")) {
        throw CommandError(
            ExitCode::usage,
            fmt::format("there is nothing to tune on `{}`: only a GPU runs by schedules", run.device),
            "--device is cuda or cuda:N");
    }
    const CheckedSpec spec = read_spec(run.file, run.include, console);
    const sema::AnalyzedStencil& stencil = choose_stencil(spec, run.run_name);
    const RunRequest request = request_for_tuning(run, spec, stencil, console);
    const tune::Store store = open_store(run.store);
    static_cast<void>(store.read());  // a file that is no store is said before anything is measured
    const std::unique_ptr<GpuMachine> machine = open_gpu(parse_ordinal(run.device));
    machine->wait_for_device();
    const InterruptGuard guard;
    console.message(fmt::format("{}: {} cells, tuned for {} s on {} ({})", request.name,
                                describe_grid(request, console.utf8()), arguments.budget, machine->kind(),
                                machine->description()));

    CodeOptions options;
    options.schedules = run.schedule;
    if (stencil.schedule) options.file_schedule = stencil.schedule->text;
    options.strict_fp = run.strict_fp;
    options.target = machine->target();
    options.extent = request.extent;
    options.watched = request.watched;
    // With a pinned grouping stages are not searched: they run as `run` would have them.
    const std::string grouping = pinned_grouping(options, stencil.program.rank());
    if (!grouping.empty())
        options.tuned = std::make_shared<TunedSchedules>(store.file(), machine->tune_device());
    const ir::Program program = optimize(stencil.program, options);
    const TunerInput input{*machine,
                           program,
                           request,
                           spec.analysis.find_run(stencil.program.name),
                           choose_schedules(program, options),
                           grouping};
    TunerSettings settings;
    settings.budget_seconds = arguments.budget;
    settings.again = arguments.again;
    settings.jobs = arguments.jobs > 0
                        ? arguments.jobs
                        : std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
    const TuneReport reports = tune_program(input, store, settings, console);
    show_report(reports, input, store, run.json, console);
    if (reports.stop() == Stop::interrupted) {
        console.message("interrupted; what was measured is kept, and the same command goes on");
        return ExitCode::interrupted;
    }
    const bool steps_failed = reports.stages.empty() && reports.steps && reports.steps->kind == Kind::failed;
    if (steps_failed || std::ranges::any_of(reports.stages, [](const StageReport& each) {
            return each.kind == Kind::failed;
        }))
        throw CommandError(ExitCode::device, "no schedule of a stage could be built, run and found right");
    return ExitCode::ok;
}

}  // namespace halo::driver
