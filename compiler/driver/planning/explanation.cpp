#include "compiler/driver/planning/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/explain_entries.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/fuse.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/shared_layout.h"
#include "compiler/support/json_text.h"
#include "runtime/core/disk_cache.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

namespace {

// The kernels, compiled by NVRTC; nullopt where there is no NVRTC.
std::optional<CompiledCode> compile_here(const Code& code, const std::string& arch) {
    rt::Nvrtc* nvrtc = rt::Nvrtc::find();
    if (nvrtc == nullptr) return std::nullopt;
    return compile_parts(*nvrtc, code, arch, rt::DiskCache::in_user_folder());
}

const rt::KernelUsage* usage_of(const std::optional<CompiledCode>& compiled, const std::string& kernel) {
    return compiled ? find_usage(*compiled, kernel) : nullptr;
}

std::string describe_usage(const rt::KernelUsage* usage) {
    if (usage == nullptr) return "not asked: " + rt::Nvrtc::why_missing();
    std::int64_t spills = usage->spill_load_bytes + usage->spill_store_bytes;
    return fmt::format(
        "{} registers a thread, {}, {} of static shared memory", usage->registers,
        spills == 0 ? "no spills" : fmt::format("{} of spills", format_bytes(static_cast<double>(spills))),
        format_bytes(static_cast<double>(usage->static_shared_bytes)));
}

struct Explanation {
    const ir::Program& program;
    const TargetHere& here;
    const CodeOptions& options;
    const PlanChoice& choice;
    const Code& code;
    const std::optional<CompiledCode>& compiled;
    const std::vector<std::string>& again;  // computed_again()
    double cells() const {
        return schedule::cells_of(options.extent.value_or(schedule::typical_extent(program.rank())));
    }
};

std::string explain_kernel(const Explanation& all, std::size_t index, int width) {
    const std::string& kernel = all.code.lowered.kernels_of_stages[index];
    if (kernel.empty()) return "";
    return explain_entry("kernel", kernel, width) +
           explain_entry("compiled", describe_usage(usage_of(all.compiled, kernel)), width);
}

constexpr std::size_t kRunnersUp = 3;

// Seconds of a step of the stage, by the model; nullopt where the model does not apply, or the grid is
// unknown.
std::optional<double> predicted_seconds(const Explanation& all, const StageChoice& stage) {
    if (!all.options.extent || stage.footprint.table_sums > 0) return std::nullopt;
    const schedule::Extent& extent = *all.options.extent;
    if (schedule::shares_launch(stage.footprint, stage.schedule))
        return schedule::seconds_in_turn(stage.footprint, extent);
    const schedule::Cost cost =
        schedule::estimate_cost(stage.footprint, stage.schedule, all.options.target, extent);
    const auto cells = static_cast<double>(cell_count(schedule::own_extent(stage.footprint, extent)));
    return cost.seconds_per_cell * cells + all.options.target.graph_launch_seconds;
}

// Says what bounds the step: launches where they take most of its time, else the memory that the model names.
std::string bound_words(const Explanation& all, const StageChoice& stage, double seconds) {
    const schedule::Target& target = all.options.target;
    if (stage.footprint.table_sums > 0) return "bound by arithmetic";
    if (schedule::shares_launch(stage.footprint, stage.schedule)) return "in turn with others";
    if (seconds < 2 * target.graph_launch_seconds) return "bound by the time from one kernel to the next";
    const schedule::Cost cost =
        schedule::estimate_cost(stage.footprint, stage.schedule, target, *all.options.extent);
    return fmt::format("bound by {}, says the model", name_of(cost.bound));
}

std::string with_prediction(double seconds, const std::optional<double>& predicted) {
    if (!predicted) return format_step_time(seconds);
    return fmt::format("{} ({} predicted)", format_step_time(seconds), format_step_time(*predicted));
}

std::string explain_time(const Explanation& all, const StageChoice& stage, int width) {
    if (!all.options.extent || stage.footprint.at_points) return "";
    const std::optional<double> predicted = predicted_seconds(all, stage);
    if (!stage.tuned) {
        if (!predicted) return "";
        return explain_entry("predicted",
                             fmt::format("{} {}, {}; not measured{}", format_step_time(*predicted),
                                         stage.times_in_step(all.program) == 1 ? "a step" : "each time",
                                         bound_words(all, stage, *predicted),
                                         stage.footprint.in_place ? "" : ": `haloc tune` does"),
                             width);
    }
    const tune::StoredStage& known = *stage.known;
    const auto cells = static_cast<double>(cell_count(*all.options.extent));
    std::string text = fmt::format("{} a step", with_prediction(known.seconds, predicted));
    if (known.stages > 1) {
        text += fmt::format(" of all {} stages", known.stages);
    } else {
        const double rate = static_cast<double>(stage.footprint.bytes()) * cells / known.seconds;
        text += fmt::format(", {}, {:.2f} TB/s, {:.0f} % of a copy; {}", format_rate(cells / known.seconds),
                            rate / 1e12, 100 * rate / all.options.target.dram_bandwidth,
                            bound_words(all, stage, known.seconds));
    }
    if (!known.finished) text += "; the search is not at its end";
    text = explain_entry("measured", text, width);
    std::size_t shown = 0;
    for (const tune::StoredTrial& trial : known.trials) {
        if (trial.outcome.kind != tune::Outcome::Kind::measured || trial.schedule == known.schedule) continue;
        if (shown++ == kRunnersUp) break;
        text += explain_entry(
            shown == 1 ? "runners-up" : "",
            fmt::format("{}: {}", with_prediction(trial.outcome.seconds, trial.predicted), trial.schedule),
            width);
    }
    return text;
}

std::string explain_stage(const Explanation& all, std::size_t index, int width) {
    const StageChoice& stage = all.choice.stages[index];
    const schedule::Footprint& footprint = stage.footprint;
    double bound = schedule::cells_per_second_bound(footprint, all.options.target);
    const std::int64_t times = stage.times_in_step(all.program);
    const ir::RepeatEnd* const end = stage.end_condition(all.program);
    std::string text =
        fmt::format("stage {} of {}{}{}\n", index + 1, all.choice.stages.size(),
                    times == 1   ? ""
                    : times == 0 ? ", in whose place two arrays are exchanged"
                                 : fmt::format(", done {} times in a step", times),
                    end != nullptr && times != 0 ? fmt::format(" at most, until {}", end->text) : "");
    if (footprint.factor != 1)
        text +=
            explain_entry("cells",
                          fmt::format("those of coarse({}): one for {} of the grid", footprint.factor,
                                      static_cast<std::int64_t>(std::pow(footprint.factor, footprint.rank))),
                          width);
    text += explain_entry("reads", describe_reads(all.program, footprint), width);
    text += explain_entry("writes", describe_writes(all.program, stage), width);
    if (footprint.at_points) {
        text += explain_entry("threads", stage.reason, width);
        return text + explain_kernel(all, index, width);
    }
    text += explain_entry(
        "per cell",
        fmt::format("{} bytes ({} read, {} written), {} flops ({}){}, {}", footprint.bytes(),
                    footprint.bytes_read(), footprint.bytes_written(), footprint.operations.flops(),
                    describe_operations(footprint.operations), describe_sharing(footprint),
                    footprint.table_sums > 0
                        ? std::string("most of them for each row of a table")
                        : fmt::format("{:.2f} flops per byte", footprint.flops_per_byte())),
        width);
    if (footprint.table_sums == 0) {
        text += explain_entry("bound",
                              fmt::format("{} at {:.2f} TB/s, if each value crosses the bus once",
                                          format_rate(bound), all.options.target.dram_bandwidth / 1e12),
                              width);
    }
    text += explain_entry("schedule",
                          schedule::print(stage.schedule, all.program.rank()) + (stage.pinned  ? " (pinned)"
                                                                                 : stage.tuned ? " (tuned)"
                                                                                               : ""),
                          width);
    text += explain_entry("why", stage.reason, width);
    text += explain_time(all, stage, width);
    for (const std::string& note : stage.notes)
        text += explain_entry("note", note, width);
    text += explain_shared(all.program, stage, width);
    return text + explain_kernel(all, index, width);
}

// The kernels for several steps, or of a step's passes, and their registers and spills.
std::string explain_time_block(const Explanation& all, int width) {
    std::string text;
    for (const std::string& kernel : all.code.lowered.plan.time_block->kernel_names()) {
        text += explain_entry("kernel", kernel, width);
        const rt::KernelUsage* usage = all.compiled ? find_usage(*all.compiled, kernel) : nullptr;
        if (usage == nullptr) continue;
        text += explain_entry(
            "compiled",
            fmt::format(
                "{} registers, {} bytes spilled{}", usage->registers,
                usage->spill_load_bytes + usage->spill_store_bytes,
                all.compiled->block && all.compiled->block->from_cache ? "; it was in the disk cache" : ""),
            width);
    }
    return text;
}

// Says which reductions are computed at every step, and which at the last one alone.
std::string explain_reductions(const Explanation& all, const schedule::TemporalSchedule& temporal,
                               int width) {
    std::vector<std::string> each, last;
    for (const rt::ReductionPlan& reduction : all.code.lowered.plan.reductions) {
        const bool is_each =
            std::ranges::find(temporal.reductions, reduction.name) != temporal.reductions.end();
        (is_each ? each : last).push_back(reduction.name);
    }
    std::string text;
    if (!each.empty())
        text += join(each, ", ") + (each.size() == 1 ? " is" : " are") + " found at every step";
    if (!last.empty())
        text += (text.empty() ? "" : "; ") + join(last, ", ") + (last.size() == 1 ? " is" : " are") +
                " found by the run's last step, which is done by itself";
    return text.empty() ? "" : explain_entry("reductions", text, width);
}

std::string explain_single_steps(const Explanation& all, int width) {
    const schedule::StepCost& cost = all.choice.single;
    const std::int64_t launches = std::llround(cost.launches / all.options.target.graph_launch_seconds);
    std::string text = fmt::format(
        "{} a step{}: {} for the cells, {} for {} launch{}", format_step_time(cost.total()),
        all.program.repeat_ends.empty() ? "" : " with the most iterations", format_step_time(cost.cells),
        format_step_time(cost.launches), launches, launches == 1 ? "" : "es");
    if (cost.checks > 0)
        text += fmt::format(", {} until the run has seen `{}`", format_step_time(cost.checks),
                            all.options.watched.front());
    text = "single steps\n" + explain_entry("predicted", text, width);
    if (!all.again.empty())
        text += explain_entry(
            "again",
            join(all.again, ", ") +
                (all.again.size() == 1
                     ? " is computed again for each neighbour that reads it, and is no array"
                     : " are computed again for each neighbour that reads them, and are no arrays"),
            width);
    if (!ir::conditions_of_steps(all.program).empty())
        text += explain_entry("apart",
                              "steps for which a `where` of the step's number holds are done by themselves; "
                              "all others leave out what it chooses, also in these figures",
                              width);
    const std::vector<std::string> left_out = ir::left_out_of_unread_steps(all.program);
    if (left_out.empty()) return text;
    return text +
           explain_entry("left out", "of steps whose results nobody reads: " + join(left_out, ", "), width);
}

std::string explain_grouping(const Explanation& all, const GroupingVerdict& verdict, int width) {
    const bool of_repeats = ir::has_repeats(all.program);
    std::string text = std::string(of_repeats ? verdict.kind->title_of_repeats : verdict.kind->title) + "\n";
    if (!verdict.grouping) return text + explain_entry("schedule", "none: " + verdict.reason, width);
    text += explain_entry("schedule", schedule::print(*verdict.grouping, all.program.rank()), width);
    text += explain_entry("why", verdict.reason, width);
    const auto* const temporal = std::get_if<schedule::TemporalSchedule>(&*verdict.grouping);
    if (temporal != nullptr && !of_repeats) text += explain_reductions(all, *temporal, width);
    text += explain_entry("predicted",
                          fmt::format("{} a step, {}", format_step_time(verdict.seconds_per_step),
                                      format_rate(all.cells() / verdict.seconds_per_step)),
                          width);
    return text + explain_time_block(all, width);
}

nlohmann::ordered_json grouping_json(const Explanation& all, const GroupingVerdict& verdict) {
    nlohmann::ordered_json json;
    json["reason"] = verdict.reason;
    if (!verdict.grouping) return json;
    json["schedule"] = schedule::print(*verdict.grouping, all.program.rank());
    if (const auto* temporal = std::get_if<schedule::TemporalSchedule>(&*verdict.grouping))
        json["reductions"] = temporal->reductions;
    if (all.compiled && all.compiled->block) json["from_cache"] = all.compiled->block->from_cache;
    json["predicted_seconds_per_step"] = verdict.seconds_per_step;
    json["predicted_gstencil_per_s"] = all.cells() / verdict.seconds_per_step / 1e9;
    return json;
}

nlohmann::ordered_json stage_json(const Explanation& all, std::size_t index) {
    const StageChoice& stage = all.choice.stages[index];
    const schedule::Footprint& footprint = stage.footprint;
    schedule::SharedLayout layout = schedule::make_shared_layout(footprint, stage.schedule);
    nlohmann::ordered_json json;
    json["schedule"] = schedule::print(stage.schedule, all.program.rank());
    json["reason"] = stage.reason;
    json["pinned"] = stage.pinned;
    if (const std::int64_t times = stage.times_in_step(all.program); times > 1) json["times_in_step"] = times;
    json["notes"] = stage.notes;
    json["bytes_read"] = footprint.bytes_read();
    json["bytes_written"] = footprint.bytes_written();
    json["flops"] = footprint.operations.flops();
    json["flops_alone"] = footprint.flops_alone;
    json["bound_gstencil_per_s"] = schedule::cells_per_second_bound(footprint, all.options.target) / 1e9;
    json["shared_bytes"] = layout.bytes;
    json["tuned"] = stage.tuned;
    if (const std::optional<double> predicted = predicted_seconds(all, stage))
        json["predicted_seconds"] = *predicted;
    if (stage.tuned) {
        json["measured_seconds_per_step"] = stage.known->seconds;
        json["search_finished"] = stage.known->finished;
        json["trials"] = nlohmann::ordered_json::array();
        for (const tune::StoredTrial& trial : stage.known->trials) {
            if (trial.outcome.kind != tune::Outcome::Kind::measured) continue;
            nlohmann::ordered_json each{{"schedule", trial.schedule},
                                        {"seconds_per_step", trial.outcome.seconds}};
            if (trial.predicted) each["predicted_seconds"] = *trial.predicted;
            json["trials"].push_back(std::move(each));
        }
    }
    const std::string& kernel = all.code.lowered.kernels_of_stages[index];
    if (kernel.empty()) return json;
    json["kernel"] = kernel;
    if (const rt::KernelUsage* usage = usage_of(all.compiled, kernel)) {
        json["registers"] = usage->registers;
        json["spill_bytes"] = usage->spill_load_bytes + usage->spill_store_bytes;
        json["static_shared_bytes"] = usage->static_shared_bytes;
    }
    return json;
}

PiecesPlan plan_of(const ir::Program& checked, CodeOptions options, const PiecesRequest& request) {
    options.tuned = nullptr;  // like `run`: what was tuned for the whole grid does not apply to its pieces
    PiecesPlan plan = plan_pieces(checked, *options.extent, request, options);
    check_scheme(request, plan);
    return plan;
}

}  // namespace

std::string explanation(const ir::Program& checked, CodeOptions options, const TargetHere& here,
                        const std::optional<PiecesRequest>& asked, ExplanationForm form, int width) {
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    const CudaDetails details = details_of_run(options);
    if (const rt::Nvrtc* const nvrtc = rt::Nvrtc::find();
        nvrtc != nullptr && !options.wait_for_time_block && !cache.folder().empty())
        options.find_kernel = find_kernel_in(*nvrtc, options.target.name, cache, details);
    ir::Program program = optimize_for_gpu(checked, options);
    const PlanChoice choice = choose_plan(program, options);
    const Code code = cuda_code(program, choice.plan(), details);
    const std::optional<CompiledCode> compiled = compile_here(code, options.target.name);
    const std::vector<std::string> again = computed_again(checked, program, options);
    Explanation all{program, here, options, choice, code, compiled, again};
    std::optional<PiecesPlan> pieces;
    if (asked) pieces = plan_of(checked, options, *asked);

    if (form == ExplanationForm::json) {
        nlohmann::ordered_json json;
        json["stencil"] = program.name;
        json["target"] = options.target.name;
        json["memory"] = {{"device_bytes_per_s", options.target.dram_bandwidth},
                          {"l2_bytes_per_s", options.target.l2_bandwidth},
                          {"l1_bytes_per_s", options.target.l1_bandwidth}};
        if (!again.empty()) json["computed_again"] = again;
        for (std::size_t i = 0; i < choice.stages.size(); ++i)
            json["stages"].push_back(stage_json(all, i));
        json["single_steps"]["predicted_seconds_per_step"] = choice.single.total();
        json["single_steps"]["predicted_launch_seconds"] = choice.single.launches;
        for (const GroupingVerdict& verdict : choice.groupings)
            json[std::string(verdict.kind->name)] = grouping_json(all, verdict);
        if (pieces) json["devices"] = pieces_json(*pieces);
        return json_text(json);
    }
    std::string grid = "a large grid";
    if (options.extent) {
        grid = fmt::format("a grid of {} cells", fmt::join(options.extent->begin(),
                                                           options.extent->begin() + program.rank(), " x "));
    }
    std::string text = fmt::format("{}({}) for {} on {}\n", program.name, join(ir::axis_names(program), ", "),
                                   options.target.name, grid);
    text += here.measured ? fmt::format("by figures measured on {}\n", here.device->name)
                          : "by figures of an H200, built in (haloc doctor --measure takes a device's own)\n";
    for (std::size_t i = 0; i < choice.stages.size(); ++i)
        text += '\n' + explain_stage(all, i, width);
    text += '\n' + explain_single_steps(all, width);
    for (const GroupingVerdict& verdict : choice.groupings)
        text += '\n' + explain_grouping(all, verdict, width);
    if (pieces) text += "\non several devices\n" + explain_pieces(*pieces, ir::axis_names(program));
    return text;
}

}  // namespace halo::driver
