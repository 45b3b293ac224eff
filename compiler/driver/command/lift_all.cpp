#include "compiler/driver/command/lift_all.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/command/file_processes.h"
#include "compiler/driver/command/lift_gain.h"
#include "compiler/driver/command/lift_report.h"
#include "compiler/driver/command/lift_source.h"
#include "compiler/driver/console/files.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/lift/array_loops.h"
#include "compiler/lift/verify.h"
#include "compiler/support/json_text.h"

namespace halo::driver {

namespace {

std::string place_of(const SourceFile& source, std::uint32_t at) {
    const auto place = source.line_column(at);
    return fmt::format("{}:{}:{}", source.name(at), place.line, place.column);
}

// Of a grid that the function fixes.
std::optional<schedule::Extent> fixed_extent(const lift::Lifted& lifted) {
    schedule::Extent extent{};
    for (std::size_t a = 0; a < lifted.form.grid.size(); ++a) {
        const auto cells = lifted.form.grid[a].constant();
        if (!cells) return std::nullopt;
        extent[a] = *cells;
    }
    return extent;
}

LiftReport stencil_report(const lift::Lifted& lifted, const TargetHere& here) {
    LiftReport made{{"name", lifted.spec.name}, {"line", lifted.first_line}};
    if (const auto gain = lift_gain(lifted.spec.body, fixed_extent(lifted), here)) {
        made["bytes_per_cell"] = gain->bytes;
        made["flops_per_cell"] = gain->flops;
        for (std::size_t a = 0; a < lifted.form.grid.size(); ++a)
            made["grid"].push_back(gain->extent[a]);
        made["grid_is_of_the_function"] = !gain->is_typical;
        made["predicted_gstencil_per_s"] = gain->cells_per_second / 1e9;
    }
    made["spec"] = lifted.spec.body;
    return made;
}

class Survey {
public:
    Survey(const LiftOptions& options, const lift::Options& how, const TargetHere& here)
        : options_(options), how_(how), here_(here) {}

    LiftReport of_file(const std::string& path) const {
        LiftReport report{{"file", path}};
        try {
            const std::unique_ptr<LiftSource> file =
                read_lift_source({path, {}, options_.build_folder, options_.arguments, {}});
            std::size_t left_out = 0;
            LiftReport functions = LiftReport::array();
            for (const std::string& name : file->functions()) {
                LiftReport made = of_function(*file, name);
                if (made.is_null())
                    ++left_out;
                else
                    functions.push_back(std::move(made));
            }
            report["left_out"] = left_out;
            report["functions"] = std::move(functions);
        } catch (const lift::SourceError& trouble) {
            report["trouble"] = first_lines(trouble.what());
            report["missing"] = trouble.missing_file;
        }
        return report;
    }

private:
    // That it does not compile, and the compiler's first word on that.
    static std::string first_lines(const std::string& text) {
        const std::size_t end = text.find('\n');
        if (end == std::string::npos) return text;
        return text.substr(0, end) + ": " + text.substr(end + 1, text.find('\n', end + 1) - end - 1);
    }

    LiftReport of_function(const LiftSource& file, const std::string& name) const {
        lift::Options options = how_;
        options.source = file.request();
        options.source.function = name;
        LiftReport made{{"function", name}, {"line", 0}, {"outcome", "refused"}, {"verified", false}};
        made["stencils"] = made["refused"] = LiftReport::array();
        try {
            const lift::c::Unit unit = file.function(name);
            if (!lift::has_array_loops(unit)) return {};
            const lift::c::Function& function = unit.functions[static_cast<std::size_t>(unit.function)];
            made["line"] = unit.source.line_column(function.where.begin).line;
            const lift::Nests found = file.lift_nests(options);
            for (const lift::LiftError& each : found.refused)
                made["refused"].push_back(
                    {{"place", place_of(each.source, each.refusal.where.begin)}, {"reason", each.what()}});
            if (found.lifted.empty()) return made;
            made["outcome"] = found.is_whole ? "whole" : "part";
            add_verdict(made, options, found, file);
            if (made.contains("difference")) return made;
            for (const lift::Lifted& each : found.lifted)
                made["stencils"].push_back(stencil_report(each, here_));
        } catch (const lift::SourceError& trouble) {
            made["refused"].push_back({{"place", file.request().file}, {"reason", trouble.what()}});
        }
        return made;
    }
    void add_verdict(LiftReport& made, const lift::Options& options, const lift::Nests& found,
                     const LiftSource& file) const {
        if (options_.no_verify) {
            made["not_verified"] = "--no-verify was given";
            return;
        }
        const lift::Verdict verdict = file.verify(options, found);
        if (!verdict.difference.empty())
            made["difference"] = verdict.difference;
        else if (!verdict.left.empty())
            made["not_verified"] = verdict.left;
        else
            made["verified"] = true;
    }

    const LiftOptions& options_;
    const lift::Options& how_;
    const TargetHere& here_;
};

std::vector<std::string> files_of(const LiftOptions& options) {
    std::vector<std::string> files = options.files;
    try {
        if (files.empty() && !options.build_folder.empty())
            files = lift::files_of_build(options.build_folder);
    } catch (const lift::SourceError& trouble) {
        throw CommandError(ExitCode::file, trouble.what());
    }
    if (files.empty())
        throw CommandError(ExitCode::usage, "--all is given no file",
                           "name files, or with -p the folder that has compile_commands.json");
    return files;
}

// As for one function: the first of what is so.
ExitCode exit_code_of(const LiftReport& files, const LiftReport& summary) {
    const auto count = [&](const char* of) { return summary[of].get<std::size_t>(); };
    if (count("different") > 0) return ExitCode::spec;
    if (count("whole") + count("part") > 0) return ExitCode::ok;
    if (count("files") > 0) return count("functions") > 0 ? ExitCode::spec : ExitCode::usage;
    const bool is_missing = std::all_of(files.begin(), files.end(),
                                        [](const LiftReport& each) { return each["missing"] == true; });
    return is_missing ? ExitCode::file : ExitCode::usage;
}

}  // namespace

ExitCode lift_all(const LiftOptions& options, const lift::Options& how, const Console& console) {
    const std::vector<std::string> files = files_of(options);
    const TargetHere here = target_here();
    const Survey survey(options, how, here);
    LiftReport reports = LiftReport::array();
    const InterruptGuard guard;
    const std::string how_many = fmt::format("{} file{}", files.size(), files.size() == 1 ? "" : "s");
    console.message(fmt::format("looking at {}", how_many));
    const bool is_complete = in_processes(
        files.size(), [&](std::size_t i) { return json_text(survey.of_file(files[i]), -1); },
        [&](std::size_t i, const ProcessText& made) {
            reports.push_back(
                made.trouble.empty()
                    ? LiftReport::parse(made.text)
                    : LiftReport{{"file", files[i]}, {"trouble", made.trouble}, {"missing", false}});
            console.result(file_in_words(reports.back()));
        });
    const LiftReport summary = lift_summary(reports);
    console.result(fmt::format("\n{}", summary_in_words(summary)));
    console.message(fmt::format(
        "predicted for {} by the model of haloc explain, {}", here.target.name,
        here.measured ? "by figures measured on " + here.device->name : "by figures of an H200, built in"));
    if (!options.json.empty()) {
        const LiftReport all{{"target", here.target.name},
                             {"complete", is_complete},
                             {"files", reports},
                             {"summary", summary}};
        write_text(options.json, json_text(all));
    }
    if (is_complete) return exit_code_of(reports, summary);
    console.message(fmt::format("interrupted: {} of {} were done", reports.size(), how_many));
    return ExitCode::interrupted;
}

}  // namespace halo::driver
