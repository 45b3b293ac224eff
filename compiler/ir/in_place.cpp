#include "compiler/ir/in_place.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"

namespace halo::ir {

namespace {

// A whole-numbered sum of indices: sum of factor[axis] * idx(axis) + constant.
struct IndexSum {
    std::array<std::int64_t, kMaxRank> factor{};
    std::int64_t constant = 0;
    bool is_constant() const { return factor == std::array<std::int64_t, kMaxRank>{}; }
    friend bool operator==(const IndexSum&, const IndexSum&) = default;
};

IndexSum scaled(IndexSum sum, std::int64_t by) {
    for (std::int64_t& factor : sum.factor)
        factor *= by;
    sum.constant *= by;
    return sum;
}

IndexSum added(IndexSum a, const IndexSum& b) {
    for (std::size_t axis = 0; axis < a.factor.size(); ++axis)
        a.factor[axis] += b.factor[axis];
    a.constant += b.constant;
    return a;
}

// Reads conditions of the form `L mod m == r`.
class Colours {
public:
    explicit Colours(const Program& program) : program_(program) {}

    // Whether the condition cannot hold both at a cell and at the cell an offset further.
    bool are_apart(ExprId condition, const Offset& offset) const {
        const auto* binary = std::get_if<Binary>(&program_[condition].node);
        if (!binary) return false;
        if (binary->op == BinaryOp::logical_and)
            return are_apart(binary->left, offset) || are_apart(binary->right, offset);
        if (binary->op != BinaryOp::equal) return false;
        const bool swapped = whole_number(binary->left).has_value();
        const ExprId side = swapped ? binary->left : binary->right;
        if (!whole_number(side)) return false;
        const std::optional<Remainder> remainder = remainder_of(swapped ? binary->right : binary->left);
        if (!remainder) return false;
        std::int64_t moved = 0;
        for (int axis = 0; axis < kMaxRank; ++axis)
            moved += remainder->sum.factor[axis] * offset[axis];
        return moved % remainder->modulus != 0;
    }

private:
    struct Remainder {
        IndexSum sum;
        std::int64_t modulus = 1;
    };
    static constexpr std::int64_t kMostFactor = 1 << 20;

    std::optional<std::int64_t> whole_number(ExprId id) const {
        const std::optional<IndexSum> sum = index_sum(id);
        if (!sum || !sum->is_constant()) return std::nullopt;
        return sum->constant;
    }

    std::optional<IndexSum> index_sum(ExprId id, int depth = 0) const {
        constexpr int kDeepest = 64;
        if (depth > kDeepest) return std::nullopt;
        const Expr& expr = program_[id];
        if (const auto* constant = std::get_if<Constant>(&expr.node)) {
            const std::optional<std::int64_t> value =
                constant->value.is_integer() ? constant->value.as_int64() : std::nullopt;
            if (!value || std::abs(*value) > kMostFactor) return std::nullopt;
            return IndexSum{{}, *value};
        }
        if (const auto* coordinate = std::get_if<Coordinate>(&expr.node)) {
            if (coordinate->kind != CoordinateKind::index) return std::nullopt;
            IndexSum sum;
            sum.factor[coordinate->axis] = 1;
            return sum;
        }
        if (const auto* unary = std::get_if<Unary>(&expr.node)) {
            const std::optional<IndexSum> operand = index_sum(unary->operand, depth + 1);
            if (!operand || unary->op == UnaryOp::logical_not) return std::nullopt;
            return unary->op == UnaryOp::negate ? scaled(*operand, -1) : *operand;
        }
        const auto* binary = std::get_if<Binary>(&expr.node);
        if (!binary) return std::nullopt;
        const std::optional<IndexSum> left = index_sum(binary->left, depth + 1);
        const std::optional<IndexSum> right = index_sum(binary->right, depth + 1);
        if (!left || !right) return std::nullopt;
        if (binary->op == BinaryOp::add) return bounded(added(*left, *right));
        if (binary->op == BinaryOp::sub) return bounded(added(*left, scaled(*right, -1)));
        if (binary->op != BinaryOp::mul) return std::nullopt;
        if (left->is_constant()) return bounded(scaled(*right, left->constant));
        if (right->is_constant()) return bounded(scaled(*left, right->constant));
        return std::nullopt;
    }

    static std::optional<IndexSum> bounded(const IndexSum& sum) {
        for (const std::int64_t factor : sum.factor)
            if (std::abs(factor) > kMostFactor) return std::nullopt;
        if (std::abs(sum.constant) > kMostFactor) return std::nullopt;
        return sum;
    }

    // floor_mod(L, m), or L - m * floor(L / m) as `mod` of real numbers is written out.
    std::optional<Remainder> remainder_of(ExprId id) const {
        if (const auto* unary = std::get_if<Unary>(&program_[id].node)) {
            if (unary->op == UnaryOp::convert) return remainder_of(unary->operand);
            return std::nullopt;
        }
        if (const auto* fma = std::get_if<Fma>(&program_[id].node)) {  // floor(L / m) * -m + L
            const std::optional<Remainder> a = multiple_of_floor(fma->a, fma->b, -1);
            return a && is_sum(fma->c, a->sum) ? a : std::nullopt;
        }
        const auto* binary = std::get_if<Binary>(&program_[id].node);
        if (!binary) return std::nullopt;
        if (binary->op == BinaryOp::floor_mod) {
            const std::optional<IndexSum> sum = index_sum(binary->left);
            const std::optional<std::int64_t> modulus = whole_number(binary->right);
            if (!sum || !modulus || *modulus < 1) return std::nullopt;
            return Remainder{*sum, *modulus};
        }
        if (binary->op != BinaryOp::sub) return std::nullopt;
        const auto* product = std::get_if<Binary>(&program_[binary->right].node);
        if (!product || product->op != BinaryOp::mul) return std::nullopt;
        const std::optional<Remainder> taken = multiple_of_floor(product->left, product->right, 1);
        return taken && is_sum(binary->left, taken->sum) ? taken : std::nullopt;
    }

    bool is_sum(ExprId id, const IndexSum& wanted) const {
        const std::optional<IndexSum> sum = index_sum(id);
        return sum && *sum == wanted;
    }

    // sign * m times floor(L / m), in either order.
    std::optional<Remainder> multiple_of_floor(ExprId a, ExprId b, int sign) const {
        std::optional<std::int64_t> modulus = whole_number(a);
        ExprId floor = b;
        if (!modulus) {
            modulus = whole_number(b);
            floor = a;
        }
        if (!modulus || *modulus * sign < 1) return std::nullopt;
        const auto* call = std::get_if<Call>(&program_[floor].node);
        if (!call || call->function != Function::floor) return std::nullopt;
        const std::optional<IndexSum> sum = quotient(call->arguments[0], *modulus * sign);
        if (!sum) return std::nullopt;
        return Remainder{*sum, *modulus * sign};
    }

    // L, where the expression is L / modulus or L * (1 / modulus).
    std::optional<IndexSum> quotient(ExprId id, std::int64_t modulus) const {
        const auto* binary = std::get_if<Binary>(&program_[id].node);
        if (!binary) return std::nullopt;
        if (binary->op == BinaryOp::div)
            return whole_number(binary->right) == modulus ? index_sum(binary->left) : std::nullopt;
        if (binary->op != BinaryOp::mul) return std::nullopt;
        const auto is_inverse = [&](ExprId factor) {
            const auto* constant = std::get_if<Constant>(&program_[factor].node);
            return constant && constant->value == Rational(1) / Rational(modulus);
        };
        if (is_inverse(binary->left)) return index_sum(binary->right);
        if (is_inverse(binary->right)) return index_sum(binary->left);
        return std::nullopt;
    }

    const Program& program_;
};

// Whether the box is so thin along some axis that an offset leaves it.
bool leaves(const Region& region, const Offset& offset) {
    for (int axis = 0; axis < kMaxRank; ++axis) {
        const Region::Range& range = region.ranges[axis];
        const bool is_fixed_width = range.begin.from_high == range.end.from_high;
        if (offset[axis] == 0 || !is_fixed_width) continue;
        if (std::abs(offset[axis]) >= range.end.offset - range.begin.offset) return true;
    }
    return false;
}

bool is_along(Offset offset, const LineSweep& sweep) {
    offset[static_cast<std::size_t>(sweep.axis)] = 0;
    if (sweep.inner) offset[static_cast<std::size_t>(sweep.inner->axis)] = 0;
    return offset == Offset{};
}

}  // namespace

bool is_partial(const Assign& assign) {
    return !assign.region.is_whole() || assign.condition.has_value() || assign.margins != Margins{};
}

Margins margins_within(const Region& region, Margins margins) {
    for (int axis = 0; axis < kMaxRank; ++axis) {
        const Region::Range& range = region.ranges[axis];
        auto& [low, high] = margins[axis];
        if (!range.begin.from_high && low <= range.begin.offset) low = 0;
        if (range.end.from_high && high <= -range.end.offset) high = 0;
    }
    return margins;
}

std::vector<bool> in_place_statements(const Program& program) {
    std::vector<bool> result(program.statements.size());
    std::map<Level, std::vector<rt::StepRange>> written;  // and within which steps
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto* assign = std::get_if<Assign>(&program.statements[i]);
        if (!assign) continue;
        std::vector<rt::StepRange>& others = written[{assign->target, assign->time}];
        const bool is_written = std::ranges::any_of(others, [&](const rt::StepRange& other) {
            return !rt::common(other, assign->within).is_empty();
        });
        const bool chooses = !assign->region.is_whole() || assign->condition.has_value();
        result[i] = is_written || assign->sweep || (chooses && program[assign->target].role == Role::output);
        if (std::ranges::find(others, assign->within) == others.end()) others.push_back(assign->within);
    }
    return result;
}

std::optional<Access> read_of_written(const Program& program, const Assign& assign) {
    std::vector<std::uint32_t> in_condition;
    if (assign.condition) in_condition = reached_exprs(program, {*assign.condition});
    const Colours colours(program);
    for (const std::uint32_t i : reached_exprs(program, roots_of(Statement(assign)))) {
        const auto* access = std::get_if<Access>(&program.exprs[i].node);
        if (!access || access->field != assign.target || access->time != assign.time) continue;
        if (access->is_at_cell() || leaves(assign.region, access->offset)) continue;
        if (assign.sweep && is_along(access->offset, *assign.sweep)) continue;
        // The condition itself is evaluated in every cell of the region.
        const bool is_coloured = assign.condition && !std::ranges::binary_search(in_condition, i);
        if (is_coloured && colours.are_apart(*assign.condition, access->offset)) continue;
        return *access;
    }
    return std::nullopt;
}

namespace {

// What a statement's cells are chosen by, of those that may choose.
struct Chosen {
    const Region& region;
    const std::optional<ExprId>& condition;
    const std::vector<Repeat>& repeats;
};
std::optional<Chosen> chosen_cells(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement))
        return Chosen{assign->region, assign->condition, assign->repeats};
    if (const auto* reduce = std::get_if<Reduce>(&statement))
        return Chosen{reduce->region, reduce->condition, reduce->repeats};
    return std::nullopt;
}

}  // namespace

SharedCells::SharedCells(const Program& program, const std::vector<bool>& in_place)
    : program_(program), can_share_(program.statements.size()) {
    ReachWalk walk(program);
    std::vector<bool> written(program.fields.size());
    for (std::size_t i = 0; i < can_share_.size(); ++i) {
        const Statement& statement = program.statements[i];
        const std::optional<Chosen> chosen = chosen_cells(statement);
        const auto* assign = std::get_if<Assign>(&statement);
        const bool is_first = assign == nullptr || !written[assign->target.index];
        if (assign != nullptr) written[assign->target.index] = true;
        if (!chosen || (chosen->region.is_whole() && !chosen->condition)) continue;
        if (margins_within(chosen->region, margins_of(statement)) != Margins{}) continue;
        if (assign != nullptr && (!is_first || !in_place[i] || assign->sweep)) continue;
        const auto none = [&](const std::vector<ExprId>& roots, const auto& is_it) {
            return std::ranges::none_of(walk.from(roots),
                                        [&](std::uint32_t e) { return is_it(program.exprs[e].node); });
        };
        const bool is_chosen_before = !chosen->condition || none({*chosen->condition}, [&](const auto& node) {
            const auto* access = std::get_if<Access>(&node);
            return access != nullptr && program[access->field].role != Role::input;
        });
        can_share_[i] = is_chosen_before && none(roots_of(statement), [&](const auto& node) {
                            const auto* access = std::get_if<Access>(&node);
                            const bool is_own =
                                access != nullptr && assign != nullptr && access->field == assign->target;
                            return is_own || std::holds_alternative<TableSum>(node);
                        });
    }
}

bool SharedCells::are_shared(std::size_t a, std::size_t b) const {
    if (!can_share_[a] || !can_share_[b]) return false;
    const Statement &first = program_.statements[a], &second = program_.statements[b];
    const std::optional<Chosen> one = chosen_cells(first), other = chosen_cells(second);
    return one->region == other->region && one->condition == other->condition &&
           one->repeats == other->repeats && grid_factor(program_, first) == grid_factor(program_, second);
}

}  // namespace halo::ir
