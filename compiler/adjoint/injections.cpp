#include "compiler/adjoint/injections.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/adjoint/algebra.h"
#include "compiler/ir/analysis.h"

namespace halo::adjoint {

using ir::ExprId;
using ir::FieldId;

namespace {

// A sum without one of its terms.
class WithoutTerm {
public:
    WithoutTerm(Algebra& algebra, FieldId term) : a_(algebra), term_(term) {}

    // nullopt where it is no term of the sum, or stands elsewhere in it, too.
    std::optional<ExprId> of(ExprId sum) {
        const ExprId rest = without(sum, true);
        if (times_ != 1 || ir::reads(a_.program(), {rest}, term_)) return std::nullopt;
        return rest;
    }
    bool is_added() const { return is_added_; }  // else subtracted

private:
    bool is_term(const ir::Expr& expr) const {
        const auto* access = std::get_if<ir::Access>(&expr.node);
        return access != nullptr && access->field == term_ && access->offset == ir::Offset{};
    }

    ExprId without(ExprId id, bool is_added) {
        const ir::Expr expr = a_.program()[id];
        const auto* unary = std::get_if<ir::Unary>(&expr.node);
        const bool is_converted =
            unary != nullptr && unary->op == ir::UnaryOp::convert && is_term(a_.program()[unary->operand]);
        if (is_converted || is_term(expr)) {
            ++times_;
            is_added_ = is_added;
            return a_.number(0, expr.type);
        }
        if (unary != nullptr && unary->op == ir::UnaryOp::negate) {
            const ExprId rest = without(unary->operand, !is_added);
            return rest == unary->operand ? id : a_.negate(rest);
        }
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        if (binary == nullptr || (binary->op != ir::BinaryOp::add && binary->op != ir::BinaryOp::sub))
            return id;
        const bool adds = binary->op == ir::BinaryOp::add;
        const ExprId left = without(binary->left, is_added), right = without(binary->right, adds == is_added);
        if (left == binary->left && right == binary->right) return id;
        return adds ? a_.add(left, right) : a_.sub(left, right);
    }

    Algebra& a_;
    FieldId term_;
    int times_ = 0;
    bool is_added_ = true;
};

class InjectionMaker {
public:
    explicit InjectionMaker(ir::Program& program) : program_(program), a_(program) {}

    void run() {
        for (std::uint32_t f = 0; f < program_.fields.size(); ++f)
            if (program_.fields[f].role == ir::Role::output) move({f});
    }

private:
    void move(FieldId share) {
        std::optional<std::size_t> zero, inject, reader;
        for (std::size_t i = 0; i < program_.statements.size(); ++i) {
            const ir::Statement& statement = program_.statements[i];
            const auto* assign = std::get_if<ir::Assign>(&statement);
            const auto* injected = std::get_if<ir::Inject>(&statement);
            const bool is_zero = assign != nullptr && assign->target == share && a_.is_zero(assign->value);
            const bool is_injected = injected != nullptr && injected->target == share;
            const bool is_read = ir::reads(program_, statement, share);
            if (assign != nullptr && assign->target == share && !is_zero) return;
            if ((is_zero && zero) || (is_injected && inject) || (is_read && reader)) return;
            if (is_zero) zero = i;
            if (is_injected) inject = i;
            if (is_read) reader = i;
        }
        if (!zero || !inject || !reader) return;
        auto* const sum = std::get_if<ir::Assign>(&program_.statements[*reader]);
        if (sum == nullptr || !is_plain(*sum) || !are_alike(share, sum->target)) return;
        WithoutTerm split(a_, share);
        const std::optional<ExprId> rest = split.of(sum->value);
        if (!rest) return;
        sum->value = *rest;
        ir::Inject moved = std::get<ir::Inject>(program_.statements[*inject]);
        moved.target = sum->target;
        moved.time = 1;
        moved.value =
            a_.as(split.is_added() ? moved.value : a_.negate(moved.value), program_[moved.target].type);
        // After all that writes states, so that these are one sweep; and before the sum is read.
        std::size_t place = *reader + 1;
        while (place < program_.statements.size() &&
               !ir::reads(program_, program_.statements[place], moved.target, 1))
            ++place;
        const auto begin = program_.statements.begin();
        program_.statements.insert(begin + static_cast<std::ptrdiff_t>(place), moved);
        for (const std::size_t gone : {std::max(*zero, *inject), std::min(*zero, *inject)})
            program_.statements.erase(program_.statements.begin() + static_cast<std::ptrdiff_t>(gone));
    }

    // Of a state, for all cells.
    bool is_plain(const ir::Assign& assign) const {
        return program_[assign.target].role == ir::Role::state && !assign.condition && !assign.sweep &&
               assign.repeats.empty() && assign.region == ir::Region{};
    }
    bool are_alike(FieldId share, FieldId state) const {
        return program_[share].staggered == program_[state].staggered;
    }

    ir::Program& program_;
    Algebra a_;
};

}  // namespace

void inject_into_states(ir::Program& program) {
    InjectionMaker(program).run();
}

}  // namespace halo::adjoint
