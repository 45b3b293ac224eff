// Kernels that fill the halo of a level where its writers cannot (fields_with_halo_kernels). They run after
// the writers, which store no images then, and after an upload.
//
// Axes are filled in order: non-periodic ones from the last to the first, then the periodic ones, each over
// the full width that is filled before. So the value in a corner is that of the first non-periodic axis in
// declaration order. A thread fills the ghosts on both sides of a line along an axis.
//
// On a GPU one kernel fills all axes: lines past the faces of an axis that comes before find what lies there
// from cells inside, by the same arithmetic, as nothing is filled before in the same launch. Where that takes
// more than expressions, and on a CPU, there is a kernel for each axis, which finds all that it reads.
#pragma once

#include <map>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

class HaloKernels {
public:
    // kernel_names: those in use.
    HaloKernels(const ir::Program& program, const ProgramLayout& layout, Machine machine,
                kernel::Program& kernels, Names& kernel_names)
        : program_(program),
          layout_(layout),
          machine_(machine),
          kernels_(kernels),
          kernel_names_(kernel_names) {}

    // Appends to such steps the launches that fill the halo of `level`; none where no kernel does.
    void append(const Level& level, rt::Steps steps, const rt::StepRange& within, rt::LaunchPlan& plan);

    // Those of levels that a sweep is about to write: it reads fixed values past a face.
    void append_before(const StageView& sweep, const StageView& unread, rt::LaunchPlan& plan);

    // Launches for inputs, which no statement writes.
    void append_inputs(rt::LaunchPlan& plan);

    // Those of states whose writers store all that lies past their faces: for after an upload alone.
    void append_states(rt::LaunchPlan& plan);

private:
    const std::vector<rt::KernelPlan>& kernels_of(const Level& level);
    // The kernel for these axes; filled: those that others fill before it. False, and nothing made, where
    // none can fill several.
    bool make(const Level& level, const std::vector<int>& axes, const std::vector<int>& filled,
              std::vector<rt::KernelPlan>& plans);

    const ir::Program& program_;
    const ProgramLayout& layout_;
    Machine machine_;
    kernel::Program& kernels_;
    Names& kernel_names_;
    std::map<Level, std::vector<rt::KernelPlan>> made_;
};

}  // namespace halo::lower
