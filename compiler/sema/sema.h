// Tree to meaning: names, types, boundaries and time levels are checked, and defs, sums and derivatives
// written out.
//
// All mistakes of a file are reported in one go; what follows from a mistake is not reported again. When the
// sink has errors, the result is for further checks alone and must not be run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/sema/difference.h"
#include "compiler/sema/run_spec.h"
#include "compiler/support/diagnostics.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

struct ScheduleText {  // a `schedule` block, in the form that --schedule takes; the schedule room reads it
    std::string text;
    SourceRange where;
};

struct AnalyzedStencil {
    ir::Program program;  // verify() finds nothing in it; halos and margins are set
    std::optional<ScheduleText> schedule;
    SourceRange where;
    // Fields for which no boundary is written at all, where that leaves cells of a state as they are.
    std::vector<std::string> without_boundary;
    std::vector<Difference> differences;  // by place, each once
    bool uses_spacing = false;            // in derivatives and boundaries
};

struct Analysis {
    std::vector<AnalyzedStencil> stencils;  // in the file's order
    std::vector<RunSpec> runs;              // likewise; at most one for each stencil
    // Of run blocks that chain stencils: the whole, by the name of the stencil that is run.
    std::vector<AnalyzedStencil> chains;

    // What runs under the name: the chain, where there is one.
    const AnalyzedStencil* find_stencil(const std::string& name) const;
    const RunSpec* find_run(const std::string& stencil) const;
};

Analysis analyze(const syntax::File& file, DiagnosticSink& sink);

}  // namespace halo::sema
