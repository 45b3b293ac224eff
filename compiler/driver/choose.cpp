// The schedule of each stage: what the user pins, and what is chosen around it.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/driver/exit_code.h"
#include "compiler/driver/progress.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/print.h"

namespace halo::driver {

namespace {

struct Pinned {
    std::string text;
    std::string origin;  // how messages name it
    ExitCode code = ExitCode::usage;
};

// Of whole steps, not of a stage.
bool is_together(std::string_view text) {
    return schedule::is_temporal(text) || schedule::is_resident(text);
}

// The texts of --schedule for stages, without those for several steps at once.
std::vector<std::string> stage_texts(const CodeOptions& options) {
    std::vector<std::string> texts;
    for (const std::string& text : options.schedules)
        if (!is_together(text)) texts.push_back(text);
    return texts;
}

// What the user pins for stage `index` of `count`.
Pinned pinned_for(const CodeOptions& options, std::size_t index, std::size_t count) {
    const std::vector<std::string> texts = stage_texts(options);
    if (texts.size() > 1 && texts.size() != count) {
        throw CommandError(ExitCode::usage,
                           fmt::format("--schedule is given {} times, but the program has {} stage{}",
                                       texts.size(), count, count == 1 ? "" : "s"),
                           "give it once for all stages, or once for each; `haloc explain` lists them");
    }
    if (!texts.empty()) return {texts[texts.size() == 1 ? 0 : index], "--schedule", ExitCode::usage};
    if (is_together(options.file_schedule)) return {};
    return {options.file_schedule, "the file's schedule block", ExitCode::spec};
}

// What the user pins for several steps at once, in texts of one kind; no text where nothing.
Pinned pinned_together(const CodeOptions& options, bool (*is_kind)(std::string_view)) {
    Pinned pinned;
    for (const std::string& text : options.schedules) {
        if (!is_together(text)) continue;
        if (!pinned.text.empty())
            throw CommandError(ExitCode::usage, "--schedule says twice how several steps are done at once",
                               "leave out one of them");
        pinned = {text, "--schedule", ExitCode::usage};
    }
    if (pinned.text.empty() && is_together(options.file_schedule))
        pinned = {options.file_schedule, "the file's schedule block", ExitCode::spec};
    return is_kind(pinned.text) ? pinned : Pinned{};
}
Pinned pinned_temporal(const CodeOptions& options) {
    return pinned_together(options, schedule::is_temporal);
}
Pinned pinned_resident(const CodeOptions& options) {
    return pinned_together(options, schedule::is_resident);
}

std::string example(std::string_view text, int rank) {
    if (schedule::is_temporal(text))
        return rank == 3 ? "temporal steps=4 warps=8 cells=4x4" : "temporal steps=8 warps=4 cells=4";
    if (schedule::is_resident(text))
        return rank == 3 ? "resident threads=32x2x4 cells=4x4x4" : "resident threads=32x8 cells=4x4";
    return "stream threads=32x4 cells=4x2";
}

// Throws CommandError where there are any.
void refuse_mistakes(const Pinned& pinned, const std::vector<schedule::Mistake>& mistakes, int rank) {
    if (mistakes.empty()) return;
    std::string message;
    for (const schedule::Mistake& mistake : mistakes)
        message +=
            fmt::format("{}{}: {}", message.empty() ? "" : "\n       ", pinned.origin, mistake.message);
    const std::string& mend = mistakes.front().mend;
    throw CommandError(pinned.code, message,
                       mend.empty() ? fmt::format("for example --schedule '{}'", example(pinned.text, rank))
                                    : fmt::format("did you mean `{}`?", mend));
}

schedule::TemporalPins parse_temporal_pins(const Pinned& pinned, int rank) {
    const schedule::ParsedTemporal parsed = schedule::parse_temporal(pinned.text, rank);
    refuse_mistakes(pinned, parsed.mistakes, rank);
    return parsed.pins;
}

// What such kernels take to compile, on the average; what was tuned is in the disk cache.
constexpr double kSecondsToCompile = 2.5;
constexpr double kSecondsToCompileResident = 1.5;

// Why a run is too short for such a kernel; empty where it is not. Single steps are done until it is there,
// so it is worth it where those alone would go on for longer.
std::string too_short(double step_seconds, double compile_seconds, const CodeOptions& options) {
    if (!options.steps) return "";
    const double seconds = static_cast<double>(*options.steps) * step_seconds;
    if (seconds >= compile_seconds) return "";
    return fmt::format("the run is too short: single steps take about {}, and such a kernel {} to compile",
                       format_seconds(seconds), format_seconds(compile_seconds));
}

// A run that waits for the kernel has to win more than that.
bool is_worth_waiting(double saved_of_step, double compile_seconds, const CodeOptions& options) {
    return !options.wait_for_time_block || !options.steps ||
           static_cast<double>(*options.steps) * saved_of_step >= compile_seconds;
}

schedule::Pins parse_pins(const Pinned& pinned, int rank) {
    const schedule::ParsedSchedule parsed = schedule::parse(pinned.text, rank);
    refuse_mistakes(pinned, parsed.mistakes, rank);
    return parsed.pins;
}

// Puts the schedule that was measured to be the fastest in place of the model's, where it still fits.
void use_tuned(StageChoice& choice, const ir::Program& program, const CodeOptions& options) {
    if (!options.tuned || !options.extent) return;
    choice.known = options.tuned->find(program, choice.stage, *options.extent, choice.pinned_text);
    if (!choice.known || choice.known->schedule.empty()) return;
    const std::string& compiler = options.tuned->device().compiler;
    if (choice.known->compiler != compiler) {
        choice.notes.push_back(
            fmt::format("a schedule tuned with {} is not used, as this is {}; `haloc tune` measures anew",
                        choice.known->compiler, compiler));
        return;
    }
    const schedule::ParsedSchedule parsed = schedule::parse(choice.known->schedule, program.rank());
    const schedule::Schedule tuned = schedule::apply(parsed.pins, schedule::Schedule{});
    const std::vector<schedule::Reason> reasons =
        schedule::check(choice.footprint, tuned, options.target, options.extent);
    if (!parsed.mistakes.empty() || !schedule::is_legal(reasons)) {
        choice.notes.push_back(
            fmt::format("the tuned schedule `{}` is not used: {}", choice.known->schedule,
                        parsed.mistakes.empty() ? reasons.front().text : parsed.mistakes.front().message));
        return;
    }
    choice.tuned = true;
    choice.schedule = tuned;
    choice.reason =
        fmt::format("measured by `haloc tune` as the fastest of {} schedules", choice.known->trials.size());
    choice.notes.clear();
    for (const schedule::Reason& reason : reasons)
        choice.notes.push_back(reason.text);
}

StageChoice choose_stage(const ir::Program& program, const ir::Stage& stage,
                         const schedule::Footprint& footprint, const CodeOptions& options,
                         const Pinned& pinned) {
    schedule::Pins pins = parse_pins(pinned, program.rank());
    schedule::Choice choice = schedule::choose(footprint, options.target, options.extent, pins);
    StageChoice result;
    result.stage = stage;
    result.footprint = footprint;
    result.schedule = options.whole_schedules ? schedule::apply(pins, schedule::Schedule{}) : choice.schedule;
    result.reason = choice.reason;
    result.pinned = pins.any();
    result.pins = pins;
    result.pinned_text = pinned.text;
    for (const schedule::Reason& reason :
         schedule::check(result.footprint, result.schedule, options.target, options.extent)) {
        if (reason.limit && pins.any()) {
            throw CommandError(
                pinned.code, fmt::format("{}: {}", pinned.origin, reason.text),
                fmt::format("the schedule would be: {}", schedule::print(result.schedule, program.rank())));
        }
        result.notes.push_back(reason.text);
    }
    use_tuned(result, program, options);
    return result;
}

// What was measured of several steps at once: by which schedule, or that single steps are faster. None where
// nothing was, or it does not fit; `note` then says why.
std::optional<schedule::TemporalChoice> tuned_steps(const ir::Program& program,
                                                    const schedule::Extent& extent, double single_seconds,
                                                    const std::string& pinned_text,
                                                    const CodeOptions& options, std::string& note) {
    if (!options.tuned || !options.extent) return std::nullopt;
    const std::optional<tune::StoredStage> known = options.tuned->find_steps(program, extent, pinned_text);
    if (!known || known->schedule.empty()) return std::nullopt;
    const std::string& compiler = options.tuned->device().compiler;
    if (known->compiler != compiler) {
        note = fmt::format("; what was tuned with {} is not used, as this is {}: `haloc tune` measures anew",
                           known->compiler, compiler);
        return std::nullopt;
    }
    const std::string among = fmt::format("of {} schedules that `haloc tune` measured with {}",
                                          known->trials.size(), known->compiler);
    if (known->schedule == tune::kSingleSteps) {
        if (known->trials.size() < 2) return std::nullopt;  // nothing else was tried yet
        return schedule::TemporalChoice{
            std::nullopt,
            fmt::format("single steps, {} each, are the fastest {}", format_step_time(known->seconds), among),
            0};
    }
    if (schedule::is_resident(known->schedule))
        return schedule::TemporalChoice{std::nullopt, "tuned: all steps are done on the chip", 0};
    const schedule::ParsedTemporal parsed = schedule::parse_temporal(known->schedule, program.rank());
    schedule::TemporalChoice choice = schedule::choose_temporal(program, options.target, extent,
                                                                single_seconds, parsed.pins, options.watched);
    if (!parsed.mistakes.empty() || !choice.schedule) {
        note = fmt::format("; the tuned schedule `{}` is not used: {}", known->schedule,
                           parsed.mistakes.empty() ? choice.reason : parsed.mistakes.front().message);
        return std::nullopt;
    }
    choice.reason = fmt::format("tuned: {} a step, the fastest {}", format_step_time(known->seconds), among);
    return choice;
}

// What the model chooses around what is pinned.
schedule::TemporalChoice model_steps(const ir::Program& program, const schedule::Extent& extent,
                                     double single_seconds, const Pinned& pinned,
                                     const CodeOptions& options) {
    if (!pinned.text.empty()) {
        const schedule::TemporalPins pins = parse_temporal_pins(pinned, program.rank());
        schedule::TemporalChoice choice =
            schedule::choose_temporal(program, options.target, extent, single_seconds, pins, options.watched);
        if (!choice.schedule)
            throw CommandError(pinned.code, fmt::format("{}: {}", pinned.origin, choice.reason),
                               "leave it out: single steps can do every program");
        return choice;
    }
    const double cells = schedule::cells_of(extent);
    const std::string why_not = too_short(cells * single_seconds, kSecondsToCompile, options);
    if (!why_not.empty()) return {std::nullopt, why_not, 0};
    schedule::TemporalChoice choice = schedule::choose_temporal(
        program, options.target, extent, single_seconds, std::nullopt, options.watched);
    const double saved = cells * (single_seconds - choice.seconds_per_cell);
    if (!choice.schedule || is_worth_waiting(saved, kSecondsToCompile, options)) return choice;
    return {std::nullopt, "the run wins less than the seconds that the kernel takes to compile", 0};
}

// By rank: blocks of one plane, or row, of the last axis.
constexpr const char* kByPlane[] = {"", "direct threads=256x1 cells=1x1",
                                    "direct threads=32x8x1 cells=1x1x1"};

}  // namespace

std::string StageChoice::origin() const {
    if (!tuned) return pinned ? "pinned" : "chosen by the model";
    return fmt::format("tuned: {} a step with {}", format_step_time(known->seconds), known->compiler);
}

std::vector<StageChoice> choose_schedules(const ir::Program& program, const CodeOptions& options) {
    std::vector<ir::Stage> stages = ir::form_stages(program);
    schedule::Footprints footprints(program);
    std::vector<StageChoice> choices;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        Pinned pinned = pinned_for(options, i, stages.size());
        // What is said once for all stages is meant for those that have a choice.
        const bool is_for_all = stage_texts(options).size() <= 1 && stages.size() > 1;
        const schedule::Footprint footprint = footprints.of(stages[i]);
        if (is_for_all && footprint.in_place) pinned.text.clear();
        const bool by_plane =
            options.reductions_by_plane && pinned.text.empty() && ir::reduces(program, stages[i]);
        if (by_plane) pinned.text = kByPlane[program.rank() - 1];
        choices.push_back(choose_stage(program, stages[i], footprint, options, pinned));
        if (by_plane) choices.back().pinned = false;
    }
    return choices;
}

bool pins_temporal(const CodeOptions& options) {
    return !pinned_temporal(options).text.empty();
}

std::vector<schedule::Mistake> schedule_mistakes(std::string_view text, int rank) {
    if (schedule::is_temporal(text)) return schedule::parse_temporal(text, rank).mistakes;
    if (schedule::is_resident(text)) return schedule::parse_resident(text, rank).mistakes;
    return schedule::parse(text, rank).mistakes;
}

void check_asked_schedules(const CodeOptions& options, int rank) {
    for (const std::string& text : options.schedules)
        refuse_mistakes({text, "--schedule", ExitCode::usage}, schedule_mistakes(text, rank), rank);
}

PinnedSteps pinned_steps(const CodeOptions& options, int rank) {
    const Pinned pinned = pinned_temporal(options);
    return {pinned.text, parse_temporal_pins(pinned, rank)};
}

bool pins_resident(const CodeOptions& options) {
    return !pinned_resident(options).text.empty();
}

double seconds_of_cell(const std::vector<StageChoice>& stages, const CodeOptions& options,
                       const schedule::Extent& extent) {
    double seconds = 0;
    for (const StageChoice& stage : stages)
        seconds +=
            schedule::estimate_cost(stage.footprint, stage.schedule, options.target, extent).seconds_per_cell;
    return seconds;
}

// What is pinned of it, or was measured to be the fastest; none where neither.
static std::optional<schedule::ResidentChoice> pinned_or_tuned_resident(const ir::Program& program,
                                                                        const schedule::Extent& extent,
                                                                        const CodeOptions& options) {
    const Pinned pinned = pinned_resident(options);
    if (!pinned.text.empty()) {
        const schedule::ParsedResident parsed = schedule::parse_resident(pinned.text, program.rank());
        refuse_mistakes(pinned, parsed.mistakes, program.rank());
        schedule::ResidentChoice choice =
            schedule::choose_resident(program, options.target, extent, parsed.pins);
        if (!choice.schedule)
            throw CommandError(pinned.code, fmt::format("{}: {}", pinned.origin, choice.reason),
                               "leave it out: single steps can do every program");
        return choice;
    }
    if (!options.tuned || !options.extent) return std::nullopt;
    const std::optional<tune::StoredStage> known = options.tuned->find_steps(program, extent, "");
    if (!known || known->schedule.empty() || known->compiler != options.tuned->device().compiler)
        return std::nullopt;
    if (!schedule::is_resident(known->schedule)) {
        if (known->trials.size() < 2) return std::nullopt;  // nothing else was tried yet
        return schedule::ResidentChoice{std::nullopt, "`haloc tune` found another way to be faster", 0};
    }
    const schedule::ParsedResident parsed = schedule::parse_resident(known->schedule, program.rank());
    schedule::ResidentChoice choice = schedule::choose_resident(program, options.target, extent, parsed.pins);
    if (!parsed.mistakes.empty() || !choice.schedule) return std::nullopt;
    choice.reason = fmt::format("tuned: {} a step, the fastest of {} schedules that `haloc tune` measured",
                                format_step_time(known->seconds), known->trials.size());
    return choice;
}

schedule::ResidentChoice choose_resident(const ir::Program& program, const std::vector<StageChoice>& stages,
                                         const schedule::TemporalChoice& temporal,
                                         const CodeOptions& options) {
    const schedule::Extent extent = options.extent.value_or(schedule::typical_extent(program.rank()));
    if (!pins_resident(options)) {
        if (pins_temporal(options)) return {std::nullopt, "several steps are pinned to be done at once", 0};
        if (std::ranges::any_of(stages, &StageChoice::pinned))
            return {std::nullopt, "the stages are pinned", 0};
        if (!options.watched.empty())
            return {std::nullopt, "the run looks at `" + options.watched.front() + "` after every step", 0};
    }
    if (std::optional<schedule::ResidentChoice> known = pinned_or_tuned_resident(program, extent, options))
        return *known;
    const double single = seconds_of_cell(stages, options, extent) * schedule::cells_of(extent) +
                          static_cast<double>(stages.size()) * options.target.graph_launch_seconds;
    const std::string why_not = too_short(single, kSecondsToCompileResident, options);
    if (!why_not.empty()) return {std::nullopt, why_not, 0};
    schedule::ResidentChoice choice = schedule::choose_resident(program, options.target, extent, {});
    if (!choice.schedule) return choice;
    const double several = temporal.seconds_per_cell * schedule::cells_of(extent);
    const bool by_several = temporal.schedule && several < single;
    const double other = by_several ? several : single;
    const std::string times = fmt::format(
        "about {} a step, {} {} a step", format_step_time(choice.seconds_per_step),
        by_several ? "and several steps at once take" : "and single steps take", format_step_time(other));
    if (choice.seconds_per_step >= other) return {std::nullopt, "it would take " + times, 0};
    if (!is_worth_waiting(other - choice.seconds_per_step, kSecondsToCompileResident, options))
        return {std::nullopt,
                "it would take " + times +
                    "; the run wins less than the second or two that the kernel takes to compile",
                0};
    choice.reason += ": " + times;
    return choice;
}

StepsChoice choose_steps(const ir::Program& program, const std::vector<StageChoice>& stages,
                         const CodeOptions& options) {
    StepsChoice choice{choose_temporal(program, stages, options), {}};
    choice.resident = choose_resident(program, stages, choice.temporal, options);
    if (choice.resident.schedule) choice.temporal = {std::nullopt, "all steps are done on the chip", 0};
    if (choice.temporal.schedule && options.blocks_of_pieces) {
        schedule::TemporalSchedule& schedule = *choice.temporal.schedule;
        schedule.of_pieces = true;
        schedule.gives_ghosts = options.blocks_give_ghosts;
        if (options.extent)
            schedule.walks = schedule::walks_of_column(program, schedule, options.target, *options.extent);
    }
    return choice;
}

schedule::TemporalChoice choose_temporal(const ir::Program& program, const std::vector<StageChoice>& stages,
                                         const CodeOptions& options) {
    if (pins_resident(options)) return {std::nullopt, "all steps are done on the chip", 0};
    const Pinned pinned = pinned_temporal(options);
    const schedule::Extent extent = options.extent.value_or(schedule::typical_extent(program.rank()));
    const double single = seconds_of_cell(stages, options, extent);
    const bool stages_pinned = std::ranges::any_of(stages, &StageChoice::pinned);
    if (pinned.text.empty() && stages_pinned) return {std::nullopt, "the stages are pinned", 0};
    std::string note;
    // What was tuned is of no use to a run that looks at what only single steps give.
    const bool can_watch = schedule::temporal_core(program, options.watched).left_out.empty();
    if (!stages_pinned && can_watch)
        if (std::optional<schedule::TemporalChoice> tuned =
                tuned_steps(program, extent, single, pinned.text, options, note))
            return *tuned;
    schedule::TemporalChoice choice = model_steps(program, extent, single, pinned, options);
    choice.reason += note;
    return choice;
}

}  // namespace halo::driver
