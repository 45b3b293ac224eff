// What is right and yet likely not meant: names that nothing reads, halos wider than needed, weights that are
// nearly those of a derivative, numbers that f32 cannot tell from others. Warnings; each false alarm is a
// defect.
#pragma once

#include "compiler/sema/sema.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/tree.h"

namespace halo::lint {

// Of a file without mistakes.
void lint(const SourceFile& source, const syntax::File& file, const sema::Analysis& analysis,
          DiagnosticSink& sink);

}  // namespace halo::lint
