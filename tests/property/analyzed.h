// A spec's text to its StencilProgram, and what interpreters make of it.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/interpreter.h"
#include "random_program.h"

namespace halo::test {

// The first stencil of the text, or the run that chains others to it. Throws std::runtime_error with the
// rendered messages where the text is refused.
ir::Program analyze_text(const std::string& text);

// Fields that a user sees, t now, and reductions, after some steps from initial_cells().
struct Outcome {
    std::map<std::string, std::vector<double>> fields;  // no lets
    std::map<std::string, double> reductions;
};
Outcome interpret(const ir::Program& program, const RandomProgram& source, ir::Arithmetic arithmetic,
                  int steps);

// The reduction's or field's cell that differs most, as a sentence; nullopt where all agree: within `bound`
// of the larger of 1 and the value (bound 0: bit for bit, where +0 and -0 differ, too). Sums get the bound
// once for each cell. Cells where `reference` is NaN have no defined value (a let inside its margins, read
// over an edge of a tiny grid) and agree with anything.
std::optional<std::string> disagreement(const Outcome& reference, const Outcome& other, double bound);

// From the environment: HALO_SEED (first seed) and HALO_PROGRAMS (how many), else the given ones.
struct Seeds {
    std::uint64_t first;
    std::uint64_t count;
};
Seeds seeds_from_environment(std::uint64_t first, std::uint64_t count);

}  // namespace halo::test
