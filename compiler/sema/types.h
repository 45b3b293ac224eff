// The types a spec names.
#pragma once

#include <optional>

#include "compiler/ir/program.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

class Evaluator;

// nullopt where the type is unknown or not built yet; that has been reported.
std::optional<ir::Scalar> resolve_type(const syntax::TypeRef& type, Evaluator& evaluator);

}  // namespace halo::sema
