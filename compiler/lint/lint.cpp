#include "compiler/lint/lint.h"

#include "compiler/lint/parts.h"

namespace halo::lint {

void lint(const SourceFile& source, const syntax::File& file, const sema::Analysis& analysis,
          DiagnosticSink& sink) {
    for (const syntax::Stencil& stencil : file.stencils) {
        find_unused_names(source, file, stencil, sink);
        const sema::AnalyzedStencil* analyzed = analysis.find_stencil(stencil.name.text);
        if (analyzed == nullptr) continue;
        find_wide_halos(file, stencil, analyzed->program, sink);
        find_odd_weights(analyzed->program, sink);
        find_lost_digits(analyzed->program, analysis.find_run(stencil.name.text), sink);
    }
}

}  // namespace halo::lint
