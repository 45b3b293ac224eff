// The programs that are measured as wholes: which specs, on which grids, from what data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/bench/cases.h"

namespace halo::bench {

struct Program {
    std::string spec;                // of spec_texts()
    Extent extent{};                 // 1 past the rank
    std::int64_t steps = 0;          // of the long run
    Extent small{};                  // such as the interpreter does in a second
    std::vector<std::string> set{};  // params, as --set takes them, that suit the grid
    // What its run block says besides grid and steps, where not all of it is from the spec's own: one whose
    // values are the same nearly everywhere would save power, and so time.
    std::string init{};
    // "heat3d-1024", "acoustic3d-1024x1024x512": of its full grid, whatever the scale.
    std::string id{};

    std::string grid() const { return grid_words(extent); }
    std::string name() const { return spec + " " + grid(); }
};

// All of them, in the order of the page.
std::vector<Program> programs_of(Scale scale);

// Those that are named, by their specs or their ids; of those that are alike at this scale one. Throws
// CommandError (usage) for a name that none has.
std::vector<Program> chosen_programs(Scale scale, const std::vector<std::string>& names);

// The spec with the run block that is measured, which writes no files.
std::string program_text(const Program& program);

}  // namespace halo::bench
