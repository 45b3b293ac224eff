// Runs a whole function beside itself with stencils in the place of its loop nests.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/lift.h"

namespace halo::lift {

struct WholeRun {
    bool differs = false;              // how their results differ; `reason` says where
    std::string reason;                // or: why nothing is verified; empty: it is
    bool was_too_long = false;         // why there is a reason: no run ended in time
    std::vector<std::string> remarks;  // what the runs take to hold
    std::vector<std::string> table;    // a line for each kind of run
};

// Both are compiled without optimisation and run in processes of their own: on arguments that are drawn on
// both sides of every number that the function's text has, in memory that ends where the function's accesses
// end, three calls one after the other. What they leave in arrays, globals, the result and on the terminal is
// compared. Draws on which the function itself fails are left out. Nothing is verified before each
// branch was taken both ways, each loop's body entered and each stencil run.
// preprocessed: the file of `found` without its macros.
WholeRun run_whole(const Options& options, const Nests& found, const ParsedFile& preprocessed);

}  // namespace halo::lift
