#include "compiler/sema/ghosts.h"

#include <fmt/format.h>

#include "compiler/ir/analysis.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/types.h"

namespace halo::sema {

using ir::BinaryOp;

namespace {

std::size_t value_count(GhostKind kind) {
    switch (kind) {
        case GhostKind::fixed:
        case GhostKind::gradient:
        case GhostKind::extrapolate:
            return 1;
        case GhostKind::robin:
            return 3;
        case GhostKind::antimirror:
        case GhostKind::symmetric:
        case GhostKind::antisymmetric:
            break;
    }
    return 0;
}

const char* example_of(GhostKind kind) {
    switch (kind) {
        case GhostKind::extrapolate:
            return "its degree, as in `boundary extrapolate 1`";
        case GhostKind::gradient:
            return "the derivative out of the domain, as in `boundary gradient 0.5`";
        case GhostKind::robin:
            return "three values, as in `boundary robin a, b, c` for a*u + b*du/dn = c";
        default:
            return "its value, as in `boundary fixed 10`";
    }
}

bool has_right_count(const syntax::BoundaryEntry& entry, GhostKind kind, Evaluator& evaluator) {
    const std::size_t count = value_count(kind);
    if (entry.values.size() == count) return true;
    if (count == 0) {
        evaluator
            .report(DiagnosticKind::boundary_value, evaluator.where(entry.values.front()),
                    fmt::format("the boundary `{}` takes no value", entry.kind.text))
            .note("`fixed` does, as in `boundary fixed 10`");
    } else {
        evaluator.report(DiagnosticKind::boundary_value, entry.kind.where,
                         fmt::format("`{}` needs {}", entry.kind.text, example_of(kind)));
    }
    return false;
}

// Checks a value past a face: a condition for fields of conditions, and otherwise a number as the field holds
// them.
bool fits(const Value& value, syntax::ExprId id, const ir::Field& field, Evaluator& evaluator) {
    const SourceRange where = evaluator.where(id);
    const bool takes_boolean = field.type == ir::Scalar::boolean;
    if (value.is_boolean() != takes_boolean) {
        evaluator.report(DiagnosticKind::type_mismatch, where,
                         takes_boolean ? "this is a number; `true` or `false` is expected here"
                                       : "this is true or false; a number is expected here");
        return false;
    }
    if (!value.is_number()) return true;
    if (!check_number(value.number, field.type, field.storage, where, evaluator.sink())) return false;
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (!ir::is_integer(field.type) || !(abs(value.number) > Rational(kExact))) return true;
    evaluator.report(DiagnosticKind::number_too_large, where,
                     "the value past a face is computed in f64, which is exact up to 2^53 alone");
    return false;
}

// Writes the ghosts of one face.
class GhostMaker {
public:
    GhostMaker(Evaluator& evaluator, ir::FieldId field, int axis, int side, const GhostRule& rule)
        : evaluator_(evaluator),
          arithmetic_(evaluator.arithmetic()),
          field_(field),
          axis_(axis),
          inward_(side == 0 ? 1 : -1),
          rule_(rule) {}

    Value ghost(int k) {
        switch (rule_.kind) {
            case GhostKind::antimirror:
                return arithmetic_.negate(cell(k, k), rule_.where);
            case GhostKind::symmetric:
                return cell(k, k - 1);
            case GhostKind::antisymmetric:
                return arithmetic_.negate(cell(k, k - 1), rule_.where);
            case GhostKind::extrapolate:
                return extrapolated(k);
            case GhostKind::fixed:
                return rule_.values[0];
            case GhostKind::gradient:
                return binary(BinaryOp::add, cell(k, k),
                              binary(BinaryOp::mul, distance(k), at_edge(rule_.values[0], k)));
            case GhostKind::robin: {
                const Value scale = binary(BinaryOp::div, distance(k), at_edge(rule_.values[1], k));
                const Value held = binary(BinaryOp::mul, at_edge(rule_.values[0], k), cell(k, 0));
                const Value rest = binary(BinaryOp::sub, at_edge(rule_.values[2], k), held);
                return binary(BinaryOp::add, cell(k, k), binary(BinaryOp::mul, scale, rest));
            }
        }
        return Value();
    }

private:
    Value binary(BinaryOp op, const Value& left, const Value& right) {
        return arithmetic_.generated(op, left, right, rule_.where);
    }

    // The value `number` cells inside the face (0 is the edge cell), addressed from the ghost k cells past
    // it.
    Value cell(int k, int number) {
        ir::Access access{field_, 0, {}};
        access.offset[axis_] = inward_ * (k + number);
        return arithmetic_.leaf(evaluator_.program()[field_].type, access, false, rule_.where);
    }

    // The distance 2 k h between the cell k inside the edge cell and the ghost k outside of it.
    Value distance(int k) {
        const ir::ExprId spacing = evaluator_.program().axes[axis_].spacing;
        const auto* known = std::get_if<ir::Constant>(&evaluator_.program()[spacing].node);
        const Value width = known ? Value::of(known->value) : Value::of(spacing, ir::Scalar::f64, true);
        const int cells = evaluator_.program()[field_].grid.factor;
        return binary(BinaryOp::mul, Value::of(Rational(2 * k * cells)), width);
    }

    // The coordinates in it are those of the edge cell.
    Value at_edge(const Value& value, int k) {
        ir::Offset offset{};
        offset[axis_] = inward_ * k;
        return arithmetic_.shift(value, offset, rule_.where,
                                 [](const ir::Access&, SourceRange) { return true; });
    }

    // Lagrange's weights at -k of the cells 0 … degree; all whole numbers.
    Value extrapolated(int k) {
        std::optional<Value> sum;
        for (int j = 0; j <= rule_.degree; ++j) {
            Rational weight = 1;
            for (int m = 0; m <= rule_.degree; ++m)
                if (m != j) weight = weight * Rational(-k - m) / Rational(j - m);
            const Value term = binary(BinaryOp::mul, Value::of(weight), cell(k, j));
            sum = sum ? binary(BinaryOp::add, *sum, term) : term;
        }
        return *sum;
    }

    Evaluator& evaluator_;
    Arithmetic& arithmetic_;
    ir::FieldId field_;
    int axis_;
    int inward_;
    const GhostRule& rule_;
};

}  // namespace

std::optional<GhostRule> resolve_ghost_rule(const syntax::BoundaryEntry& entry, GhostKind kind,
                                            const ir::Field& field, const FieldInfo& info,
                                            Evaluator& evaluator) {
    if (!has_right_count(entry, kind, evaluator)) return std::nullopt;
    if (field.type == ir::Scalar::boolean && kind != GhostKind::fixed) {
        evaluator
            .report(DiagnosticKind::type_mismatch, entry.kind.where,
                    fmt::format("`{}` holds no numbers, so `{}` computes none past it", field.name,
                                entry.kind.text))
            .note("`fixed true`, `fixed false`, `clamp`, `mirror`, `periodic` and `free` are for conditions");
        return std::nullopt;
    }
    GhostRule rule{kind, 0, {}, entry.where};
    if (kind == GhostKind::extrapolate) {
        const std::optional<std::int64_t> degree =
            evaluator.integer(entry.values.front(), "the degree of an extrapolation", 0, kMaxDegree);
        if (!degree) return std::nullopt;
        rule.degree = static_cast<int>(*degree);
        return rule;
    }
    const bool is_slope = kind == GhostKind::gradient || kind == GhostKind::robin;
    if (is_slope && !ir::is_real(field.type)) {
        evaluator.report(DiagnosticKind::type_mismatch, entry.kind.where,
                         fmt::format("`{}` holds no real numbers, so `{}` gives it no slope", field.name,
                                     entry.kind.text));
        return std::nullopt;
    }
    for (const syntax::ExprId id : entry.values) {
        const Value value = evaluator.past_face(id, fmt::format("the boundary of `{}`", info.symbol->name));
        if (value.is_poison()) return std::nullopt;
        // The factors of robin are the same for all components.
        const bool is_factor = kind == GhostKind::robin && rule.values.size() < 2;
        if (is_factor && value.has_parts()) {
            evaluator.report(DiagnosticKind::component_mismatch, evaluator.where(id),
                             fmt::format("this is {}; a number is expected here", describe(value)));
            return std::nullopt;
        }
        const std::optional<Value> own =
            is_factor ? value : evaluator.own_part(value, info, evaluator.where(id));
        if (!own || !fits(*own, id, field, evaluator)) return std::nullopt;
        rule.values.push_back(*own);
    }
    return rule;
}

bool is_steady(const Value& value, const ir::Program& program) {
    if (!value.is_uniform()) return false;
    if (!value.is_expr()) return true;
    for (const std::uint32_t i : ir::reached_exprs(program, {value.id})) {
        const ir::Expr& expr = program.exprs[i];
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        if (coordinate && coordinate->kind == ir::CoordinateKind::step) return false;
        if (std::holds_alternative<ir::ReductionRef>(expr.node)) return false;
        if (std::holds_alternative<ir::SeriesValue>(expr.node)) return false;
    }
    return true;
}

void make_ghosts(Evaluator& evaluator) {
    ir::Program& program = evaluator.program();
    for (std::uint32_t f = 0; f < program.fields.size(); ++f) {
        const FieldInfo& info = evaluator.fields()[f];
        for (int axis = 0; axis < program.rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                const ir::Field& field = program.fields[f];
                const std::optional<GhostRule>& rule = info.ghosts[axis][side];
                if (field.boundary[axis][side].kind != ir::BoundaryKind::formula || !rule) continue;
                GhostMaker maker(evaluator, ir::FieldId{f}, axis, side, *rule);
                std::vector<ir::ExprId> ghosts;
                for (int k = 1; k <= field.halo[axis][side]; ++k) {
                    if (!evaluator.arithmetic().spend(1, rule->where)) return;
                    const Value value = maker.ghost(k);
                    if (value.is_poison()) return;
                    ghosts.push_back(evaluator.arithmetic().as(value, field.type, rule->where));
                }
                program.fields[f].boundary[axis][side].ghosts = std::move(ghosts);
            }
        }
    }
}

}  // namespace halo::sema
