// The values that fields start from when a program is timed and checked. Where the run block has an `init`
// they are its values, each a little different: random numbers are no state that an equation bears for long,
// and what has become NaN proves nothing. Without an `init` they are random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

struct FieldLevel {
    std::string field;
    int time = 0;
    FieldValues values;
};

struct TuneStart {
    const ir::Program* init = nullptr;    // of the run block, for any grid; none: it has none
    const RunRequest* request = nullptr;  // with init: its arguments, and the fields that are loaded
    bool calm = false;                    // much closer to the mean of each field
};

// All levels of all fields that have some before a step. machine: where `init` is computed, as in a run;
// null: in the interpreter.
std::vector<FieldLevel> start_fields(const ir::Program& program, const TuneStart& start, const Extent& extent,
                                     Machine* machine);

// What init gives a field, or random numbers around 1, and what is different of it.
struct Perturbation {
    double noise = 0;  // what is added to numbers that are 0, or as good as that
    bool calm = false;
    std::uint64_t seed = 0;
};
// Real numbers: each becomes up to a hundredth larger or smaller, within the range of them all where that can
// be; what is not finite stays.
void perturb(FieldValues& values, const Perturbation& how);

}  // namespace halo::driver
