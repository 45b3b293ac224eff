// Lets that the compiler adds: what a state is given, or was given by a statement before, under a name of its
// own.
#pragma once

#include <functional>
#include <string>

#include "compiler/ir/program.h"

namespace halo::ir {

// Adds a field for a let that has the type, boundary and halo of `like`, named as that and the suffix.
FieldId add_let_like(Program& program, FieldId like, const std::string& suffix);

// Puts replace(access) in the place of each read of the level in the statement's expressions. The builder is
// that of the program which has the statement.
using ReplaceRead = std::function<ExprId(const Access&)>;
void replace_reads(Program& program, ExprBuilder& builder, Statement& statement, FieldId field, int time,
                   const ReplaceRead& replace);

}  // namespace halo::ir
