// Random programs whose run chains others to them.
#pragma once

#include "random_program.h"

namespace halo::test {

// The program without a statement: what read its result reads a number, or the state's old level.
RandomProgram without_statement(RandomProgram program, std::size_t index);

// Chains one or two programs that are made of some of its statements each, and leaves some of its own out.
// What sema refuses to chain is left alone.
void add_chain(RandomProgram& made);

}  // namespace halo::test
