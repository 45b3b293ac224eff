#include "compiler/driver/planning/pins.h"

#include <fmt/format.h>

namespace halo::driver {

namespace {

bool is_grouping(std::string_view text) {
    return schedule::find_grouping(text) != nullptr;
}

std::string example(std::string_view text, int rank) {
    const schedule::GroupingKind* const kind = schedule::find_grouping(text);
    return kind != nullptr ? kind->example(rank) : "stream threads=32x4 cells=4x2";
}

}  // namespace

std::vector<std::string> stage_texts(const CodeOptions& options) {
    std::vector<std::string> texts;
    for (const std::string& text : options.schedules)
        if (!is_grouping(text)) texts.push_back(text);
    return texts;
}

Pinned pinned_for_stage(const CodeOptions& options, std::size_t index, std::size_t count) {
    const std::vector<std::string> texts = stage_texts(options);
    if (texts.size() > 1 && texts.size() != count) {
        throw CommandError(ExitCode::usage,
                           fmt::format("--schedule is given {} times, but the program has {} stage{}",
                                       texts.size(), count, count == 1 ? "" : "s"),
                           "give it once for all stages, or once for each; `haloc explain` lists them");
    }
    if (!texts.empty()) return {texts[texts.size() == 1 ? 0 : index], "--schedule", ExitCode::usage};
    if (is_grouping(options.file_schedule)) return {};
    return {options.file_schedule, "the file's schedule block", ExitCode::spec};
}

Pinned pinned_for_grouping(const CodeOptions& options) {
    Pinned pinned;
    for (const std::string& text : options.schedules) {
        if (!is_grouping(text)) continue;
        if (!pinned.text.empty())
            throw CommandError(ExitCode::usage, "--schedule says twice how several steps are done at once",
                               "leave out one of them");
        pinned = {text, "--schedule", ExitCode::usage};
    }
    if (pinned.text.empty() && is_grouping(options.file_schedule))
        pinned = {options.file_schedule, "the file's schedule block", ExitCode::spec};
    return pinned;
}

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

void check_asked_schedules(const CodeOptions& options, int rank) {
    for (const std::string& text : options.schedules)
        refuse_mistakes({text, "--schedule", ExitCode::usage}, schedule::mistakes_in(text, rank), rank);
}

std::string pinned_grouping(const CodeOptions& options, int rank) {
    const Pinned pinned = pinned_for_grouping(options);
    if (!pinned.text.empty()) refuse_mistakes(pinned, schedule::mistakes_in(pinned.text, rank), rank);
    return pinned.text;
}

bool pins_grouping(const CodeOptions& options) {
    return !pinned_for_grouping(options).text.empty();
}

}  // namespace halo::driver
