// The inputs of engines that are timed and compared: the fields of tune_start.h, and the tables, points and
// numbers of the run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/tuning/tune_start.h"

namespace halo::driver {

struct TuneInputs {
    std::vector<FieldLevel> fields;  // all levels of all that has some before a step
    std::vector<std::pair<std::string, double>> params;
    std::vector<std::pair<std::string, std::vector<double>>> coefs, tables, places;  // places: of points
    struct PointValues {
        std::string points, name;
        std::vector<double> values;
    };
    std::vector<PointValues> point_values;
    TuneStart start;  // where the fields are from

    // Levels are copied from those of `source`, which has them, where it is given and the device can.
    void upload_to(Engine& engine, const Engine* source = nullptr) const;
};

// For the run's grid: tables and points are those of the run (`run` may be null).
TuneInputs run_inputs(const ir::Program& program, const sema::RunSpec* run, const RunRequest& request,
                      Machine& machine);

TuneInputs inputs_without_fields(const ir::Program& program, const sema::RunSpec* run,
                                 const RunRequest& request, Machine& machine);

// For another grid: the first rows of the run's tables, and points at random places of that grid, with what
// is injected in `steps` steps.
TuneInputs small_inputs(const ir::Program& program, const TuneInputs& of_run, const Extent& extent, int steps,
                        bool calm);

// The results of an engine.
struct TuneResults {
    std::vector<FieldLevel> fields;
    std::vector<std::pair<std::string, std::vector<double>>> traces;
    struct Reduction {
        std::string name;
        double value = 0;
        bool is_sum = false;  // its last bits depend on the order
    };
    std::vector<Reduction> reductions;
};
TuneResults results_of(Engine& engine, const ir::Program& program);
// After so many steps from these inputs.
TuneResults results_from(const TuneInputs& inputs, Engine& engine, const ir::Program& program, int steps);
TuneResults results_without_fields(Engine& engine, const ir::Program& program);

// The levels that an engine has before and after a step, as (field, time).
std::vector<std::pair<std::string, int>> kept_levels(const ir::Program& program);

}  // namespace halo::driver
