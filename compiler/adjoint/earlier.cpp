#include "compiler/adjoint/earlier.h"

#include <algorithm>

namespace halo::adjoint {

namespace {

// Whether steps of the one can go on where those of the other ended. The names of both are taken in the same
// order; where a name had to be told apart by a number, it might be another's.
bool is_part_of(const Adjoint& part, const Adjoint& whole) {
    const auto has_field = [&](const ir::Field& field) {
        const auto& fields = whole.program.fields;
        const auto like = std::ranges::find(fields, field.name, &ir::Field::name);
        return !is_carried(part, field) ||
               (like != fields.end() && like->role == field.role && like->type == field.type &&
                like->storage == field.storage && like->staggered == field.staggered &&
                like->history == field.history);
    };
    const auto has_gradient = [&](const Adjoint::Gradient& gradient) {
        return std::ranges::any_of(whole.gradients, [&](const Adjoint::Gradient& other) {
            return other.with == gradient.with && other.kind == gradient.kind &&
                   other.name == gradient.name && other.time == gradient.time;
        });
    };
    return std::ranges::all_of(part.program.fields, has_field) &&
           std::ranges::all_of(part.gradients, has_gradient);
}

}  // namespace

bool is_carried(const Adjoint& adjoint, const ir::Field& field) {
    return field.role == ir::Role::state ||
           std::ranges::count(adjoint.gradients, field.name, &Adjoint::Gradient::name) > 0;
}

std::optional<Adjoint> make_adjoint_of_earlier(const ir::Program& program, const Request& request,
                                               const Adjoint& whole) {
    const bool has_objective = std::ranges::any_of(
        whole.seeds, [](const Adjoint::Seed& seed) { return seed.kind != Adjoint::Kind::trace; });
    if (request.every_step || !has_objective) return std::nullopt;
    Adjoint made = make_adjoint_without_objective(program, request);
    if (!is_part_of(made, whole)) return std::nullopt;
    return made;
}

}  // namespace halo::adjoint
