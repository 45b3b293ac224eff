#include "compiler/ir/verify.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verifier.h"

namespace halo::ir {

namespace {

// What a field's values may lie in.
bool holds(Storage storage, Scalar type) {
    switch (storage) {
        case Storage::boolean:
            return type == Scalar::boolean;
        case Storage::u8:
        case Storage::i32:
            return type == Scalar::i32;
        case Storage::i64:
            return type == Scalar::i64;
        case Storage::f16:
        case Storage::bf16:
            return type == Scalar::f32;
        case Storage::f32:
            return is_real(type);
        case Storage::f64:
            return type == Scalar::f64;
    }
    return false;
}

int face_reach(const Field& field, int axis, int side) {
    return field.boundary[axis][side].reach;
}

}  // namespace

std::vector<std::string> Verifier::run() {
    check_header();
    for (std::uint32_t i = 0; i < program_.exprs.size(); ++i)
        check_expr(i);
    // What follows walks expressions, which is safe only in an arena that is in order.
    if (!broken_.empty()) return std::move(broken_);
    uniform_ = uniform_exprs(program_);
    for (const Axis& axis : program_.axes) {
        check_uniform(axis.spacing, "spacing of " + axis.name);
        check_uniform(axis.origin, "origin of " + axis.name);
    }
    for (const Field& field : program_.fields)
        check_field(field);
    check_groups();
    check_tables();
    check_statements();
    return std::move(broken_);
}

void Verifier::check_groups() {
    for (const Group& group : program_.groups) {
        for (std::size_t i = 0; i < group.fields.size(); ++i) {
            if (group.fields[i].index >= program_.fields.size() ||
                group.fields[i].index != group.fields.front().index + i)
                return broken("the fields of {} do not stand one after the other", group.name);
            const Field& first = program_[group.fields.front()];
            const Field& field = program_[group.fields[i]];
            const bool fits = field.type == first.type && field.storage == first.storage &&
                              field.role == first.role && field.role != Role::intermediate;
            if (group.interleaved && !fits)
                broken("{} and {} cannot lie side by side", first.name, field.name);
        }
    }
}

void Verifier::check_header() {
    if (program_.axes.empty() || program_.axes.size() > kMaxRank)
        broken("a program has one to {} axes, this one {}", kMaxRank, program_.axes.size());
    for (const Coef& coef : program_.coefs) {
        std::size_t elements = 1;
        if (coef.low.size() != coef.high.size() || coef.low.empty()) {
            broken("coef {} has no range", coef.name);
            continue;
        }
        for (std::size_t i = 0; i < coef.low.size(); ++i)
            elements *=
                coef.high[i] < coef.low[i] ? 0 : static_cast<std::size_t>(coef.high[i] - coef.low[i] + 1);
        if (elements != coef.defaults.size())
            broken("coef {} has {} elements and {} defaults", coef.name, elements, coef.defaults.size());
    }
    for (const std::optional<Window::Along>& along : program_.window.axes) {
        if (along && std::max(along->first.index, along->length.index) >= program_.params.size())
            broken("the window has no params");
    }
}

void Verifier::check_uniform(ExprId id, const std::string& what) {
    if (id.index >= program_.exprs.size()) return broken("{} has no expression", what);
    if (!uniform_[id.index]) broken("{} is not uniform: {}", what, print(program_, id));
    if (!is_real(type_of(id))) broken("{} is no number", what);
}

void Verifier::check_fixed(const Field& field, const Face& face) {
    if (face.value.index >= program_.exprs.size())
        return broken("fixed value of {} has no expression", field.name);
    if (!uniform_[face.value.index])
        broken("fixed value of {} is not uniform: {}", field.name, print(program_, face.value));
    const Scalar type = type_of(face.value);
    if (type != field.type && !(is_real(type) && is_real(field.type)))
        broken("fixed value of {} has another type", field.name);
}

void Verifier::check_widths(const Margins& widths, const std::string& what) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        for (int width : widths[axis]) {
            if (width < 0) broken("{} is negative", what);
            if (width != 0 && axis >= program_.axes.size())
                broken("{} lies along an axis that is not there", what);
        }
    }
}

void Verifier::check_field(const Field& field) {
    if (!holds(field.storage, field.type)) broken("field {} is stored in what is not its own", field.name);
    if (field.history < 0) broken("field {} has a negative history", field.name);
    if (field.history > 0 && field.role != Role::state)
        broken("field {} is no state, yet has a past", field.name);
    check_widths(field.halo, "halo of " + field.name);
    if (field.grid.factor < 1) broken("field {} lies on no grid", field.name);
    if (field.grid.factor != 1 && !field.grid.has_all_axes())
        broken("field {} lies on a coarser grid over fewer axes", field.name);
    if (!field.grid.has_all_axes() && (field.role == Role::state || field.role == Role::intermediate))
        broken("field {} lies over fewer axes and is assigned", field.name);
    if (!field.grid.has_all_axes() && has_formula(field))
        broken("field {} lies over fewer axes, yet a formula says what lies past a face", field.name);
    if (field.grid.halo(field.halo) != field.halo)
        broken("field {} has a halo along an axis that it has not", field.name);
    for (std::size_t axis = 0; axis < program_.axes.size(); ++axis) {
        const auto& [low, high] = field.boundary[axis];
        if ((low.kind == BoundaryKind::periodic) != (high.kind == BoundaryKind::periodic))
            broken("field {} is periodic at one face of an axis alone", field.name);
        for (const Face& face : {low, high})
            if (face.kind == BoundaryKind::fixed) check_fixed(field, face);
        for (int side = 0; side < 2; ++side)
            check_ghosts(field, static_cast<int>(axis), side);
    }
}

// A ghost reads its own field, along its axis alone, and inside the domain where that is as long as the
// face's reach.
void Verifier::check_ghosts(const Field& field, int axis, int side) {
    const Face& face = field.boundary[axis][side];
    if (face.kind != BoundaryKind::formula) return;
    if (std::cmp_less(face.ghosts.size(), field.halo[axis][side]))
        broken("field {} has a halo of {} and {} ghosts", field.name, field.halo[axis][side],
               face.ghosts.size());
    for (std::size_t ghost = 0; ghost < face.ghosts.size(); ++ghost) {
        const ExprId root = face.ghosts[ghost];
        if (root.index >= program_.exprs.size()) return broken("a ghost of {} has no expression", field.name);
        if (type_of(root) != field.type) broken("a ghost of {} is of another type", field.name);
        const std::vector<bool> reached = reachable_exprs(program_, {root});
        for (std::size_t i = 0; i < reached.size(); ++i)
            if (reached[i]) check_in_ghost(field, axis, side, static_cast<int>(ghost) + 1, i);
    }
}

void Verifier::check_in_ghost(const Field& field, int axis, int side, int distance, std::size_t i) {
    const Expr& expr = program_.exprs[i];
    const bool is_of_statements =
        std::holds_alternative<TableSum>(expr.node) || std::holds_alternative<PointColumn>(expr.node);
    if (is_of_statements) broken("a ghost of {} reads a table or points", field.name);
    const Access* access = std::get_if<Access>(&expr.node);
    if (!access) return;
    if (&program_[access->field] != &field) broken("a ghost of {} reads another field", field.name);
    if (access->time != 0) broken("a ghost of {} reads another level", field.name);
    for (int other = 0; other < kMaxRank; ++other)
        if (other != axis && access->offset[other] != 0)
            broken("a ghost of {} reads along another axis", field.name);
    const int inward = side == 0 ? access->offset[axis] : -access->offset[axis];
    if (inward < distance || inward - distance >= face_reach(field, axis, side))
        broken("a ghost of {} reads past an edge", field.name);
}

std::vector<std::string> verify(const Program& program) {
    return Verifier(program).run();
}

}  // namespace halo::ir
