// What a well-formed KernelProgram is. Every strategy must leave one behind; where HALO_VERIFY is set
// lowering checks that it did.
//
//   Names     functions, constant arrays, and the parameters and constants of a function have distinct names.
//             A name is declared before it is used, in a scope that is still open. A name that is visible is
//             never declared again, not even by a loop: loops side by side share names, nested ones do not.
//   Types     operands agree; an i32 may stand beside an i64 and where one is stored. Conditions are boolean,
//             indices integers. Nothing else converts by itself.
//   Arrays    the dimensions of local and shared arrays are known when the text is printed; an element has an
//             index for each. Addresses point into parameters. Vectors are 2 or 4 wide.
//   Stores    go to outputs, writable pointers, local and shared arrays, and variables declared mutable.
//   Calls     name a helper of the prelude, or a helper function above the caller, with its arguments' types.
//   Barriers  are reached by all threads of a block or by none: not below a condition or in a loop that may
//             differ between threads, nor behind a return below one. What is loaded may differ, and so may
//             every mutable variable.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/program.h"

namespace halo::kernel {

// One sentence a fault, each with its function's name; empty where there is none. Takes any program.
std::vector<std::string> verify(const Program& program);

// Throws InternalError with the first fault.
void require_valid(const Program& program);

}  // namespace halo::kernel
