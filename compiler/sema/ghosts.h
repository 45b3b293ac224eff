// Boundaries that compute what lies past a face: kept as rules while statements are read, and written out as
// ir::Face::ghosts once it is known how many cells past the face are read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/sema/value.h"
#include "compiler/support/source.h"

namespace halo::syntax {
struct BoundaryEntry;
}

namespace halo::sema {

class Evaluator;
struct FieldInfo;

inline constexpr int kMaxDegree = 8;  // of an extrapolation

// With 0 for the edge cell and -k for the ghost k cells past it:
enum class GhostKind : std::uint8_t {
    antimirror,     // u[-k] = -u[k]
    symmetric,      // u[-k] = u[k-1]
    antisymmetric,  // u[-k] = -u[k-1]
    extrapolate,    // the polynomial through cells 0 … degree
    fixed,          // the value, which varies along the face or with time
    gradient,       // u[-k] = u[k] + 2 k h g: the derivative out of the domain is g at the edge cell
    robin           // u[-k] = u[k] + 2 k h (c - a u[0]) / b: there, a u + b du/dn = c
};
struct GhostRule {
    GhostKind kind = GhostKind::symmetric;
    int degree = 0;             // of extrapolate
    std::vector<Value> values;  // of fixed: one; gradient: g; robin: a, b, c
    SourceRange where;
};

// The rule of a boundary entry whose kind is known to be `kind`; nullopt where a mistake has been reported.
std::optional<GhostRule> resolve_ghost_rule(const syntax::BoundaryEntry& entry, GhostKind kind,
                                            const ir::Field& field, const FieldInfo& info,
                                            Evaluator& evaluator);

// A value with which `fixed` needs no rule: one that the host knows and that no step changes.
bool is_steady(const Value& value, const ir::Program& program);

// Writes the ghosts of every formula face, as many as its halo is wide.
void make_ghosts(Evaluator& evaluator);

}  // namespace halo::sema
