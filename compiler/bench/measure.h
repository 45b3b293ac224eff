// One case, from its text to figures: every way to run it, each verified and then timed.
#pragma once

#include <string>
#include <vector>

#include "compiler/bench/lab.h"
#include "compiler/bench/results.h"

namespace halo::bench {

// The program of a spec, checked and optimised as `haloc run` has it.
ir::Program load_program(const std::string& name, const std::string& text);

// Each way is verified before it is timed: on a small grid of odd lengths against the reference interpreter,
// value by value, and on its own grid, bit by bit, against the naive schedule (on a CPU, which has none,
// against the interpreter). Sums with `fast` functions may differ from the interpreter's by what the
// functions are allowed to. What is wrong is said and not timed.
// choices_alone: of the strategies, what the compiler would choose and no others.
CaseResult measure(Lab& lab, const Case& which, const std::vector<std::string>& asked,
                   bool choices_alone = false);

// Seconds a step of a program on a grid by one variant, without verification.
Measurement time_program(Lab& lab, const ir::Program& program, const Variant& variant, const Extent& extent);

}  // namespace halo::bench
