// `haloc fmt`: a spec in the project's style.
//
// Four spaces for each block, one statement on a line, comments and the user's line breaks within a statement
// kept, single blank lines kept, trailing comments of neighbouring lines aligned. Formatting formatted text
// changes nothing.
#pragma once

#include <optional>
#include <string>

#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"

namespace halo::syntax {

// nullopt where the text has mistakes; they are reported to the sink.
std::optional<std::string> format(const SourceFile& source, DiagnosticSink& sink);

}  // namespace halo::syntax
