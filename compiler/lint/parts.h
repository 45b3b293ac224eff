// The parts of lint(). Private to the room.
#pragma once

#include "compiler/ir/program.h"
#include "compiler/sema/sema.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/tree.h"

namespace halo::lint {

// Params, consts, coefs, defs, lets and fields that stand nowhere but in their declaration.
void find_unused_names(const SourceFile& source, const syntax::File& file, DiagnosticSink& sink);

// Written halos of which no statement reads the outermost cells.
void find_wide_halos(const syntax::File& file, const syntax::Stencil& stencil, const ir::Program& program,
                     DiagnosticSink& sink);

// Sums of weighted neighbours that look like a derivative and whose weights do not quite sum like one.
void find_odd_weights(const ir::Program& program, DiagnosticSink& sink);

// Numbers that become 0, infinite or a whole number where they are rounded to f32.
void find_lost_digits(const ir::Program& program, const sema::RunSpec* run, DiagnosticSink& sink);

}  // namespace halo::lint
