// The run's own grid on the device: engines that begin with its inputs, and whether one agrees with one cell
// a thread. Grids can be of many gigabytes, so the inputs stay on the device, are copied there, and results
// are compared there; where the device has no room for that they come from the host, and are compared on it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/tuning/tune_compare.h"
#include "compiler/driver/tuning/tune_inputs.h"

namespace halo::driver {

class TuneGrid {
public:
    // All must outlive it.
    TuneGrid(GpuMachine& machine, const ir::Program& program, const TuneInputs& inputs, const Extent& extent)
        : machine_(machine), program_(program), inputs_(&inputs), extent_(extent) {}

    // With the inputs. Throws rt::Error: out_of_memory where the grid does not even fit by itself.
    std::unique_ptr<Engine> start(const Code& code, const CompiledCode& compiled);

    // After so many steps from the inputs on: whether all agrees bit for bit, but where a sum that depends on
    // the order is read. Where no numbers would be left calmer inputs take the place of these from then on.
    CheckResult difference(const Code& code, const CompiledCode& compiled, int steps);
    bool is_calm() const { return calm_.has_value(); }

private:
    const Engine* source();
    void run_plain(int steps);
    bool plain_has_numbers();
    void do_plain_steps(int steps);
    void calm_down();
    void leave_device();

    GpuMachine& machine_;
    const ir::Program& program_;
    const TuneInputs* inputs_;
    std::optional<TuneInputs> calm_;
    Extent extent_;
    bool stays_on_device_ = true;
    std::unique_ptr<Engine> source_;  // has the inputs and does no step
    // One cell a thread, after plain_steps_, where plain_wanted_ were asked for. 0: no numbers are left.
    int plain_wanted_ = 0, plain_steps_ = 0;
    std::unique_ptr<Engine> plain_;
    TuneResults plain_results_;  // where it is not on the device
};

}  // namespace halo::driver
