// What an execution leaves: stores, results, lists of numbers.
#include <algorithm>
#include <set>

#include "compiler/lift/executor.h"
#include "compiler/lift/form.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

void Executor::finish() {
    const c::Function& function = unit_.functions[static_cast<std::size_t>(unit_.function)];
    model_.stores = state_.stores;
    check_results();
    check_references();
    check_copies();
    check_kept();
    note_launch();
    check_numbered();
    if (model_.stores.empty())
        throw Refusal(function.where, "`" + function.name + "` writes no array: there is nothing to lift");
    if (state_.result && state_.result->kind == Value::Kind::term) {
        const Term& given = model_.term(state_.result->term);
        const bool is_plain = given.kind == Term::Kind::number || given.kind == Term::Kind::integer;
        if (!is_plain)
            throw Refusal(given.where, "the function's result is computed, and a spec has none",
                          {"let it return nothing; a spec's `reduce` can compute such numbers"});
        model_.remarks.push_back("The function's result is the same in every call and is left out.");
    } else if (state_.result &&
               (state_.result->kind == Value::Kind::record || state_.result->kind == Value::Kind::place)) {
        throw Refusal(function.where, "the function's result is an object or a reference");
    } else if (state_.result && !state_.result->reason.empty()) {
        throw Refusal(function.where,
                      "the function's result depends on more than a spec can say: " + state_.result->reason);
    }
    if (model_.time_loop >= 0) {
        for (const Store& store : model_.stores) {
            const bool is_inside = !store.loops.empty() && store.loops.front() == model_.time_loop;
            if (!is_inside)
                throw Refusal(store.where, "this is done once, and the loop over time many times",
                              {"lift the loop over time as a function of its own"})
                    .label(model_.loop(model_.time_loop).where, "the loop over time");
        }
    }
    name_scalars_of_arrays();
}

// What a function changes of a vector that it is given by value is lost.
void Executor::check_copies() const {
    for (const Store& store : model_.stores) {
        if (store.object < 0) continue;
        const Object& of = model_.object(store.object);
        if (of.variable < 0 || (!of.is_vector && !of.is_inside)) continue;
        const c::Variable& named = variable(of.variable);
        const bool is_nest = unit_.function != 0;
        const bool is_copy = named.storage == c::Variable::Storage::parameter && !named.is_object &&
                             !type(named.type).is_reference &&
                             (type(named.type).is_vector || type(named.type).is_class);
        if (is_copy && !is_nest)
            throw Refusal(store.where, "`" + named.name + "` is a copy: what is written here is lost with it",
                          {"take it by reference"});
    }
}

// Numbers by reference are the caller's.
void Executor::check_references() {
    const c::Function& function = unit_.functions[static_cast<std::size_t>(unit_.function)];
    for (const int id : function.parameters) {
        const c::Type& of = type(variable(id).type);
        const auto held = state_.variables.find(id);
        const bool is_number = of.is_reference && type(of.element).kind == c::Type::Kind::number;
        if (!is_number || held == state_.variables.end() || is_result(id)) continue;
        Value given = given_number(id);
        const bool is_given =
            held->second.kind == Value::Kind::term && is_same(held->second.term, given.term);
        if (!is_given)
            throw Refusal(variable(id).where,
                          "`" + variable(id).name + "` is a reference that the function sets: a side effect");
    }
}

// Checks the results of a nest: what is read after it must be in arrays, and pointers may have been swapped
// by a loop over time.
void Executor::check_results() {
    const auto is_reduction = [this](const Value& held, int id) {
        if (held.kind != Value::Kind::term || model_.term(held.term).kind != Term::Kind::reduced)
            return false;
        // Accumulated onto what the nest was given.
        const Term& first = model_.term(model_.term(held.term).operands[0]);
        const bool by_reference = type(variable(id).type).is_reference;
        const Value given = by_reference ? given_number(id) : given_value(id, first.where);
        return given.kind == Value::Kind::term && is_same(given.term, model_.term(held.term).operands[0]);
    };
    for (const int id : unit_.results) {
        const auto found = state_.variables.find(id);
        if (found == state_.variables.end()) continue;
        const Value held = found->second;
        if (is_reduction(held, id)) {
            const Term& accumulated = model_.term(held.term);
            Store cells = model_.reduction(accumulated.index).cells;
            cells.where = accumulated.where;
            model_.stores.push_back(cells);
            continue;
        }
        const c::Variable& named = variable(id);
        const bool is_pointer = type(named.type).kind == c::Type::Kind::pointer;
        const bool takes_turns =
            is_pointer &&
            std::any_of(model_.after_step.begin(), model_.after_step.end(), [&](const auto& each) {
                return model_.object(each.first).variable == id ||
                       model_.object(each.first).name == named.name;
            });
        if (takes_turns || (held.kind != Value::Kind::nothing && held == given_value(id, named.where)))
            continue;
        const c::Function& function = unit_.functions[static_cast<std::size_t>(unit_.function)];
        throw Refusal(function.where,
                      "`" + named.name +
                          "` is changed in this loop and read after it, and is neither an array nor a sum, "
                          "smallest or "
                          "largest value over the loop's cells",
                      {"a counter can be declared in the loop: `for (int i = 0; …)`"});
    }
}

int Executor::object_named(const Scalar& element) const {
    for (std::size_t i = 0; i < model_.objects.size(); ++i) {
        if (model_.objects[i].variable == element.variable && model_.objects[i].members == element.members)
            return static_cast<int>(i);
    }
    return 0;
}

// Arrays that are read at fixed places alone are lists of numbers.
void Executor::name_scalars_of_arrays() {
    std::set<int> grids;
    for (const Store& store : model_.stores)
        grids.insert(store.object);
    const auto is_fixed = [](const PathEntry& entry) {
        return !entry.modulus && entry.edges.empty() && entry.level == 0 && entry.index.constant() &&
               entry.stride.constant();
    };
    const auto is_number = [&](const Read& read) {
        return std::all_of(read.path.begin(), read.path.end(), is_fixed);
    };
    std::set<int> reads;  // and not what was read in attempts that were given up
    for (const Store& store : model_.stores) {
        for (const int id : terms_of(model_, store))
            if (model_.term(id).kind == Term::Kind::read) reads.insert(id);
    }
    for (const int id : reads) {
        const Read& read = model_.read(model_.term(id).index);
        if (!is_number(read)) grids.insert(read.object);
    }
    for (const int id : reads) {
        const Term each = model_.term(id);
        const Read& read = model_.read(each.index);
        const Object& list = model_.object(read.object);
        const bool is_list = is_number(read) && list.members.empty() && !c::is_integer(each.type);
        if (!is_list || grids.count(read.object)) continue;
        std::int64_t flat = 0;
        for (const PathEntry& entry : read.path)
            flat += *entry.index.constant() * *entry.stride.constant();
        if (has(Mutation::shift_weight)) ++flat;
        Scalar wanted;
        wanted.name = list.name + (flat == 0 && read.path.size() == 1 ? "" : "_" + std::to_string(flat));
        wanted.access = list.name + "[" + std::to_string(flat) + "]";
        wanted.number = each.type;
        wanted.variable = list.variable;
        wanted.element = flat;
        wanted.in_memory = true;
        wanted.where = each.where;
        const Term made = model_.term(scalar(wanted).term);
        Term& held = model_.terms[static_cast<std::size_t>(id)];
        held.kind = Term::Kind::scalar;
        held.index = made.index;
    }
    for (Scalar& each : model_.scalars) {  // of several elements the first has a number, too
        const bool has_others =
            std::any_of(model_.scalars.begin(), model_.scalars.end(), [&](const Scalar& other) {
                return other.element && other.variable == each.variable && *other.element != 0;
            });
        if (each.element && *each.element == 0 && has_others)
            each.name = model_.object(object_named(each)).name + "_0";
    }
}

}  // namespace halo::lift
