// From a function of C, C++ or CUDA to a spec: the room as one call. docs/lift.md says what is taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/lift/clang_front.h"
#include "compiler/lift/form.h"
#include "compiler/lift/outline.h"
#include "compiler/lift/spec_text.h"

namespace halo::lift {

struct Options {
    SourceRequest source;
    FormOptions form;
    Assumptions assume;        // of numbers that a function is given, by how its text reads them
    std::string name;          // of the stencil; empty: that of the function
    bool keep_result = false;  // a function that returns something is lifted nest by nest
    // For how long, on the processor, the whole function is run while some of its branches have not been
    // taken.
    double most_seconds = 20;
};

struct Lifted {
    c::Unit unit;
    Model model;
    Form form;
    Spec spec;
    int first_line = 0;  // of the function or nest
    bool equal_rims = false;
    std::optional<Outline> outline;  // of a nest: unit is its copy
};

// What is refused, ready to be shown.
class LiftError : public std::runtime_error {
public:
    LiftError(const std::string& text, SourceFile file, Refusal why)
        : std::runtime_error(text), source(std::move(file)), refusal(std::move(why)) {}
    SourceFile source;
    Refusal refusal;
    SourceRange nest;  // the loop that is not lifted for it; empty: the function as a whole
};

// The function as a whole. Throws SourceError where the file cannot be read or compiled, and LiftError where
// the function is refused.
Lifted lift(const Options& options);

// The function as a whole, where it is one stencil; else its loop nests, each by itself: from outside in, the
// first that can be lifted. What is around them stays in the program.
struct Nests {
    std::vector<Lifted> lifted;      // in the order of the text
    std::vector<LiftError> refused;  // nests that are not lifted; or the function
    struct Around {
        std::uint32_t at = 0;  // where the loop begins
        LiftError why;
    };
    std::vector<Around> around;  // why loops around nests are none
    bool is_whole = false;
    std::vector<std::string> unused_assumptions;  // of numbers that nothing lifted is given
    c::Unit unit;                                 // all that was read
};
// options.source.function of a file that has been read by options.source. Throws SourceError.
Nests lift_nests(const Options& options, const ParsedFile& file);
Nests lift_nests(const Options& options, c::Unit unit);  // of the function that it names
Nests lift_nests(const Options& options);

// Whether it is several loop nests that follow one another.
bool has_several_nests(const Lifted& lifted);

// One stencil with its header, in the usual layout. verdict: sentences about what was or was not verified.
std::string file_text(const Lifted& lifted, const std::vector<std::string>& verdict);

}  // namespace halo::lift
