#include "compiler/ir/repeats.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"

namespace halo::ir {

const std::vector<Repeat>& repeats_of(const Statement& statement) {
    static const std::vector<Repeat> none;
    if (const auto* assign = std::get_if<Assign>(&statement)) return assign->repeats;
    const auto* reduce = std::get_if<Reduce>(&statement);
    return reduce == nullptr ? none : reduce->repeats;
}

const Repeat* repeat_of(const Statement& statement) {
    const std::vector<Repeat>& repeats = repeats_of(statement);
    return repeats.empty() ? nullptr : &repeats.back();
}

bool is_within(const Statement& statement, int repeat) {
    return std::ranges::find(repeats_of(statement), repeat, &Repeat::number) != repeats_of(statement).end();
}

namespace {

bool are_repeated_together(const Program& program, std::size_t a, std::size_t b, std::size_t depth) {
    const std::vector<Repeat>& repeats = repeats_of(program.statements[a]);
    const std::vector<Repeat>& others = repeats_of(program.statements[b]);
    return depth < repeats.size() && depth < others.size() && repeats[depth].number == others[depth].number;
}

}  // namespace

std::size_t end_of_repeat(const Program& program, std::size_t first, std::size_t depth) {
    std::size_t past = first + 1;
    while (past < program.statements.size() && are_repeated_together(program, past - 1, past, depth))
        ++past;
    return past;
}

std::size_t first_of_repeat(const Program& program, std::size_t last, std::size_t depth) {
    while (last > 0 && are_repeated_together(program, last - 1, last, depth))
        --last;
    return last;
}

namespace {

// What lies past the faces of one is what lies past those of the other, and no formula.
bool have_same_faces(const Field& a, const Field& b) {
    for (std::size_t axis = 0; axis < a.boundary.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side) {
            const Face &one = a.boundary[axis][side], &other = b.boundary[axis][side];
            if (one.kind != other.kind || one.kind == BoundaryKind::formula) return false;
            if (one.kind == BoundaryKind::fixed && one.value != other.value) return false;
        }
    return true;
}

}  // namespace

std::optional<FieldId> exchanged_with(const Program& program, std::size_t statement) {
    const auto* assign = std::get_if<Assign>(&program.statements[statement]);
    if (assign == nullptr || assign->repeats.empty() || assign->sweep || is_partial(*assign))
        return std::nullopt;
    const auto* read = std::get_if<Access>(&program[assign->value].node);
    if (read == nullptr || !read->is_at_cell() || read->time != 0) return std::nullopt;
    const Field& target = program[assign->target];
    const Field& source = program[read->field];
    if (source.role != Role::intermediate || source.storage != target.storage || source.halo != target.halo)
        return std::nullopt;
    if (interleave(program, assign->target).count() > 1 || !have_same_faces(target, source))
        return std::nullopt;
    const std::size_t depth = assign->repeats.size() - 1;
    const std::size_t past = end_of_repeat(program, statement, depth);
    // Statements after it end the iteration as it does.
    for (std::size_t i = statement + 1; i < past; ++i) {
        const auto* later = std::get_if<Assign>(&program.statements[i]);
        if (later == nullptr || !std::holds_alternative<Access>(program[later->value].node) ||
            !exchanged_with(program, i))
            return std::nullopt;
    }
    for (std::size_t i = first_of_repeat(program, statement, depth); i < past; ++i) {
        if (repeats_of(program.statements[i]).size() > depth + 1) return std::nullopt;
        const auto* other = std::get_if<Assign>(&program.statements[i]);
        if (i < statement && other != nullptr && other->target == assign->target) return std::nullopt;
    }
    return read->field;
}

std::int64_t times_in_step(const Statement& statement) {
    std::int64_t times = 1;
    for (const Repeat& repeat : repeats_of(statement))
        times *= repeat.count;
    return times;
}

std::int64_t iterations_in_step(const Program& program, int repeat) {
    const auto is_its = [&](const Statement& statement) { return is_within(statement, repeat); };
    std::int64_t iterations = 1;
    for (const Repeat& each : repeats_of(*std::ranges::find_if(program.statements, is_its))) {
        iterations *= each.count;
        if (each.number == repeat) break;
    }
    return iterations;
}

bool has_repeats(const Program& program) {
    return std::ranges::any_of(program.statements,
                               [](const Statement& each) { return repeat_of(each) != nullptr; });
}

const RepeatEnd* end_condition(const Program& program, const Repeat& repeat) {
    const auto found = std::ranges::find(program.repeat_ends, repeat.number, &RepeatEnd::repeat);
    return found == program.repeat_ends.end() ? nullptr : &*found;
}

namespace {

// By ReductionId: whether a statement of the repeat finds it.
std::vector<bool> found_by(const Program& program, int repeat) {
    std::vector<bool> is_own;
    for (const Statement& statement : program.statements)
        if (std::holds_alternative<Reduce>(statement)) is_own.push_back(is_within(statement, repeat));
    return is_own;
}

// Whether IEEE 754 says what the node itself gives, to the last bit, in floating point or as a truth.
bool is_exact(const Expr& expr) {
    if (is_integer(expr.type)) return false;
    if (const auto* binary = std::get_if<Binary>(&expr.node))
        return binary->op != BinaryOp::floor_div && binary->op != BinaryOp::floor_mod;
    if (const auto* coordinate = std::get_if<Coordinate>(&expr.node))
        return coordinate->kind == CoordinateKind::extent;
    if (const auto* call = std::get_if<Call>(&expr.node)) {
        constexpr std::array kExact{Function::sqrt, Function::abs,   Function::floor,
                                    Function::ceil, Function::round, Function::trunc};
        return std::ranges::find(kExact, call->function) != kExact.end();
    }
    return std::holds_alternative<Constant>(expr.node) || std::holds_alternative<ParamRef>(expr.node) ||
           std::holds_alternative<ReductionRef>(expr.node) || std::holds_alternative<Unary>(expr.node) ||
           std::holds_alternative<Fma>(expr.node) || std::holds_alternative<Select>(expr.node);
}

}  // namespace

bool may_end_on_device(const Program& program, const Repeat& repeat) {
    if (end_condition(program, repeat) == nullptr || program.window.is_part()) return false;
    const std::vector<bool> is_own = found_by(program, repeat.number);
    const std::vector<bool> uniform = uniform_exprs(program);
    // Of uniform expressions, operands first: whether they follow from the repeat's reductions, and are
    // exact.
    std::vector<bool> follows(program.exprs.size()), exact(program.exprs.size());
    for (std::size_t e = 0; e < program.exprs.size(); ++e) {
        const Expr& expr = program.exprs[e];
        const auto* read = std::get_if<ReductionRef>(&expr.node);
        follows[e] = read != nullptr && is_own[read->reduction.index];
        exact[e] = is_exact(expr);
        for_each_operand(expr, [&](ExprId operand) {
            follows[e] = follows[e] || follows[operand.index];
            exact[e] = exact[e] && exact[operand.index];
        });
    }
    int last = repeat.number;
    return std::ranges::all_of(program.statements, [&](const Statement& statement) {
        if (!is_within(statement, repeat.number)) return true;
        // Of a repeat within this one its first statement is asked.
        const Repeat& own = *repeat_of(statement);
        const bool is_inner = std::exchange(last, own.number) != own.number && own.number != repeat.number;
        if (is_inner && end_condition(program, own) != nullptr && !may_end_on_device(program, own))
            return false;
        const std::vector<std::uint32_t> reached = reached_exprs(program, roots_of(statement));
        return std::ranges::all_of(reached,
                                   [&](std::uint32_t e) { return !uniform[e] || !follows[e] || exact[e]; });
    });
}

std::vector<ReductionId> reductions_of(const Program& program, const RepeatEnd& end) {
    std::vector<ReductionId> read;
    for (const std::uint32_t e : reached_exprs(program, {end.until})) {
        const auto* reference = std::get_if<ReductionRef>(&program.exprs[e].node);
        if (reference != nullptr && std::ranges::find(read, reference->reduction) == read.end())
            read.push_back(reference->reduction);
    }
    std::ranges::sort(read);
    return read;
}

std::vector<ReductionId> own_reductions_of(const Program& program, const RepeatEnd& end) {
    std::vector<ReductionId> own;
    const std::vector<ReductionId> read = reductions_of(program, end);
    ReductionId id;
    for (const Statement& statement : program.statements) {
        if (!std::holds_alternative<Reduce>(statement)) continue;
        if (is_within(statement, end.repeat) && std::ranges::find(read, id) != read.end()) own.push_back(id);
        ++id.index;
    }
    return own;
}

std::vector<std::string> own_reductions(const Program& program, const RepeatEnd& end) {
    std::vector<std::string> all, names;
    for (const Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<Reduce>(&statement)) all.push_back(reduce->name);
    for (const ReductionId id : own_reductions_of(program, end))
        names.push_back(all[id.index]);
    return names;
}

bool is_within_another(const Program& program, const RepeatEnd& end) {
    const auto is_it = [&](const Statement& statement) { return is_within(statement, end.repeat); };
    const auto statement = std::ranges::find_if(program.statements, is_it);
    return statement != program.statements.end() && repeats_of(*statement).front().number != end.repeat;
}

std::int64_t most_iterations(const Program& program, const RepeatEnd& end) {
    for (const Statement& statement : program.statements) {
        const auto found = std::ranges::find(repeats_of(statement), end.repeat, &Repeat::number);
        if (found != repeats_of(statement).end()) return found->count;
    }
    return 0;
}

}  // namespace halo::ir
