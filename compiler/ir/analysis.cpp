#include "compiler/ir/analysis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "compiler/ir/in_place.h"

namespace halo::ir {

namespace {

bool is_let(const Program& program, const Statement& statement) {
    const Assign* assign = std::get_if<Assign>(&statement);
    return assign && program[assign->target].role == Role::intermediate;
}

bool is_reduction(const Statement& statement) {
    return std::holds_alternative<Reduce>(statement);
}

// The accesses of one root after the other. A root costs what it reaches and no more, so programs of many
// statements stay linear.
class AccessWalk {
public:
    explicit AccessWalk(const Program& program)
        : program_(program), seen_by_(program.exprs.size(), 0), uniform_(uniform_exprs(program)) {}

    // The terms of the sums over tables below a root.
    template <class Visit>
    void for_each_sum(ExprId root, Visit&& visit) {
        if (program_.tables.empty()) return;
        for_each_node<TableSum>({root}, [&](const TableSum& sum) {
            visit(sum.value);
            if (sum.factor) visit(*sum.factor);
        });
    }

    template <class Visit>
    void for_each_access(ExprId root, Visit&& visit) {
        for_each_node<Access>({root}, std::forward<Visit>(visit));
    }

    template <class Visit>
    void for_each_access(const std::vector<ExprId>& roots, Visit&& visit) {
        for_each_node<Access>(roots, std::forward<Visit>(visit));
    }

private:
    template <class Node, class Visit>
    void for_each_node(const std::vector<ExprId>& roots, Visit&& visit) {
        ++turn_;
        pending_ = roots;
        while (!pending_.empty()) {
            const ExprId id = pending_.back();
            pending_.pop_back();
            if (uniform_[id.index] || seen_by_[id.index] == turn_) continue;
            seen_by_[id.index] = turn_;
            const Expr& expr = program_[id];
            if (const Node* node = std::get_if<Node>(&expr.node)) visit(*node);
            for_each_operand(expr, [&](ExprId operand) { pending_.push_back(operand); });
        }
    }

    const Program& program_;
    std::vector<std::uint32_t> seen_by_;
    std::vector<bool> uniform_;
    std::vector<ExprId> pending_;
    std::uint32_t turn_ = 0;
};

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

void widen(Margins& margins, const Program& program, const Access& access,
           const std::vector<Margins>& of_field) {
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

Margins narrower(Margins a, const Margins& b) {
    for (std::size_t axis = 0; axis < a.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side)
            a[axis][side] = std::min(a[axis][side], b[axis][side]);
    return a;
}

bool is_at_offset(const Access& access) {
    return access.offset != Offset{};
}

bool is_at_points(const Statement& statement) {
    return std::holds_alternative<Inject>(statement) || std::holds_alternative<Sample>(statement);
}

// By statement: it has a stage of its own, but for the lets that it alone reads.
std::vector<bool> lone_statements(const Program& program) {
    std::vector<bool> result = in_place_statements(program);
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = result[i] || is_at_points(program.statements[i]);
    return result;
}

struct WrittenLevel {
    FieldId field;
    int time = 0;
};
std::optional<WrittenLevel> written_level(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement))
        return WrittenLevel{assign->target, assign->time};
    if (const auto* inject = std::get_if<Inject>(&statement))
        return WrittenLevel{inject->target, inject->time};
    return std::nullopt;
}

// Why one statement comes after another.
struct Dependence {
    int reader = 0;  // the later one
    int writer = 0;
    bool apart = false;    // in a later stage
    bool is_read = false;  // the later one reads the field that the other writes
};

// By statement: the statements of the reductions that it reads.
std::vector<std::vector<int>> reductions_read(const Program& program) {
    std::vector<std::vector<int>> result(program.statements.size());
    const auto is_reference = [](const Expr& expr) {
        return std::holds_alternative<ReductionRef>(expr.node);
    };
    if (std::ranges::none_of(program.exprs, is_reference)) return result;
    std::vector<int> statement_of;
    for (std::size_t i = 0; i < program.statements.size(); ++i)
        if (is_reduction(program.statements[i])) statement_of.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        const std::vector<bool> needed = reachable_exprs(program, roots_of(program.statements[i]));
        for (std::size_t e = 0; e < needed.size(); ++e) {
            const ReductionRef* reference = std::get_if<ReductionRef>(&program.exprs[e].node);
            if (needed[e] && reference) result[i].push_back(statement_of.at(reference->reduction.index));
        }
    }
    return result;
}

class Dependences {
public:
    explicit Dependences(const Program& program)
        : program_(program),
          walk_(program),
          alone_(lone_statements(program)),
          reductions_read_(reductions_read(program)) {}

    // Sorted by reader.
    std::vector<Dependence> find() {
        for (std::size_t i = 0; i < program_.statements.size(); ++i)
            add(static_cast<int>(i));
        return std::move(found_);
    }

private:
    using Level = std::pair<std::uint32_t, int>;

    void add(int i) {
        const Statement& statement = program_.statements[i];
        std::map<Level, bool> reads;  // and whether at an offset
        walk_.for_each_access(roots_of(statement), [&](const Access& access) {
            bool& at_offset = reads[{access.field.index, access.time}];
            at_offset = at_offset || is_at_offset(access);
        });
        // A sum's pass over its table begins when all that its terms read is there: a stage of its own.
        std::vector<ExprId> terms;
        for (const ExprId root : roots_of(statement))
            walk_.for_each_sum(root, [&](ExprId term) { terms.push_back(term); });
        walk_.for_each_access(terms,
                              [&](const Access& access) { reads[{access.field.index, access.time}] = true; });
        for (const auto& [level, at_offset] : reads) {
            for (const int writer : writers_[level])
                found_.push_back({i, writer, at_offset || alone_[writer], true});
            readers_[level].push_back(i);
        }
        for (const int reduction : reductions_read_[i])
            if (reduction < i) found_.push_back({i, reduction, true, false});
        // A reduction runs no earlier than what reads its last value.
        for (int earlier = 0; earlier < i; ++earlier) {
            const std::vector<int>& read = reductions_read_[earlier];
            if (std::ranges::find(read, i) != read.end()) found_.push_back({i, earlier, false, false});
        }
        if (alone_[i]) {
            // All that is neither a let nor later comes first: nothing else is in its stage.
            for (int earlier = 0; earlier < i; ++earlier)
                if (!is_let(program_, program_.statements[earlier]))
                    found_.push_back({i, earlier, true, false});
        } else if (last_alone_ >= 0 && !is_let(program_, statement)) {
            found_.push_back({i, last_alone_, true, false});
        }
        if (alone_[i]) last_alone_ = i;
        const std::optional<WrittenLevel> written = written_level(statement);
        if (!written) return;
        const Level level{written->field.index, written->time};
        if (alone_[i]) {
            // Lets that read what was there before.
            for (const int reader : readers_[level])
                if (reader != i) found_.push_back({i, reader, true, false});
        }
        writers_[level].push_back(i);
    }

    const Program& program_;
    AccessWalk walk_;
    std::vector<bool> alone_;
    std::vector<std::vector<int>> reductions_read_;
    std::map<Level, std::vector<int>> writers_, readers_;
    int last_alone_ = -1;
    std::vector<Dependence> found_;
};

std::vector<Dependence> find_dependences(const Program& program) {
    return Dependences(program).find();
}

// Statements that a result needs: all but lets that no such statement reads.
std::vector<bool> live_statements(const Program& program, const std::vector<Dependence>& dependences) {
    std::vector<bool> live(program.statements.size());
    for (std::size_t i = 0; i < live.size(); ++i)
        live[i] = !is_let(program, program.statements[i]);
    // Dependences come sorted by reader, and readers after what they read.
    for (std::size_t i = dependences.size(); i-- > 0;)
        if (dependences[i].is_read && live[dependences[i].reader]) live[dependences[i].writer] = true;
    return live;
}

// Lets beside a statement that works in place or at points, which has its own cells alone, that others read,
// too: they get a stage before it, with the lets that they need.
std::vector<Stage> without_shared_lets(const Program& program, std::vector<Stage> stages,
                                       const std::vector<Dependence>& dependences) {
    const std::vector<bool> alone = lone_statements(program);
    std::vector<int> stage_of(program.statements.size(), -1);
    for (std::size_t s = 0; s < stages.size(); ++s)
        for (const int statement : stages[s].statements)
            stage_of[statement] = static_cast<int>(s);
    std::vector<bool> shared(program.statements.size());
    AccessWalk walk(program);
    for (std::size_t i = 0; i < shared.size(); ++i) {  // a sum over a table is no work for some cells alone
        if (is_let(program, program.statements[i]))
            walk.for_each_sum(roots_of(program.statements[i]).front(), [&](ExprId) { shared[i] = true; });
    }
    for (std::size_t i = dependences.size(); i-- > 0;) {  // sorted by reader: what a let needs comes after it
        const Dependence& each = dependences[i];
        if (!each.is_read || stage_of[each.reader] < 0 || !is_let(program, program.statements[each.writer]))
            continue;
        const bool here = stage_of[each.reader] == stage_of[each.writer];
        if (!here || shared[each.reader]) shared[each.writer] = true;
    }
    std::vector<Stage> result;
    for (Stage& stage : stages) {
        const bool has_its_cells =
            std::ranges::any_of(stage.statements, [&](int statement) { return alone[statement]; });
        Stage before;
        if (has_its_cells) {
            for (const int statement : stage.statements)
                if (shared[statement]) before.statements.push_back(statement);
            std::erase_if(stage.statements, [&](int statement) { return shared[statement]; });
        }
        if (!before.statements.empty()) result.push_back(std::move(before));
        result.push_back(std::move(stage));
    }
    return result;
}

}  // namespace

bool is_uniform_leaf(const Expr& expr) {
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
    for (std::size_t i = 0; i < program.exprs.size(); ++i) {
        const Expr& expr = program.exprs[i];
        bool is_uniform = is_uniform_leaf(expr);
        for_each_operand(expr, [&](ExprId operand) { is_uniform = is_uniform && uniform[operand.index]; });
        uniform[i] = is_uniform;
    }
    return uniform;
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
    std::visit(
        [&](const auto& node) {
            roots.push_back(node.value);
            if constexpr (requires { node.condition; }) {
                if (node.condition) roots.push_back(*node.condition);
            }
        },
        statement);
    return roots;
}

std::vector<bool> reachable_exprs(const Program& program, const std::vector<ExprId>& roots) {
    std::vector<bool> reachable(program.exprs.size());
    for (ExprId root : roots)
        reachable[root.index] = true;
    for (std::size_t i = program.exprs.size(); i-- > 0;) {  // users come after their operands
        if (!reachable[i]) continue;
        for_each_operand(program.exprs[i], [&](ExprId operand) { reachable[operand.index] = true; });
    }
    return reachable;
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
                const int side = access.offset[axis] < 0 ? 0 : 1;
                if (field.boundary[axis][side].kind == BoundaryKind::free) continue;
                int& halo = field.halo[axis][side];
                halo = std::max(halo, std::abs(access.offset[axis]));
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
                const bool faces_formula = field.boundary[axis][1 - side].kind == BoundaryKind::formula;
                if (face.kind == BoundaryKind::mirror && faces_formula)
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

void infer_margins(Program& program) {
    std::vector<Margins> of_field(program.fields.size(), Margins{});
    std::vector<bool> written(program.fields.size());
    AccessWalk walk(program);
    for (Statement& statement : program.statements) {
        Margins margins{};
        walk.for_each_access(roots_of(statement),
                             [&](const Access& access) { widen(margins, program, access, of_field); });
        if (Assign* assign = std::get_if<Assign>(&statement)) {
            assign->margins = margins;
            const bool chooses = !assign->region.is_whole() || assign->condition.has_value();
            const bool again = written[assign->target.index];
            written[assign->target.index] = true;
            Margins& known = of_field[assign->target.index];
            // What chooses its cells leaves the others what they held, and that is their value.
            if (!again) {
                known = chooses ? Margins{} : margins;
            } else if (!chooses) {
                known = narrower(known, margins);
            }
        } else if (Reduce* reduce = std::get_if<Reduce>(&statement)) {
            reduce->margins = margins;
        }
    }
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

std::vector<Stage> form_stages(const Program& program) {
    const std::vector<Dependence> dependences = find_dependences(program);
    const int count = static_cast<int>(program.statements.size());

    // As early as what a statement reads allows: dependences come sorted by reader.
    std::vector<int> stage_of(count, 0);
    for (const Dependence& dependence : dependences) {
        const int earliest = stage_of[dependence.writer] + (dependence.apart ? 1 : 0);
        stage_of[dependence.reader] = std::max(stage_of[dependence.reader], earliest);
    }
    const int stages = count == 0 ? 0 : 1 + *std::max_element(stage_of.begin(), stage_of.end());

    // Then each let as late as its readers allow, so that it needs no array where one stage alone reads it.
    std::vector<int> latest(count, stages);
    for (std::size_t i = dependences.size(); i-- > 0;) {
        const auto [reader, writer, apart, is_read] = dependences[i];
        // All dependences of later readers are done, so the reader's place is final: settle it the first
        // time.
        if (is_let(program, program.statements[reader]) && latest[reader] < stages) {
            stage_of[reader] = std::max(stage_of[reader], latest[reader]);
        }
        latest[writer] = std::min(latest[writer], stage_of[reader] - (apart ? 1 : 0));
    }
    for (int i = 0; i < count; ++i) {  // lets that read no other statement are no reader above
        if (is_let(program, program.statements[i]) && latest[i] < stages)
            stage_of[i] = std::max(stage_of[i], latest[i]);
    }

    const std::vector<bool> live = live_statements(program, dependences);
    std::vector<Stage> result(stages);
    for (int i = 0; i < count; ++i) {
        if (live[i]) result[stage_of[i]].statements.push_back(i);
    }
    std::erase_if(result, [](const Stage& stage) { return stage.statements.empty(); });
    return without_shared_lets(program, std::move(result), dependences);
}

std::vector<bool> stored_fields(const Program& program, const std::vector<Stage>& stages) {
    std::vector<int> stage_of(program.statements.size(), -1);  // -1: in no stage
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        for (int statement : stages[stage].statements)
            stage_of[statement] = static_cast<int>(stage);
    }
    std::vector<bool> stored(program.fields.size());
    for (std::size_t i = 0; i < program.fields.size(); ++i)
        stored[i] = program.fields[i].role != Role::intermediate;
    for (const Dependence& dependence : find_dependences(program)) {
        if (!dependence.is_read || stage_of[dependence.reader] < 0 ||
            stage_of[dependence.reader] == stage_of[dependence.writer])
            continue;
        stored[written_level(program.statements[dependence.writer])->field.index] = true;
    }
    return stored;
}

}  // namespace halo::ir
