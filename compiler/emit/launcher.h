// A program's kernels as files that need nothing of ours: `haloc emit heat3d.halo -o heat3d.cu`.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/program.h"
#include "runtime/core/launch_plan.h"

namespace halo::emit {

struct OfflineFiles {
    std::string
        source;  // NAME.cu: the kernels as print_cuda() gives them, byte for byte, and a launcher in C
    std::string header;  // NAME.h: what the launcher offers, for C99 and C++
};

// Whether print_offline() takes the plan: not yet where fields lie on several grids, and where the host
// computes numbers between the kernels of an iteration.
bool can_have_launcher(const rt::LaunchPlan& plan);
std::string why_no_launcher(const rt::LaunchPlan& plan);  // "fields lie on …"; empty where it can

// `kernels` and `plan` are one lowering's. `stem` is the files' name without its ending: the source includes
// "STEM.h". `made_with`: options that gave the kernels, to be found again by `haloc run --cuda`. Throws
// UnsupportedError where such a name cannot stand in an #include, and where the plan has no launcher. The
// same input gives the same bytes. The source compiles with nvcc -std=c++17 -fmad=false and uses the CUDA
// runtime alone; NVRTC sees the kernels alone.
OfflineFiles print_offline(const kernel::Program& kernels, const rt::LaunchPlan& plan,
                           const std::string& stem, const std::vector<std::string>& made_with = {});

// The comment that has these options, a line each; empty where there are none.
std::string print_made_with(const std::vector<std::string>& options);

}  // namespace halo::emit
