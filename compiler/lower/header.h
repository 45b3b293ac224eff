// Comments of CUDA text: at its top, how the arrays that the kernels take lie in memory; above a kernel.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/shared/context.h"

namespace halo::lower {

std::vector<std::string> header(const ir::Program& program, const StageViews& views,
                                const ProgramLayout& layout);

// "Reads u (past x and y), v, writes w.": of the context's stage.
std::string level_words(Context& context);

}  // namespace halo::lower
