// What is known of a field: its type, where it lies, how far it is read, and what it takes in memory.
#pragma once

#include <string>

#include "compiler/ir/program.h"

namespace halo::lsp {

// Markdown, of a field or a group of that name; empty: the program has none. is_whole: the program has no
// mistakes, so that all can be said of it.
std::string field_facts(const ir::Program& program, const std::string& name, bool is_whole);

// "x+1/2, y"; empty: at the cells' points.
std::string place_of(const ir::Program& program, const ir::Field& field);

}  // namespace halo::lsp
