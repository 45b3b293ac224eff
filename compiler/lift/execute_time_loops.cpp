// Loops over time: each iteration is a step, and arrays may take turns between them.
#include <algorithm>
#include <set>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

// A loop whose stores do not depend on its index repeats them in every iteration: a loop over time steps.
void Executor::run_time_loop(const c::Statement& loop, const Header& header, const State& before, int loop_id,
                             const BodyEffects& body) {
    if (!before.loops.empty())
        throw Refusal(body.staying, "this is stored at the same cell in every iteration of the loop over `" +
                                        header.name + "`")
            .label(header.where, "the loop");
    if (model_.time_loop >= 0)
        throw Refusal(header.where, "there are two loops over time; lift each as a function of its own")
            .label(model_.loop(model_.time_loop).where, "the other one");
    if (header.step != 1) throw Refusal(header.where, "this loop over time does not count up by one");
    std::vector<int> changed = body.changed;
    auto forgotten = changed_cells(before);
    std::map<int, int> roles;  // of variables: the array that each stands for
    model_.loops[static_cast<std::size_t>(loop_id)].is_time = true;
    for (bool is_all = false; !is_all;) {  // again where it changes more than the first step
        state_ = before;
        roles.clear();
        forget_cells(forgotten);
        for (const int id : changed) {
            if (id == header.variable) continue;
            const auto held = before.variables.find(id);
            const bool is_array =
                (held == before.variables.end() && variable(id).storage == c::Variable::Storage::parameter &&
                 type(variable(id).type).kind == c::Type::Kind::pointer) ||
                (held != before.variables.end() && held->second.kind == Value::Kind::pointer);
            if (!is_array) {
                state_.variables[id] =
                    Value::none("`" + variable(id).name +
                                "` has a value from the step before, which a spec keeps in fields alone");
                continue;
            }
            Pointer at = load_variable(id, header.where).pointer;
            if (!at.path.empty())
                throw Refusal(header.where, "`" + variable(id).name +
                                                "` points into an array and is moved from step to step");
            Object role = model_.object(at.object);
            role.role_of = at.object;
            role.name = variable(id).name;
            model_.objects.push_back(role);
            roles[id] = static_cast<int>(model_.objects.size()) - 1;
            at.object = roles[id];
            state_.variables[id] = Value::of(at);
        }
        run_body(loop, header, loop_id);
        is_all = !add_changed(before, loop_id, header, changed, forgotten);
    }
    model_.time_loop = loop_id;
    settle_roles(roles);
    forget_cells(forgotten);
    for (const int id : changed)
        state_.variables[id] =
            Value::none("`" + variable(id).name + "` is what the loop over time left in it");
}

// The arrays that the stores so far write or read.
std::set<int> Executor::touched_objects() const {
    std::set<int> objects;
    std::set<int> seen;
    std::vector<int> waiting;
    for (const Store& store : state_.stores) {
        objects.insert(store.object);
        waiting.push_back(store.value);
        waiting.insert(waiting.end(), store.guards.begin(), store.guards.end());
    }
    while (!waiting.empty()) {
        const Term& next = model_.term(waiting.back());
        const bool is_new = seen.insert(waiting.back()).second;
        waiting.pop_back();
        if (!is_new) continue;
        if (next.kind == Term::Kind::read) objects.insert(model_.read(next.index).object);
        waiting.insert(waiting.end(), next.operands.begin(), next.operands.end());
    }
    return objects;
}

// Finds which name each array has after a step. Refuses the loop unless these are the same arrays in another
// order.
void Executor::settle_roles(const std::map<int, int>& roles) {
    const SourceRange where = model_.loop(model_.time_loop).where;
    const std::set<int> touched = touched_objects();
    std::map<int, int> after, variable_of;  // by role
    std::vector<int> waiting;
    for (const auto& [id, role] : roles) {
        const Value& held = state_.variables.at(id);
        const bool is_whole = held.kind == Value::Kind::pointer && held.pointer.path.empty();
        const bool is_moved = held.kind == Value::Kind::pointer && held.pointer.object == role;
        after[role] = is_whole || is_moved ? held.pointer.object : -1;
        if (has(Mutation::keep_arrays)) after[role] = role;
        variable_of[role] = id;
        if (touched.count(role)) waiting.push_back(role);
    }
    while (!waiting.empty()) {
        const int role = waiting.back();
        waiting.pop_back();
        if (model_.after_step.count(role)) continue;
        if (after[role] == role && !state_.variables.at(variable_of.at(role)).pointer.path.empty())
            throw Refusal(where,
                          "`" + model_.object(role).name + "` is moved on in each iteration of this loop",
                          {"with an index in place of the moving pointer this can be lifted"});
        if (after[role] < 0 || model_.object(after[role]).role_of < 0)
            throw Refusal(where, "what `" + model_.object(role).name +
                                     "` points to after a step is none of the rotating arrays");
        model_.after_step[role] = after[role];
        waiting.push_back(after[role]);
    }
    std::set<int> reached, arrays;
    for (const auto& [from, to] : model_.after_step) {
        const bool is_new = reached.insert(to).second && arrays.insert(model_.object(from).role_of).second;
        if (!is_new || touched.count(model_.object(from).role_of))
            throw Refusal(
                where,
                "two names of one array are used in this loop over time, and one of them moves on to "
                "another array");
    }
    for (const auto& [from, to] : model_.after_step) {
        if (!model_.after_step.count(to))
            throw Refusal(where, "after a step the pointers are not the same arrays in another order");
    }
}

}  // namespace halo::lift
