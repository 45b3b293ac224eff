#include "compiler/lint/lint.h"

#include <string_view>
#include <unordered_map>

#include "compiler/lint/parts.h"

namespace halo::lint {

void lint(const SourceFile& source, const syntax::File& file, const sema::Analysis& analysis,
          DiagnosticSink& sink) {
    find_unused_names(source, file, sink);
    std::unordered_map<std::string_view, const sema::RunSpec*> runs;
    for (const sema::RunSpec& run : analysis.runs)
        runs.emplace(run.stencil, &run);
    for (std::size_t i = 0; i < file.stencils.size(); ++i) {
        const ir::Program& program = analysis.stencils[i].program;
        const auto run = runs.find(program.name);
        find_wide_halos(file, file.stencils[i], program, sink);
        find_odd_weights(program, sink);
        find_lost_digits(program, run == runs.end() ? nullptr : run->second, sink);
    }
}

}  // namespace halo::lint
