#include "compiler/lift/form_aliases.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/lift/form.h"

namespace halo::lift {

namespace {

// Whatever the source or the user says of pointers: one was made of the other, or both of a third.
bool is_shared(const Object& a, const Object& b) {
    return std::count(a.shares.begin(), a.shares.end(), b.variable) > 0;
}

bool may_alias(const Object& a, const Object& b) {
    if (a.number != b.number && a.number != c::Number::u8 && a.number != c::Number::i8 &&
        b.number != c::Number::u8 && b.number != c::Number::i8)
        return false;
    // One member of two structs in memory is one pointer where these are one struct.
    const bool are_one_member = a.is_in_memory && b.is_in_memory && a.members == b.members;
    if ((a.is_restrict || b.is_restrict) && !are_one_member) return false;
    // Vectors that are different parts of one object.
    const auto is_part = [](const Object& of) {
        return of.is_vector && std::ranges::none_of(of.members, [](const std::string& member) {
                   return member.ends_with("->");
               });
    };
    if (is_part(a) && is_part(b) && a.variable == b.variable && a.members != b.members) return false;
    using Origin = Object::Origin;
    const auto are_apart = [](const Object& own, const Object& other) {
        return own.is_own && (other.is_own || other.is_outer || other.origin == Origin::global);
    };
    if (are_apart(a, b) || are_apart(b, a)) return false;
    if (a.origin == Origin::local || b.origin == Origin::local) return false;
    return a.origin == Origin::pointer || b.origin == Origin::pointer;
}

bool is_used(const Model& model, const Scalar& scalar) {
    const int id = static_cast<int>(&scalar - model.scalars.data());
    for (std::size_t i = 0; i < model.stores.size(); ++i) {
        for (const int term : terms_of(model, model.stores[i])) {
            if (model.term(term).kind == Term::Kind::scalar && model.term(term).index == id) return true;
        }
    }
    return false;
}

}  // namespace

std::vector<int> reads_of(const Model& model, const Store& store) {
    std::vector<int> reads;
    for (const int id : terms_of(model, store)) {
        if (model.term(id).kind == Term::Kind::read) reads.push_back(model.term(id).index);
    }
    return reads;
}

std::vector<int> terms_of(const Model& model, const Store& store) {
    std::set<int> all;
    std::vector<int> waiting{store.value};
    waiting.insert(waiting.end(), store.guards.begin(), store.guards.end());
    while (!waiting.empty()) {
        const int id = waiting.back();
        waiting.pop_back();
        if (!all.insert(id).second) continue;
        const std::vector<int>& operands = model.term(id).operands;
        waiting.insert(waiting.end(), operands.begin(), operands.end());
    }
    return {all.begin(), all.end()};
}

void exclude_aliases(const Model& model, bool no_alias) {
    std::map<int, SourceRange> written, touched;
    for (std::size_t i = 0; i < model.stores.size(); ++i) {
        if (model.stores[i].reduction < 0) {
            written.emplace(model.stores[i].object, model.stores[i].where);
            touched.emplace(model.stores[i].object, model.stores[i].where);
        }
        for (const int read : reads_of(model, model.stores[i]))
            touched.emplace(model.read(read).object, model.read(read).where);
    }
    // Of rotating arrays each is, in some step, what another one is in the first.
    for (std::size_t left = model.after_step.size(); left > 0; --left) {
        for (const auto& [object, next] : model.after_step) {
            if (const auto found = written.find(next); found != written.end()) {
                written.emplace(object, found->second);
                touched.emplace(object, found->second);
            }
        }
    }
    const std::string mend =
        "declare the pointers `restrict` (`__restrict` in C++ and CUDA), or say --no-alias "
        "where you know that arrays never overlap";
    for (const auto& [object, where] : written) {
        const Object& target = model.object(object);
        if (target.rows_by_pointers && !no_alias)
            throw Refusal(where, "the rows of `" + target.name + "` are reached by pointers, and may overlap",
                          {"say --no-alias where you know that they do not, or use one block of memory"});
        for (const auto& [other, place] : touched) {
            const Object& held = model.object(other);
            if (other == object) continue;
            const bool is_same_source = is_shared(target, held);
            if (!is_same_source && (no_alias || !may_alias(target, held))) continue;
            throw Refusal(where,
                          "`" + target.name + "` is written here, and `" + held.name +
                              "` may be the same memory" +
                              (is_same_source ? ": both come from one pointer" : ""),
                          {is_same_source ? "make the loops a function with `restrict` parameters" : mend})
                .label(place, "`" + held.name + "` is used here");
        }
        if (no_alias) continue;
        for (const Scalar& scalar : model.scalars) {
            const bool are_two_globals = target.origin == Object::Origin::global && scalar.is_apart &&
                                         scalar.members.empty() && scalar.variable != target.variable;
            const bool may_change =
                scalar.in_memory && !target.is_restrict && (scalar.symbol >= 0 || is_used(model, scalar)) &&
                target.origin != Object::Origin::local && scalar.number == target.number &&
                !are_two_globals && !(target.is_own && scalar.is_apart) &&
                !(target.is_vector && !scalar.members.empty());  // of an object
            if (may_change)
                throw Refusal(where,
                              "`" + target.name + "` is written here, and `" + scalar.access +
                                  "` may be in the same memory",
                              {mend});
        }
    }
}

}  // namespace halo::lift
