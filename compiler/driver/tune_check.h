// Whether compiled schedules compute what they must: against the reference interpreter on a small grid of odd
// sizes, and against one cell a thread on the run's own grid.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "compiler/driver/gpu_machine.h"
#include "compiler/driver/tune_inputs.h"

namespace halo::driver {

class TuneCheck {
public:
    // All must outlive it. awkward: the small grid, enlarged where tiles of several steps need that.
    TuneCheck(GpuMachine& machine, const ir::Program& program, const TuneInputs& inputs, const Extent& extent,
              const Extent& awkward)
        : machine_(machine), program_(program), inputs_(inputs), extent_(extent), awkward_(awkward) {}

    // After so many steps, each from the start: empty where all agrees, else a sentence with the first
    // difference. Fields agree bit for bit, but where functions are the device's own or a sum that depends on
    // the order is read (docs/tuning.md).
    std::string difference(const Code& code, const CompiledCode& compiled, int steps);

private:
    std::string against_interpreter(const Code& code, const CompiledCode& compiled, int steps,
                                    const Extent& extent);
    std::string against_plain(const Code& code, const CompiledCode& compiled, int steps);

    GpuMachine& machine_;
    const ir::Program& program_;
    const TuneInputs& inputs_;
    Extent extent_, awkward_;
    struct Small {
        TuneInputs inputs;
        TuneResults expected;
    };
    std::map<std::pair<int, Extent>, Small> small_;  // by steps and grid
    std::map<int, TuneResults> full_size_;           // by steps, the last alone: of one cell a thread
};

// How far results may differ from the interpreter's, relative to 1 and to themselves; 0: not at all.
double tolerance_of(const ir::Program& program);

// The first difference; empty where there is none. A cell that is no number in `expected` agrees with all.
std::string first_difference(const TuneResults& expected, const TuneResults& got, const Extent& extent,
                             double tolerance);

}  // namespace halo::driver
