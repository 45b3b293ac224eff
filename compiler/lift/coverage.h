// Which sides of a function's branches a run has taken. Counters stand in the text, in each condition.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift {

// A condition, or a case of a `switch`, and where it stands in the file.
struct BranchPoint {
    std::string file;
    int line = 0;
    std::string text;
    bool needs_false = true;  // of a loop only its body is asked for
};

struct Instrumented {
    // Sets halo_lift_seen[2 k] where the condition k holds, and halo_lift_seen[2 k + 1] where it does not: an
    // array of unsigned char, which is defined elsewhere.
    std::string text;
    std::vector<BranchPoint> points;
};

// unit: the function, read from preprocessed text; the functions that it calls are counted, too, but for
// those of the system's headers.
Instrumented instrument(const c::Unit& unit);

// Where a place of preprocessed text is in the file.
struct Line {
    std::string file;
    int line = 0;
    bool is_system = false;
};
Line line_of(std::string_view preprocessed, std::size_t at);

// What has not been seen, as sentences: "line 12 was never reached with `k > 3` false".
std::vector<std::string> unseen(const std::vector<BranchPoint>& points, const unsigned char* seen);

}  // namespace halo::lift
