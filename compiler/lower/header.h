// The comment at the top of CUDA text: how the arrays that the kernels take lie in memory.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

std::vector<std::string> header(const ir::Program& program, const StageViews& views,
                                const ProgramLayout& layout);

}  // namespace halo::lower
