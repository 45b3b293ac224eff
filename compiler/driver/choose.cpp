// The schedule of each stage: what the user pins, and what is chosen around it.
#include <fmt/format.h>

#include "compiler/driver/compile.h"
#include "compiler/driver/exit_code.h"
#include "compiler/schedule/print.h"

namespace halo::driver {

namespace {

struct Pinned {
    std::string text;
    std::string origin;  // how messages name it
    ExitCode code = ExitCode::usage;
};

// What the user pins for stage `index` of `count`.
Pinned pinned_for(const CodeOptions& options, std::size_t index, std::size_t count) {
    if (options.schedules.size() > 1 && options.schedules.size() != count) {
        throw CommandError(ExitCode::usage,
                           fmt::format("--schedule is given {} times, but the program has {} stage{}",
                                       options.schedules.size(), count, count == 1 ? "" : "s"),
                           "give it once for all stages, or once for each; `haloc explain` lists them");
    }
    if (!options.schedules.empty()) {
        return {options.schedules[options.schedules.size() == 1 ? 0 : index], "--schedule", ExitCode::usage};
    }
    return {options.file_schedule, "the file's schedule block", ExitCode::spec};
}

schedule::Pins parse_pins(const Pinned& pinned, int rank) {
    schedule::ParsedSchedule parsed = schedule::parse(pinned.text, rank);
    if (parsed.mistakes.empty()) return parsed.pins;
    std::string message;
    for (const schedule::Mistake& mistake : parsed.mistakes) {
        message +=
            fmt::format("{}{}: {}", message.empty() ? "" : "\n       ", pinned.origin, mistake.message);
    }
    const std::string& mend = parsed.mistakes.front().mend;
    throw CommandError(pinned.code, message,
                       mend.empty() ? "for example --schedule 'stream threads=32x4 cells=4x2'"
                                    : fmt::format("did you mean `{}`?", mend));
}

StageChoice choose_stage(const ir::Program& program, const ir::Stage& stage,
                         const schedule::Footprint& footprint, const CodeOptions& options,
                         const Pinned& pinned) {
    schedule::Pins pins = parse_pins(pinned, program.rank());
    schedule::Choice choice = schedule::choose(footprint, options.target, options.extent, pins);
    StageChoice result{stage, footprint, choice.schedule, choice.reason, {}, pins.any()};
    for (const schedule::Reason& reason :
         schedule::check(result.footprint, result.schedule, options.target, options.extent)) {
        if (reason.limit && pins.any()) {
            throw CommandError(
                pinned.code, fmt::format("{}: {}", pinned.origin, reason.text),
                fmt::format("the schedule would be: {}", schedule::print(result.schedule, program.rank())));
        }
        result.notes.push_back(reason.text);
    }
    return result;
}

}  // namespace

std::vector<StageChoice> choose_schedules(const ir::Program& program, const CodeOptions& options) {
    std::vector<ir::Stage> stages = ir::form_stages(program);
    schedule::Footprints footprints(program);
    std::vector<StageChoice> choices;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        Pinned pinned = pinned_for(options, i, stages.size());
        // What is said once for all stages is meant for those that have a choice.
        const bool is_for_all = options.schedules.size() <= 1 && stages.size() > 1;
        const schedule::Footprint footprint = footprints.of(stages[i]);
        if (is_for_all && footprint.in_place) pinned.text.clear();
        choices.push_back(choose_stage(program, stages[i], footprint, options, pinned));
    }
    return choices;
}

}  // namespace halo::driver
