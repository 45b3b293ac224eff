#include "compiler/driver/command/run_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/driver/console/progress.h"
#include "compiler/support/json_text.h"

namespace halo::driver {

namespace {

std::string stop_word(LoopResult::Stop stop) {
    switch (stop) {
        case LoopResult::Stop::steps:
            return "steps";
        case LoopResult::Stop::until:
            return "until";
        case LoopResult::Stop::interrupted:
            return "interrupted";
        case LoopResult::Stop::not_finite:
            return "not finite";
    }
    return {};
}

std::string state_word(rt::AsyncBlock::State state) {
    switch (state) {
        case rt::AsyncBlock::State::none:
            break;
        case rt::AsyncBlock::State::pending:
            return "awaited";
        case rt::AsyncBlock::State::active:
            return "taken";
        case rt::AsyncBlock::State::unfit:
            return "unfit";
        case rt::AsyncBlock::State::failed:
            return "failed";
    }
    return "none";
}

// From the text to the last file, in order.
std::vector<std::pair<std::string, double>> parts(const RunReport& report) {
    const RunTimings& t = report.timings;
    return {{"read", t.read},
            {"check", t.check},
            {"device", t.open},
            {"optimise", t.load.optimise},
            {"choose", t.load.choose},
            {"lower", t.load.lower},
            {"print", t.load.print},
            {"compile", t.load.compile},
            {"context", t.load.context},
            {"load", t.load.load},
            {"init", t.init},
            {"upload", t.upload},
            {"stability", t.stability},
            {"steps", report.loop.seconds},
            {"watch", t.watch},
            {"files", report.loop.output_seconds}};
}

// Describes what was compiled asynchronously, for which the run did not wait.
std::string beside_text(const rt::AsyncBlock& block) {
    using State = rt::AsyncBlock::State;
    switch (block.state) {
        case State::none:
        case State::failed:  // has been said
            break;
        case State::pending:
            return "  beside the steps: compiling the kernel for several of them, which was not there at the "
                   "end\n";
        case State::active:
        case State::unfit:
            return fmt::format("  beside the steps: {} for compiling the kernel for several of them, {}\n",
                               format_seconds(block.compile_seconds),
                               block.state == State::unfit
                                   ? "which does not fit this grid and device"
                                   : fmt::format("used after step {}", block.after_steps));
    }
    return "";
}

// Describes where the kernel for several steps came from with which the run began.
std::string several_text(LoadTimings::Several several) {
    using Several = LoadTimings::Several;
    if (several == Several::cached) return "  the kernel for several steps came from the disk cache\n";
    if (several == Several::compiled) return "  the kernel for several steps was compiled first\n";
    return "";
}

const char* several_word(LoadTimings::Several several) {
    switch (several) {
        case LoadTimings::Several::none:
            break;
        case LoadTimings::Several::cached:
            return "from the cache";
        case LoadTimings::Several::compiled:
            return "compiled";
        case LoadTimings::Several::beside:
            return "beside the steps";
    }
    return "none";
}

std::string timings_text(const RunReport& report) {
    const std::string cached = report.timings.load.from_cache ? " (from the disk cache)" : "";
    std::string text;
    double all = 0;
    for (const auto& [name, seconds] : parts(report)) {
        const std::string remark = name == "compile" ? cached
                                   : name == "context" && seconds > 0
                                       ? " (left of what the driver took for it beside all that)"
                                       : "";
        text += fmt::format("  {:<10}{:>10}{}\n", name, format_seconds(seconds), remark);
        all += seconds;
    }
    const RunTimings& t = report.timings;
    const double to_kernels = t.read + t.check + t.load.optimise + t.load.choose + t.load.lower +
                              t.load.print + t.load.compile + t.load.load;
    return text + fmt::format("  {:<10}{:>10}\n", "all", format_seconds(all)) +
           fmt::format("  from the spec to kernels that can run: {}, without device and context\n",
                       format_seconds(to_kernels)) +
           several_text(t.load.several) + beside_text(report.async_block);
}

void add_transports(const std::vector<rt::TransportTime>& transports, nlohmann::ordered_json& json) {
    if (transports.empty()) return;
    json["transport"] = transports.front().name;
    if (transports.size() == 1) return;
    for (const rt::TransportTime& tried : transports)
        json["transports"].push_back({{"name", tried.name}, {"seconds_per_exchange", tried.seconds}});
}

}  // namespace

std::string report_text(const RunReport& report, bool with_timings) {
    const LoopResult& loop = report.loop;
    const std::int64_t steps = report.steps_here();
    std::string text =
        fmt::format("{} step{} in {}", steps, steps == 1 ? "" : "s", format_seconds(report.seconds()));
    if (steps > 0) text += ", " + format_rate(report.rate());
    if (report.steps_before > 0) text += fmt::format("; from step {} on", report.steps_before);
    if (loop.stop == LoopResult::Stop::until)
        text += fmt::format("; stopped by until {}", report.request.until_words);
    text += '\n';
    for (const auto& [name, value] : report.reductions)
        text += std::isnan(value) ? fmt::format("{} has no value after the last step\n", name)
                                  : fmt::format("{} = {:.6g}\n", name, value);
    for (const ParamChange& change : report.request.changes)
        text += fmt::format("changed by hand: {} = {} after step {}\n", change.param, change.value,
                            change.after_step);
    text += iterations_text(report.repeats, steps, report.reductions);
    constexpr std::size_t kShown = 8;
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        bool is_hidden =
            report.files.size() > kShown + 1 && i >= kShown / 2 && i + kShown / 2 < report.files.size();
        if (!is_hidden) {
            text += fmt::format("wrote {}\n", report.files[i].path);
        } else if (i == kShown / 2) {
            text += fmt::format("… and {} more …\n", report.files.size() - kShown);
        }
    }
    if (!report.checkpoint.empty()) text += fmt::format("wrote {}\n", report.checkpoint);
    return with_timings ? text + timings_text(report) : text;
}

std::string run_json(const RunReport& report) {
    nlohmann::ordered_json json;
    json["name"] = report.request.name;
    json["device"] = report.machine.kind();
    json["device_description"] = report.machine.description();
    add_transports(report.timings.load.transports, json);
    json["grid"] = std::vector<std::int64_t>(report.request.extent.begin(),
                                             report.request.extent.begin() + report.request.rank());
    json["steps"] = report.loop.steps;
    if (report.steps_before > 0) json["restarted_after"] = report.steps_before;
    if (!report.checkpoint.empty()) json["checkpoint"] = report.checkpoint;
    json["stopped"] = stop_word(report.loop.stop);
    json["gstencil_per_s"] = report.rate() / 1e9;
    json["reductions"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : report.reductions)
        json["reductions"][name] = value;
    for (const ParamChange& change : report.request.changes)
        json["changed_by_hand"].push_back(
            {{"param", change.param}, {"value", change.value}, {"after_step", change.after_step}});
    add_iterations(report.repeats, json);
    json["files"] = nlohmann::ordered_json::array();
    for (const WrittenFile& file : report.files) {
        json["files"].push_back({{"field", file.field}, {"path", file.path}, {"step", file.step}});
    }
    json["seconds"] = nlohmann::ordered_json::object();
    for (const auto& [name, seconds] : parts(report))
        json["seconds"][name] = seconds;
    json["compiled_from_cache"] = report.timings.load.from_cache;
    json["several_steps_kernel"] = several_word(report.timings.load.several);
    json["schedules"] = report.timings.load.schedules;
    const rt::AsyncBlock& block = report.async_block;
    if (block.state != rt::AsyncBlock::State::none) {
        json["late_kernel"]["state"] = state_word(block.state);
        if (block.state != rt::AsyncBlock::State::pending) {
            json["late_kernel"]["compile_seconds"] = block.compile_seconds;
            json["late_kernel"]["load_seconds"] = block.load_seconds;
            json["late_kernel"]["after_steps"] = block.after_steps;
        }
        if (!block.trouble.empty()) json["late_kernel"]["trouble"] = block.trouble;
    }
    return json_text(json);
}

}  // namespace halo::driver
