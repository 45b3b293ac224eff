// The property that all engines share: random programs give the interpreter's results.
#pragma once

#include <functional>
#include <string>

#include "analyzed.h"
#include "compare_engines.h"
#include "random_program.h"

namespace halo::test {

// What an engine gets wrong in a program; empty where nothing. The reference is given.
using Complaint = std::function<std::string(const RandomProgram&, const ir::Program&, const Reference&)>;

// Draws programs and fails with the smallest one that an engine gets wrong.
void check_engine(const GeneratorOptions& options, Seeds seeds, const Complaint& complaint, int steps = 3);

}  // namespace halo::test
