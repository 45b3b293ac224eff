#include "compiler/ir/recurrences.h"

#include <map>
#include <optional>
#include <unordered_map>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/sweeps.h"

namespace halo::ir {

namespace {

using MaybeExpr = std::optional<ExprId>;

// Sums and products of parts that may be missing.
class Parts {
public:
    Parts(Program& program, Scalar type) : program_(program), builder_(program), type_(type) {}

    ExprId one() { return builder_.constant(Rational(1), type_); }
    ExprId zero() { return builder_.constant(Rational(0), type_); }

    // What is missing is 0.
    MaybeExpr sum(const MaybeExpr& left, const MaybeExpr& right, BinaryOp op = BinaryOp::add) {
        if (!right) return left;
        if (left) return builder_.binary(op, *left, *right);
        return op == BinaryOp::sub ? builder_.unary(UnaryOp::negate, *right) : *right;
    }
    MaybeExpr product(const MaybeExpr& part, const MaybeExpr& factor) {
        if (!part || !factor) return std::nullopt;
        if (is_one(*part)) return factor;
        return is_one(*factor) ? part : builder_.binary(BinaryOp::mul, *part, *factor);
    }
    // All parts over one divisor are products with its reciprocal.
    MaybeExpr quotient(const MaybeExpr& part, ExprId divisor) {
        return part ? product(part, builder_.binary(BinaryOp::div, one(), divisor)) : part;
    }
    MaybeExpr negated(const MaybeExpr& part) {
        return part ? MaybeExpr(builder_.unary(UnaryOp::negate, *part)) : part;
    }
    MaybeExpr choice(ExprId condition, const MaybeExpr& then, const MaybeExpr& otherwise) {
        if (!then && !otherwise) return std::nullopt;
        return builder_.select(condition, then ? *then : zero(), otherwise ? *otherwise : zero());
    }

private:
    bool is_one(ExprId id) const {
        const auto* constant = std::get_if<Constant>(&program_[id].node);
        return constant != nullptr && constant->value == Rational(1);
    }

    Program& program_;
    ExprBuilder builder_;
    Scalar type_;
};

class FormFinder {
public:
    // v: the read of what the statement gave the cell before.
    FormFinder(Program& program, ExprId root, const Access& before)
        : program_(program), root_(root), before_(before), parts_(program, program[root].type) {}

    std::variant<Recurrence, ExprId> find() {  // or the place of what is no such form
        for (const std::uint32_t index : reached_exprs(program_, {root_})) {
            const Expr expr = program_.exprs[index];  // a copy: the arena grows
            if (!visit(ExprId{index}, expr)) return ExprId{index};
        }
        const auto found = forms_.find(root_.index);
        return found == forms_.end() ? Recurrence{{}, root_, {}, {}} : found->second;
    }

private:
    bool reads(ExprId id) const { return forms_.contains(id.index); }
    // An operand that does not read v is its own constant term.
    Recurrence form(ExprId id) const {
        const auto found = forms_.find(id.index);
        return found == forms_.end() ? Recurrence{{}, id, {}, {}} : found->second;
    }
    static bool are_over_the_same(const Recurrence& a, const Recurrence& b) {
        return a.c == b.c && a.d == b.d;
    }

    bool visit(ExprId id, const Expr& expr) {
        if (const auto* access = std::get_if<Access>(&expr.node)) {
            if (access->field == before_.field && access->time == before_.time &&
                access->offset == before_.offset)
                forms_[id.index] = {parts_.one(), {}, {}, {}};
            return true;
        }
        bool any = false;
        for_each_operand(expr, [&](ExprId operand) { any = any || reads(operand); });
        if (!any) return true;
        const std::optional<Recurrence> made = make(expr);
        if (made) forms_[id.index] = *made;
        return made.has_value();
    }

    std::optional<Recurrence> make(const Expr& expr) {
        if (const auto* unary = std::get_if<Unary>(&expr.node)) {
            if (unary->op != UnaryOp::negate) return std::nullopt;
            const Recurrence of = form(unary->operand);
            return Recurrence{parts_.negated(of.a), parts_.negated(of.b), of.c, of.d};
        }
        if (const auto* fma = std::get_if<Fma>(&expr.node)) {
            const std::optional<Recurrence> product = multiply(form(fma->a), form(fma->b));
            return product ? add(*product, form(fma->c), BinaryOp::add) : std::nullopt;
        }
        if (const auto* select = std::get_if<Select>(&expr.node)) return choose(*select);
        const auto* binary = std::get_if<Binary>(&expr.node);
        if (binary == nullptr) return std::nullopt;
        const Recurrence left = form(binary->left), right = form(binary->right);
        switch (binary->op) {
            case BinaryOp::add:
            case BinaryOp::sub:
                return add(left, right, binary->op);
            case BinaryOp::mul:
                return multiply(left, right);
            case BinaryOp::div:
                return divide(left, right);
            default:
                return std::nullopt;
        }
    }

    std::optional<Recurrence> add(const Recurrence& left, const Recurrence& right, BinaryOp op) {
        if (are_over_the_same(left, right))
            return Recurrence{parts_.sum(left.a, right.a, op), parts_.sum(left.b, right.b, op), left.c,
                              left.d};
        if (left.divides() && right.divides()) return std::nullopt;
        // e + (a*v + b) / (c*v + d): e is brought over the divisor, and so must not read v itself.
        const bool is_left = left.divides();
        const Recurrence& over = is_left ? left : right;
        const Recurrence& term = is_left ? right : left;
        if (term.a) return std::nullopt;
        const MaybeExpr a = parts_.product(over.c, term.b), b = parts_.product(over.d, term.b);
        return is_left ? Recurrence{parts_.sum(over.a, a, op), parts_.sum(over.b, b, op), over.c, over.d}
                       : Recurrence{parts_.sum(a, over.a, op), parts_.sum(b, over.b, op), over.c, over.d};
    }

    std::optional<Recurrence> multiply(const Recurrence& left, const Recurrence& right) {
        if (left.reads_before() && right.reads_before()) return std::nullopt;
        const Recurrence& linear = left.reads_before() ? left : right;
        const Recurrence& factor = left.reads_before() ? right : left;
        return Recurrence{parts_.product(linear.a, factor.b), parts_.product(linear.b, factor.b), linear.c,
                          linear.d};
    }

    std::optional<Recurrence> divide(const Recurrence& left, const Recurrence& right) {
        if (!right.reads_before())
            return Recurrence{parts_.quotient(left.a, *right.b), parts_.quotient(left.b, *right.b), left.c,
                              left.d};
        if (are_over_the_same(left, right)) return Recurrence{left.a, left.b, right.a, right.b};
        if (left.reads_before()) return std::nullopt;
        // e / ((a*v + b) / (c*v + d))
        return Recurrence{parts_.product(right.c, left.b), parts_.product(right.d, left.b), right.a, right.b};
    }

    std::optional<Recurrence> choose(const Select& select) {
        if (reads(select.condition)) return std::nullopt;
        const Recurrence then = form(select.then), otherwise = form(select.otherwise);
        const auto choice = [&](const MaybeExpr& a, const MaybeExpr& b) {
            return parts_.choice(select.condition, a, b);
        };
        Recurrence made{choice(then.a, otherwise.a), choice(then.b, otherwise.b), {}, {}};
        if (!then.divides() && !otherwise.divides()) return made;
        const auto divisor = [&](const Recurrence& of) {
            return of.divides() ? of.d : MaybeExpr(parts_.one());
        };
        made.c = choice(then.c, otherwise.c);
        made.d = choice(divisor(then), divisor(otherwise));
        return made;
    }

    Program& program_;
    ExprId root_;
    Access before_;
    Parts parts_;
    std::unordered_map<std::uint32_t, Recurrence> forms_;  // of expressions that read v
};

}  // namespace

std::variant<std::vector<Recurrence>, RecurrenceMistake> find_recurrences(Program& program,
                                                                          std::size_t first) {
    const std::size_t past = end_of_sweep(program, first);
    const LineSweep sweep = *sweep_of(program.statements[first]);
    const auto along = static_cast<std::size_t>(sweep.axis);
    std::map<Level, std::size_t> writer_of;
    for (std::size_t i = first; i < past; ++i) {
        const auto& assign = std::get<Assign>(program.statements[i]);
        writer_of.try_emplace({assign.target, assign.time}, i);
    }
    using Kind = RecurrenceMistake::Kind;
    std::vector<Recurrence> recurrences;
    for (std::size_t i = first; i < past; ++i) {
        const Assign assign = std::get<Assign>(program.statements[i]);
        const Field& field = program[assign.target];
        if (!is_real(field.type) || field.storage != natural_storage(field.type))
            return RecurrenceMistake{Kind::rounded, i, assign.value};
        if (assign.condition || margins_within(assign.region, assign.margins) != Margins{})
            return RecurrenceMistake{Kind::leaves_out, i, assign.value};
        Access before{assign.target, assign.time, {}, {}};
        before.offset[along] = sweep.upwards ? -1 : 1;
        for (const std::uint32_t e : reached_exprs(program, roots_of(program.statements[i]))) {
            const auto* access = std::get_if<Access>(&program.exprs[e].node);
            if (access == nullptr) continue;
            const auto writer = writer_of.find({access->field, access->time});
            if (writer == writer_of.end() || access->offset[along] == 0) continue;
            const int back = sweep.upwards ? -access->offset[along] : access->offset[along];
            if (back < 0) return RecurrenceMistake{Kind::ahead, i, ExprId{e}};
            if (back > 1) return RecurrenceMistake{Kind::further, i, ExprId{e}};
            if (writer->second > i) return RecurrenceMistake{Kind::needs_later, i, ExprId{e}};
        }
        const std::variant<Recurrence, ExprId> found = FormFinder(program, assign.value, before).find();
        if (const auto* where = std::get_if<ExprId>(&found))
            return RecurrenceMistake{Kind::not_a_quotient, i, *where};
        recurrences.push_back(std::get<Recurrence>(found));
    }
    return recurrences;
}

bool is_in_parts(const Assign& assign) {
    return assign.sweep && assign.sweep->in_parts && assign.recurrence;
}

}  // namespace halo::ir
