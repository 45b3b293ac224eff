// From a function of C, C++ or CUDA to a spec: the room as one call. docs/lift.md says what is taken.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/clang_front.h"
#include "compiler/lift/form.h"
#include "compiler/lift/spec_text.h"

namespace halo::lift {

struct Options {
    SourceRequest source;
    FormOptions form;
    std::string name;  // of the stencil; empty: that of the function
};

struct Lifted {
    c::Unit unit;
    Model model;
    Form form;
    Spec spec;
    int first_line = 0;  // of the function
    bool equal_rims = false;
};

// What is refused, ready to be shown.
class LiftError : public std::runtime_error {
public:
    LiftError(const std::string& text, SourceFile file, Refusal why)
        : std::runtime_error(text), source(std::move(file)), refusal(std::move(why)) {}
    SourceFile source;
    Refusal refusal;
};

// Throws SourceError where the file cannot be read or compiled, and LiftError where the function is refused.
Lifted lift(const Options& options);

// The whole file, in the usual layout. verdict: sentences about what was or was not verified.
std::string file_text(const Lifted& lifted, const std::vector<std::string>& verdict);

}  // namespace halo::lift
