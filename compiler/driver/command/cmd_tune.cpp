// haloc tune: the fastest schedules of a spec on a grid, by measuring them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/tune_stencil.h"
#include "compiler/support/json_text.h"

namespace halo::driver {

namespace {

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

void show_report(const TuneReport& reports, const GpuMachine& machine, const RunRequest& request,
                 const tune::Store& store, bool as_json, const Console& console) {
    if (as_json) {
        nlohmann::ordered_json json;
        json["stencil"] = request.name;
        json["device"] = machine.tune_device().text();
        json["grid"] =
            std::vector<std::int64_t>(request.extent.begin(), request.extent.begin() + request.rank());
        json["store"] = store.file().string();
        json["stages"] = nlohmann::ordered_json::array();
        for (const StageReport& report : reports.stages)
            json["stages"].push_back(report_json(report));
        if (reports.steps) json["temporal"] = report_json(*reports.steps);
        return console.result(json_text(json));
    }
    if (console.quiet()) return;
    console.result(tuning_text(reports, request.extent) + fmt::format("kept in {}\n", store.file().string()));
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
    const tune::Store store = open_store_for_tuning(run.store);
    static_cast<void>(store.read());  // a file that is no store is said before anything is measured
    const std::unique_ptr<GpuMachine> machine = open_gpu(parse_ordinal(run.device));
    machine->wait_for_device();
    const InterruptGuard guard;
    console.message(fmt::format("{}: {} cells, tuned for {} s on {} ({})", request.name,
                                describe_grid(request, console.utf8()), arguments.budget, machine->kind(),
                                machine->description()));

    TunerSettings settings;
    settings.budget_seconds = arguments.budget;
    settings.again = arguments.again;
    settings.jobs = arguments.jobs;
    const TuneReport reports = tune_stencil(*machine, spec, stencil, request, {run.schedule, run.strict_fp},
                                            store, settings, console);
    show_report(reports, *machine, request, store, run.json, console);
    if (reports.stop() == Stop::interrupted) {
        console.message("interrupted; what was measured is kept, and the same command goes on");
        return ExitCode::interrupted;
    }
    if (reports.failed())
        throw CommandError(ExitCode::device, "no schedule of a stage could be built, run and found right");
    return ExitCode::ok;
}

}  // namespace halo::driver
