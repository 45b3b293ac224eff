// Whether edited kernels compute what the spec says: against the interpreter, before they run.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/driver/planning/edited_cuda.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/tuning/tune_inputs.h"

namespace halo::driver {

// Runs the kernels on random fields of a small grid of odd sizes, where all that nothing fills is NaN, and
// the interpreter beside it; `program` is as it was checked, `run` may be null, `options` are from
// take_edited(). tolerance_ulps: how far each value may be off, in units of its last place. Gives a sentence
// for the user on what was done. Throws CommandError (spec) where the text does not fit or compile, and with
// the first cell that differs.
std::string check_edited(GpuMachine& machine, const ir::Program& program, const sema::RunSpec* run,
                         const RunRequest& request, const CodeOptions& options, std::uint64_t tolerance_ulps);

}  // namespace halo::driver
