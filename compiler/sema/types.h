// The types a spec names.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/program.h"
#include "compiler/support/diagnostics.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

class Evaluator;

struct ElementType {
    ir::Scalar type = ir::Scalar::f32;       // that is computed in
    ir::Storage storage = ir::Storage::f32;  // that lies in memory
};

// Of a field. nullopt where the type is unknown or not built yet; that has been reported.
std::optional<ElementType> resolve_type(const syntax::TypeRef& type, Evaluator& evaluator);

// Of a number that is given: a param, const or coef named `what`. Bool and what is only a storage are
// refused.
std::optional<ir::Scalar> resolve_number_type(const syntax::TypeRef& type, const std::string& what,
                                              Evaluator& evaluator);

// Whether `type`, as resolve_number_type takes it, is an integer's.
bool names_integer(const std::optional<syntax::TypeRef>& type);

// Reports a number that an integer field cannot hold as it is, or that is too large for what the field is
// stored in; true where it can be assigned.
bool check_number(const Rational& number, ir::Scalar type, ir::Storage storage, SourceRange where,
                  DiagnosticSink& sink);

}  // namespace halo::sema
