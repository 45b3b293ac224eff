// haloc bench.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/bench/bench.h"
#include "compiler/bench/growth.h"
#include "compiler/bench/json.h"
#include "compiler/bench/lab.h"
#include "compiler/bench/measure.h"
#include "compiler/bench/page.h"
#include "compiler/bench/page_words.h"
#include "compiler/bench/pictures.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/console/progress.h"

namespace halo::bench {

namespace {

using driver::CommandError;
using driver::Console;
using driver::ExitCode;

std::vector<Case> chosen_cases(const BenchOptions& options, bool is_gpu) {
    const Scale scale = !is_gpu ? Scale::small : options.quick ? Scale::quick : Scale::full;
    std::vector<Case> all = cases(scale);
    if (options.filter.empty()) return all;
    std::vector<Case> wanted;
    for (const Case& each : all) {
        const bool found = each.name().find(options.filter) != std::string::npos ||
                           each.spec.find(options.filter) != std::string::npos;
        if (found) wanted.push_back(each);
    }
    if (!wanted.empty()) return wanted;
    std::string names;
    for (const Case& each : all)
        names += (names.empty() ? "" : "; ") + each.name();
    throw CommandError(ExitCode::usage, fmt::format("--filter: no case has `{}` in its name", options.filter),
                       "the cases are " + names);
}

std::string line_of_case(const CaseResult& result, const MachineFacts& machine) {
    std::string text = result.which.name() + ":";
    for (const Measurement& each : result.measurements) {
        text += fmt::format(" {}{} ", each.variant, each.variant == result.chosen ? " (chosen)" : "");
        text += each.wrong.empty() ? driver::format_rate(result.rate(each)) : "WRONG: " + each.wrong;
        text += ";";
    }
    const Measurement* choice = result.choice();
    const double bound = result.bound(machine);
    if (choice != nullptr && choice->seconds > 0 && bound > 0)
        text += fmt::format(" {:.1f} % of the bound", 100 * result.rate(*choice) / bound);
    return text + (result.trouble.empty() ? "" : " " + result.trouble);
}

void write_page(const Results& results, const BenchOptions& options, const Console& console) {
    if (options.output.empty()) return console.result(page(results, {}));
    PageFiles files;
    const bool has_points =
        std::any_of(results.cases.begin(), results.cases.end(), [](const CaseResult& each) {
            return each.which.section != Section::sums && each.choice() != nullptr &&
                   each.choice()->seconds > 0;
        });
    if (has_points) {
        const std::string path = beside(options.output, "-roofline.png");
        write_roofline(path, results);
        files.roofline = file_name(path);
        console.message("wrote " + path);
    }
    if (!results.grids.empty() || !results.compiles.empty()) {
        const std::string path = beside(options.output, "-growth.png");
        write_growth(path, results);
        files.growth = file_name(path);
        console.message("wrote " + path);
    }
    write_into(options.output, page(results, files), "Performance");
    console.message("wrote " + options.output);
}

}  // namespace

ExitCode bench(const BenchOptions& options, const Console& console) {
    require_writable(options.output, options.json);
    Results results;
    results.quick = options.quick;
    results.choices_alone = options.choices_alone;
    std::string missing;
    const std::unique_ptr<Lab> lab = open_lab(options.device, missing);
    if (!missing.empty()) {
        results.missing.push_back(missing);
        console.message("note: " + missing);
    }
    const std::vector<Case> wanted =
        options.growth_alone ? std::vector<Case>() : chosen_cases(options, lab->is_gpu());
    results.machine = lab->facts();
    results.variants = variant_names(lab->is_gpu());
    results.variants.insert(results.variants.end(), options.schedules.begin(), options.schedules.end());
    console.message(fmt::format("{}; {}; commit {}", results.machine.name, results.machine.software,
                                results.machine.commit));
    results.machine.clock_idle_ghz = lab->core_clock_ghz();
    lab->measure_limits(results.machine);
    console.message(fmt::format("copy: {}/s", driver::format_bytes(results.machine.copy())));
    for (const Case& each : wanted) {
        results.cases.push_back(measure(*lab, each, options.schedules, options.choices_alone));
        console.message(line_of_case(results.cases.back(), results.machine));
    }
    results.machine.clock_busy_ghz = lab->core_clock_ghz();
    if (options.growth || options.growth_alone) {
        const Report report = [&](const std::string& line) { console.message(line); };
        measure_grids(*lab, results, report);
        measure_compiles(*lab, results, report);
    }
    write_page(results, options, console);
    if (!options.json.empty()) driver::write_text(options.json, to_json(results));
    const bool right = std::all_of(results.cases.begin(), results.cases.end(),
                                   [](const CaseResult& each) { return each.is_right(); });
    if (right) return ExitCode::ok;
    console.error("some results are wrong; the page names them");
    return ExitCode::internal;
}

}  // namespace halo::bench
