// Whether compiled schedules compute what they must: against the reference interpreter on a small grid of odd
// sizes, and against one cell a thread on the run's own grid.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/tuning/tune_compare.h"
#include "compiler/driver/tuning/tune_grid.h"
#include "compiler/driver/tuning/tune_inputs.h"

namespace halo::driver {

// A small grid of odd sizes.
Extent odd_grid(int rank);
// It, or one as large as tiles of several steps need: another would be done by single steps.
Extent grid_of_checks(const Code& code, Extent smallest);

// What the interpreter has come to on a small grid.
struct Reference {
    TuneInputs inputs;
    TuneResults expected;
    int steps = 0;  // that it did; 0: no numbers are left by then
};
// After so many steps, or fewer of them from calmer values. of_run: of the run's grid; its fields are not
// used.
Reference make_reference(const ir::Program& program, const TuneInputs& of_run, const Extent& grid, int steps);

class TuneCheck {
public:
    // All must outlive it. smallest: the small grid, enlarged where tiles of several steps need that.
    TuneCheck(GpuMachine& machine, const ir::Program& program, const TuneInputs& inputs, TuneGrid& grid,
              const Extent& smallest)
        : machine_(machine), program_(program), inputs_(inputs), grid_(grid), smallest_(smallest) {}

    // After so many steps, each from the start, of code that was made by the plan for the run's grid. Fields
    // agree bit for bit, but where functions are the device's own or a sum that depends on the order is read
    // (docs/tuning.md). Kernels for one grid alone are compiled once more for the small one.
    CheckResult difference(const schedule::Plan& plan, const Code& code, const CompiledCode& compiled,
                           int steps);

    // That calmer values had to be taken; empty where it is not so or was said before.
    std::string take_remark();

private:
    CheckResult on_small_grid(const schedule::Plan& plan, const Code& code, const CompiledCode& compiled,
                              int steps, const Extent& extent);
    CheckResult against_interpreter(const Code& code, const CompiledCode& compiled, int steps,
                                    const Extent& extent);

    GpuMachine& machine_;
    const ir::Program& program_;
    const TuneInputs& inputs_;
    TuneGrid& grid_;
    Extent smallest_;
    std::map<std::pair<int, Extent>, Reference> small_;  // by steps and grid
    bool has_remarked_ = false;
};

}  // namespace halo::driver
