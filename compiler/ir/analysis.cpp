#include "compiler/ir/analysis.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>

#include "compiler/ir/access_walk.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/rewrite.h"
#include "compiler/ir/sweeps.h"
#include "compiler/support/work.h"

namespace halo::ir {

namespace {

bool is_reduction(const Statement& statement) {
    return std::holds_alternative<Reduce>(statement);
}

bool is_written_within_step(const Program& program, const Access& access) {
    const Role role = program[access.field].role;
    return access.time == 0 && (role == Role::intermediate || role == Role::output);
}

// How wide a reader's margin at one face is because of one access. `reach` is how far the access goes past
// the face (negative: away from it); `here` and `opposite` are the margins of what it reads, 0 where that has
// a value everywhere.
int margin_of_read(BoundaryKind kind, int reach, int here, int opposite) {
    int margin = here > 0 ? std::max(0, here + reach) : 0;
    const bool shows_undefined =
        kind == BoundaryKind::free || (kind == BoundaryKind::periodic && opposite > 0);
    if (reach > 0 && shows_undefined) margin = std::max(margin, reach);
    return margin;
}

void widen_margins(Margins& margins, const Program& program, const Access& access,
                   const std::vector<Margins>& of_field) {
    if (access.is_mapped()) return;  // sema sees to it that it has a value in each cell
    const Field& field = program[access.field];
    // A state keeps its old value inside its margins, so its new level has a value everywhere; what is made
    // within the step has none there.
    const Margins& read = is_written_within_step(program, access) ? of_field[access.field.index] : Margins{};
    for (int axis = 0; axis < program.rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const int reach = side == 0 ? -access.offset[axis] : access.offset[axis];
            const int margin = margin_of_read(field.boundary[axis][side].kind, reach, read[axis][side],
                                              read[axis][1 - side]);
            margins[axis][side] = std::max(margins[axis][side], margin);
        }
    }
}

// The least extent of an axis for which a read past a face shows cells that have a value, where `opposite`
// cells at the other face have none; 0 where any will do. `cells` is what a formula needs in any case.
int cells_shown(BoundaryKind kind, int reach, int opposite, int cells) {
    if (reach <= 0 || opposite == 0) return 0;
    if (kind == BoundaryKind::clamp) return 1 + opposite;
    if (kind == BoundaryKind::mirror) return 1 + reach + opposite;
    return kind == BoundaryKind::formula ? cells + opposite : 0;
}

// Raises Face::reach of what an access reads, as `given` has it, for the margins of that.
void need_cells_shown(Program& program, const std::vector<Field>& given, const Access& access,
                      const std::vector<Margins>& of_field) {
    if (!is_written_within_step(program, access) || access.is_mapped()) return;
    for (int axis = 0; axis < program.rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const int past = side == 0 ? -access.offset[axis] : access.offset[axis];
            const Face& face = given[access.field.index].boundary[axis][side];
            const int opposite = of_field[access.field.index][axis][1 - side];
            int& reach = program.fields[access.field.index].boundary[axis][side].reach;
            reach = std::max(reach, cells_shown(face.kind, past, opposite, face.reach));
        }
    }
}

Margins narrower(Margins a, const Margins& b) {
    for (std::size_t axis = 0; axis < a.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side)
            a[axis][side] = std::min(a[axis][side], b[axis][side]);
    return a;
}

}  // namespace

bool is_uniform_leaf(const Expr& expr) {
    // The host computes in double, which does not hold all that i64 does: it only gives the operands.
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool computes = std::holds_alternative<Binary>(expr.node) ||
                          std::holds_alternative<Call>(expr.node) || (unary && unary->op != UnaryOp::convert);
    if (expr.type == Scalar::i64 && computes) return false;
    if (const Coordinate* coordinate = std::get_if<Coordinate>(&expr.node))
        return coordinate->kind == CoordinateKind::extent || coordinate->kind == CoordinateKind::step;
    // Weights of a `param coef` are read where they are used, from constant memory: the host adds nothing to
    // them.
    return !std::holds_alternative<Access>(expr.node) && !std::holds_alternative<CoefElement>(expr.node) &&
           !std::holds_alternative<TableSum>(expr.node) && !std::holds_alternative<TableColumn>(expr.node) &&
           !std::holds_alternative<Noise>(expr.node) && !std::holds_alternative<PointColumn>(expr.node);
}

std::vector<bool> uniform_exprs(const Program& program) {
    std::vector<bool> uniform(program.exprs.size());
    Work::count(program.exprs.size());
    for (std::size_t i = 0; i < program.exprs.size(); ++i) {
        const Expr& expr = program.exprs[i];
        bool is_uniform = is_uniform_leaf(expr);
        for_each_operand(expr, [&](ExprId operand) { is_uniform = is_uniform && uniform[operand.index]; });
        uniform[i] = is_uniform;
    }
    return uniform;
}

bool changes_with_step(const Expr& expr) {
    const auto* coordinate = std::get_if<Coordinate>(&expr.node);
    return std::holds_alternative<ReductionRef>(expr.node) || std::holds_alternative<Noise>(expr.node) ||
           std::holds_alternative<SeriesValue>(expr.node) ||
           (coordinate != nullptr && coordinate->kind == CoordinateKind::step);
}

bool changes_with_step(const Program& program, ExprId root) {
    return std::ranges::any_of(reached_exprs(program, {root}),
                               [&](std::uint32_t index) { return changes_with_step(program.exprs[index]); });
}

bool reduces(const Program& program) {
    return std::ranges::any_of(program.statements, is_reduction);
}

bool reduces(const Program& program, const Stage& stage) {
    return std::ranges::any_of(stage.statements,
                               [&](int statement) { return is_reduction(program.statements[statement]); });
}

std::size_t given_columns(const Table& table) {
    const auto computed = std::ranges::find_if(
        table.columns, [](const Table::Column& column) { return column.value.has_value(); });
    return static_cast<std::size_t>(computed - table.columns.begin());
}

std::vector<ExprId> roots_of(const Statement& statement) {
    std::vector<ExprId> roots;
    visit_roots(statement, [&](ExprId root) { roots.push_back(root); });
    return roots;
}

std::vector<bool> reachable_exprs(const Program& program, const std::vector<ExprId>& roots) {
    std::vector<bool> reachable(program.exprs.size());
    Work::count(program.exprs.size());
    for (ExprId root : roots)
        reachable[root.index] = true;
    for (std::size_t i = program.exprs.size(); i-- > 0;) {  // users come after their operands
        if (!reachable[i]) continue;
        for_each_operand(program.exprs[i], [&](ExprId operand) { reachable[operand.index] = true; });
    }
    return reachable;
}

bool is_of_sums_and_products(const Program& program, ExprId value) {
    return std::ranges::all_of(reached_exprs(program, {value}), [&](std::uint32_t index) {
        const Expr& expr = program.exprs[index];
        if (expr.type != Scalar::f32 && expr.type != Scalar::f64) return false;
        if (const auto* binary = std::get_if<Binary>(&expr.node))
            return binary->op == BinaryOp::add || binary->op == BinaryOp::sub || binary->op == BinaryOp::mul;
        if (const auto* unary = std::get_if<Unary>(&expr.node)) return unary->op == UnaryOp::negate;
        return std::holds_alternative<Fma>(expr.node) || std::holds_alternative<Access>(expr.node) ||
               std::holds_alternative<Constant>(expr.node) || std::holds_alternative<ParamRef>(expr.node) ||
               std::holds_alternative<CoefElement>(expr.node);
    });
}

std::vector<std::uint32_t> reached_exprs(const Program& program, const std::vector<ExprId>& roots) {
    std::vector<std::uint32_t> reached;
    std::unordered_set<std::uint32_t> seen;
    const auto reach = [&](ExprId id) {
        if (seen.insert(id.index).second) reached.push_back(id.index);
    };
    for (const ExprId root : roots)
        reach(root);
    for (std::size_t next = 0; next < reached.size(); ++next)
        for_each_operand(program.exprs[reached[next]], reach);
    Work::count(reached.size());
    std::ranges::sort(reached);
    return reached;
}

std::set<Level> levels_read(const Program& program, const std::vector<ExprId>& roots) {
    std::set<Level> levels;
    for (const std::uint32_t index : reached_exprs(program, roots))
        if (const auto* access = std::get_if<Access>(&program.exprs[index].node))
            levels.insert({access->field, access->time});
    return levels;
}

bool reads(const Program& program, const std::vector<ExprId>& roots, FieldId field, std::optional<int> time) {
    return std::ranges::any_of(reached_exprs(program, roots), [&](std::uint32_t i) {
        const auto* access = std::get_if<Access>(&program.exprs[i].node);
        return access != nullptr && access->field == field && (!time || access->time == *time);
    });
}

bool reads(const Program& program, const Statement& statement, FieldId field, std::optional<int> time) {
    return reads(program, roots_of(statement), field, time);
}

const std::vector<std::uint32_t>& ReachWalk::from(const std::vector<ExprId>& roots) {
    ++turn_;
    reached_.clear();
    const auto reach = [&](ExprId id) {
        if (std::exchange(seen_by_[id.index], turn_) != turn_) reached_.push_back(id.index);
    };
    for (const ExprId root : roots)
        reach(root);
    for (std::size_t next = 0; next < reached_.size(); ++next)
        for_each_operand(program_.exprs[reached_[next]], reach);
    Work::count(reached_.size());
    std::sort(reached_.begin(), reached_.end());
    return reached_;
}

void infer_halos(Program& program) {
    for (Field& field : program.fields)
        field.halo = {};
    AccessWalk walk(program);
    for (const Statement& statement : program.statements) {
        walk.for_each_access(roots_of(statement), [&](const Access& access) {
            Field& field = program.fields[access.field.index];
            for (int axis = 0; axis < program.rank(); ++axis) {
                const std::array<int, 2> past = past_faces(access, axis);
                for (int side = 0; side < 2; ++side) {
                    if (field.boundary[axis][side].kind == BoundaryKind::free) continue;
                    int& halo = field.halo[axis][side];
                    halo = std::max(halo, past[static_cast<std::size_t>(side)]);
                }
            }
        });
    }
}

bool has_formula(const Field& field) {
    for (const auto& faces : field.boundary)
        for (const Face& face : faces)
            if (face.kind == BoundaryKind::formula && !face.ghosts.empty()) return true;
    return false;
}

void infer_reaches(Program& program) {
    AccessWalk walk(program);
    for (Field& field : program.fields) {
        for (int axis = 0; axis < program.rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                Face& face = field.boundary[axis][side];
                face.reach = 0;
                const bool faces_formula = field.image(axis, 1 - side).shows == rt::ImageMap::Shows::formula;
                if (field.image(axis, side).reflects() && faces_formula)
                    face.reach = field.halo[axis][side] + 1;
                if (face.kind != BoundaryKind::formula) continue;
                for (std::size_t ghost = 0; ghost < face.ghosts.size(); ++ghost) {
                    const int distance = static_cast<int>(ghost) + 1;
                    walk.for_each_access(face.ghosts[ghost], [&](const Access& access) {
                        const int inward = side == 0 ? access.offset[axis] : -access.offset[axis];
                        face.reach = std::max(face.reach, inward - distance + 1);
                    });
                }
            }
        }
    }
}

namespace {

class MarginInference {
public:
    MarginInference(Program& program, const KeepingStatements& keeping)
        : program_(program),
          keeping_(keeping),
          given_(program.fields),
          walk_(program),
          known_{std::vector<Margins>(program.fields.size()), std::vector<bool>(program.fields.size())} {}

    void infer() {
        for (std::size_t i = 0; i < program_.statements.size();) {
            const std::size_t past = end_of_sweep(program_, i);
            if (const LineSweep* sweep = sweep_of(program_.statements[i])) {
                infer_of_sweep(*sweep, i, past);
            } else {
                infer_of(i);
            }
            i = past;
        }
    }

private:
    struct Known {  // of each field
        std::vector<Margins> margins;
        std::vector<bool> written;
    };

    // At the cells before, a statement reads what later ones of the sweep have written there, too: their
    // margins are known when the margins of all no longer grow, after a turn for each statement at most where
    // the sweep reads along its axes alone, as is checked later. Where the sweep begins they hold what was
    // there before.
    void infer_of_sweep(const LineSweep& sweep, std::size_t first, std::size_t past) {
        const Known before = known_;
        const auto along = static_cast<std::size_t>(sweep.axis);
        const std::size_t begin = sweep.upwards ? 0 : 1;
        for (std::size_t turn = first; turn < past; ++turn) {
            const std::vector<Margins> ahead = std::exchange(known_, before).margins;
            for (std::size_t i = first; i < past; ++i) {
                const std::uint32_t target = std::get<Assign>(program_.statements[i]).target.index;
                known_.margins[target] = ahead[target];
                known_.margins[target][along][begin] = before.margins[target][along][begin];
                if (!sweep.inner) continue;  // else it reads cells of the line before on both sides
                const auto within = static_cast<std::size_t>(sweep.inner->axis);
                known_.margins[target][within] = before.margins[target][within];
            }
            for (std::size_t i = first; i < past; ++i)
                infer_of(i);
            if (known_.margins == ahead) break;
        }
    }

    void infer_of(std::size_t index) {
        Statement& statement = program_.statements[index];
        const auto kept = keeping_.find(index);
        Margins margins{};
        walk_.for_each_access(kept == keeping_.end() ? roots_of(statement) : kept->second,
                              [&](const Access& access) {
                                  widen_margins(margins, program_, access, known_.margins);
                                  need_cells_shown(program_, given_, access, known_.margins);
                              });
        if (Assign* assign = std::get_if<Assign>(&statement)) {
            assign->margins = margins;
            const bool chooses = !assign->region.is_whole() || assign->condition.has_value();
            const bool again = known_.written[assign->target.index];
            known_.written[assign->target.index] = true;
            Margins& known = known_.margins[assign->target.index];
            // What chooses its cells leaves the others what they held, and that is their value.
            if (!again) {
                known = chooses ? Margins{} : margins;
            } else if (!chooses && kept == keeping_.end()) {
                known = narrower(known, margins);
            }
        } else if (Reduce* reduce = std::get_if<Reduce>(&statement)) {
            reduce->margins = margins;
        }
    }

    Program& program_;
    const KeepingStatements& keeping_;
    const std::vector<Field> given_;
    AccessWalk walk_;
    Known known_;
};

}  // namespace

void infer_margins(Program& program, const KeepingStatements& keeping) {
    MarginInference(program, keeping).infer();
}

const Margins& margins_of(const Statement& statement) {
    static constexpr Margins kNone{};
    return std::visit(
        [](const auto& node) -> const Margins& {
            if constexpr (requires { node.margins; }) {
                return node.margins;
            } else {
                return kNone;
            }
        },
        statement);
}

std::vector<std::string> own_axes(const Program& program, const Field& field) {
    std::vector<std::string> names;
    for (int axis = 0; axis < program.rank(); ++axis)
        if (field.grid.has(axis)) names.push_back(program.axes[static_cast<std::size_t>(axis)].name);
    return names;
}

}  // namespace halo::ir
