// The specs in expected/: what lift writes for the functions in cases/, without headers. They are there for
// engines on machines that have no LLVM.
#pragma once

#include <string>
#include <vector>

#include "compare_engines.h"

namespace halo::test {

struct ExpectedSpec {
    std::string file, name, text;
};
std::vector<ExpectedSpec> expected_specs();

// Runs each of them as its text states it, in the interpreter, and as strict code of an engine; `load` makes
// its modules. How many were run.
int check_expected_specs(rt::Device& device, const Load& load, const std::vector<Extent>& grids);

}  // namespace halo::test
