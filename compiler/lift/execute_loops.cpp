// for loops: over an axis, over time, or iterations to be written out.
#include <algorithm>
#include <set>
#include <tuple>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;

constexpr std::int64_t kMaxIterations = 1024;  // of loops that are written out

}  // namespace

// Checks that a loop's bound stays the same: C computes it anew in each iteration.
void Executor::check_bound(const c::Statement& loop, const Header& header,
                           const std::vector<int>& changed) const {
    for (const int id : changed) {
        if (id != header.variable && (mentions(loop.expr, id) || mentions(loop.step, id)))
            throw Refusal(
                expr(loop.expr).where,
                "`" + variable(id).name + "` is changed in this loop, and with it how far the loop goes");
    }
}

Executor::Header Executor::read_header(const c::Statement& loop) {
    Header header;
    header.reads_first = loop.reads_first;
    header.where = {loop.where.begin, loop.where.begin};
    if (loop.statements[1] >= 0) header.where.end = statement(loop.statements[1]).where.begin;
    if (header.where.end > header.where.begin) --header.where.end;
    Polynomial start;
    bool is_grid_stride = false;
    read_start(loop, header, start);
    read_step(loop, header, start, is_grid_stride);
    if (is_grid_stride) start = 0;
    read_condition(loop, header, start);
    header.name = variable(header.variable).name;
    return header;
}

void Executor::read_start(const c::Statement& loop, Header& header, Polynomial& start) {
    if (loop.statements[0] < 0) throw Refusal(header.where, "where this loop starts is not said in it");
    const c::Statement& init = statement(loop.statements[0]);
    if (init.kind == c::Statement::Kind::declare && init.variables.size() == 1) {
        header.variable = init.variables[0];
        if (!declared_.empty()) declared_.back().insert(header.variable);
        const int from = variable(header.variable).init;
        if (from < 0) throw Refusal(header.where, "where this loop starts is not said in it");
        start = window_bound(from, "where the loop starts", true, header.cut_low);
    } else if (init.kind == c::Statement::Kind::expression && expr(init.expr).kind == ExprKind::assign &&
               expr(init.expr).text == "=" && expr(expr(init.expr).operands[0]).kind == ExprKind::variable) {
        header.variable = expr(expr(init.expr).operands[0]).variable;
        start = window_bound(expr(init.expr).operands[1], "where the loop starts", true, header.cut_low);
    } else {
        throw Refusal(header.where, "this loop counts several variables, or none");
    }
    header.parallel = variable(header.variable).is_unordered && !has(Mutation::keep_turn);
    if (!is_integer_type(variable(header.variable).type))
        throw Refusal(header.where, "the variable of this loop is no integer");
    const c::Variable& counter = variable(header.variable);
    if (counter.storage == c::Variable::Storage::global || counter.is_static)
        throw Refusal(header.where,
                      "`" + counter.name + "` outlives the function: counting with it is a side effect");
}

void Executor::read_step(const c::Statement& loop, Header& header, const Polynomial& start,
                         bool& is_grid_stride) {
    if (loop.step < 0) throw Refusal(header.where, "by how much this loop counts is not said in it");
    const c::Expr& step = expr(loop.step);
    const bool counts = !step.operands.empty() && expr(step.operands[0]).kind == ExprKind::variable &&
                        expr(step.operands[0]).variable == header.variable;
    if (!counts) throw Refusal(step.where, "this loop counts another variable than it starts with");
    if (step.kind == ExprKind::step) {
        header.step = step.text.find("++") != std::string::npos ? 1 : -1;
        return;
    }
    std::optional<Polynomial> by;
    if (step.operands.size() > 1 &&
        (mentions(step.operands[1], header.variable) || has_effects(step.operands[1])))
        throw Refusal(step.where, "by how much this loop counts is computed anew in each iteration");
    if (step.kind == ExprKind::assign && (step.text == "+=" || step.text == "-="))
        by = integer(step.operands[1]);
    if (!by) throw Refusal(step.where, "by how much this loop counts is not known");
    if (unit_.is_cuda) {  // for (i = thread; i < n; i += threads): each cell once, in no order
        for (const auto& [axis, id] : threads_) {
            const auto size = symbols_.find("blockDim." + axis), grid = symbols_.find("gridDim." + axis);
            if (size == symbols_.end() || grid == symbols_.end()) continue;
            const Polynomial all = Polynomial::symbol(size->second) * Polynomial::symbol(grid->second);
            if (*by == all && start == Polynomial::symbol(model_.loop(id).symbol)) {
                is_grid_stride = header.parallel = true;
                header.step = 1;
                striding_.insert(id);  // it replaces the loop over threads
                return;
            }
        }
    }
    if (!by->constant()) throw Refusal(step.where, "by how much this loop counts is not known");
    header.step = step.text == "+=" ? *by->constant() : -*by->constant();
    if (header.step == 0) throw Refusal(step.where, "this loop never ends");
}

void Executor::read_condition(const c::Statement& loop, Header& header, const Polynomial& start) {
    if (loop.expr < 0) throw Refusal(header.where, "where this loop ends is not said in it");
    const c::Expr* condition = &expr(loop.expr);
    while (condition->kind == ExprKind::convert)
        condition = &expr(condition->operands[0]);
    if (condition->kind != ExprKind::binary)
        throw Refusal(condition->where, "where this loop ends is not a comparison");
    const Span counted = span_of(number_of(variable(header.variable).type));
    bool becomes_unsigned = counted.low == 0;
    std::int64_t ahead = 0;  // of i + 1 < n: 1
    const auto names_it = [&](int id) {
        for (;; id = expr(id).operands[0]) {
            if (is_sum(expr(id)))
                ahead += *known_integer(expr(id).operands[1], "where the loop ends").constant();
            else if (expr(id).kind != ExprKind::convert)
                break;
            const Span all = span_of(number_of(expr(id).type));
            if (is_integer_type(expr(id).type) && all.low == 0) becomes_unsigned = true;
            if (!is_integer_type(expr(id).type) || all.high < counted.high) return false;
        }
        return expr(id).kind == ExprKind::variable && expr(id).variable == header.variable;
    };
    std::string op = condition->text;
    const bool is_left = names_it(condition->operands[0]);
    if (!is_left) ahead = 0;
    if (!is_left && !names_it(condition->operands[1]))
        throw Refusal(condition->where,
                      "where this loop ends is not a comparison of its variable with a number");
    if (!is_left) op = op == "<" ? ">" : op == "<=" ? ">=" : op == ">" ? "<" : op == ">=" ? "<=" : op;
    const int other = condition->operands[is_left ? 1 : 0];
    if (mentions(other, header.variable) || has_effects(loop.expr))
        throw Refusal(condition->where, "where this loop ends is computed anew in each iteration");
    const Polynomial bound = window_bound(other, "where the loop ends", false, header.cut_high) - ahead;
    header.descending = header.step < 0;
    const bool counts_up = header.step > 0 && (op == "<" || op == "<=") && !header.cut_high;
    if (ahead != 0 && !counts_up)
        throw Refusal(condition->where,
                      "where this loop ends is not a comparison of its variable with a number");
    if (!header.descending && (op == "<" || op == "<=" || op == "!=")) {
        header.lower = start;
        header.upper = op == "<=" && !has(Mutation::drop_equal) ? bound + 1 : bound;
        if (has(Mutation::shorten_loop)) header.upper = header.upper - 1;
    } else if (header.descending && (op == ">" || op == ">=" || op == "!=")) {
        header.lower = op == ">=" ? bound : bound + 1;
        header.upper = start + 1;
    } else {
        throw Refusal(condition->where, "this loop counts away from where it ends");
    }
    const bool is_cut = header.cut_low || header.cut_high;
    if (is_cut && (header.step != 1 || op == "!="))
        throw Refusal(condition->where,
                      "a loop around a cell that is cut off at an edge is lifted where it "
                      "counts up by one, to `<` or `<=`");
    if (header.cut_high && op == "<=") header.cut_high = *header.cut_high + 1;
    const auto natural = [&](const Polynomial& poly) { return is_never_negative(poly, loops_around()); };
    const bool starts_below = start.constant() && *start.constant() < 0;
    if (becomes_unsigned && (counted.low < 0 ? !natural(header.lower) : starts_below))
        throw Refusal(condition->where,
                      "this loop counts from below zero and is compared as an unsigned number");
    if (becomes_unsigned && header.descending && op == ">=" && !natural(header.lower + header.step))
        throw Refusal(condition->where, "an unsigned number that counts down never goes below zero");
    const bool is_narrow = counted.high < 0x1p31 - 1;
    if (is_narrow && (span(header.lower + std::min<std::int64_t>(header.step, 0)).low < counted.low ||
                      span(header.upper + std::max<std::int64_t>(header.step, 0)).high > counted.high))
        throw Refusal(header.where, "this loop may go further than its variable can count");
    const auto has_loop = [&](const Polynomial& poly) {
        const std::vector<int> around = loops_around();
        return std::any_of(around.begin(), around.end(),
                           [&](int each) { return poly.has(model_.loop(each).symbol); });
    };
    if (counted.low == 0 && has_loop(header.lower) && !natural(header.lower))
        throw Refusal(condition->where, "this unsigned number begins at one that may be below zero");
    if (op == "!=" && header.step != 1 && header.step != -1)
        throw Refusal(condition->where, "this loop may count past where it ends");
    for (const int each : loops_around()) {
        const Loop& around = model_.loop(each);
        const bool depends = header.lower.has(around.symbol) || header.upper.has(around.symbol);
        const auto count = (header.upper - header.lower).constant();
        if (depends && count && *count <= kMaxIterations && !around.is_time)
            header.is_window = true;
        else if (depends)
            throw Refusal(condition->where, "how far this loop goes depends on `" + around.name +
                                                "`: what is computed is no box of cells");
    }
    if (is_cut && !header.is_window)
        throw Refusal(condition->where, "this loop is cut off at an edge, and is none around a cell");
}

// How a loop that has to be written out can be lifted.
std::vector<std::string> Executor::assume_notes(const Polynomial& count) const {
    std::vector<std::string> notes{
        "sums and largest values over a loop by itself are lifted, as a spec's `reduce`, where they are read "
        "after it alone"};
    for (const Scalar& each : model_.scalars) {
        if (each.symbol < 0 || !count.has(each.symbol)) continue;
        notes.insert(notes.begin(), "a sum over neighbours is lifted for one number of them: --assume " +
                                        each.access + "=4, or what it is");
        break;
    }
    return notes;
}

int Executor::add_loop(const Header& header) {
    Loop made;
    made.symbol = index_symbol(header.name, header.where);
    made.name = header.name;
    made.lower = header.lower;
    made.upper = header.upper;
    made.descending = header.descending;
    made.parallel = header.parallel;
    made.reads_first = header.reads_first;
    made.where = header.where;
    model_.loops.push_back(made);
    return static_cast<int>(model_.loops.size()) - 1;
}

void Executor::run_body(const c::Statement& loop, const Header& header, int loop_id) {
    const Polynomial index = Polynomial::symbol(model_.loop(loop_id).symbol);
    const Value counter = Value::of(whole(index, number_of(variable(header.variable).type), header.where));
    state_.variables[header.variable] = counter;
    state_.loops.push_back(loop_id);
    state_.bounds[loop_id] = {{header.lower}, {header.upper}};
    run_isolated(loop.statements[1], open_loops_ + 1);
    state_.left = false;
    if (state_.variables[header.variable] != counter)
        throw Refusal(header.where, "`" + header.name + "` is changed in its own loop");
    state_.loops.erase(std::find(state_.loops.begin(), state_.loops.end(), loop_id));
    state_.bounds.erase(loop_id);
    state_.variables[header.variable] = Value::none("`" + header.name + "` is what its loop left in it");
}

Executor::BodyEffects Executor::effects_of_body(const State& before, int loop_id) const {
    BodyEffects body;
    const int symbol = model_.loop(loop_id).symbol;
    for (std::size_t i = before.stores.size(); i < state_.stores.size(); ++i) {
        const Store& store = state_.stores[i];
        body.stores = true;
        const bool moves = std::any_of(store.path.begin(), store.path.end(),
                                       [&](const PathEntry& entry) { return entry.index.has(symbol); });
        body.moves = body.moves || moves;
        if (!moves && !body.stays) body.staying = store.where;
        body.stays = body.stays || !moves;
    }
    for (const auto& [id, held] : before.variables) {
        const auto after = state_.variables.find(id);
        if (after == state_.variables.end() || !(after->second == held)) body.changed.push_back(id);
    }
    for (const auto& [id, held] : state_.variables) {
        const bool is_given =
            variable(id).storage != c::Variable::Storage::local;  // had a value, though unread
        if (!before.variables.count(id) && (is_given || held.kind != Value::Kind::nothing))
            body.changed.push_back(id);
    }
    return body;
}

bool Executor::can_unroll(const Header& header) {
    const auto count = (header.upper - header.lower).constant();
    return count && !header.reads_first &&
           *count / std::max<std::int64_t>(1, std::abs(header.step)) <= kMaxIterations;
}

void Executor::run_loop(const c::Statement& loop) {
    const Header header = read_header(loop);
    if (header.is_window) {
        run_unrolled(loop, header);
        return;
    }
    if (block_ && !block_->is_probe && waits(loop.statements[1])) {
        run_waiting_loop(loop, header);
        return;
    }
    const State before = state_;
    const int loop_id = add_loop(header);
    const auto where = std::tuple(rest_, open_loops_, active_, declared_);
    const std::size_t reads_before = model_.reads.size();
    BodyEffects body;
    bool is_written_out = false;
    try {
        run_body(loop, header, loop_id);
        body = effects_of_body(before, loop_id);
        check_bound(loop, header, body.changed);
        is_written_out =
            can_unroll(header) && (mirrors_cells(before, reads_before, loop_id) || writes_shared(before));
    } catch (const Refusal& refusal) {
        const bool may_help = refusal.unrolling_may_help || fills_shared(loop);
        if (!may_help || !can_unroll(header)) throw;
        is_written_out = true;
    }
    if (is_written_out) {
        state_ = before;
        std::tie(rest_, open_loops_, active_, declared_) = where;
        run_unrolled(loop, header);
        return;
    }
    if (writes_shared(before))
        throw Refusal(header.where,
                      "shared memory is written in each iteration of this loop, and how many they are is not "
                      "known before");
    const int time_loop = model_.time_loop;
    const std::map<int, int> after_step = model_.after_step;
    try {
        run_as_found(loop, header, before, loop_id, body);
    } catch (const Refusal&) {  // a loop that carries something along is one over cells all the same
        const auto restore = [&] {
            state_ = before;
            std::tie(rest_, open_loops_, active_, declared_) = where;
            model_.time_loop = time_loop;
            model_.after_step = after_step;
            model_.loops[static_cast<std::size_t>(loop_id)].is_time = false;
        };
        restore();
        try {
            if (body.stores && march(loop, header, before)) return;
        } catch (const Refusal&) {  // what was said first is nearer to the text
        }
        restore();
        throw;
    }
}

// Executes the loop as what its body has shown it to be.
void Executor::run_as_found(const c::Statement& loop, const Header& header, const State& before, int loop_id,
                            const BodyEffects& body) {
    const bool changes_cells = state_.cells != before.cells;
    if (!body.stores) {
        const bool is_idle = body.changed.empty() && !changes_cells;
        if (is_idle) return;
        const bool only_itself =
            !changes_cells && body.changed.size() == 1 && body.changed[0] == header.variable;
        if (only_itself) return;
        const bool accumulates = !header.parallel && std::any_of(body.changed.begin(), body.changed.end(),
                                                                 [this](int id) { return is_result(id); });
        if (!can_unroll(header) && !accumulates)
            throw Refusal(header.where,
                          "this loop accumulates over cells, and how many they are is not known before",
                          assume_notes(header.upper - header.lower));
        if (!accumulates) {
            state_ = before;
            run_unrolled(loop, header);
            return;
        }
    } else if (!body.moves) {
        if (header.parallel)
            throw Refusal(body.staying,
                          "each iteration of this loop stores this at the same cell, and they have no order");
        run_time_loop(loop, header, before, loop_id, body);
        return;
    }
    if (body.stays)
        throw Refusal(body.staying, "this is stored at the same cell in every iteration of the loop over `" +
                                        header.name + "`");
    if (header.step != 1 && header.step != -1)
        throw Refusal(header.where,
                      "this loop leaves out cells: it counts by " + std::to_string(header.step));
    std::vector<int> carried = body.changed;
    std::erase(carried, header.variable);
    auto forgotten = changed_cells(before);
    if (carried.empty() && forgotten.empty()) return;
    // The body runs again without values in the variables that it changes: a read before an assignment is
    // then a dependence between cells, which is refused. And again, where it changes others then: what the
    // first iteration happens to leave as it is.
    for (bool is_all = false; !is_all;) {
        state_ = before;
        forget_cells(forgotten);
        for (const int id : carried) {
            if (is_result(id) && !header.parallel)
                state_.variables[id] = Value::of(running(id, header.where));
            else
                state_.variables[id] = Value::none(
                    "`" + variable(id).name + "` has a value from the iteration of the loop over `" +
                    header.name +
                    "` before: it is carried from cell to cell (sums over cells are a spec's `reduce`)");
        }
        run_body(loop, header, loop_id);
        is_all = !add_changed(before, loop_id, header, carried, forgotten);
    }
    settle_carried(header, before, carried, loop_id);
    forget_cells(forgotten);
}

// Adds what the body has changed besides: whether there is some.
bool Executor::add_changed(const State& before, int loop_id, const Header& header, std::vector<int>& carried,
                           std::set<std::pair<int, std::int64_t>>& cells) const {
    const std::size_t known = carried.size() + cells.size();
    for (const int id : effects_of_body(before, loop_id).changed)
        if (id != header.variable && std::ranges::count(carried, id) == 0) carried.push_back(id);
    cells.merge(changed_cells(before));
    return carried.size() + cells.size() > known;
}

// The elements of small arrays that are not what they were before.
std::set<std::pair<int, std::int64_t>> Executor::changed_cells(const State& before) const {
    std::set<std::pair<int, std::int64_t>> changed;
    for (const auto& [cell, value] : state_.cells) {
        const auto known = before.cells.find(cell);
        const bool is_kept = known != before.cells.end() && known->second == value;
        if (!is_kept && !is_shared(cell.first)) changed.insert(cell);
    }
    return changed;
}

// An iteration finds what others have left there, which is not known.
void Executor::forget_cells(const std::set<std::pair<int, std::int64_t>>& cells) {
    for (const auto& cell : cells)
        state_.cells[cell] = Value::none("this has a value from another iteration of a loop");
}

void Executor::run_unrolled(const c::Statement& loop, const Header& header) {
    const State begin = state_;
    const bool is_shorter = header.is_window && has(Mutation::shorten_window);
    const std::int64_t count = *(header.upper - header.lower).constant() - (is_shorter ? 1 : 0);
    const std::int64_t step = std::abs(header.step);
    for (std::int64_t k = 0; k < count; k += step) {
        if (++iterations_ > 20'000)
            throw Refusal(header.where, "written out, these loops are too long to be lifted");
        const Polynomial at = header.descending ? header.upper - 1 - k : header.lower + k;
        const Value counter = Value::of(whole(at, number_of(variable(header.variable).type), header.where));
        std::function<void()> iteration = [&] {
            state_.variables[header.variable] = counter;
            run_isolated(loop.statements[1], open_loops_ + 1);
            state_.left = false;
            if (state_.variables[header.variable] != counter)
                throw Refusal(header.where, "`" + header.name + "` is changed in its own loop");
        };
        state_.variables[header.variable] = counter;
        for (const int condition : cut_conditions(header, at))
            iteration = [this, condition, &header, inner = std::move(iteration)] {
                run_where(condition, header.where, inner);
            };
        iteration();
    }
    for (const auto& [id, held] : begin.variables) {
        if (!(state_.variables[id] == held)) check_bound(loop, header, {id});
    }
    state_.variables[header.variable] = Value::none("`" + header.name + "` is what its loop left in it");
}

}  // namespace halo::lift
