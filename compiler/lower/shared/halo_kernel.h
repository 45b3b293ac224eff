// Kernels that fill the halo of a level where its writers cannot (fields_with_halo_kernels). They leave it
// alone; these kernels run after them, and after an upload.
//
// One kernel for each axis: non-periodic ones from the last to the first, then the periodic ones, each over
// the full width of what was filled before. So every axis past its face finds what it reads, and a corner is
// decided by the first such axis in declaration order. One thread has a line along the axis: its ghosts on
// both sides.
#pragma once

#include <map>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

enum class Machine : std::uint8_t { cuda, cpu };

class HaloKernels {
public:
    // kernel_names: those that are taken.
    HaloKernels(const ir::Program& program, const ProgramLayout& layout, Machine machine,
                kernel::Program& kernels, Names& kernel_names)
        : program_(program),
          layout_(layout),
          machine_(machine),
          kernels_(kernels),
          kernel_names_(kernel_names) {}

    // Appends to the step what fills the halo of `level`; nothing where no formula does.
    void append(const Level& level, rt::LaunchPlan& plan);

    // Those of inputs, which no statement writes.
    void append_inputs(rt::LaunchPlan& plan);

private:
    void make(const Level& level, int axis, const std::vector<int>& filled,
              std::vector<rt::KernelPlan>& plans);

    const ir::Program& program_;
    const ProgramLayout& layout_;
    Machine machine_;
    kernel::Program& kernels_;
    Names& kernel_names_;
    std::map<Level, std::vector<rt::KernelPlan>> made_;
};

}  // namespace halo::lower
