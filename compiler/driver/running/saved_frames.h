// Which frames of a field a run saves, and those that are in one file.
#pragma once

#include <string>

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// "100", "100 from 0", "100 from 0 to 500", as after `every` in a run block; nothing: no frames. Throws
// CommandError (usage).
sema::Frames parse_frames(const std::string& text, bool together);
std::string frames_words(const sema::Frames& frames);  // the other way

// That an output, which has no value before the first step, is not saved there. Throws likewise.
void check_first_frame(const ir::Program& program, const Output& output);
// That all arrays of a file have the same frames, where these are together. Throws CommandError (usage).
void check_together(const RunRequest& request);

// What goes on from a checkpoint begins another file, with the frames or rows from there on, and says so.
// before: steps.
void prepare_together(RunRequest& request, std::int64_t before, const Console& console);

}  // namespace halo::driver
