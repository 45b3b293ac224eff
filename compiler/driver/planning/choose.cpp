// The schedule of each stage: what the user pins, and what is chosen around it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/driver/console/progress.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/pins.h"
#include "compiler/ir/repeats.h"
#include "compiler/schedule/fuse.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/strategies.h"
#include "runtime/core/grid_rules.h"

namespace halo::driver {

namespace {

schedule::Pins parse_pins(const Pinned& pinned, int rank) {
    const schedule::ParsedSchedule parsed = schedule::parse(pinned.text, rank);
    refuse_mistakes(pinned, parsed.mistakes, rank);
    return parsed.pins;
}

// What the text says of sharing a launch.
std::string sharing_alone(const Pinned& pinned, int rank) {
    const std::optional<int> fuse = parse_pins(pinned, rank).fuse;
    return fuse ? fmt::format("fuse={}", *fuse) : "";
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
        schedule::check(choice.footprint, tuned, options.target, options.extent, parsed.pins);
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
         schedule::check(result.footprint, result.schedule, options.target, options.extent, pins)) {
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

// Small stages share a launch with those beside them, and with themselves where they are repeated.
void share_launches(std::vector<StageChoice>& choices, const ir::Program& program,
                    const CodeOptions& options) {
    if (!options.extent || !options.shares_launches || options.whole_schedules || options.reductions_by_plane)
        return;
    std::vector<bool> small;
    for (const StageChoice& each : choices)
        small.push_back(schedule::is_small(each.footprint, each.schedule, *options.extent));
    for (std::size_t i = 0; i < choices.size(); ++i) {
        StageChoice& choice = choices[i];
        if (!small[i] || choice.pins.fuse) continue;
        const bool is_repeated =
            choice.times_in_step(program) > 1 && choice.end_condition(program) == nullptr;
        if (!is_repeated && !(i > 0 && small[i - 1]) && !(i + 1 < small.size() && small[i + 1])) continue;
        schedule::set_own(choice.schedule, schedule::Setting::fuse, schedule::fuse_model::kThreads);
        choice.reason += "; so few cells that one block does them in turn with other stages, in one launch";
    }
}

// By rank: blocks of one plane, or row; those of a volume are adjacent.
constexpr std::array<const char*, rt::kMaxRank> kByPlane{"", "direct threads=256x1 cells=1x1",
                                                         "direct threads=32x8x1 cells=1x1x1",
                                                         "direct threads=32x8x1 cells=1x1x1"};

}  // namespace

std::string StageChoice::origin() const {
    if (!tuned) return pinned ? "pinned" : "chosen by the model";
    return fmt::format("tuned: {} a step with {}", format_step_time(known->seconds), known->compiler);
}

std::int64_t StageChoice::times_in_step(const ir::Program& program) const {
    const auto first = static_cast<std::size_t>(this->stage.statements.front());
    const std::int64_t times = ir::times_in_step(program.statements[first]);
    const bool is_exchange = this->stage.statements.size() == 1 && ir::exchanged_with(program, first);
    if (is_exchange && end_condition(program) != nullptr) return 0;  // the copy after them is one launch
    return is_exchange ? times % 2 : times;
}

const ir::RepeatEnd* StageChoice::end_condition(const ir::Program& program) const {
    const ir::Repeat* const repeat =
        ir::repeat_of(program.statements[static_cast<std::size_t>(stage.statements.front())]);
    return repeat == nullptr ? nullptr : ir::end_condition(program, *repeat);
}

std::vector<StageChoice> choose_schedules(const ir::Program& program, const CodeOptions& options) {
    std::vector<ir::Stage> stages = ir::form_stages(program);
    schedule::Footprints footprints(program);
    std::vector<StageChoice> choices;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        Pinned pinned = pinned_for_stage(options, i, stages.size());
        // A schedule that is given once for all stages is meant for those that have a choice.
        const bool is_for_all = stage_texts(options).size() <= 1 && stages.size() > 1;
        const schedule::Footprint footprint = footprints.of(stages[i]);
        if (is_for_all && footprint.in_place) pinned.text = sharing_alone(pinned, program.rank());
        const bool by_plane =
            options.reductions_by_plane && pinned.text.empty() && ir::reduces(program, stages[i]);
        if (by_plane) pinned.text = kByPlane.at(static_cast<std::size_t>(program.rank() - 1));
        choices.push_back(choose_stage(program, stages[i], footprint, options, pinned));
        if (by_plane) choices.back().pinned = false;
    }
    share_launches(choices, program, options);
    return choices;
}

}  // namespace halo::driver
