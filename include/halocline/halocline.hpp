// The compiler in your own program: text of specs to Programs (runtime.hpp), which compile themselves for a
// device and grid when a Simulation first needs it, or before that in the background.
//
//   Program heat = compile_file("heat.halo");
//   std::shared_future<void> ready = precompile(heat, device, {{512, 512}, {1024, 1024}});
//   Simulation simulation(heat, device, {512, 512});  // waits for what is left of it
//
// All of it may be called from any thread. What was compiled once is taken from the disk cache the next time
// (HALOCLINE_CACHE). A GPU needs NVRTC at run time; the CPU a Halocline that was built with LLVM.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "halocline/runtime.hpp"

namespace halocline {

struct CompileOptions {
    std::string name = "program.halo";     // of the text, in messages
    std::string stencil{};                 // which one, where the text has several
    std::vector<std::string> include{};    // folders of modules that the text uses
    std::vector<std::string> schedules{};  // as of `haloc run --schedule`, for GPUs
    bool strict_fp = false;                // keep the order of arithmetic as written
    // Kernels that do several steps at once take seconds to compile. Without this a Simulation does single
    // steps until they are there, in the background.
    bool wait_for_all_kernels = false;
};

// All messages about the text, warnings too. Throws nothing about the text.
std::vector<Diagnostic> check(const std::string& text, const CompileOptions& options = {});

// The same with all that `haloc check --json` prints: ranges, labels, notes.
std::string check_json(const std::string& text, const CompileOptions& options = {});

// Throws Error: spec, with diagnostics(), where the text has mistakes; bad_argument for a stencil that is not
// there or a schedule that cannot be read; io for a file that cannot be read.
Program compile(const std::string& text, const CompileOptions& options = {});
Program compile_file(const std::string& path, const CompileOptions& options = {});

// What steps of the program may go on until (Simulation::step_until()): "change < 1e-5 and time > 2", as after
// `until` in a run block. Throws spec, with diagnostics(); bad_argument for a program from a bundle.
Condition condition(const Program& program, const std::string& text);

// Begins to compile for the device and each of the grids in a background thread. The future is ready when all
// is done, and throws what went wrong. It may be dropped; a Simulation made meanwhile waits for its own grid
// alone. A program from a bundle is ready at once.
std::shared_future<void> precompile(const Program& program, const Device& device,
                                    const std::vector<Grid>& grids);

// The same for pieces of each grid on several devices.
std::shared_future<void> precompile(const Program& program, const std::vector<Device>& devices,
                                    const std::vector<Grid>& grids, const SimulationOptions& options = {});

// What a program becomes. In the order of `haloc emit --target`.
enum class EmitTarget : std::uint8_t {
    cuda,     // kernels; in a .cu file with a launcher in plain C, beside a header
    cpu,      // C++ as the CPU runs it
    plan,     // the launch plan, in JSON
    stencil,  // the checked program
    kernel    // what one thread does
};
struct EmitOptions {
    EmitTarget target = EmitTarget::cuda;
    std::vector<std::string> schedules{};  // those of compile() where there are none
    std::vector<std::string> archs{};      // "sm_90" …, that schedules are chosen for
    Grid grid{};                           // likewise; empty: a large one
    bool fixed_grid = false;               // for that grid alone
};

// Of programs from compile(). Throw bad_argument for others, an arch that is not known, a schedule that
// cannot be read; unsupported for one that cannot be built; io.
std::string emit(const Program& program, const EmitOptions& options = {});  // the text
std::vector<std::string> emit_file(const Program& program, const std::string& path,
                                   const EmitOptions& options = {});  // all files that were written

struct ExplainOptions {
    Grid grid{};                           // empty: a large one
    std::vector<std::string> schedules{};  // those of compile() where there are none
    std::string arch{};  // "sm_90" …; empty: this machine's GPU, or an H200 where there is none
    bool json = false;   // as of `haloc explain --json`
    int width = 100;     // of lines of text
};
// How each stage would run on a GPU, and why, as `haloc explain` tells it. Throws as emit() does.
std::string explain(const Program& program, const ExplainOptions& options = {});

struct BundleOptions {
    std::vector<std::string> archs{};  // "sm_90" …; needs NVRTC, and no GPU
    std::vector<Grid> grids{};         // code with schedules for each of these
    bool any_grid = true;              // and for all other grids
};

// Writes code that Program::load() reads, and that runs without a compiler. Throws bad_argument for an arch
// that is not known, or a program that comes from a bundle itself; no_device without NVRTC; io.
void write_bundle(const Program& program, const std::string& path, const BundleOptions& options);

}  // namespace halocline
