// What a run writes, made from what was asked for: where a field lies, what else a picture shows.
#pragma once

#include <string>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// The first of the fields that are one for users.
const ir::Field& first_of(const ir::Program& program, const FieldSet& set);
// Fills in where the output's field lies, and its unit.
void take_place(Output& output, const ir::Program& program);
// Fills in the unit of a trace or of reductions.
void take_unit(Output& output, const ir::Program& program);

// What else is in the picture of a field, on the same plane of the grid.
void add_layers(const ir::Program& program, const sema::Plot& plot, Output& output);

// Adds a picture of reductions over the time.
void add_curve(RunRequest& request, const sema::Plot& plot);
// The same of one that `--plot` names. False where the argument names none; throws CommandError (usage).
bool take_curve(RunRequest& request, const FileArgument& argument, const std::string& option);

// The points that are injected, where they are of one name.
std::string injected_points(const ir::Program& program);

}  // namespace halo::driver
