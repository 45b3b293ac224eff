#include "compiler/adjoint/gather.h"

#include <algorithm>

#include "compiler/adjoint/partials.h"
#include "compiler/support/error.h"

namespace halo::adjoint {

using ir::ExprId;
using ir::FieldId;

namespace {

class PullBack {
public:
    PullBack(Algebra& algebra, Varied& varied) : a_(algebra), varied_(varied) {}

    void run(ExprId root, const Term& seed, const PullBackCalls& calls) {
        if (!varied_(root)) return;
        terms_[root.index] = {seed};
        while (!terms_.empty()) {  // users come after their operands
            const auto last = std::prev(terms_.end());
            const ExprId id{last->first};
            const std::vector<Term> terms = std::move(last->second);
            terms_.erase(last);
            const ir::Expr expr = a_.program()[id];
            if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
                for (const Term& term : terms)
                    calls.on_read(*access, term);
            } else if (const auto* param = std::get_if<ir::ParamRef>(&expr.node)) {
                for (const Term& term : terms)
                    calls.on_param(param->param, term);
            } else if (const auto* number = std::get_if<ir::PointColumn>(&expr.node)) {
                for (const Term& term : terms)
                    calls.on_number(*number, term);
            } else {
                pass_on(id, terms);
            }
        }
    }

private:
    void pass_on(ExprId id, const std::vector<Term>& terms) {
        std::vector<Partial> partials;
        for_each_partial(
            a_, id, [&](ExprId operand) { return varied_(operand); },
            [&](const Partial& partial) { partials.push_back(partial); });
        for (const Partial& partial : partials) {
            const ir::Scalar type = a_.program()[partial.operand].type;
            for (Term term : times(terms, partial)) {
                if (partial.where) term.where = a_.both(term.where, holding(partial));
                term.weight = a_.as(term.weight, type);
                term.carrier = a_.as(term.carrier, type);
                add(terms_[partial.operand.index], term);
            }
        }
    }

    ExprId holding(const Partial& partial) {
        return partial.holds ? *partial.where : a_.is_not(*partial.where);
    }

    std::vector<Term> times(const std::vector<Term>& terms, const Partial& partial) {
        const bool divides = partial.kind == Partial::Kind::quotient;
        const auto apply = [&](ExprId value) {
            return divides ? a_.div(value, partial.value) : a_.mul(partial.value, value);
        };
        std::vector<Term> result;
        if (a_.is_same_in_all_cells(partial.value)) {
            for (const Term& term : terms)
                add(result, {apply(term.weight), term.carrier, term.where});
            return result;
        }
        // Terms that count in the same cells become one, whose weight is 1.
        std::vector<Term> sums;
        for (const Term& term : terms) {
            const ExprId value = a_.mul(term.weight, term.carrier);
            const auto same =
                std::ranges::find_if(sums, [&](const Term& each) { return each.where == term.where; });
            if (same == sums.end()) {
                sums.push_back({a_.number(1, a_.program()[value].type), value, term.where});
            } else {
                same->carrier = a_.add(same->carrier, value);
            }
        }
        // Weights stay outside of a product where there is one term.
        if (terms.size() == 1) sums.front() = terms.front();
        for (const Term& sum : sums)
            add(result, {sum.weight, apply(sum.carrier), sum.where});
        return result;
    }

    void add(std::vector<Term>& terms, const Term& term) {
        const auto same = std::ranges::find_if(terms, [&](const Term& each) {
            return each.carrier == term.carrier && each.where == term.where;
        });
        if (same == terms.end()) {
            terms.push_back(term);
        } else {
            same->weight = a_.add(same->weight, term.weight);
        }
    }

    Algebra& a_;
    Varied& varied_;
    std::map<std::uint32_t, std::vector<Term>> terms_;  // by expression that is still to be gone through
};

}  // namespace

void pull_back(Algebra& algebra, ExprId root, const Term& seed, Varied& varied, const PullBackCalls& calls) {
    PullBack(algebra, varied).run(root, seed, calls);
}

void Gather::add(FieldId field, const ir::Offset& offset, const Term& term, FieldId at) {
    reads_[field].push_back({offset, term, at});
}

ExprId Gather::masked(const Term& term) {
    const ExprId zero = a_.number(0, a_.program()[term.carrier].type);
    return term.where ? a_.select(*term.where, term.carrier, zero) : term.carrier;
}

ExprId Gather::at_cell(const Term& term) {
    return a_.mul(term.weight, masked(term));
}

bool Gather::can_stand(FieldId field, const Periodic& periodic) const {
    const auto found = bounded_.find(field);
    return found == bounded_.end() || found->second == periodic;
}

void Gather::set_boundary(FieldId field, const Periodic& periodic) {
    bounded_[field] = periodic;
    for (int axis = 0; axis < a_.program().rank(); ++axis) {
        if (periodic[static_cast<std::size_t>(axis)]) {
            set_periodic(a_.program(), field, axis);
        } else {
            set_zero_past(a_, field, axis);
        }
    }
}

// A field that has the carrier's values, and past the faces what its readers there would add: nothing, or
// what the other end of a periodic axis does.
FieldId Gather::named(const Term& term, FieldId at, const Periodic& periodic) {
    const ExprId value = masked(term);
    const auto key = std::tuple(value, at, periodic);
    if (const auto found = named_.find(key); found != named_.end()) return found->second;
    const ir::Expr expr = a_.program()[value];
    const auto* access = std::get_if<ir::Access>(&expr.node);
    const bool is_own = access != nullptr && access->offset == ir::Offset{} && access->time == 0 &&
                        a_.program()[access->field].role != ir::Role::input &&
                        a_.program()[access->field].staggered == a_.program()[at].staggered;
    FieldId field = at;
    if (is_own && adjoints_.contains(access->field) && can_stand(access->field, periodic)) {
        field = access->field;
    } else {
        const bool reads = a_.reads_field(value);
        field = add_field_like(a_, at, names_.take(a_.program()[at].name + "_adj_term"),
                               reads ? ir::Role::intermediate : ir::Role::output);
        ir::Field& made = a_.program().fields[field.index];
        made.type = expr.type;
        made.storage = ir::natural_storage(expr.type);
        ir::Assign assign;
        assign.target = field;
        assign.value = value;
        a_.program().statements.emplace_back(assign);
    }
    set_boundary(field, periodic);
    named_[key] = field;
    return field;
}

ExprId Gather::sum(FieldId field) {
    const ir::Scalar type = a_.program()[field].type;
    ExprId result = a_.number(0, type);
    const auto found = reads_.find(field);
    if (found == reads_.end()) return result;
    Periodic periodic{};
    for (int axis = 0; axis < a_.program().rank(); ++axis)
        periodic[static_cast<std::size_t>(axis)] = a_.program()[field].image(axis, 0).wraps();
    // Carriers that neighbours are asked for are named, and read by name at the cell itself, too.
    const auto is_same = [](const Term& a, const Term& b) {
        return a.carrier == b.carrier && a.where == b.where;
    };
    const auto is_moved = [&](const Read& read) {
        return std::ranges::any_of(found->second, [&](const Read& other) {
            return is_same(other.term, read.term) && other.offset != ir::Offset{};
        });
    };
    const std::vector<Read> reads = found->second;
    std::vector<std::pair<std::optional<ExprId>, ExprId>>
        sums;  // by condition, in the order in which they come
    const auto add_where = [&](const std::optional<ExprId>& condition, ExprId value) {
        const auto same =
            std::ranges::find_if(sums, [&](const auto& each) { return each.first == condition; });
        if (same == sums.end()) {
            sums.emplace_back(condition, value);
        } else {
            same->second = a_.add(same->second, value);
        }
    };
    for (const Read& read : reads) {
        if (!is_moved(read)) {
            add_where(read.term.where, a_.mul(read.term.weight, read.term.carrier));
            continue;
        }
        const FieldId carrier = named(read.term, read.at, periodic);
        for (const Reader& reader : readers_of(a_, field, read.offset, undefined_[field])) {
            const ExprId weight = reader.weight ? a_.mul(read.term.weight, *reader.weight) : read.term.weight;
            add_where(reader.condition, a_.mul(weight, a_.read(carrier, 0, reader.shift)));
        }
    }
    // What holds where a condition does, and what does where it does not, are one `if`.
    const ExprId zero = a_.number(0, type);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto& [condition, value] = sums[i];
        if (!condition) {
            result = a_.add(result, value);
            continue;
        }
        const ExprId otherwise = a_.is_not(*condition);
        const auto rest = std::ranges::find(sums, std::optional(otherwise),
                                            &std::pair<std::optional<ExprId>, ExprId>::first);
        if (rest == sums.end()) {
            result = a_.add(result, a_.select(*condition, value, zero));
        } else if (rest - sums.begin() > static_cast<std::ptrdiff_t>(i)) {  // the first of the two has both
            result = a_.add(result, a_.select(*condition, value, rest->second));
        }
    }
    return result;
}

}  // namespace halo::adjoint
