// Values that users give to params, before a run and while it is shown.
#pragma once

#include <string>

#include "compiler/driver/running/request.h"

namespace halo::driver {

// A value as it is written in a spec: 0.1, 1/63. Throws CommandError (usage) where the param cannot have it;
// what: "--set dt".
double param_value(const ir::Param& param, const std::string& text, const std::string& what);

void set_param(RunRequest& request, const std::string& name, double value);

// What the program's params have in a run, in their order.
std::vector<double> param_values(const ir::Program& program, const RunRequest& request);

}  // namespace halo::driver
