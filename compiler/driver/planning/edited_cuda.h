// Kernels that were edited by hand: `haloc run --cuda edited.cu heat.halo` runs them in place of those
// that `haloc emit` wrote, by the same launch plan, once they have been checked (edited_check.h).
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/planning/compile.h"

namespace halo::driver {

struct EditedCuda {
    std::string file;  // as messages name it
    std::string text;  // lines as in the file; what is the host's alone is blank
    // What it was emitted with, by its comments; none where it does not say.
    std::vector<std::string> schedules;
    bool strict_fp = false;
    bool fixed_grid = false;
    bool has_launcher = true;  // with which no reduction is read between steps
};

// "-" is standard input. Throws rt::Error (io).
EditedCuda read_edited_cuda(const std::string& path);
EditedCuda parse_edited_cuda(const std::string& file, const std::string& text);

// Makes the options such that the code is that which the file was edited from: by what it says; where it says
// nothing, as `haloc emit` chooses (grid: the spec's own). Schedules that are there already stay. `program`
// is as it was checked. Throws CommandError (usage) for kernels that nothing can be put in place of.
void take_edited(EditedCuda edited, const ir::Program& program, const std::optional<schedule::Extent>& grid,
                 CodeOptions& options);

// The edited text for the emitted one, with a check of its parameters after it. Throws CommandError (spec)
// where it has not all kernels and constant arrays that the plan launches.
void use_edited(Code& code, const EditedCuda& edited);

// From a compiler's message on such a text: the sentence on the kernel whose parameters do not fit, or the
// whole.
std::string trouble_of_edited(const std::string& message);

}  // namespace halo::driver
