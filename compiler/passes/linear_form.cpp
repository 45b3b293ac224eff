#include "compiler/passes/linear_form.h"

#include <algorithm>
#include <utility>

namespace halo::passes {

using namespace ir;

void LinearForms::Sum::add(const WeightedTerm& item, const Coefficient& factor) {
    WeightedTerm scaled = item;
    scaled.coefficient = item.coefficient * factor;
    const bool is_number = !item.is_uniform() && scaled.coefficient.powers.empty();
    const auto [place, added] = place_.emplace(std::pair(item.term, is_number), form_.items.size());
    if (added) return form_.items.push_back(std::move(scaled));
    Coefficient& sum = form_.items[place->second].coefficient;
    sum = forms_.coefficients_.sum(sum, scaled.coefficient);
}

LinearForm LinearForms::Sum::take() {
    std::erase_if(form_.items, [](const WeightedTerm& item) { return item.coefficient.is_zero(); });
    place_.clear();
    return std::move(form_);
}

std::vector<LinearForms::Group> LinearForms::group(const LinearForm& form) {
    std::vector<Group> groups;
    std::map<Coefficient, std::size_t> place;
    for (const WeightedTerm& item : form.items) {
        if (item.is_uniform()) {
            groups.push_back({magnitude(item.coefficient), {&item}, true});
            continue;
        }
        const auto [it, added] = place.emplace(magnitude(item.coefficient), groups.size());
        if (added) groups.push_back({it->first, {}, false});
        groups[it->second].items.push_back(&item);
    }
    return groups;
}

// Whether c*(a - b) is better written -c*(b - a).
bool LinearForms::is_reversed(const Group& group) const {
    const auto negative = [](const WeightedTerm* item) { return item->coefficient.scale.is_negative(); };
    if (std::all_of(group.items.begin(), group.items.end(), negative)) return true;
    if (std::none_of(group.items.begin(), group.items.end(), negative)) return false;
    if (group.coefficient.is_one()) return false;  // there is no factor to take the minus
    const WeightedTerm* furthest = nullptr;
    std::array<int, kMaxRank> furthest_offset{};
    for (const WeightedTerm* item : group.items) {
        const Access* access = std::get_if<Access>(&program_[*item->term].node);
        if (!access) continue;
        Offset slowest_first = access->offset;
        std::ranges::reverse(slowest_first);
        if (furthest && slowest_first <= furthest_offset) continue;
        furthest = item;
        furthest_offset = slowest_first;
    }
    return negative(furthest ? furthest : group.items.front());
}

ExprId LinearForms::chain(std::vector<Signed> terms) {
    const auto positive =
        std::find_if(terms.begin(), terms.end(), [](const Signed& term) { return !term.negative; });
    if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
    ExprId sum = terms.front().value;
    if (terms.front().negative) sum = builder_.unary(UnaryOp::negate, sum);
    for (std::size_t i = 1; i < terms.size(); ++i)
        sum = builder_.binary(terms[i].negative ? BinaryOp::sub : BinaryOp::add, sum, terms[i].value);
    return sum;
}

// The group's terms without their coefficient, as `sum`; returns the coefficient it is to be multiplied by,
// signed.
Coefficient LinearForms::write_group(const Group& group, Scalar type, ExprId& sum,
                                     std::shared_ptr<const LinearForm>* parts) {
    const bool reversed = is_reversed(group);
    const auto sign_of = [&](const WeightedTerm* item) {
        return Coefficient{{}, item->coefficient.scale.is_negative() != reversed ? -1 : 1};
    };
    const Coefficient outside = reversed ? -group.coefficient : group.coefficient;
    if (group.items.size() == 1) {
        sum = *group.items.front()->term;
        if (parts) *parts = group.items.front()->nested;
        return outside;
    }
    // Parenthesised sums with the same factor become one.
    Sum opened(*this);
    bool any_nested = false;
    for (const WeightedTerm* item : group.items) {
        if (item->nested) {
            any_nested = true;
            for (const WeightedTerm& part : item->nested->items)
                opened.add(part, sign_of(item));
        } else {
            WeightedTerm bare = *item;
            bare.coefficient = sign_of(item);
            opened.add(bare, Coefficient{});
        }
    }
    LinearForm form = opened.take();
    if (any_nested) {
        const WeightedTerm merged = write(form, type);
        if (merged.is_uniform()) {
            sum = coefficients_.expression(merged.coefficient, type);
            return outside;
        }
        sum = *merged.term;
        if (parts) *parts = merged.nested;
        return outside * merged.coefficient;
    }
    std::vector<Signed> terms;
    for (const WeightedTerm& item : form.items)
        terms.push_back({*item.term, item.coefficient.scale.is_negative()});
    sum = chain(std::move(terms));
    if (parts) *parts = std::make_shared<const LinearForm>(std::move(form));
    return outside;
}

WeightedTerm LinearForms::write(const LinearForm& form, Scalar type) {
    const std::vector<Group> groups = group(form);
    if (groups.empty()) return {Coefficient{{}, 0}, std::nullopt, nullptr};
    if (groups.size() == 1) {
        if (groups.front().is_uniform) return *groups.front().items.front();
        ExprId sum;
        std::shared_ptr<const LinearForm> parts;
        const Coefficient common = write_group(groups.front(), type, sum, &parts);
        return {common, sum, parts};
    }
    std::vector<std::vector<Signed>> blocks;
    for (const Group& each : groups)
        blocks.push_back(write_block(each, type));
    const auto has_positive = [](const std::vector<Signed>& block) {
        return std::any_of(block.begin(), block.end(), [](const Signed& term) { return !term.negative; });
    };
    const auto first = std::find_if(blocks.begin(), blocks.end(), has_positive);
    if (first != blocks.end()) std::rotate(blocks.begin(), first, first + 1);
    std::vector<Signed> terms;
    for (const std::vector<Signed>& block : blocks)
        terms.insert(terms.end(), block.begin(), block.end());
    return {Coefficient{}, chain(std::move(terms)), std::make_shared<const LinearForm>(form)};
}

// Lists the terms that one group of several adds to the sum.
std::vector<LinearForms::Signed> LinearForms::write_block(const Group& group, Scalar type) {
    if (group.is_uniform) {
        const bool negative = group.items.front()->coefficient.scale.is_negative();
        return {{coefficients_.expression(group.coefficient, type), negative}};
    }
    std::vector<Signed> terms;
    if (group.coefficient.is_one()) {
        for (const WeightedTerm* item : group.items)
            terms.push_back({*item->term, item->coefficient.scale.is_negative()});
        return terms;
    }
    ExprId sum;
    const Coefficient common = write_group(group, type, sum, nullptr);
    terms.push_back({value({magnitude(common), sum, nullptr}, type), common.scale.is_negative()});
    return terms;
}

ExprId LinearForms::value(const WeightedTerm& weighted, Scalar type) {
    if (weighted.is_uniform() || weighted.coefficient.is_zero())
        return coefficients_.expression(weighted.coefficient, type);
    if (weighted.coefficient.is_one()) return *weighted.term;
    if (weighted.coefficient.is_minus_one()) return builder_.unary(UnaryOp::negate, *weighted.term);
    const ExprId factor = coefficients_.expression(weighted.coefficient, type);
    return builder_.binary(BinaryOp::mul, factor, *weighted.term);
}

}  // namespace halo::passes
