// `using multigrid`: conjugate gradients, each direction found by a V-cycle. The coarser grids have an
// operator of nearest neighbours with the second moments of the finer one's factors, so that the operator
// need not be written for them.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/sema/hidden_fields.h"
#include "compiler/sema/statement_writer.h"

namespace halo::sema {

namespace {

using ir::BinaryOp;
using ir::FieldId;

constexpr int kCoarsestRounds = 8;

// Two weights of Jacobi's iteration, the inverse roots of Chebyshev's polynomial between 1/rank, below which
// what oscillates has no eigenvalue, and 2: scaled by half the sum of a row's magnitudes none is above.
std::array<Rational, 2> weights_of_smoothing(int rank) {
    constexpr int kParts = 10'000;
    constexpr std::array<std::array<int, 2>, 3> kWeights{{{5395, 8723}, {5617, 13895}, {5695, 17319}}};
    const auto& [first, second] = kWeights.at(static_cast<std::size_t>(rank - 1));
    return {Rational(first, kParts), Rational(second, kParts)};
}

// A(v) = rest v + the sum over axes of low (v[a-1] - v) + high (v[a+1] - v).
struct Neighbours {
    std::array<Value, ir::kMaxRank> low, high;
    Value rest;
};

// What is solved for on one of the grids.
struct Level {
    std::function<Value(FieldId)> apply;
    Value inverse;        // of what a cell's residual is divided by
    FieldId right;        // what A is to give
    FieldId first, next;  // by turns what is found so far
    FieldId residual;     // of all grids but the coarsest
};

class Cycle {
public:
    explicit Cycle(StatementWriter& write)
        : write_(write), program_(write.evaluator().program()), rank_(program_.rank()) {}

    // Statements that are done once: the operators of all grids.
    void prepare(FieldId right) {
        const Equation& equation = write_.equation();
        Neighbours factors = lumped(equation.form);
        Level finest;
        finest.apply = [&equation](FieldId field) { return equation.apply(field, 0); };
        finest.right = right;
        finest.inverse = stored("inverse", 0, inverse_of(equation.form));
        add_fields(finest, 0);
        levels_.push_back(std::move(finest));
        for (int l = 1; l < equation.grids; ++l) {
            factors = coarsened(factors, l);
            Level level;
            level.apply = [this, factors](FieldId field) { return applied(factors, field); };
            level.right = add_plain("right", l);
            level.inverse = stored("inverse", l, inverse_of(as_form(factors)));
            add_fields(level, l);
            levels_.push_back(std::move(level));
        }
    }

    // The statements of a V-cycle that begins with 0; what it finds is in the field that is returned. It is
    // linear and symmetric in the right-hand side: the weights of what goes up are those of what goes down.
    FieldId run() {
        const std::array<Rational, 2> weights = weights_of_smoothing(rank_);
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            const Level& level = levels_[l];
            const Value start = write_.mul(Value::of(weights[0]), level.inverse);
            write_.assign(level.first, write_.mul(start, write_.read(level.right)));
            sweep(level, level.first, level.next, weights[1]);
            if (l + 1 == levels_.size()) continue;
            write_.assign(level.residual, left_of(level, level.next));
            write_.assign(levels_[l + 1].right, restricted(level.residual, static_cast<int>(l)));
        }
        const Level& coarsest = levels_.back();
        for (int round = 1; round < kCoarsestRounds; ++round) {
            sweep(coarsest, coarsest.next, coarsest.first, weights[round % 2]);
            sweep(coarsest, coarsest.first, coarsest.next, weights[(round + 1) % 2]);
        }
        FieldId found = coarsest.next;
        for (std::size_t l = levels_.size() - 1; l-- > 0;) {
            const Level& level = levels_[l];
            write_.assign(level.first, write_.add(write_.read(level.next), prolonged(found)));
            found = level.first;
            sweep(level, level.first, level.next, weights[1]);
            sweep(level, level.next, level.first, weights[0]);
        }
        return found;
    }

private:
    // ---- fields

    static std::string on_level(const std::string& name, int level) {
        return level == 0 ? name : fmt::format("{}_{}", name, level);
    }
    // Of a level's grid, read at the cells themselves alone, or by whole blocks.
    FieldId add_plain(const std::string& name, int level) {
        return placed(write_.output(on_level(name, level)), level);
    }
    FieldId add_field(const std::string& name, int level) {
        const FieldId field = placed(write_.output_with_boundary(on_level(name, level)), level);
        set_faces(field);
        return field;
    }
    FieldId placed(FieldId field, int level) {
        if (level > 0) program_.fields[field.index].grid = rt::FieldGrid::coarse(1 << level);
        return field;
    }
    void add_fields(Level& level, int number) {
        level.first = add_field("first", number);
        level.next = add_field("next", number);
        if (number + 1 < write_.equation().grids) level.residual = add_field("left", number);
        if (number > 0) return;
        for (const FieldId field : {level.first, level.next})
            make_like_direction(field);
    }
    // On the grid itself: what A reads past the faces.
    void make_like_direction(FieldId field) {
        const FieldId direction = write_.equation().direction;
        Evaluator& evaluator = write_.evaluator();
        program_.fields[field.index].boundary = program_[direction].boundary;
        evaluator.fields()[field.index].ghosts = evaluator.fields()[direction.index].ghosts;
    }
    // A face at which the unknown is 0 comes, in units of cells, the nearer to half a cell the coarser a grid
    // is.
    void set_faces(FieldId field) {
        for (int axis = 0; axis < rank_; ++axis) {
            for (int side = 0; side < 2; ++side) {
                ir::Face& face = program_.fields[field.index].boundary[axis][side];
                if (face.kind == ir::BoundaryKind::periodic || repeats_edge(axis, side)) continue;
                std::optional<GhostRule>& rule = write_.evaluator().fields()[field.index].ghosts[axis][side];
                rule.reset();
                if (face.kind == ir::BoundaryKind::free) {  // A reads nothing past it
                    face = {ir::BoundaryKind::clamp, {}, {}, 0};
                    continue;
                }
                face = {ir::BoundaryKind::formula, {}, {}, 0};
                rule = GhostRule{GhostKind::antisymmetric, 0, {}, write_.equation().where};
            }
        }
    }
    // Whether the cell past the face has the value of that at the edge.
    bool repeats_edge(int axis, int side) {
        const auto terms = ghost_terms(write_.evaluator(), write_.equation().direction, axis, side, 1);
        return terms.size() == 1 && terms.front().cell == 0 && terms.front().weight.is_number() &&
               terms.front().weight.number == Rational(1);
    }
    // What differs from cell to cell has a field, so that it is computed once.
    Value stored(const std::string& name, int level, const Value& value) {
        if (value.is_uniform()) return value;
        const FieldId field = add_plain(name, level);
        write_.assign(field, value);
        return write_.read(field);
    }

    // ---- operators

    static ir::Offset along(int axis, int distance) {
        ir::Offset offset{};
        offset[static_cast<std::size_t>(axis)] = distance;
        return offset;
    }
    // Of neighbours alone, with the same second moment on either side of each axis.
    Neighbours lumped(const LinearForm& form) {
        Neighbours made;
        made.low.fill(write_.number(0));
        made.high.fill(write_.number(0));
        made.rest = write_.number(0);
        for (const auto& [offset, factor] : form.factors) {
            made.rest = write_.add(made.rest, factor);
            for (int axis = 0; axis < rank_; ++axis) {
                const int distance = offset[static_cast<std::size_t>(axis)];
                if (distance == 0) continue;
                Value& side = (distance < 0 ? made.low : made.high)[static_cast<std::size_t>(axis)];
                side = write_.add(side, write_.mul(write_.number(distance * distance), factor));
            }
        }
        for (int axis = 0; axis < rank_; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            made.low[a] = stored(fmt::format("low_{}", axis), 0, made.low[a]);
            made.high[a] = stored(fmt::format("high_{}", axis), 0, made.high[a]);
        }
        made.rest = stored("rest_of_row", 0, made.rest);
        return made;
    }
    LinearForm as_form(const Neighbours& factors) {
        LinearForm form;
        Value own = factors.rest;
        for (int axis = 0; axis < rank_; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            form.factors[along(axis, -1)] = factors.low[a];
            form.factors[along(axis, 1)] = factors.high[a];
            own = write_.sub(own, write_.add(factors.low[a], factors.high[a]));
        }
        form.factors[ir::Offset{}] = own;
        return form;
    }
    Value applied(const Neighbours& factors, FieldId field) {
        const Value own = write_.read(field);
        Value sum = write_.mul(factors.rest, own);
        for (int axis = 0; axis < rank_; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            const Value below = write_.sub(write_.read(field, along(axis, -1)), own);
            const Value above = write_.sub(write_.read(field, along(axis, 1)), own);
            sum = write_.add(sum, write_.mul(factors.low[a], below));
            sum = write_.add(sum, write_.mul(factors.high[a], above));
        }
        return sum;
    }
    // 1 over half the sum of the row's magnitudes, with the diagonal's sign.
    Value inverse_of(const LinearForm& form) {
        Value sum = write_.number(0);
        for (const auto& [offset, factor] : form.factors)
            sum = write_.add(sum, write_.magnitude(factor));
        const Value diagonal = form.diagonal();
        const Value inverse = write_.quotient(write_.number(2), sum);
        const Value negative = write_.sub(write_.number(0), inverse);
        if (diagonal.is_number()) return diagonal.number < Rational(0) ? negative : inverse;
        return write_.choose(write_.is(BinaryOp::less, diagonal, write_.number(0)), negative, inverse);
    }

    // Of the next coarser grid: what flows through a face is that of the finer faces there, over twice the
    // distance.
    Neighbours coarsened(const Neighbours& fine, int level) {
        Neighbours made;
        for (int axis = 0; axis < rank_; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            for (const int side : {0, 1}) {
                const Value& factor = (side == 0 ? fine.low : fine.high)[a];
                const Value mean = mean_of_block(factor, axis, side);
                const Value flow = write_.mul(Value::of(Rational(1, 4)), mean);
                const std::string name = fmt::format("{}_{}", side == 0 ? "low" : "high", axis);
                (side == 0 ? made.low : made.high)[a] = stored(name, level, flow);
            }
        }
        made.rest = stored("rest_of_row", level, mean_of_block(fine.rest, -1, 0));
        return made;
    }
    // The mean of a field over the finer cells of a block, or over those at its face on that side of the
    // axis.
    Value mean_of_block(const Value& factor, int axis, int side) {
        if (factor.is_uniform()) return factor;
        const FieldId field = std::get<ir::Access>(program_[factor.id].node).field;
        Value sum = write_.number(0);
        int cells = 0;
        for (int corner = 0; corner < 1 << rank_; ++corner) {
            ir::Offset offset{};
            for (int each = 0; each < rank_; ++each)
                offset[static_cast<std::size_t>(each)] = corner >> each & 1;
            if (axis >= 0 && offset[static_cast<std::size_t>(axis)] != side) continue;
            sum = write_.add(sum, write_.read(field, offset, map(2, 1)));
            ++cells;
        }
        return write_.mul(Value::of(Rational(1, cells)), sum);
    }

    // ---- a cycle

    Value left_of(const Level& level, FieldId found) {
        return write_.sub(write_.read(level.right), level.apply(found));
    }
    void sweep(const Level& level, FieldId from, FieldId to, const Rational& weight) {
        const Value step = write_.mul(Value::of(weight), level.inverse);
        write_.assign(to, write_.add(write_.read(from), write_.mul(step, left_of(level, from))));
    }
    ir::GridMap map(int times, int over) const {
        ir::GridMap made{};
        for (int axis = 0; axis < rank_; ++axis)
            made[static_cast<std::size_t>(axis)] = {times, over};
        return made;
    }
    // The sum of places with a weight each: by distance, along each axis.
    using Weights = std::vector<std::pair<int, Value>>;
    Value weighted(FieldId field, const ir::GridMap& to, const std::vector<Weights>& of_axes) {
        std::vector<std::pair<ir::Offset, Value>> terms{{ir::Offset{}, write_.number(1)}};
        for (int axis = 0; axis < rank_; ++axis) {
            std::vector<std::pair<ir::Offset, Value>> longer;
            for (const auto& [offset, weight] : terms) {
                for (const auto& [distance, share] : of_axes[static_cast<std::size_t>(axis)]) {
                    ir::Offset moved = offset;
                    moved[static_cast<std::size_t>(axis)] = distance;
                    longer.emplace_back(moved, write_.mul(weight, share));
                }
            }
            terms = std::move(longer);
        }
        Value sum = write_.number(0);
        for (const auto& [offset, weight] : terms)
            sum = write_.add(sum, write_.mul(weight, write_.read(field, offset, to)));
        return sum;
    }
    // In a statement of the finer grid: linear between the middles of coarser cells.
    Value prolonged(FieldId field) {
        const Value half = Value::of(Rational(1, 2)), quarter = Value::of(Rational(1, 4));
        return weighted(
            field, map(1, 2),
            std::vector<Weights>(static_cast<std::size_t>(rank_), {{-1, quarter}, {0, half}, {1, quarter}}));
    }
    // In one of the coarser grid: what is transposed to it. A cell that is left over at a high face takes
    // part in what lies past the last coarse cell.
    Value restricted(FieldId field, int level) {
        std::vector<Weights> of_axes;
        for (int axis = 0; axis < rank_; ++axis) {
            const Value near = Value::of(Rational(3, 8)), far = Value::of(Rational(1, 8));
            Weights weights{{-1, far}, {0, near}, {1, near}, {2, far}};
            const ir::Face& face = program_[field].boundary[axis][1];
            if (face.kind != ir::BoundaryKind::periodic) {
                const auto& rule = write_.evaluator().fields()[field.index].ghosts[axis][1];
                const int sign = rule && rule->kind == GhostKind::antisymmetric ? -1 : 1;
                const Value has_more = is_before_left_over(axis, level);
                const auto more = [&](const Value& weight, int eighths) {
                    const Value added = write_.add(weight, Value::of(Rational(sign * eighths, 8)));
                    return write_.choose(has_more, added, weight);
                };
                weights[2].second = more(near, 1);
                weights[3].second = more(far, 3);
            }
            of_axes.push_back(std::move(weights));
        }
        return weighted(field, map(2, 1), of_axes);
    }
    // Whether the coarse cell is the last one, and the finer grid, of that level, has a cell behind its
    // block.
    Value is_before_left_over(int axis, int level) {
        Evaluator& evaluator = write_.evaluator();
        Arithmetic& arithmetic = evaluator.arithmetic();
        const SourceRange where = write_.equation().where;
        const Value cells =
            arithmetic.floor_div(evaluator.length(axis, where), write_.number(1 << level), where);
        Value index = arithmetic.leaf(arithmetic.compute_type(),
                                      ir::Coordinate{ir::CoordinateKind::index, axis}, false, where);
        index.whole = true;
        // Of 2 n + 1 cells it is the one with the index n - 1.
        const Value last = write_.add(write_.mul(write_.number(2), index), write_.number(3));
        return write_.is(BinaryOp::equal, last, cells);
    }

    StatementWriter& write_;
    ir::Program& program_;
    int rank_;
    std::vector<Level> levels_;  // the finest first
};

}  // namespace

// Preconditioned conjugate gradients (Hestenes and Stiefel 1952; Tatebe 1993 with multigrid). A direction is
// made conjugate to the one before by what A gives of that, which needs no more of the cycle than that it is
// nearly symmetric.
std::vector<ExchangedFields> solve_by_multigrid(Evaluator& evaluator, const Equation& equation,
                                                SolveCounts counts) {
    StatementWriter write(evaluator, equation);
    const FieldId u = equation.unknown, p = equation.direction;
    const auto [size, r] = write.begin();
    const FieldId q = write.output("image");
    write.assign(p, write.number(0));
    write.assign(q, write.number(0));
    Cycle cycle(write);
    cycle.prepare(r);

    write.begin_repeat(counts);
    const Value z = write.read(cycle.run());
    const Value common = write.sum_of("common", z, write.read(q));
    const Value before = write.sum_of("before", write.read(p), write.read(q));
    const FieldId next_p = write.next_of(p), next_q = write.next_of(q);
    write.assign(next_p, write.sub(z, write.mul(write.quotient(common, before), write.read(p))));
    write.assign(next_q, equation.apply(next_p, 0));
    const Value curvature = write.sum_of("curvature", write.read(next_p), write.read(next_q));
    const Value along = write.sum_of("along", write.read(r), write.read(next_p));
    const Value by_diagonal =
        write.sum_of("scale", write.mul(equation.form.diagonal(), write.read(next_p)), write.read(next_p));
    const Value alpha =
        write.choose(write.is_definite(curvature, by_diagonal), write.div(along, curvature), write.number(0));
    const FieldId next_u = write.next_of(u), next_r = write.next_of(r);
    write.assign(next_u, write.add(write.read(u), write.mul(alpha, write.read(next_p))));
    write.assign(next_r, write.sub(write.read(r), write.mul(alpha, write.read(next_q))));
    const Value rest = write.norm_of("rest", write.read(next_r));
    std::vector<ExchangedFields> exchanged =
        write.end_iteration({{p, next_p}, {q, next_q}, {r, next_r}, {u, next_u}});
    write.end_repeat(rest, size);
    return exchanged;
}

}  // namespace halo::sema
