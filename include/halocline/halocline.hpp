// The compiler in your own program: text of specs to Programs (runtime.hpp), which compile themselves for a device
// and grid when a Simulation first needs it, or before that in the background.
//
//   Program heat = compile_file("heat.halo");
//   std::shared_future<void> ready = precompile(heat, device, {{512, 512}, {1024, 1024}});
//   Simulation simulation(heat, device, {512, 512});  // waits for what is left of it
//
// All of it may be called from any thread. What was compiled once is taken from the disk cache the next time
// (HALOCLINE_CACHE). A GPU needs NVRTC at run time; the CPU a Halocline that was built with LLVM.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "halocline/runtime.hpp"

namespace halocline {

struct CompileOptions {
    std::string name = "program.halo";    // of the text, in messages
    std::string stencil{};                // which one, where the text has several
    std::vector<std::string> include{};   // folders of modules that the text uses
    std::vector<std::string> schedules{}; // as of `haloc run --schedule`, for GPUs
    bool strict_fp = false;               // keep the order of arithmetic as written
    // Kernels that do several steps at once take seconds to compile. Without this a Simulation does single steps
    // until they are there, in the background.
    bool wait_for_all_kernels = false;
};

// All messages about the text, warnings too. Throws nothing about the text.
std::vector<Diagnostic> check(const std::string& text, const CompileOptions& options = {});

// Throws Error: spec, with diagnostics(), where the text has mistakes; bad_argument for a stencil that is not there
// or a schedule that cannot be read; io for a file that cannot be read.
Program compile(const std::string& text, const CompileOptions& options = {});
Program compile_file(const std::string& path, const CompileOptions& options = {});

// Begins to compile for the device and each of the grids in a background thread. The future is ready when all is
// done, and throws what went wrong. It may be dropped; a Simulation made meanwhile waits for its own grid alone.
// A program from a bundle is ready at once.
std::shared_future<void> precompile(const Program& program, const Device& device, const std::vector<Grid>& grids);

// The same for pieces of each grid on several devices.
std::shared_future<void> precompile(const Program& program, const std::vector<Device>& devices,
                                    const std::vector<Grid>& grids, const SimulationOptions& options = {});

struct BundleOptions {
    std::vector<std::string> archs{};  // "sm_90" …; needs NVRTC, and no GPU
    std::vector<Grid> grids{};         // code with schedules for each of these
    bool any_grid = true;              // and for all other grids
};

// Writes code that Program::load() reads, and that runs without a compiler. Throws bad_argument for an arch that is
// not known, or a program that comes from a bundle itself; no_device without NVRTC; io.
void write_bundle(const Program& program, const std::string& path, const BundleOptions& options);

}  // namespace halocline
