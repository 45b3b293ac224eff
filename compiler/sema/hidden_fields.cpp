#include "compiler/sema/hidden_fields.h"

#include <utility>

namespace halo::sema {

namespace {

using ir::BinaryOp;
using ir::BoundaryKind;

// Lagrange's weights of the cells 0 … degree at a place outside of them.
std::vector<GhostTerm> extrapolated(int degree, int distance) {
    std::vector<GhostTerm> terms;
    for (int j = 0; j <= degree; ++j) {
        Rational weight = 1;
        for (int m = 0; m <= degree; ++m)
            if (m != j) weight = weight * Rational(-distance - m) / Rational(j - m);
        terms.push_back({j, Value::of(weight)});
    }
    return terms;
}

std::vector<GhostTerm> of_rule(Evaluator& evaluator, const GhostRule& rule, int axis, int distance) {
    const Value one = Value::of(Rational(1)), minus_one = Value::of(Rational(-1));
    switch (rule.kind) {
        case GhostKind::antimirror:
            return {{distance, minus_one}};
        case GhostKind::symmetric:
            return {{distance - 1, one}};
        case GhostKind::antisymmetric:
            return {{distance - 1, minus_one}};
        case GhostKind::extrapolate:
            return extrapolated(rule.degree, distance);
        case GhostKind::gradient:
            return {{distance, one}};
        case GhostKind::robin:
            break;
        case GhostKind::fixed:
            return {};
    }
    // u[k] - 2 k h A / B u[0]
    Arithmetic& arithmetic = evaluator.arithmetic();
    const Value width = arithmetic.value_of(evaluator.program().axes[static_cast<std::size_t>(axis)].spacing);
    const Value across =
        arithmetic.binary(BinaryOp::mul, Value::of(Rational(-2 * distance)), width, rule.where);
    const Value slope = arithmetic.binary(BinaryOp::div, rule.values[0], rule.values[1], rule.where);
    return {{distance, one}, {0, arithmetic.generated(BinaryOp::mul, across, slope, rule.where)}};
}

bool is_known_zero(const Value& value) {
    return value.is_number() && value.number.is_zero();
}

}  // namespace

ir::FieldId add_field_like(Evaluator& evaluator, ir::FieldId unknown, const std::string& name, ir::Role role,
                           bool with_boundary) {
    ir::Field field = evaluator.program()[unknown];
    FieldInfo info = evaluator.fields()[unknown.index];
    field.name = name;
    field.role = role;
    field.history = 0;
    field.unit.clear();
    info.assigned = info.written = true;
    info.contract = {};
    if (!with_boundary) {
        field.boundary = {};
        info.ghosts = {};
    }
    const ir::FieldId id{static_cast<std::uint32_t>(evaluator.program().fields.size())};
    evaluator.program().fields.push_back(std::move(field));
    evaluator.fields().push_back(std::move(info));
    return id;
}

void make_homogeneous(Evaluator& evaluator, ir::FieldId id) {
    ir::Program& program = evaluator.program();
    for (int axis = 0; axis < program.rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            ir::Face& face = program.fields[id.index].boundary[axis][side];
            std::optional<GhostRule>& rule = evaluator.fields()[id.index].ghosts[axis][side];
            const bool is_fixed =
                face.kind == BoundaryKind::fixed || (rule && rule->kind == GhostKind::fixed);
            if (is_fixed) {
                const Value zero = Value::of(Rational());
                const ir::ExprId value = evaluator.arithmetic().as(zero, program[id].type, program[id].where);
                program.fields[id.index].boundary[axis][side] = {BoundaryKind::fixed, value, {}, 0};
                rule.reset();
            } else if (rule && rule->kind == GhostKind::gradient) {
                face = {BoundaryKind::mirror, {}, {}, 0};
                rule.reset();
            } else if (rule && rule->kind == GhostKind::robin) {
                rule->values[2] = Value::of(Rational());
            }
        }
    }
}

bool has_given_value(Evaluator& evaluator, ir::FieldId id, int axis, int side) {
    const ir::Face& face = evaluator.program()[id].boundary[axis][side];
    const std::optional<GhostRule>& rule = evaluator.fields()[id.index].ghosts[axis][side];
    if (face.kind == BoundaryKind::fixed) {
        const auto* constant = std::get_if<ir::Constant>(&evaluator.program()[face.value].node);
        return constant == nullptr || !constant->value.is_zero();
    }
    if (face.kind != BoundaryKind::formula || !rule) return false;
    if (rule->kind == GhostKind::fixed || rule->kind == GhostKind::gradient)
        return !is_known_zero(rule->values[0]);
    return rule->kind == GhostKind::robin && !is_known_zero(rule->values[2]);
}

std::vector<GhostTerm> ghost_terms(Evaluator& evaluator, ir::FieldId id, int axis, int side, int distance) {
    const ir::Face& face = evaluator.program()[id].boundary[axis][side];
    const std::optional<GhostRule>& rule = evaluator.fields()[id.index].ghosts[axis][side];
    if (face.kind == BoundaryKind::clamp) return {{0, Value::of(Rational(1))}};
    if (face.kind == BoundaryKind::mirror) return {{distance, Value::of(Rational(1))}};
    if (face.kind == BoundaryKind::formula && rule) return of_rule(evaluator, *rule, axis, distance);
    return {};
}

}  // namespace halo::sema
