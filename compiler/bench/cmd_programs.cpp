// haloc bench --programs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "compiler/bench/lab.h"
#include "compiler/bench/page_words.h"
#include "compiler/bench/programs.h"
#include "compiler/bench/programs_measure.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/stopwatch.h"

namespace halo::bench {

namespace {

using driver::Console;
using driver::ExitCode;

std::string programs_command(const ProgramsOptions& options) {
    std::string text = "haloc bench --programs";
    if (options.device == "cpu") text += " --device cpu";
    if (options.quick) text += " --quick";
    if (!options.only.empty()) text += " --only " + driver::join(options.only, ",");
    if (options.budget > 0) text += fmt::format(" --budget {:g}", options.budget);
    return text;
}

std::string line_of_program(const ProgramResult& result, const MachineFacts& machine) {
    std::string text = result.which.name() + ":";
    const auto add = [&](const char* what, const ProgramRun& run) {
        if (!run.wrong.empty()) text += fmt::format(" {} WRONG: {};", what, run.wrong);
        if (!run.wrong.empty() || run.seconds <= 0) return;
        text += fmt::format(" {} {}", what, driver::format_rate(result.rate(run)));
        if (result.bound(machine) > 0)
            text += fmt::format(", {} of the bound", percent(result.rate(run) / result.bound(machine)));
        if (run.predicted > 0) text += ", predicted " + driver::format_rate(result.predicted_rate(run));
        text += ";";
    };
    add(result.kind.c_str(), result.run);
    if (result.kind != kSinglyDone) add("singly", result.single);
    if (!result.run.plan.empty()) text += " " + result.run.plan;
    return text + (result.trouble.empty() ? "" : " " + result.trouble);
}

void write_programs(const ProgramsResults& results, const ProgramsOptions& options, const Console& console) {
    if (!options.json.empty()) driver::write_text(options.json, programs_json(results));
    if (options.output.empty()) return console.result(programs_page(results));
    write_into(options.output, programs_page(results), "Programs");
    console.message("wrote " + options.output);
}

}  // namespace

ExitCode programs(const ProgramsOptions& options, const Console& console) {
    require_writable(options.output, options.json);
    chosen_programs(Scale::full, options.only);  // names are looked at before anything else
    ProgramsResults results;
    results.command = programs_command(options);
    results.quick = options.quick;
    std::string missing;
    std::unique_ptr<Lab> lab = open_lab(options.device, missing);
    if (!missing.empty()) {
        results.missing.push_back(missing);
        console.message("note: " + missing);
    }
    const bool is_gpu = lab->is_gpu();
    results.machine = lab->facts();
    console.message(fmt::format("{}; {}; commit {}", results.machine.name, results.machine.software,
                                results.machine.commit));
    results.machine.clock_idle_ghz = lab->core_clock_ghz();
    lab->measure_limits(results.machine);
    console.message(fmt::format("copy: {}/s", driver::format_bytes(results.machine.copy())));

    std::string remark;
    const std::unique_ptr<driver::Machine> machine =
        driver::open_machine(!is_gpu                    ? "cpu"
                             : options.device == "auto" ? "cuda"
                                                        : options.device,
                             remark);
    const Scale scale = !is_gpu ? Scale::small : options.quick ? Scale::quick : Scale::full;
    driver::Stopwatch watch;
    double spent = 0;
    for (const Program& program : chosen_programs(scale, options.only)) {
        spent += watch.lap();
        if (options.budget > 0 && spent > options.budget) {
            ProgramResult left_out;
            left_out.which = program;
            left_out.trouble =
                fmt::format("left out, as the {:g} seconds of --budget were spent", options.budget);
            results.programs.push_back(left_out);
        } else {
            results.programs.push_back(measure_program(*machine, program));
        }
        console.message(line_of_program(results.programs.back(), results.machine));
    }
    results.machine.clock_busy_ghz = lab->core_clock_ghz();
    write_programs(results, options, console);
    if (std::ranges::all_of(results.programs, &ProgramResult::is_right)) return ExitCode::ok;
    console.error("some results are wrong; the page names them");
    return ExitCode::internal;
}

}  // namespace halo::bench
