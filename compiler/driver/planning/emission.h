// What `haloc emit` and emit() of host programs write: the code that a program becomes, and what goes beside
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/console/files.h"
#include "compiler/driver/planning/compile.h"

namespace halo::driver {

enum class EmitTarget : std::uint8_t { cuda, cpu, plan, stencil, kernel };
enum class EmitStyle : std::uint8_t { launcher, kernels_only };
enum class EmitBeside : std::uint8_t { cubin, ptx, plan, cmake };

struct Emission {
    EmitTarget target = EmitTarget::cuda;
    std::string output;  // of which other files have their names; empty: standard output
    bool strict_fp = false;
    EmitStyle style = EmitStyle::launcher;  // of a .cu file
    std::vector<EmitBeside> with;           // files to write beside it
    std::vector<std::string> archs;         // that the code is for, a cubin for each; none: sm_90
    bool line_info = false;                 // in cubin and PTX: the lines of the .cu, for profilers
    bool fixed_grid = false;                // for the grid of the CodeOptions alone
};

// Kernels that go to a .cu file get their host side with them.
bool is_cuda_file(const Emission& emission);
bool has_launcher(const Emission& emission);

// That with the least shared memory: what fits there fits the others.
schedule::Target target_of_archs(const Emission& emission);

// The first is what was asked for; others go beside it. Throws CommandError, rt::Error.
std::vector<TextFile> emitted_files(const ir::Program& checked, const Emission& emission,
                                    const CodeOptions& code_options, const CudaDetails& details);

}  // namespace halo::driver
