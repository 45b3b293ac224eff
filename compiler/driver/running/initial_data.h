// The values that fields start with: what the run block's init computes, then what is loaded from files.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// Begins to compile the program of `init`, which fill_initial_data() is given later, in the same place
// (Machine::prepare).
void prepare_initial_data(const std::optional<ir::Program>& init, const RunRequest& request,
                          Machine& machine);

// Fills the program's fields in the engine; the levels before t get the same values (a field starts at rest).
// `init` runs on the same machine as a program of its own. Fields in `kept` are left as they are. Returns the
// fields that hold zeros because nothing fills them and that are read before they are written.
std::vector<std::string> fill_initial_data(Engine& engine, const ir::Program& program,
                                           const std::optional<ir::Program>& init, const RunRequest& request,
                                           Machine& machine, const std::set<std::string>& kept = {});

// The request's params and coefs that the program has.
void set_known_arguments(Engine& engine, const ir::Program& program, const RunRequest& request);

}  // namespace halo::driver
