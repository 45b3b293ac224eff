#include "compiler/lower/shared/cell_lowering.h"

namespace halo::lower {

using kernel::Expr;
using kernel::Type;

Expr CellLowering::make(const ir::Expr& expr, const ir::Select& select, const std::string& wanted) {
    if (sources_.is_alone) {
        if (const std::optional<Condition> parts = parts_of(select.condition))
            if (!choices_.costs_much(parts->op == ir::BinaryOp::logical_or ? select.then : select.otherwise))
                return branch(kernel_type(expr.type), *parts, select, wanted);
    }
    const Expr condition = lower(select.condition);
    if (sources_.is_alone) {
        const std::optional<Level> level = choices_.level_of(select.then);
        if (level && level == choices_.level_of(select.otherwise))
            return select_value(condition, lower_loaded(select.then), lower_loaded(select.otherwise));
        if (choices_.costs_much(select.then) || choices_.costs_much(select.otherwise))
            return branch(kernel_type(expr.type), condition, select, wanted);
    }
    const Expr then = lower_side(select.then);
    return select_value(condition, then, lower_side(select.otherwise));
}

Expr CellLowering::lower_loaded(ir::ExprId id) {
    const auto* access = std::get_if<ir::Access>(&program_[id].node);
    return access == nullptr ? lower(id) : lower_named(id, program_[access->field].name + "_there");
}

// A side that costs little is the value to begin with.
Expr CellLowering::branch(Type type, const Expr& condition, const ir::Select& select,
                          const std::string& wanted) {
    for (const ir::ExprId side : {select.then, select.otherwise})
        for (const ir::ExprId each : choices_.shared({side}))
            if (has_name(each)) lower(each);
    const std::string name = names_.take(wanted.empty() ? "chosen" : wanted);
    const auto side = [&](ir::ExprId id) {
        return in_block([&] {
            Expr value = lower(id);
            body_->push_back(kernel::Assign{kernel::variable(name, type), std::move(value)});
        });
    };
    if (!choices_.costs_much(select.otherwise)) {
        body_->push_back(kernel::Declare{type, name, lower(select.otherwise), true});
        body_->push_back(kernel::If{condition, side(select.then), {}});
    } else if (!choices_.costs_much(select.then)) {
        body_->push_back(kernel::Declare{type, name, lower(select.then), true});
        body_->push_back(kernel::If{kernel::logical_not(condition), side(select.otherwise), {}});
    } else {
        const Expr start =
            type == Type::boolean ? kernel::int_literal(0, type) : kernel::real_literal(0, type);
        body_->push_back(kernel::Declare{type, name, start, true});
        kernel::Block then = side(select.then);
        body_->push_back(kernel::If{condition, std::move(then), side(select.otherwise)});
    }
    return kernel::variable(name, type);
}

// Names that are made in a block are the block's.
kernel::Block CellLowering::in_block(const std::function<void()>& lower_inside) {
    kernel::Block block;
    kernel::Block* const outer = std::exchange(body_, &block);
    const std::map<std::uint32_t, Expr> known = named_;
    lower_inside();
    named_ = known;
    body_ = outer;
    return block;
}

// Of a condition without another use, some parts of which cost much.
std::optional<CellLowering::Condition> CellLowering::parts_of(ir::ExprId id) const {
    const auto* binary = std::get_if<ir::Binary>(&program_[id].node);
    const bool joins = binary != nullptr &&
                       (binary->op == ir::BinaryOp::logical_or || binary->op == ir::BinaryOp::logical_and);
    if (!joins || has_name(id) || is_leaf(id) || given(id).has_value()) return std::nullopt;
    Condition parts{binary->op, {}, {}};
    add_parts(id, parts);
    return parts.cheap.empty() || parts.costly.empty() ? std::nullopt : std::optional(parts);
}
void CellLowering::add_parts(ir::ExprId id, Condition& parts) const {
    const auto* binary = std::get_if<ir::Binary>(&program_[id].node);
    if (binary != nullptr && binary->op == parts.op && !has_name(id) && !is_leaf(id)) {
        add_parts(binary->left, parts);
        add_parts(binary->right, parts);
    } else {
        (choices_.costs_much(id) ? parts.costly : parts.cheap).push_back(id);
    }
}
Expr CellLowering::lower_all(ir::BinaryOp op, const std::vector<ir::ExprId>& parts) {
    Expr all = lower(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i)
        all = applied(op, all, lower(parts[i]));
    return all;
}

// The parts that cost much are computed where the others do not decide: those of `a or b` where these are
// false, and what is chosen otherwise where all are.
Expr CellLowering::branch(Type type, const Condition& condition, const ir::Select& select,
                          const std::string& wanted) {
    const bool is_or = condition.op == ir::BinaryOp::logical_or;
    const ir::ExprId decided = is_or ? select.then : select.otherwise,
                     other = is_or ? select.otherwise : select.then;
    std::vector<ir::ExprId> later = condition.costly;
    later.push_back(other);
    for (const ir::ExprId each : choices_.shared(later))
        if (has_name(each)) lower(each);
    const std::string name = names_.take(wanted.empty() ? "chosen" : wanted);
    const auto goes_on = [&](const std::vector<ir::ExprId>& parts) {
        const Expr all = lower_all(condition.op, parts);
        return is_or ? kernel::logical_not(all) : all;
    };
    const Expr first = goes_on(condition.cheap);
    body_->push_back(kernel::Declare{type, name, lower(decided), true});
    kernel::Block inside = in_block([&] {
        const Expr second = goes_on(condition.costly);
        kernel::Block chosen = in_block([&] {
            Expr value = lower(other);
            body_->push_back(kernel::Assign{kernel::variable(name, type), std::move(value)});
        });
        body_->push_back(kernel::If{second, std::move(chosen), {}});
    });
    body_->push_back(kernel::If{first, std::move(inside), {}});
    return kernel::variable(name, type);
}

Expr CellLowering::lower_side(ir::ExprId id) {
    if (!sources_.chooses_late || is_leaf(id) || !ir::is_of_sums_and_products(program_, id)) return lower(id);
    return lower_named(id, "chosen");
}

// From memory: what differs from one cell to the next along some of the axes alone, or not from each to
// the next, stays in caches.
Expr CellLowering::load_elsewhere(const Level& level, const ir::Access& access) {
    const ir::Field& field = program_[level.field];
    CellIndex cell = sources_.index;
    for (int axis = 0; axis < context_.rank(); ++axis) {
        if (!field.grid.has(axis)) continue;
        const auto along = static_cast<std::size_t>(axis);
        Expr& at = cell[along];
        if (sources_.may_pass_low_face[along]) at = kernel::max(at, 0);
        if (sources_.may_pass_high_face[along]) at = kernel::min(at, context_.extent(axis) - 1);
        at = cell_read(at, access.map[along], access.offset[along]);
    }
    return loaded(context_.element_elsewhere(level, cell), field);
}

// A chain of multiply-adds is most readable as a sum with one term a line.
Expr CellLowering::make(const ir::Expr&, const ir::Fma& fma, const std::string& wanted) {
    constexpr std::size_t kLongestInline = 2;
    std::vector<const ir::Fma*> chain{&fma};  // outermost first
    ir::ExprId start = fma.c;
    while (const auto* inner = std::get_if<ir::Fma>(&program_[start].node)) {
        if (has_name(start) || context_.is_uniform(start) || given(start).has_value()) break;
        chain.push_back(inner);
        start = inner->c;
    }
    Expr sum = lower(start);
    if (chain.size() <= kLongestInline) {
        for (auto link = chain.rbegin(); link != chain.rend(); ++link)
            sum = multiply_add(**link, sum);
        return sum;
    }
    sum = multiply_add(*chain.back(), sum);
    const Type type = sum.type();
    const std::string name = names_.take(wanted.empty() ? "sum" : wanted);
    // Operands that need statements of their own precede the sum.
    std::vector<std::pair<Expr, Expr>> factors;
    for (std::size_t link = chain.size() - 1; link-- > 0;) {
        factors.emplace_back(lower(chain[link]->a), lower(chain[link]->b));
    }
    body_->push_back(kernel::Declare{type, name, sum, true});
    const Expr variable = kernel::variable(name, type);
    for (auto& [a, b] : factors) {
        body_->push_back(kernel::Assign{variable, kernel::call(kernel::Function::fma, {a, b, variable})});
    }
    return variable;
}

Expr CellLowering::multiply_add(const ir::Fma& fma, const Expr& c) {
    const Expr a = lower(fma.a);
    return kernel::call(kernel::Function::fma, {a, lower(fma.b), c});
}

}  // namespace halo::lower
