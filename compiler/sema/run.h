// One run block to its specification.
#pragma once

#include "compiler/sema/run_spec.h"
#include "compiler/sema/symbols.h"

namespace halo::sema {

// `stencil` is what `symbols` were analyzed to.
RunSpec analyze_run(const syntax::File& file, const syntax::Run& run, const Symbols& symbols,
                    const ir::Program& stencil, DiagnosticSink& sink);

}  // namespace halo::sema
