#include "compiler/adjoint/turns.h"

#include <algorithm>

namespace halo::adjoint {

namespace {

bool is_of_past(const Adjoint& adjoint, const std::string& field) {
    return std::ranges::any_of(adjoint.pasts, [&](const Adjoint::Past& past) {
        return past.now == field || past.level == field || past.before == field;
    });
}

bool are_alike(const ir::Field& a, const ir::Field& b) {
    return a.type == b.type && a.storage == b.storage && a.staggered == b.staggered;
}

const ir::Field* find_field(const Adjoint& adjoint, const std::string& name) {
    const auto found = std::ranges::find(adjoint.program.fields, name, &ir::Field::name);
    return found == adjoint.program.fields.end() ? nullptr : &*found;
}

// Whether the earlier steps' adjoint can go on where the last step's ended. The names of both are taken in
// the same order; where one had to be told apart by a number, it might be another's.
bool is_part_of(const Adjoint& earlier, const Adjoint& last) {
    const auto has_field = [&](const ir::Field& field) {
        if (!is_carried(earlier, field)) return true;
        const ir::Field* const like = find_field(last, field.name);
        return like != nullptr && are_alike(*like, field) &&
               (is_of_past(earlier, field.name) || like->role == field.role);
    };
    const auto has_gradient = [&](const Adjoint::Gradient& gradient) {
        return std::ranges::any_of(last.gradients, [&](const Adjoint::Gradient& other) {
            return other.with == gradient.with && other.kind == gradient.kind &&
                   other.name == gradient.name && other.time == gradient.time;
        });
    };
    return std::ranges::all_of(earlier.program.fields, has_field) &&
           std::ranges::all_of(earlier.gradients, has_gradient);
}

}  // namespace

bool is_carried(const Adjoint& adjoint, const ir::Field& field) {
    return field.role == ir::Role::state ||
           std::ranges::count(adjoint.gradients, field.name, &Adjoint::Gradient::name) > 0;
}

std::vector<std::string> common_fields(const Adjoint& one, const Adjoint& other) {
    const auto stays = [](const Adjoint& adjoint, const std::string& name) {
        const ir::Field* const field = find_field(adjoint, name);
        return field != nullptr && !is_of_past(adjoint, name) &&
               (is_carried(adjoint, *field) ||
                std::ranges::count(adjoint.inputs, name, &Adjoint::Input::input) > 0);
    };
    std::vector<std::string> names;
    for (const ir::Field& field : one.program.fields)
        if (stays(one, field.name) && stays(other, field.name)) names.push_back(field.name);
    return names;
}

Turns make_turns(const ir::Program& program, const Request& request) {
    Adjoint earlier = make_adjoint_of_earlier(program, request);
    Adjoint last = make_adjoint_of_last(program, request, earlier.pasts);
    earlier.pasts = last.pasts;
    const bool has_objective = std::ranges::any_of(
        last.seeds, [](const Adjoint::Seed& seed) { return seed.kind != Adjoint::Kind::trace; });
    const bool is_less = (has_objective && !request.every_step) || !last.pasts.empty();
    if (is_less && is_part_of(earlier, last)) return {std::move(last), std::move(earlier)};
    return {make_adjoint_of_last(program, request, {}), std::nullopt};
}

}  // namespace halo::adjoint
