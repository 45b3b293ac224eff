// Loops over cells whose iterations leave values to the next one: an index or a pointer that moves on by a
// plane, and cells that stay in variables from where they were ahead until they are behind. What such a
// variable holds at the beginning of iteration k is guessed from one iteration, as a function of k. By
// induction it is that: it is compared with what the variable holds in front of the loop at the first k, and,
// where the body is executed with it, what the body leaves in the variable with the same function at k + 1.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

using c::Number;

class Executor::March {
public:
    March(Executor& executor, const c::Statement& loop, const Header& header, const State& before)
        : executor_(executor),
          model_(executor.model_),
          state_(executor.state_),
          loop_(loop),
          header_(header),
          before_(before),
          count_(header.upper - header.lower),
          id_(executor.add_loop(header)),
          symbol_(model_.loop(id_).symbol),
          waits_(executor.block_ && executor.waits(loop.statements[1])) {}

    bool run() {
        if (header_.parallel || header_.reads_first || std::abs(header_.step) != 1) return false;
        rehearse(true);
        executor_.run_body(loop_, header_, id_);
        find_changed();
        if (counters_.empty() && slots_.empty() && !waits_) return false;
        do {  // what the first iteration happens to leave as it is may be changed by later ones
            begin(false);
            executor_.run_body(loop_, header_, id_);
        } while (find_changed());
        find_functions();
        begin(true);
        rehearse(false);
        executor_.run_body(loop_, header_, id_);
        if (!keeps_step()) return false;
        finish();
        return true;
    }

private:
    struct Counter {  // moves on by the same in each iteration
        int variable = -1;
        Value start;
        Polynomial by;
    };
    struct Slot {  // a variable, or an element of a small array
        int variable = -1;
        std::optional<std::int64_t> element;
        Value start;
        int next = -1;                // what an iteration leaves in it, with Terms of the kind `carried`
        std::optional<int> function;  // what it holds at the beginning of an iteration
        bool is_searched = false;
    };

    void rehearse(bool is_rehearsal) {
        if (waits_) executor_.block_->is_rehearsal = is_rehearsal;
    }

    // ---- what an iteration changes

    Value in_front(int variable) const {
        const auto held = before_.variables.find(variable);
        return held != before_.variables.end() ? held->second
                                               : executor_.given_value(variable, header_.where);
    }
    Value left_in(int variable) const {
        const auto held = state_.variables.find(variable);
        return held != state_.variables.end() ? held->second : Value{};
    }
    bool is_known(int variable, std::optional<std::int64_t> element = std::nullopt) const {
        const auto is_it = [&](const auto& each) { return each.variable == variable; };
        if (!element &&
            (variable == header_.variable || std::ranges::any_of(counters_, is_it) ||
             std::ranges::count(results_, variable) > 0 || std::ranges::count(others_, variable) > 0))
            return true;
        return std::ranges::any_of(slots_,
                                   [&](const Slot& each) { return is_it(each) && each.element == element; });
    }
    // Adds what the body has changed that is not known yet: whether there is some.
    bool find_changed() {
        bool is_new = false;
        for (const int id : executor_.effects_of_body(before_, id_).changed) {
            if (is_known(id)) continue;
            is_new = true;
            const Value start = in_front(id);
            if (executor_.is_result(id))
                results_.push_back(id);
            else if (const auto by = moved_by(start, left_in(id)))
                counters_.push_back({id, start, *by});
            else if (executor_.type(executor_.variable(id).type).kind == c::Type::Kind::number)
                slots_.push_back({id, std::nullopt, start, -1, std::nullopt, false});
            else
                others_.push_back(id);
        }
        for (const auto& at : executor_.changed_cells(before_)) {
            if (is_known(at.first, at.second)) continue;
            is_new = true;
            const auto old = before_.cells.find(at);
            slots_.push_back({at.first, at.second, old == before_.cells.end() ? Value{} : old->second, -1,
                              std::nullopt, false});
        }
        return is_new;
    }
    // By how much the first iteration moves an index or a pointer.
    std::optional<Polynomial> moved_by(const Value& start, const Value& after) {
        std::optional<Polynomial> by;
        if (start.kind == Value::Kind::pointer && after.kind == Value::Kind::pointer) {
            const bool is_same =
                start.pointer.object == after.pointer.object && start.pointer.level == after.pointer.level;
            if (is_same) by = cells_of(after.pointer) - cells_of(start.pointer);
        } else if (start.kind == Value::Kind::term && after.kind == Value::Kind::term) {
            const Number type = model_.term(start.term).type;
            const bool counts =
                type == Number::i32 || type == Number::i64 || type == Number::u32 || type == Number::u64;
            const auto from = counts ? executor_.index_of(start.term) : std::nullopt;
            const auto to = from ? executor_.index_of(after.term) : std::nullopt;
            if (!to || from->edges != to->edges) return std::nullopt;
            // An unsigned number may wrap around at an edge alone.
            if (!from->edges.empty() && Executor::span_of(type).low == 0) return std::nullopt;
            by = to->by - from->by;
        }
        return by && !by->has(symbol_) ? by : std::nullopt;
    }
    Polynomial cells_of(const Pointer& of) const {
        const Polynomial stride = executor_.elements(of.type);
        for (const PathEntry& entry : of.path) {
            if (entry.level == of.level && entry.stride == stride && !entry.modulus) return entry.index;
        }
        return 0;
    }

    // ---- what it holds

    Polynomial done() const {  // iterations in front of this one
        const Polynomial k = Polynomial::symbol(symbol_);
        return header_.descending ? header_.upper - 1 - k : k - header_.lower;
    }
    Polynomial later(std::int64_t iterations) const {
        return Polynomial::symbol(symbol_) + iterations * header_.step;
    }
    Polynomial first() const { return header_.descending ? header_.upper - 1 : header_.lower; }
    Polynomial behind() const { return header_.descending ? header_.lower - 1 : header_.upper; }

    Value counted(const Counter& of, const Polynomial& iterations) const {
        const Polynomial by = iterations * of.by;
        if (of.start.kind == Value::Kind::pointer)
            return executor_.move(of.start.pointer, of.start.pointer.type, {by, {}});
        const Number type = model_.term(of.start.term).type;
        Shift at = *executor_.index_of(of.start.term);
        at.by = at.by + by;
        return Value::of(at.edges.empty() ? executor_.computed(at.by, type, {of.start.term}, header_.where)
                                          : executor_.index_term(at, type, header_.where));
    }
    Value& held_in(const Slot& slot) const {
        return slot.element ? state_.cells[{slot.variable, *slot.element}] : state_.variables[slot.variable];
    }
    Value unknown(int variable) const {
        return Value::none("`" + executor_.variable(variable).name +
                           "` has a value from the iteration of the loop over `" + header_.name + "` before");
    }

    // Before the body is executed. has_functions: with those that were found; else with a term for each.
    void begin(bool has_functions) {
        state_ = before_;
        for (const Counter& each : counters_)
            state_.variables[each.variable] = counted(each, done());
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const Slot& slot = slots_[i];
            if (!has_functions)
                held_in(slot) = Value::of(placeholder(static_cast<int>(i)));
            else if (slot.function)
                held_in(slot) = Value::of(*slot.function);
            else  // it must not be used: as if it were garbage
                held_in(slot) = c::is_real(type_of(slot))
                                    ? Value::of(executor_.garbage(type_of(slot), header_.where))
                                    : unknown(slot.variable);
        }
        for (const int id : results_)
            state_.variables[id] = Value::of(executor_.running(id, header_.where));
        for (const int id : others_)
            state_.variables[id] = unknown(id);
    }
    Number type_of(const Slot& slot) const {
        int type = executor_.variable(slot.variable).type;
        while (slot.element && executor_.type(type).kind == c::Type::Kind::array)
            type = executor_.type(type).element;
        return executor_.number_of(type);
    }
    int placeholder(int slot) const {
        Term made;
        made.kind = Term::Kind::carried;
        made.type = type_of(slots_[static_cast<std::size_t>(slot)]);
        made.index = slot;
        made.where = header_.where;
        return executor_.add(made);
    }

    void find_functions() {
        for (Slot& slot : slots_) {
            const Value& after = held_in(slot);
            slot.next = after.kind == Value::Kind::term ? after.term : -1;
        }
        for (std::size_t i = 0; i < slots_.size(); ++i)
            function_of(i);
        for (Slot& slot : slots_) {
            const auto at_first = slot.function ? at(*slot.function, first()) : std::nullopt;
            const bool begins_so = at_first && slot.start.kind == Value::Kind::term &&
                                   (begins_as(slot.start.term, *at_first) || has(Mutation::drop_front));
            if (!begins_so) slot.function.reset();
        }
    }
    // What the iteration before has left there, where that is nothing which it had from another one in turn.
    std::optional<int> function_of(std::size_t i) {
        Slot& slot = slots_[i];
        if (slot.is_searched || slot.next < 0) return slot.function;
        slot.is_searched = true;
        if (const auto left = at(slot.next, Polynomial::symbol(symbol_), true))
            slot.function = at(*left, later(-1));
        else
            slot.function = function_of_some(i);
        return slot.function;
    }
    // Of what an iteration changes under a condition that is the same in all of them, `if (valid) next = …;`:
    // where it does not hold, garbage stays there.
    std::optional<int> function_of_some(std::size_t i) {
        const Slot& slot = slots_[i];
        Term chosen = model_.term(slot.next);
        if (chosen.kind != Term::Kind::select || !is_fixed(chosen.operands[0])) return std::nullopt;
        for (const std::size_t other : {1U, 2U}) {
            const Term& kept = model_.term(chosen.operands[other]);
            if (kept.kind != Term::Kind::carried || kept.index != static_cast<int>(i)) continue;
            const auto left = at(chosen.operands[3 - other], Polynomial::symbol(symbol_), true);
            const auto function = left ? at(*left, later(-1)) : std::nullopt;
            if (!function) return std::nullopt;
            chosen.operands[3 - other] = *function;
            chosen.operands[other] = executor_.garbage(chosen.type, chosen.where);
            return executor_.add(std::move(chosen));
        }
        return std::nullopt;
    }
    bool is_fixed(int id) const {
        const Term& each = model_.term(id);
        return each.kind != Term::Kind::carried && each.kind != Term::Kind::running &&
               each.kind != Term::Kind::read && each.kind != Term::Kind::unwritten &&
               !each.poly.has(symbol_) &&
               std::ranges::all_of(each.operands, [this](int operand) { return is_fixed(operand); });
    }
    // Whether what is there in front of the loop is what the function says, or garbage, which is anything.
    bool begins_as(int start, int function) const {
        const Term &a = model_.term(start), &b = model_.term(function);
        if (a.kind == Term::Kind::garbage || executor_.is_same(start, function, false)) return true;
        return a.kind == Term::Kind::select && b.kind == Term::Kind::select &&
               executor_.is_same(a.operands[0], b.operands[0]) && begins_as(a.operands[1], b.operands[1]) &&
               begins_as(a.operands[2], b.operands[2]);
    }

    // The term where the loop's index is this; nothing where that is not known. resolves: with the functions
    // of what is carried.
    std::optional<int> at(int term, const Polynomial& index, bool resolves = false) {
        std::map<int, std::optional<int>> known;
        return copied(term, index, resolves, known);
    }
    std::optional<int> copied(int id, const Polynomial& index, bool resolves,
                              std::map<int, std::optional<int>>& known) {
        if (const auto found = known.find(id); found != known.end()) return found->second;
        return known[id] = copy(id, index, resolves, known);
    }
    std::optional<int> copy(int id, const Polynomial& index, bool resolves,
                            std::map<int, std::optional<int>>& known) {
        Term made = model_.term(id);
        switch (made.kind) {
            case Term::Kind::carried:
                return resolves ? function_of(static_cast<std::size_t>(made.index)) : std::nullopt;
            case Term::Kind::running:
            case Term::Kind::reduced:
            case Term::Kind::unwritten:
                return std::nullopt;
            case Term::Kind::integer:
                made.poly = made.poly.with(symbol_, index);
                for (Polynomial& need : made.needs)
                    need = need.with(symbol_, index);
                break;
            case Term::Kind::read: {
                const auto read = read_at(model_.read(made.index), index);
                if (!read) return std::nullopt;
                made.index = static_cast<int>(model_.reads.size());
                model_.reads.push_back(*read);
                break;
            }
            default:
                break;
        }
        for (int& operand : made.operands) {
            const auto other = copied(operand, index, resolves, known);
            if (!other) return std::nullopt;
            operand = *other;
        }
        if (made.kind == Term::Kind::select) executor_.skip_choices(made);
        return executor_.add(std::move(made));
    }
    // The read as that of another iteration. It is made in this one, where the array holds the same still:
    // nothing writes it (Executor::check_kept).
    std::optional<Read> read_at(Read read, const Polynomial& index) {
        for (PathEntry& entry : read.path) {
            entry.index = entry.index.with(symbol_, index);
            for (const Edge& edge : entry.edges) {
                if (edge.loop == id_ || edge.bound.has(symbol_) || edge.more.has(symbol_))
                    return std::nullopt;
            }
        }
        for (auto& [loop, bounds] : read.bounds) {
            if (loop == id_) {
                bounds = {{header_.lower}, {header_.upper}};
                continue;
            }
            for (const auto* list : {&bounds.lower, &bounds.upper})
                if (std::ranges::any_of(*list, [&](const auto& each) { return each.has(symbol_); }))
                    return std::nullopt;
        }
        if (!index.has(symbol_)) {  // outside of the loop
            std::erase(read.loops, id_);
            read.bounds.erase(id_);
        }
        read.sequence = static_cast<int>(before_.stores.size());
        kept_.emplace(read.object, read.where);
        return read;
    }

    // ---- what follows

    // Whether the body has left what the functions say of the next iteration.
    bool keeps_step() {
        const BodyEffects body = executor_.effects_of_body(before_, id_);
        if (body.stays || (!waits_ && executor_.writes_shared(before_))) return false;
        for (const Counter& each : counters_) {
            const Value after = left_in(each.variable), wanted = counted(each, done() + Polynomial(1));
            if (after.kind != wanted.kind) return false;
            if (after.kind == Value::Kind::pointer && after == wanted) continue;
            const bool is_number = after.kind == Value::Kind::term;
            const auto at = is_number ? executor_.index_of(after.term) : std::nullopt;
            if (!at || at != executor_.index_of(wanted.term)) return false;
        }
        for (const Slot& slot : slots_) {
            if (!slot.function) continue;
            const Value after = held_in(slot);
            const auto wanted = at(*slot.function, later(1));
            const bool is_so =
                wanted && after.kind == Value::Kind::term && executor_.is_same(after.term, *wanted, false);
            if (!is_so) return false;
        }
        const auto is_listed = [&](const auto& at) { return is_known(at.first, at.second); };
        return std::ranges::all_of(body.changed, [&](int id) { return is_known(id); }) &&
               std::ranges::all_of(executor_.changed_cells(before_), is_listed);
    }
    void finish() {
        std::vector<int> lost = results_;
        lost.insert(lost.end(), others_.begin(), others_.end());
        executor_.settle_carried(header_, before_, lost, id_);
        for (const Counter& each : counters_)
            state_.variables[each.variable] = counted(each, count_);
        for (const Slot& slot : slots_) {
            const auto left = slot.function ? at(*slot.function, behind()) : std::nullopt;
            held_in(slot) = left ? Value::of(*left)
                                 : Value::none("`" + executor_.variable(slot.variable).name +
                                               "` is what the loop over `" + header_.name + "` left in it");
        }
        for (const auto& [object, where] : kept_)
            executor_.kept_.emplace(object, where);
        // A loop that begins behind its end would leave the index where it was.
        const Polynomial need = count_ + 1;
        const bool is_said = executor_.is_never_negative(count_, executor_.loops_around()) ||
                             std::ranges::count(model_.needs, need) > 0;
        if (!is_said) model_.needs.push_back(need);
    }

    Executor& executor_;
    Model& model_;
    State& state_;
    const c::Statement& loop_;
    const Header& header_;
    const State& before_;
    const Polynomial count_;
    const int id_, symbol_;
    const bool waits_;  // threads of a block, in each iteration
    std::vector<Counter> counters_;
    std::vector<Slot> slots_;
    std::vector<int> results_, others_;
    std::map<int, SourceRange> kept_;  // arrays of which cells are kept
};

// False: the loop is none that this understands.
bool Executor::march(const c::Statement& loop, const Header& header, const State& before) {
    return March(*this, loop, header, before).run();
}

// What a variable keeps of an array is read where it is used: nothing may have written it by then.
void Executor::check_kept() const {
    for (const Store& store : model_.stores) {
        const auto kept = kept_.find(store.object);
        if (store.object < 0 || kept == kept_.end() || has(Mutation::drop_kept)) continue;
        throw Refusal(store.where, "`" + model_.object(store.object).name +
                                       "` is written here, and a loop keeps cells of it in variables from "
                                       "iteration to iteration")
            .label(kept->second, "what is kept");
    }
}

}  // namespace halo::lift
