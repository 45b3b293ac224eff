// Which statements one sweep computes: dependences between statements, and the stages that they leave.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "compiler/ir/access_walk.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/sweeps.h"

namespace halo::ir {

namespace {

bool is_let(const Program& program, const Statement& statement) {
    const Assign* assign = std::get_if<Assign>(&statement);
    return assign && program[assign->target].role == Role::intermediate;
}

bool is_at_offset(const Access& access) {
    return !access.is_at_cell();
}

bool is_at_points(const Statement& statement) {
    return std::holds_alternative<Inject>(statement) || std::holds_alternative<Sample>(statement);
}

// By statement: it has a stage of its own, but for the lets that it alone reads and what is done for the same
// cells (SharedCells).
std::vector<bool> lone_statements(const Program& program) {
    std::vector<bool> result = in_place_statements(program);
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = result[i] || is_at_points(program.statements[i]);
    return result;
}

std::optional<Level> written_level(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement)) return Level{assign->target, assign->time};
    if (const auto* inject = std::get_if<Inject>(&statement)) return Level{inject->target, inject->time};
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
        if (std::holds_alternative<Reduce>(program.statements[i]))
            statement_of.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        for (const std::uint32_t e : reached_exprs(program, roots_of(program.statements[i]))) {
            const ReductionRef* reference = std::get_if<ReductionRef>(&program.exprs[e].node);
            if (reference) result[i].push_back(statement_of.at(reference->reduction.index));
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
          cells_(program, in_place_statements(program)),
          reductions_read_(reductions_read(program)),
          are_for_all_steps_(std::ranges::all_of(
              program.statements, [](const Statement& statement) { return steps_of(statement).is_all(); })) {}

    // Sorted by reader.
    std::vector<Dependence> find() {
        for (std::size_t i = 0; i < program_.statements.size(); ++i)
            add(static_cast<int>(i));
        return std::move(found_);
    }

private:
    void add(int i) {
        if (i < past_sweep_) {  // in the stage of the sweep's first statement, which came with all others
            found_.push_back({i, first_of_sweep_, false, false});
            last_alone_ = i;
            return;
        }
        first_of_sweep_ = i;
        past_sweep_ = static_cast<int>(end_of_sweep(program_, static_cast<std::size_t>(i)));
        for (int member = i; member < past_sweep_; ++member)
            add_reads(i, member);
        add_order(i);
        add_repeat(i);
        for (int member = i; member < past_sweep_; ++member)
            add_write(i, member);
    }

    // All before a repeat is done when it begins, lets too, and nothing after it begins before it ends.
    void add_repeat(int i) {
        const auto is_apart = [&](int a, int b) {
            const auto& repeats = repeats_of(program_.statements[a]);
            const auto& others = repeats_of(program_.statements[b]);
            return !std::ranges::equal(repeats, others, {}, &Repeat::number, &Repeat::number);
        };
        if (i > 0 && is_apart(i - 1, i)) first_together_ = i;
        for (int earlier = 0; earlier < first_together_; ++earlier)
            found_.push_back({i, earlier, true, false});
    }

    // What statement `member` reads comes before statement `i`.
    void add_reads(int i, int member) {
        const Statement& statement = program_.statements[member];
        std::map<Level, bool> reads;  // and whether at an offset
        walk_.for_each_access(roots_of(statement), [&](const Access& access) {
            bool& at_offset = reads[{access.field, access.time}];
            at_offset = at_offset || is_at_offset(access);
        });
        // A sum's pass over its table begins when all that its terms read is there: a stage of its own.
        std::vector<ExprId> terms;
        for (const ExprId root : roots_of(statement))
            walk_.for_each_sum(root, [&](ExprId term) { terms.push_back(term); });
        walk_.for_each_access(terms,
                              [&](const Access& access) { reads[{access.field, access.time}] = true; });
        for (const auto& [level, at_offset] : reads) {
            for (const int writer : writers_[level])
                found_.push_back({i, writer, at_offset || stays_apart(i, writer), true});
            readers_[level].push_back(i);
        }
        for (const int reduction : reductions_read_[member])
            if (reduction < i) found_.push_back({i, reduction, true, false});
    }

    void add_order(int i) {
        const Statement& statement = program_.statements[i];
        // A reduction runs no earlier than what reads its last value.
        for (int earlier = 0; earlier < i; ++earlier) {
            const std::vector<int>& read = reductions_read_[earlier];
            const bool is_apart = grid_factor(program_, program_.statements[earlier]) !=
                                  grid_factor(program_, program_.statements[i]);
            if (std::ranges::find(read, i) != read.end()) found_.push_back({i, earlier, is_apart, false});
        }
        if (alone_[i]) {
            // All that is neither a let nor later comes first: nothing else is in its stage, but for what
            // is done for the same cells.
            for (int earlier = 0; earlier < i; ++earlier)
                if (!is_let(program_, program_.statements[earlier]))
                    found_.push_back({i, earlier, !cells_.are_shared(i, earlier), false});
        } else if (last_alone_ >= 0 && !is_let(program_, statement)) {
            found_.push_back({i, last_alone_, stays_apart(i, last_alone_), false});
        }
        if (alone_[i]) last_alone_ = i;
        add_order_of_other_steps(i);
    }

    // What is done in other steps has stages of its own, in the order of the statements.
    void add_order_of_other_steps(int i) {
        if (are_for_all_steps_ || is_let(program_, program_.statements[i])) return;
        for (int earlier = 0; earlier < i; ++earlier)
            if (is_of_other_steps(i, earlier) && !is_let(program_, program_.statements[earlier]))
                found_.push_back({i, earlier, true, false});
    }

    // What `member` writes comes after what read it before.
    void add_write(int i, int member) {
        const std::optional<Level> written = written_level(program_.statements[member]);
        if (!written) return;
        if (alone_[i]) {
            // Lets that read what was there before.
            for (const int reader : readers_[*written])
                if (reader != i) found_.push_back({i, reader, true, false});
        }
        writers_[*written].push_back(member);
    }

    bool stays_apart(int i, int earlier) const {
        return (alone_[earlier] && !cells_.are_shared(i, earlier)) || is_of_other_steps(i, earlier);
    }
    bool is_of_other_steps(int i, int earlier) const {
        return steps_of(program_.statements[i]) != steps_of(program_.statements[earlier]);
    }

    const Program& program_;
    AccessWalk walk_;
    std::vector<bool> alone_;
    SharedCells cells_;
    std::vector<std::vector<int>> reductions_read_;
    bool are_for_all_steps_ = true;
    std::map<Level, std::vector<int>> writers_, readers_;
    int last_alone_ = -1;
    int first_together_ = 0;  // of the statements so far that are of the same repeats as the last, or of none
    int first_of_sweep_ = 0, past_sweep_ = 0;  // of the statement that was added last
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

// Stages whose statements are alike: kind_of(statement) of all of one stage is the same. Those of different
// kinds read nothing of each other in a stage.
template <class KindOf>
std::vector<Stage> of_one_kind(const std::vector<Stage>& stages, const KindOf& kind_of) {
    std::vector<Stage> result;
    for (const Stage& stage : stages) {
        const auto first = static_cast<std::ptrdiff_t>(result.size());
        for (const int statement : stage.statements) {
            const auto own = std::find_if(result.begin() + first, result.end(), [&](const Stage& other) {
                return kind_of(other.statements.front()) == kind_of(statement);
            });
            if (own == result.end()) {
                result.push_back({{statement}});
            } else {
                own->statements.push_back(statement);
            }
        }
    }
    return result;
}

}  // namespace

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
    result = without_shared_lets(program, std::move(result), dependences);
    result = of_one_kind(result, [&](int i) { return grid_factor(program, program.statements[i]); });
    return of_one_kind(result, [&](int i) { return steps_of(program.statements[i]); });
}

rt::StepRange steps_of(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement)) return assign->within;
    if (const auto* reduce = std::get_if<Reduce>(&statement)) return reduce->within;
    return {};
}

rt::StepRange steps_of(const Program& program, const Stage& stage) {
    return steps_of(program.statements[static_cast<std::size_t>(stage.statements.front())]);
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
