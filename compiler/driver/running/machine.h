// Machine: where programs run. Opened once by the name that --device gives; loads any number of programs.
//
//   cuda, cuda:N   a GPU: CUDA text through NVRTC
//   cpu            this machine's processor: C++ text through clang
//   interpreter    the reference interpreter, for small grids
//   auto           the first of these that is there
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/planning/compile.h"
#include "compiler/driver/running/engine.h"
#include "runtime/pieces/transport.h"

namespace halo::driver {

struct LoadTimings {      // seconds
    double optimise = 0;  // the passes
    double choose = 0;    // schedules
    double lower = 0;
    double print = 0;
    double compile = 0;  // text to machine code
    bool from_cache = false;
    // The kernel for several steps: there is none; it came from the disk cache, was compiled before the first
    // step, or is being compiled beside the steps.
    enum class Several : std::uint8_t { none, cached, compiled, beside };
    Several several = Several::none;
    // Of the fastest kernel for several steps, its key in the cache, where the run could not wait for it; or
    // may be over before it is there, where it is compiled beside the steps. Empty where neither is so.
    std::string lacking, late;
    double context = 0;                  // waiting for the device's context, which another thread creates
    double load = 0;                     // onto the device, with its arrays
    std::vector<std::string> schedules;  // how each stage runs, and why; empty where there is no choice
    // What moves cells between processes, and which other ways were tried; empty where there is one process.
    std::vector<rt::TransportTime> transports;
};

class Machine {
public:
    virtual ~Machine() = default;

    virtual std::string kind() const = 0;         // "cuda:0", "cpu", "interpreter"
    virtual std::string description() const = 0;  // one line for people

    // Begins to compile, in another thread, what load() will be called with; load() reports its errors. The
    // program must stay where it is until then. One at a time; where a machine gains nothing by it, nothing
    // is done.
    virtual void prepare(const ir::Program& /*program*/, const Extent& /*extent*/,
                         const CodeOptions& /*options*/) {}

    // Throws UnsupportedError (a schedule that does not fit) and rt::Error (no memory …).
    virtual std::unique_ptr<Engine> load(const ir::Program& program, const Extent& extent,
                                         const CodeOptions& options, LoadTimings& timings) = 0;

    // The same for a program that computes initial data: all of its results are needed in this process. Where
    // several share a run, each runs it by itself.
    virtual std::unique_ptr<Engine> load_initializer(const ir::Program& program, const Extent& extent,
                                                     const CodeOptions& options, LoadTimings& timings) {
        return load(program, extent, options, timings);
    }
    // The same, on one device alone: of programs that are small beside the grid.
    virtual std::unique_ptr<Engine> load_alone(const ir::Program& program, const Extent& extent,
                                               const CodeOptions& options, LoadTimings& timings) {
        return load_initializer(program, extent, options, timings);
    }
    // Whether other processes have the other cells of what load() gives.
    virtual bool is_shared() const { return false; }
};

// Throws CommandError (usage) for a name that is none of the above, rt::Error (no_device) where it is not
// there. `remark`, for auto: why it is not a better one; empty where it is a GPU.
std::unique_ptr<Machine> open_machine(const std::string& device, std::string& remark);

}  // namespace halo::driver
