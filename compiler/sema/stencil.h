// One stencil block to its program.
#pragma once

#include "compiler/sema/sema.h"
#include "compiler/sema/symbols.h"

namespace halo::sema {

AnalyzedStencil analyze_stencil(const syntax::File& file, const Symbols& symbols, DiagnosticSink& sink);

}  // namespace halo::sema
