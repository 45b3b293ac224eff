// GpuMachine: a Machine whose stages run by schedules, and what the tuner needs of it: code that is compiled
// apart from being run.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/driver/planning/tuned.h"
#include "compiler/driver/running/machine.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

class GpuMachine : public Machine {
public:
    virtual schedule::Target target() const = 0;
    virtual TuneDevice tune_device() const = 0;
    // A device may still be starting. Waits for it, and throws what went wrong; start() does so by itself.
    virtual void wait_for_device() {}

    // From any thread. Throws rt::Error.
    virtual CompiledCode compile(const Code& code) const = 0;
    // What compile() made of the code, on the device with its arrays. Throws rt::Error.
    virtual std::unique_ptr<Engine> start(const Code& code, const Extent& extent,
                                          const CompiledCode& compiled) = 0;
    // The same, where all of its arrays that nothing fills are NaN, halos and padding with them.
    virtual std::unique_ptr<Engine> start_poisoned(const Code& code, const Extent& extent,
                                                   const CompiledCode& compiled) = 0;
};

// Throws rt::Error: no_device where there is no such GPU, or no NVRTC.
std::unique_ptr<GpuMachine> open_gpu(int ordinal);
std::unique_ptr<GpuMachine> find_gpu(int ordinal);  // nullptr where there is no NVRTC

// The number of "cuda" or "cuda:N"; throws CommandError (usage).
int parse_ordinal(const std::string& device);

}  // namespace halo::driver
