// The axes that a field lies over (`field depth: f32 over x, y`), and what is refused along the others.
#pragma once

#include <string>
#include <vector>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

// What `over` says; all axes where nothing is said.
rt::FieldGrid resolve_axes(const std::vector<syntax::Name>& over, Evaluator& evaluator);

// "x and y": its axes.
std::string axes_text(const rt::FieldGrid& grid, const std::vector<std::string>& axes);

// Reports that a field has no such axis. what: "a face along x".
Diagnostic& report_missing_axis(const std::string& field, const rt::FieldGrid& grid, const std::string& what,
                                SourceRange where, const std::vector<std::string>& axes,
                                DiagnosticSink& sink);

}  // namespace halo::sema
