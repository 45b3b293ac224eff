// The values that fields start with: what the run block's init computes, then what is loaded from files.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

// What fills fields over the same axes. Its program computes them as fields over all axes of a grid that has
// one cell along those that they have not.
struct Initializer {
    ir::Program program;
    rt::FieldGrid grid;
};
// `init` by the axes of its fields, those over all axes first; empty parts are left out.
std::vector<Initializer> initializers_of(const ir::Program& init);
// The program of one for the cells of a box of the grid: the field's own of them.
ir::Program program_of_box(const Initializer& init, const Extent& whole, const rt::Box& box);

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
