// The types a spec names.
#pragma once

#include <optional>

#include "compiler/ir/program.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

class Evaluator;

// The type of one number: of a field, or of each of its components or of their parts. nullopt where the type
// is unknown or not built yet; that has been reported.
std::optional<ir::Scalar> resolve_type(const syntax::TypeRef& type, Evaluator& evaluator);

// Of what is one real number; `what` names it in messages: "a param".
std::optional<ir::Scalar> resolve_real_type(const syntax::TypeRef& type, const char* what,
                                            Evaluator& evaluator);

}  // namespace halo::sema
