// Repeats that a condition ends, on a GPU: iterations are launched ahead, and those after the last do
// nothing.
#pragma once

#include "compiler/lower/shared/context.h"

namespace halo::lower {

// Whether the kernel is within a repeat that a condition ends.
bool is_in_ended_repeat(const Context& context);

// Of a kernel within such a repeat: it returns where the device has found that nothing is left to do. Call
// the first before the kernel is lowered; the second puts the test in front of its body.
void take_repeat_word(Context& context);
void return_when_done(Context& context, kernel::KernelFunction& function);

// Adds the kernel that finds the condition after each iteration of that repeat of the plan, which its last
// kernel is of. Those within it have theirs by then.
void add_repeat_end(const ir::Program& program, const ir::RepeatEnd& end, std::size_t index,
                    const ProgramLayout& layout, Names& kernel_names, kernel::Program& kernels,
                    rt::LaunchPlan& plan);

}  // namespace halo::lower
