#include "compiler/passes/recompute_terms.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/lets.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

class Recomputer {
public:
    explicit Recomputer(const Program& program)
        : program_(program), builder_(program_), uses_(uses_of_lets(program_)) {
        for (std::size_t i = 0; i < program_.statements.size(); ++i) {
            for (const std::uint32_t reached : reached_exprs(program_, roots_of(program_.statements[i])))
                if (const auto* access = std::get_if<Access>(&program_.exprs[reached].node);
                    access != nullptr && !access->is_at_cell())
                    beside_.insert(access->field);
        }
    }

    // Returns whether there was a term.
    bool run() {
        bool found = false;
        for (std::uint32_t i = 0; i < program_.fields.size(); ++i)
            found = recompute(FieldId{i}) || found;
        if (found) prune(program_);
        return found;
    }
    Program take() { return std::move(program_); }

private:
    bool recompute(FieldId term) {
        const Field& field = program_[term];
        if (field.role != Role::intermediate || field.storage != natural_storage(field.type) ||
            !can_move(field))
            return false;
        const LetUse& use = uses_[term.index];
        if (use.reach == Margins{} || !use.has_plain_readers) return false;
        const std::optional<ExprId> value = value_of(term);
        if (!value || !is_term(*value) || !give_boundaries(term, use.reach, *value)) return false;
        for (Statement& statement : program_.statements) {
            if (!reads(program_, statement, term)) continue;
            replace_reads(program_, builder_, statement, term, 0,
                          [&](const Access& access) { return shifted(*value, access.offset); });
        }
        program_.fields[term.index].halo = {};
        uses_ = uses_of_lets(program_);
        return true;
    }

    // Its cells are those of the grid, and no formula fills its halo.
    static bool can_move(const Field& field) { return field.grid.is_whole() && !has_formula(field); }

    // What a let is given, with the lets that it reads in the cell itself put into it. nullopt: that is not
    // one expression.
    std::optional<ExprId> value_of(FieldId let) {
        if (!uses_[let.index].value) return std::nullopt;
        const ExprId value = *uses_[let.index].value;
        std::map<std::uint32_t, ExprId> made;
        for (const std::uint32_t i : reached_exprs(program_, {value})) {
            Expr expr = program_.exprs[i];  // a copy: the arena grows
            const auto* access = std::get_if<Access>(&expr.node);
            if (access != nullptr && program_[access->field].role == Role::intermediate) {
                const std::optional<ExprId> inner =
                    access->is_at_cell() ? value_of(access->field) : std::nullopt;
                if (!inner || program_[access->field].storage != natural_storage(expr.type))
                    return std::nullopt;
                made[i] = *inner;
                continue;
            }
            map_operands(expr, [&](ExprId operand) { return made.at(operand.index); });
            made[i] = builder_.add(std::move(expr));
        }
        return made.at(value.index);
    }

    // Of sums and products alone: nothing that takes long is computed again, and numbers stay finite.
    bool is_term(ExprId value) const {
        const std::vector<bool> uniform = uniform_exprs(program_);
        return std::ranges::all_of(reached_exprs(program_, {value}), [&](std::uint32_t i) {
            const Expr& expr = program_.exprs[i];
            if (uniform[i]) return !changes_with_step(expr);
            if (!is_real(expr.type)) return false;
            if (const auto* access = std::get_if<Access>(&expr.node)) return is_given(*access);
            if (const auto* binary = std::get_if<Binary>(&expr.node))
                return binary->op == BinaryOp::add || binary->op == BinaryOp::sub ||
                       binary->op == BinaryOp::mul;
            if (const auto* unary = std::get_if<Unary>(&expr.node)) return unary->op != UnaryOp::logical_not;
            return std::holds_alternative<Fma>(expr.node) || std::holds_alternative<CoefElement>(expr.node);
        });
    }

    // The same for the whole step, in a field like any other.
    bool is_given(const Access& access) const {
        const Field& field = program_[access.field];
        return access.is_at_cell() && access.time <= 0 &&
               (field.role == Role::input || field.role == Role::state) && can_move(field) &&
               interleave(program_, access.field).group == nullptr;
    }

    // Past the faces where the term is read: the fields show there what makes it what it is. Returns false,
    // and nothing is changed, where they cannot.
    bool give_boundaries(FieldId term, const Margins& reach, ExprId value) {
        std::set<FieldId> fields;
        for (const std::uint32_t i : reached_exprs(program_, {value}))
            if (const auto* access = std::get_if<Access>(&program_.exprs[i].node))
                fields.insert(access->field);
        const Field& of_term = program_[term];
        std::map<FieldId, Field> changed;
        for (const FieldId id : fields) {
            const Field& field = program_[id];
            if (field.staggered != of_term.staggered) return false;
            changed.emplace(id, field);
        }
        for (int axis = 0; axis < program_.rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                if (reach[axis][side] == 0) continue;
                const bool is_read_past = of_term.boundary[axis][side].kind != BoundaryKind::free;
                std::set<FieldId> zeros;
                for (auto& [id, field] : changed) {
                    if (is_read_past && !give_face(field, id, of_term, axis, side)) return false;
                    if (field.boundary[axis][side].kind == BoundaryKind::free) {
                        beside_.insert(id);
                        continue;
                    }
                    field.halo[axis][side] = std::max(field.halo[axis][side], reach[axis][side]);
                    if (is_zero_past(field, axis, side)) zeros.insert(id);
                }
                if (is_read_past && !of_term.image(axis, side).wraps() && !is_zero(value, zeros))
                    return false;
            }
        }
        for (auto& [id, field] : changed)
            program_.fields[id.index] = std::move(field);
        return true;
    }

    bool give_face(Field& field, FieldId id, const Field& of_term, int axis, int side) {
        Face& face = field.boundary[axis][side];
        const bool wraps = of_term.image(axis, side).wraps();
        if (!wraps && !is_zero_past(of_term, axis, side)) return false;
        if (face.kind != BoundaryKind::free) return !wraps || face.kind == BoundaryKind::periodic;
        if (beside_.contains(id)) return false;  // statements leave out cells that would read past it
        if (wraps) {
            if (field.boundary[axis][1 - side].kind != BoundaryKind::free) return false;
            for (Face& each : field.boundary[axis])
                each.kind = BoundaryKind::periodic;
        } else {
            face.kind = BoundaryKind::fixed;
            face.value = builder_.constant(Rational(0), field.type);
        }
        return true;
    }

    // Past corners, too, where another axis has its say.
    bool is_zero_past(const Field& field, int axis, int side) const {
        const auto is_other_constant = [&](const Face& face) {
            return face.kind == BoundaryKind::fixed && !is_zero(face.value, {});
        };
        return field.boundary[axis][side].kind == BoundaryKind::fixed &&
               std::ranges::none_of(field.boundary, [&](const auto& faces) {
                   return std::ranges::any_of(faces, is_other_constant);
               });
    }

    // Whether a sum or product is 0 where these fields are, whatever finite numbers all else is.
    bool is_zero(ExprId value, const std::set<FieldId>& zeros) const {
        const Expr& expr = program_[value];
        if (const auto* constant = std::get_if<Constant>(&expr.node)) return constant->value == Rational(0);
        if (const auto* access = std::get_if<Access>(&expr.node)) return zeros.contains(access->field);
        if (const auto* unary = std::get_if<Unary>(&expr.node)) return is_zero(unary->operand, zeros);
        const auto is_product_zero = [&](ExprId a, ExprId b) {
            return is_zero(a, zeros) || is_zero(b, zeros);
        };
        if (const auto* fma = std::get_if<Fma>(&expr.node))
            return is_product_zero(fma->a, fma->b) && is_zero(fma->c, zeros);
        const auto* binary = std::get_if<Binary>(&expr.node);
        if (binary == nullptr) return false;
        if (binary->op == BinaryOp::mul) return is_product_zero(binary->left, binary->right);
        return (binary->op == BinaryOp::add || binary->op == BinaryOp::sub) && is_zero(binary->left, zeros) &&
               is_zero(binary->right, zeros);
    }

    ExprId shifted(ExprId value, const Offset& by) {
        std::map<std::uint32_t, ExprId> made;
        for (const std::uint32_t i : reached_exprs(program_, {value})) {
            Expr expr = program_.exprs[i];  // a copy: the arena grows
            if (auto* access = std::get_if<Access>(&expr.node))
                for (std::size_t axis = 0; axis < by.size(); ++axis)
                    access->offset[axis] += by[axis];
            map_operands(expr, [&](ExprId operand) { return made.at(operand.index); });
            made[i] = builder_.add(std::move(expr));
        }
        return made.at(value.index);
    }

    Program program_;
    ExprBuilder builder_;
    std::vector<LetUse> uses_;  // of the program as it is by now
    std::set<FieldId> beside_;  // fields that statements read at neighbours, and not past free faces
};

}  // namespace

std::optional<Program> recompute_terms(const Program& program) {
    Recomputer recomputer(program);
    if (!recomputer.run()) return std::nullopt;
    return recomputer.take();
}

}  // namespace halo::passes
