#include "compiler/driver/running/saved_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/support/file_kinds.h"

namespace halo::driver {

namespace {

[[noreturn]] void refuse_frames(const std::string& text) {
    refuse_usage(fmt::format("--save-every wants a number of steps, not `{}`", text),
                 "for example --save-every 100, or --save-every '100 from 0 to 500'");
}

// What is saved as frames of one file, and shares it with `output`.
bool joins(const Output& output, const Output& other) {
    return shares_file(output, other) && (output.frames.together || other.frames.together);
}

}  // namespace

sema::Frames parse_frames(const std::string& text, bool together) {
    sema::Frames frames;
    if (text.empty()) {
        if (together)
            refuse_usage("--together needs frames: how many steps apart?",
                         "for example --save-every 100 --together");
        return frames;
    }
    frames.together = together;
    std::istringstream words(text);
    std::string word;
    if (!(words >> frames.every) || frames.every < 1) refuse_frames(text);
    frames.from = frames.every;
    if (words >> word && (word != "from" || !(words >> frames.from) || frames.from < 0)) refuse_frames(text);
    if (words >> word && (word != "to" || !(words >> frames.to) || frames.to < frames.from))
        refuse_frames(text);
    if (!words.eof() && words >> word) refuse_frames(text);
    return frames;
}

std::string frames_words(const sema::Frames& frames) {
    std::string words = fmt::format("{} from {}", frames.every, frames.from);
    if (frames.to != sema::Frames{}.to) words += fmt::format(" to {}", frames.to);
    return words;
}

void check_first_frame(const ir::Program& program, const Output& output) {
    if (output.frames.every == 0 || output.frames.from > 0) return;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::output && std::ranges::count(output.field.fields, field.name) > 0)
            refuse_usage(
                fmt::format("--save-every: there is nothing to write of {} before the first step: it is "
                            "computed in each step",
                            output.field.name),
                fmt::format("for example --save-every '{0} from {0}'", output.frames.every));
}

void check_together(const RunRequest& request) {
    for (const Output& output : request.outputs) {
        if (!output.frames.together) continue;
        if (!serves(output.path, FileUse::frames))
            refuse_usage(
                fmt::format("{} cannot have the frames of {}: frames in one file need HDF5", output.path,
                            output.field.name),
                fmt::format("for example --save {0}={0}.h5 --save-every 100 --together", output.field.name));
        if (output.field.name == "step" || output.field.name == "time")
            refuse_usage(fmt::format("{} cannot be in a file with frames, which has a list of that name",
                                     output.field.name),
                         "leave `together` out");
        for (const Output& other : request.outputs)
            if (joins(output, other) && output.frames != other.frames)
                refuse_usage(
                    fmt::format("{} and {} are to have the frames of {} together, and are saved after other "
                                "steps",
                                output.field.name, other.field.name, output.path),
                    "give them the same `every`, or files of their own");
    }
}

void prepare_together(RunRequest& request, std::int64_t before, const Console& console) {
    std::set<std::string> said;
    for (Output& output : request.outputs) {
        if ((!output.frames.together && !output.is_column() && !output.is_curve()) || before == 0) continue;
        if (output.is_curve()) {
            output.path = frame_path(output.path, before, request.steps);
            console.message(
                fmt::format("note: a picture over the time begins where the run does: that from "
                            "step {} on is in {}",
                            before, output.path));
            continue;
        }
        output.path = frame_path(output.path, before, request.steps);
        // What the file says of its frames is of those that it has.
        const std::optional<std::int64_t> next = output.frames.steps_to_next(before);
        output.frames.from = next ? before + *next : request.steps;
        if (!next) output.frames.to = request.steps;
        if (said.insert(output.path).second)
            console.message(
                fmt::format("note: a file of {} cannot be continued: those after step {} are in {}",
                            output.is_column() ? "rows" : "frames", before, output.path));
    }
}

}  // namespace halo::driver
