// Executes statements; binds parameters before and checks results afterwards.
#include <algorithm>
#include <set>
#include <type_traits>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {
using c::Number;
using StatementKind = c::Statement::Kind;
}  // namespace

int Executor::symbol(Symbol::Kind kind, const std::string& name) {
    if (kind == Symbol::Kind::builtin) {
        if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second;
        symbols_[name] = static_cast<int>(model_.symbols.size());
    }
    model_.symbols.push_back({kind, name, -1, std::nullopt});
    return static_cast<int>(model_.symbols.size()) - 1;
}

// Rewrites blockIdx.x * blockDim.x + threadIdx.x as the index of one loop over all threads, which run in no
// order.
Polynomial Executor::in_threads(Polynomial poly) {
    if (block_) return in_block(std::move(poly));
    for (const std::string axis : {"x", "y", "z"}) {
        const auto block = symbols_.find("blockIdx." + axis), size = symbols_.find("blockDim." + axis),
                   thread = symbols_.find("threadIdx." + axis);
        if (block == symbols_.end() || size == symbols_.end() || thread == symbols_.end()) continue;
        Polynomial::Monomial product{block->second, size->second};
        std::sort(product.begin(), product.end());
        for (;;) {  // a monomial with the product in it has a partner with the thread in it
            std::optional<Polynomial> factor;
            for (const auto& [monomial, times] : poly.terms()) {
                Polynomial one, pair;
                one.add(monomial, times);
                pair.add(product, 1);
                const auto rest = one.divided_by(pair);
                if (!rest) continue;
                const auto partner = *rest * Polynomial::symbol(thread->second);
                const bool has =
                    std::all_of(partner.terms().begin(), partner.terms().end(),
                                [&](const auto& term) { return poly.of(term.first) == term.second; });
                if (has) factor = *rest;
            }
            if (!factor) break;
            Polynomial launch;
            launch.add(product, 1);
            launch = launch + Polynomial::symbol(thread->second);
            poly = poly - *factor * launch + *factor * thread_index(axis);
        }
    }
    return poly;
}

int Executor::thread_loop(const std::string& axis) {
    if (const auto found = threads_.find(axis); found != threads_.end()) return found->second;
    Loop made;
    made.name = "thread " + axis;
    made.where = unit_.functions[static_cast<std::size_t>(unit_.function)].where;
    made.symbol = index_symbol("thread." + axis, made.where);
    made.lower = block_ ? block_->thread[axis == "x" ? 0 : axis == "y" ? 1 : 2] : 0;
    if (const auto most = limits_.find(axis); most != limits_.end()) made.upper = most->second;
    made.parallel = true;
    const int id = static_cast<int>(model_.loops.size());
    model_.loops.push_back(made);
    threads_[axis] = id;
    return id;
}

std::vector<int> Executor::loops_around() const {
    std::vector<int> loops;
    for (const auto& [axis, id] : threads_) {
        if (!striding_.count(id)) loops.push_back(id);
    }
    loops.insert(loops.end(), state_.loops.begin(), state_.loops.end());
    return loops;
}

Bounds& Executor::bounds_of(int loop) {
    Bounds& bounds = state_.bounds[loop];
    if (bounds.lower.empty()) {
        const Loop& of = model_.loop(loop);
        bounds.lower.push_back(of.lower);
        if (of.parallel && !of.upper.is_zero()) bounds.upper.push_back(of.upper);
    }
    return bounds;
}

Model Executor::run() {
    const c::Function& function = unit_.functions[static_cast<std::size_t>(unit_.function)];
    const bool is_block = function.is_kernel && shares_memory();
    if (is_block) run_block(function);
    while (!is_block) {
        active_.push_back(unit_.function);
        try {
            bind_parameters();
            run_isolated(function.body, 0);
            if (has_end() || !takes_launch()) break;
        } catch (const Refusal&) {
            if (!takes_launch()) throw;
        } catch (const Flattened& found) {
            rows_[found.key] = found.row;
            model_.has_rows = true;
            begin_again();
        }
    }
    finish();
    return std::move(model_);
}

// Symbols, numbers and arrays stay: what is known of the rows is made of them.
void Executor::begin_again() {
    model_.terms.clear();
    model_.reads.clear();
    model_.stores.clear();
    model_.loops.clear();
    model_.reductions.clear();
    model_.needs.clear();
    model_.checks.clear();
    model_.remarks.clear();
    state_ = {};
    active_.clear();
    declared_.clear();
    threads_.clear();
    limits_.clear();
    limit_threads();
    striding_.clear();
    rest_.clear();
    choices_.clear();
    kept_.clear();
    open_loops_ = 0;
}

void Executor::bind_parameters() {
    const c::Function& function = unit_.functions[static_cast<std::size_t>(unit_.function)];
    for (const int parameter : function.parameters) {
        const c::Variable& named = variable(parameter);
        const c::Type& of = type(named.type);
        measure(named.type);
        if (!of.is_reference) continue;
        const c::Type& referred = type(of.element);
        if (referred.kind == c::Type::Kind::number) {  // read alone, as load_variable() does
            state_.variables[parameter] = given_number(parameter);
        } else if (referred.kind == c::Type::Kind::array) {
            Place made;
            made.kind = Place::Kind::element;
            made.variable = parameter;
            made.pointer.object = object(parameter, {}, named.type, named.where);
            made.pointer.type = of.element;
            state_.references[parameter] = made;
        }
    }
}

// Of a number by reference.
Value Executor::given_number(int id) {
    Scalar wanted;
    wanted.name = wanted.access = variable(id).name;
    wanted.number = type(type(variable(id).type).element).number;
    wanted.variable = id;
    wanted.in_memory = true;
    wanted.where = variable(id).where;
    return scalar(wanted);
}

// Evaluates an array's length where its type is named: later changes of the variables in it do not matter.
void Executor::measure(int type_id) {
    for (int at = type_id; at >= 0; at = type(at).element) {
        if (type(at).kind == c::Type::Kind::array && type(at).count_expr >= 0) elements(at);
    }
}

void Executor::run_list(const std::vector<int>& list, std::size_t begin) {
    const std::size_t end = list.size() - (has(Mutation::drop_statement) && list.size() > 1 ? 1 : 0);
    for (std::size_t i = begin; i < end && !state_.left; ++i) {
        const bool forks = may_leave(list[i]);  // the branch then executes what follows on each side
        if (forks) rest_.emplace_back(&list, i + 1);
        if (block_ && block_->is_probe)
            probe_statement(list[i]);
        else
            run_statement(list[i]);
        if (forks) rest_.pop_back();
    }
}

// Executes what follows the current statement, up to the end of the loop's body or function.
void Executor::run_rest() {
    const std::vector<Rest> all = rest_;
    while (!rest_.empty() && !state_.left) {
        const auto [list, begin] = rest_.back();
        rest_.pop_back();
        run_list(*list, begin);
    }
    rest_ = all;
    state_.left = true;
}

// Executes a loop's body or a function: a `continue` or `return` in it skips nothing that follows it.
void Executor::run_isolated(int id, int open_loops) {
    const std::vector<Rest> rest = std::exchange(rest_, {});
    const int loops = std::exchange(open_loops_, open_loops);
    run_statement(id);
    rest_ = rest;
    open_loops_ = loops;
}

// Whether `continue` or `return` may end what the statement is in. A `continue` ends its own loop's body
// alone.
bool Executor::may_leave(int id, bool in_loop) const {
    if (id < 0) return false;
    const c::Statement& each = statement(id);
    if (each.kind == StatementKind::return_statement ||
        (each.kind == StatementKind::continue_statement && !in_loop))
        return true;
    const bool is_loop = each.kind == StatementKind::for_loop || each.kind == StatementKind::while_loop;
    return std::any_of(each.statements.begin(), each.statements.end(),
                       [&](int inner) { return may_leave(inner, in_loop || is_loop); });
}

std::optional<bool> Executor::known_truth(int id) const {
    const Term& from = model_.term(id);
    const auto fixed = from.kind == Term::Kind::integer ? from.poly.constant() : std::nullopt;
    return fixed ? std::optional(*fixed != 0) : std::nullopt;
}

void Executor::run_statement(int id) {
    if (id < 0) return;
    const c::Statement& each = statement(id);
    switch (each.kind) {
        case StatementKind::none:
            return;
        case StatementKind::block:
            run_list(each.statements);
            return;
        case StatementKind::expression: {
            const Value made = value(each.expr);
            const c::Expr::Kind kind = expr(each.expr).kind;
            if (made.kind == Value::Kind::nothing && kind == c::Expr::Kind::unknown)
                throw Refusal(each.where, made.reason);
            return;
        }
        case StatementKind::declare:
            run_declaration(each);
            return;
        case StatementKind::branch:
            run_branch(each);
            return;
        case StatementKind::for_loop:
            run_loop(each);
            return;
        case StatementKind::return_statement:
            if (open_loops_ > 0) throw Refusal(each.where, "the function is left from within this loop");
            if (each.expr >= 0) state_.result = returned(each.expr);
            state_.left = true;
            return;
        case StatementKind::continue_statement:
            state_.left = !has(Mutation::drop_continue);
            return;
        case StatementKind::break_statement:
        case StatementKind::goto_statement:
        case StatementKind::while_loop:
        case StatementKind::unknown:
            throw Refusal(each.where, each.text);
    }
}

void Executor::run_declaration(const c::Statement& declared) {
    for (const int id : declared.variables) {
        const c::Variable& named = variable(id);
        const c::Type& of = type(named.type);
        state_.references.erase(id);
        if (!declared_.empty()) declared_.back().insert(id);
        measure(named.type);
        if (named.is_static && !(named.is_const && named.init >= 0)) continue;
        if (named.is_shared) continue;
        if (of.kind == c::Type::Kind::array) {
            const bool is_list = named.init >= 0 && expr(named.init).kind == c::Expr::Kind::list;
            const bool has_length = of.count || of.count_expr >= 0;
            const std::int64_t size = has_length ? elements(named.type).constant().value_or(0) : 0;
            const bool is_short = size > 0 && size <= 1024;
            const bool is_of_thread = unit_.functions[static_cast<std::size_t>(unit_.function)].is_kernel;
            state_.small[id] =
                is_short && !named.is_const && (is_list || is_of_thread || !state_.loops.empty());
            if (of.is_std_array && named.init >= 0 && !is_list &&
                expr(named.init).kind != c::Expr::Kind::make) {
                set_array(id, value(named.init));
                continue;
            }
            if (!is_list || !is_short || named.is_static) continue;
            std::vector<Value> items;
            flatten(named.init, named.type, items, named.where);
            if (named.is_const) {
                state_.constants[id] = std::move(items);
                continue;
            }
            for (std::size_t i = 0; i < items.size(); ++i)
                state_.cells[{id, static_cast<std::int64_t>(i)}] = std::move(items[i]);
            continue;
        }
        if (of.is_reference && named.init >= 0) {
            bind(id, referred(named.init));
            continue;
        }
        if (named.init < 0) {
            state_.variables.erase(id);
            continue;
        }
        Place to;
        to.variable = id;
        assign(to, value(named.init), named.where);
    }
}

void Executor::run_branch(const c::Statement& branch) {
    const int other = branch.statements.size() > 1 ? branch.statements[1] : -1;
    const int condition = truth(term(branch.expr), branch.where);
    if (const std::optional<bool> decided = known_truth(condition)) {
        run_statement(*decided ? branch.statements[0] : other);
        return;
    }
    for (const bool holds : {true, false}) {
        const int side = holds ? branch.statements[0] : other;
        if (!c::ends_program(unit_, side) || !is_checked(condition, !holds)) continue;
        run_statement(holds ? other : branch.statements[0]);
        return;
    }
    // Where one side may end with `continue` or `return`, both sides execute what follows the branch.
    const bool forks = may_leave(branch.statements[0]) || may_leave(other);
    std::vector<std::size_t> guards;                            // in front of each side
    const bool is_in_front = forks && block_ && waits_ahead();  // of a barrier
    if (is_in_front) check_leaving(branch);
    const auto run_side = [&](int side, bool holds) {
        add_guard(condition, holds, branch.where);
        guards.push_back(state_.guards.size());
        run_statement(side);
        if (is_in_front && !holds) block_->arrivals.push_back(negation(condition, branch.where));
        if (forks && !state_.left) run_rest();
    };
    const State before = state_;
    run_side(branch.statements[0], true);
    State then = state_;
    const std::size_t first_read = model_.reads.size();
    state_ = before;
    state_.stores = then.stores;
    run_side(has(Mutation::drop_else) ? -1 : other, false);
    state_.guards = before.guards;
    state_.bounds = before.bounds;
    join_stores(condition, before, then, first_read, guards);
    merge(condition, before, std::move(then));
}

// Executes what a condition is in front of.
void Executor::run_where(int condition, SourceRange where, const std::function<void()>& body) {
    if (const std::optional<bool> decided = known_truth(condition)) {
        if (*decided) body();
        return;
    }
    const State before = state_;
    add_guard(condition, true, where);
    body();
    State then = state_;
    state_ = before;
    state_.stores = then.stores;
    merge(condition, before, std::move(then));
}

// Where both branches store a number at the same cell, makes one store of a select. first_read: of the
// other branch. guards: how many there are in front of each branch, which has none of its own.
bool Executor::join_stores(int condition, const State& before, const State& then, std::size_t first_read,
                           const std::vector<std::size_t>& guards) {
    const std::size_t at = before.stores.size();
    if (then.stores.size() != at + 1 || state_.stores.size() != at + 2) return false;
    const Store a = state_.stores[at], b = state_.stores[at + 1];
    const bool are_chosen = std::ranges::min(guards) > before.guards.size();
    bool is_same = are_chosen && a.object == b.object && a.path == b.path && a.loops == b.loops &&
                   a.guards.size() == guards[0] && b.guards.size() == guards[1];
    for (const auto& [loop, bounds] : a.bounds)
        is_same = is_same && b.bounds.count(loop) && bounds.lower == b.bounds.at(loop).lower &&
                  bounds.upper == b.bounds.at(loop).upper;
    if (!is_same || model_.term(a.value).type != model_.term(b.value).type) return false;
    Term made;
    made.kind = Term::Kind::select;
    made.type = model_.term(a.value).type;
    made.operands = {condition, a.value, b.value};
    made.where = a.where;
    state_.stores.pop_back();
    state_.stores[at].value = add(made);
    state_.stores[at].guards = before.guards;
    // The other branch's reads come before this one store, not after it.
    for (std::size_t i = first_read; i < model_.reads.size(); ++i)
        model_.reads[i].sequence = std::min(model_.reads[i].sequence, static_cast<int>(at));
    return true;
}

Value Executor::merged(int condition, const Value& then, const Value& otherwise, SourceRange where) {
    if (then == otherwise || has(Mutation::drop_assignment)) return then;
    if (then.kind == Value::Kind::nothing) return then;
    if (otherwise.kind == Value::Kind::nothing) return otherwise;
    if (then.kind == Value::Kind::record && otherwise.kind == Value::Kind::record)
        return merged_records(condition, *then.record, *otherwise.record, where);
    if (then.kind == Value::Kind::place && otherwise.kind == Value::Kind::place) {
        Place made;
        made.kind = Place::Kind::chosen;
        made.condition = condition;
        made.then = then.place;
        made.otherwise = otherwise.place;
        return *then.place == *otherwise.place ? then : Value::of(made);
    }
    if (then.kind == Value::Kind::place) return merged(condition, load(*then.place, where), otherwise, where);
    if (otherwise.kind == Value::Kind::place)
        return merged(condition, then, load(*otherwise.place, where), where);
    if (then.kind != Value::Kind::term || otherwise.kind != Value::Kind::term)
        return Value::none("which array this is depends on a condition");
    const Term a = model_.term(then.term), b = model_.term(otherwise.term);
    if (a.kind == Term::Kind::integer && b.kind == Term::Kind::integer && a.poly == b.poly) return then;
    Term made;
    made.kind = Term::Kind::select;
    made.type = a.type;
    made.operands = {condition, then.term, otherwise.term};
    skip_choices(made);
    made.where = where;
    return Value::of(add(made));
}

// The state holds the other branch.
void Executor::merge(int condition, const State& before, State then) {
    const SourceRange where = model_.term(condition).where;
    // Parameters and globals have a value also where a branch has not set them.
    const auto complete = [&](const std::map<int, Value>& from, std::map<int, Value>& into) {
        for (const auto& [id, held] : from) {
            if (!into.count(id) && variable(id).storage != c::Variable::Storage::local)
                into[id] = given_value(id, where);
        }
    };
    complete(then.variables, state_.variables);
    complete(state_.variables, then.variables);
    if (block_) {
        complete_shared(then, state_);
        complete_shared(state_, then);
    }
    const auto variable_of = [](const auto& key) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(key)>, int>)
            return key;
        else
            return key.first;  // of an element
    };
    const auto join = [&](auto& into, const auto& from, const auto& old) {
        for (const auto& [key, held] : from) {
            const auto other = into.find(key);
            if (other == into.end())
                into[key] = value_of_one(variable_of(key), condition, true, held);
            else
                other->second = merged(condition, held, other->second, where);
        }
        for (auto& [key, held] : into) {
            if (!from.count(key) && !old.count(key))
                held = value_of_one(variable_of(key), condition, false, held);
        }
    };
    join(state_.variables, then.variables, before.variables);
    join(state_.cells, then.cells, before.cells);
    if (then.result && state_.result) {
        state_.result = merged(condition, *then.result, *state_.result, where);
    } else if (then.result || state_.result) {
        const bool returns = state_.left || then.left;
        state_.result = returns ? Value::none("it is returned in some cases alone") : Value::none("");
    }
    state_.left = state_.left && then.left;
}

Model execute(const c::Unit& unit, const Assumptions& assumptions, bool chooses) {
    try {
        return Executor(unit, assumptions, chooses).run();
    } catch (const std::overflow_error&) {
        throw Refusal(unit.functions[static_cast<std::size_t>(unit.function)].where,
                      "a whole number is computed here that does not fit into 64 bits");
    }
}

}  // namespace halo::lift
