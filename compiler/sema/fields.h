// Declarations of fields, and what lets share with them: halos that are written and boundaries.
#pragma once

#include "compiler/sema/evaluator.h"

namespace halo::sema {

// Fills program().fields and fields() with the stencil's fields, in order; roles are set by later statements.
void declare_fields(Evaluator& evaluator);

void set_stagger(ir::Field& field, Halves stagger);

// The widest type of the declared fields: f32 where all are, else f64. Reports nothing.
ir::Scalar declared_compute_type(const syntax::Stencil& stencil);
bool has_real_field(const syntax::Stencil& stencil);

// `halo` and `boundary` clauses, applied to a field whose faces have their defaults. The more specific clause
// wins: face, then axis, then all. Sets has_boundary where a clause speaks.
void apply_halos(const std::vector<syntax::HaloEntry>& entries, const ir::Field& field, FieldInfo& info,
                 Evaluator& evaluator);
void apply_boundaries(const std::vector<syntax::BoundaryEntry>& entries, ir::Field& field, FieldInfo& info,
                      Evaluator& evaluator);

// Once it is known what each field is for: components that share one array are all for the same.
void check_layouts(Evaluator& evaluator);

}  // namespace halo::sema
