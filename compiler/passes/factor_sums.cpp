#include "compiler/passes/factor_sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/passes/real_operations.h"
#include "compiler/passes/rebuild.h"
#include "compiler/passes/sum_cost.h"
#include "compiler/passes/sum_plan.h"

namespace halo::passes {

using namespace ir;

namespace {

constexpr std::size_t kFewestTaps = 4;  // fewer have nothing to share: u[x-1] + u[x+1] is as short as it gets
constexpr int kNowhere = std::numeric_limits<int>::min();
constexpr int kLast = std::numeric_limits<int>::max();

struct Signed {
    ExprId value;
    bool is_negative = false;
};

// A term of a sum: a weight times a sum of reads of one level, each with a sign.
struct Item {
    Signed whole;
    Weight weight;
    std::vector<Signed> reads;  // none: a term of another kind
};

using Level = std::pair<std::uint32_t, int>;  // field and time
struct Form {                                 // what a sum has of one level
    Level level;
    std::vector<const Item*> items;
    std::map<Offset, Weight> taps;  // slowest axis first
};

struct Plane {  // the highest that an expression reads; no level: of several
    std::optional<Level> level;
    int highest = kNowhere;
};

Offset slowest_first(const Offset& offset) {
    return {offset[3], offset[2], offset[1], offset[0]};
}

class Factorer {
public:
    explicit Factorer(Program& program)
        : program_(program),
          uniform_(uniform_exprs(program)),
          reads_data_(reads_data(program)),
          uses_(count_uses(program)),
          old_(program.exprs),
          new_(old_.size()),
          shapes_(program) {
        find_inner();
        find_planes();
        rebuild(program, [this](ExprBuilder& builder, Expr expr, ExprId id) {
            const ExprId plain = builder.add(std::move(expr));
            const bool is_whole_sum = sum_of(old(id)) && reads_data_[id.index] && !inner_[id.index];
            return new_[id.index] = is_whole_sum ? factored(builder, id, plain) : plain;
        });
    }

private:
    const Expr& old(ExprId id) const { return old_[id.index]; }
    bool is_opened(ExprId id) const {
        return uses_[id.index] == 1 && reads_data_[id.index] && (sum_of(old(id)) || negation_of(old(id)));
    }

    // Finds sums that are terms of the sum that is their only user: they are opened into it.
    void find_inner() {
        inner_.assign(old_.size(), false);
        for (std::size_t i = old_.size(); i-- > 0;) {
            if (uses_[i] == 0 || !reads_data_[i]) continue;
            if (!sum_of(old_[i]) && !(negation_of(old_[i]) && inner_[i])) continue;
            for_each_operand(old_[i], [&](ExprId operand) {
                if (is_opened(operand)) inner_[operand.index] = true;
            });
        }
    }

    // Finds the highest plane that each expression reads.
    void find_planes() {
        const int axis = program_.rank() - 1;
        planes_.assign(old_.size(), {});
        for (std::size_t i = 0; i < old_.size(); ++i) {
            const auto* access = std::get_if<Access>(&old_[i].node);
            if (access && !access->is_mapped())
                planes_[i] = {Level{access->field.index, access->time}, access->offset[axis]};
            for_each_operand(old_[i], [&](ExprId operand) {
                const Plane& part = planes_[operand.index];
                Plane& all = planes_[i];
                if (all.highest == kNowhere) all.level = part.level;
                if (part.highest != kNowhere && part.level != all.level) all.level.reset();
                all.highest = std::max(all.highest, part.highest);
            });
        }
    }

    // The plane by which a term is placed in a sum: a kernel that traverses the slowest axis has all other
    // levels of a cell once it has the last plane.
    int plane_in_sum(ExprId id, const Level& level) const {
        const Plane& plane = planes_[id.index];
        return plane.highest != kNowhere && plane.level == level ? plane.highest : kLast;
    }

    std::vector<Signed> terms_of(ExprId root) const {
        std::vector<Signed> terms, pending{{root, false}};  // the last is next
        while (!pending.empty()) {
            const auto [id, negative] = pending.back();
            pending.pop_back();
            const bool opened = id == root || inner_[id.index];
            const Binary* sum = opened ? sum_of(old(id)) : nullptr;
            const Unary* negation = opened ? negation_of(old(id)) : nullptr;
            if (sum) {
                pending.push_back({sum->right, negative != (sum->op == BinaryOp::sub)});
                pending.push_back({sum->left, negative});
            } else if (negation) {
                pending.push_back({negation->operand, !negative});
            } else {
                terms.push_back({id, negative});
            }
        }
        return terms;
    }

    const Access* read_of(ExprId id, Scalar type) const {
        const Access* access = std::get_if<Access>(&old(id).node);
        return access && !access->is_mapped() && old(id).type == type ? access : nullptr;
    }

    // Takes a term apart: a read, weight * read, or weight * (reads).
    Item item_of(const Signed& term, Scalar type) const {
        Item item{term, {{}, term.is_negative ? -1 : 1}, {}};
        ExprId value = term.value;
        const Binary* product = std::get_if<Binary>(&old(value).node);
        if (product && product->op == BinaryOp::mul && uses_[value.index] == 1) {
            const bool is_left = uniform_[product->left.index];
            const ExprId weight = is_left ? product->left : product->right;
            if (!uniform_[weight.index]) return item;
            if (const auto* number = std::get_if<Constant>(&old(weight).node)) {
                if (number->value.is_zero()) return item;
                item.weight.scale = number->value * item.weight.scale;
            } else {
                item.weight.factor = new_[weight.index];
            }
            value = is_left ? product->right : product->left;
        }
        if (read_of(value, type)) {
            item.reads.push_back({value, false});
        } else if (sum_of(old(value)) && uses_[value.index] == 1) {
            item.reads = terms_of(value);
            const Access* first = read_of(item.reads.front().value, type);
            const bool alike = first && std::ranges::all_of(item.reads, [&](const Signed& each) {
                                   const Access* read = read_of(each.value, type);
                                   return read && read->field == first->field && read->time == first->time;
                               });
            if (!alike) item.reads.clear();
        }
        return item;
    }

    // Adds an item to a form. Returns false where the form has one of the cells already: like terms are never
    // joined here.
    bool add(const Item& item, Form& form) const {
        std::map<Offset, Weight> taps;
        for (const Signed& read : item.reads) {
            const Offset offset = slowest_first(std::get<Access>(old(read.value).node).offset);
            Weight weight = item.weight;
            if (read.is_negative) weight.scale = -weight.scale;
            if (form.taps.contains(offset) || !taps.emplace(offset, weight).second) return false;
        }
        form.taps.insert(taps.begin(), taps.end());
        form.items.push_back(&item);
        return true;
    }

    // c * (a - b): a difference that vanishes in a constant field.
    static bool is_difference(const Item& item) {
        const auto minus = std::ranges::count_if(item.reads, &Signed::is_negative);
        return minus > 0 && 2 * minus == std::ssize(item.reads) && !item.weight.is_sign();
    }
    static bool has_both_signs(const Item& item) {
        return std::ranges::any_of(item.reads, &Signed::is_negative) &&
               !std::ranges::all_of(item.reads, &Signed::is_negative);
    }

    ExprId factored(ExprBuilder& builder, ExprId root, ExprId plain) {
        const Scalar type = old(root).type;
        std::vector<Item> items;
        for (const Signed& term : terms_of(root))
            items.push_back(item_of(term, type));
        ExprId best = plain;
        const std::vector<ExprId> closed = closed_parts(items);
        const bool any_difference = std::ranges::any_of(items, has_both_signs);
        for (const bool opens_differences : {true, false}) {
            if (opens_differences && !any_difference) continue;
            const std::optional<ExprId> made = opened(builder, items, type, opens_differences);
            if (!made) continue;
            const SumCost now = cost_of_sum(program_, shapes_, best, closed);
            if (is_better(cost_of_sum(program_, shapes_, *made, closed), now)) best = *made;
        }
        return best;
    }

    // The terms that both ways to write the sum leave as they are.
    std::vector<ExprId> closed_parts(const std::vector<Item>& items) const {
        std::vector<ExprId> closed;
        for (const Item& item : items) {
            if (!item.reads.empty()) continue;
            const ExprId value = new_[item.whole.value.index];
            const Binary* product = std::get_if<Binary>(&program_[value].node);
            const bool multiplies = product && product->op == BinaryOp::mul;
            closed.push_back(multiplies ? product->left : value);
            closed.push_back(multiplies ? product->right : value);
        }
        return closed;
    }

    // Collects the parts of a sum by level, the longest first.
    std::vector<Form> forms_of(const std::vector<Item>& items, bool opens_differences,
                               std::vector<const Item*>& others) const {
        std::map<Level, Form> forms;
        for (const Item& item : items) {
            const bool may_open =
                !item.reads.empty() && (!has_both_signs(item) || (opens_differences && is_difference(item)));
            bool taken = false;
            if (may_open) {
                const Access& access = std::get<Access>(old(item.reads.front().value).node);
                taken = add(item, forms[{access.field.index, access.time}]);
            }
            if (!taken) others.push_back(&item);
        }
        std::vector<Form> result;
        for (auto& [level, form] : forms) {
            form.level = level;
            if (form.taps.size() < kFewestTaps) {
                others.insert(others.end(), form.items.begin(), form.items.end());
            } else {
                result.push_back(std::move(form));
            }
        }
        std::ranges::stable_sort(result, std::ranges::greater{},
                                 [](const Form& form) { return form.taps.size(); });
        return result;
    }

    // Writes the sum with the parts of its levels planned anew; none where there is nothing to plan. The
    // longest part is ordered by planes, together with what else is read of its level; then the others
    // follow.
    std::optional<ExprId> opened(ExprBuilder& builder, const std::vector<Item>& items, Scalar type,
                                 bool opens_differences) {
        std::vector<const Item*> others;
        const std::vector<Form> forms = forms_of(items, opens_differences, others);
        std::map<int, std::vector<SumWriter::Term>> planes;
        std::optional<Level> first;
        for (const Form& form : forms) {
            SumPlanner planner;
            const std::vector<SumPlan::Part> parts = planned(planner, form);
            if (parts.empty()) others.insert(others.end(), form.items.begin(), form.items.end());
            if (parts.empty()) continue;
            if (!first) first = form.level;
            SumWriter writer(builder, {form.level.first}, form.level.second, type);
            for (const SumPlan::Part& part : parts) {
                const int plane = form.level == *first ? part.shift[program_.rank() - 1] : kLast;
                planes[plane].push_back(writer.term(part, {}));
            }
        }
        if (!first) return std::nullopt;
        for (const Item* item : others) {
            planes[plane_in_sum(item->whole.value, *first)].push_back(
                {new_[item->whole.value.index], item->whole.is_negative});
        }
        std::vector<SumWriter::Term> terms;
        for (const auto& [plane, in_plane] : planes)
            terms.insert(terms.end(), in_plane.begin(), in_plane.end());
        return added_up(builder, std::move(terms));
    }

    std::vector<SumPlan::Part> planned(SumPlanner& planner, const Form& form) const {
        std::vector<Tap> taps;
        for (const auto& [offset, weight] : form.taps)
            taps.push_back({slowest_first(offset), weight});
        std::vector<SumPlan::Part> parts = planner.plan(taps, program_.rank() - 1);
        return keeps_differences(parts, form) ? parts : std::vector<SumPlan::Part>{};
    }

    // Whether each product of the plan takes in as many positive as negative reads of each difference.
    bool keeps_differences(const std::vector<SumPlan::Part>& parts, const Form& form) const {
        Differences differences;
        for (const Item* item : form.items) {
            if (!is_difference(*item)) continue;
            for (const Signed& read : item->reads)
                differences[std::get<Access>(old(read.value).node).offset] = {item,
                                                                              read.is_negative ? -1 : 1};
        }
        if (differences.empty()) return true;
        return std::ranges::all_of(parts, [&](const SumPlan::Part& part) {
            Balance balance;
            return is_balanced(part, {}, differences, balance);
        });
    }

    using Differences = std::map<Offset, std::pair<const Item*, int>>;
    using Balance = std::vector<std::pair<const Item*, int>>;  // reads that no product has taken in
    static bool is_balanced(const SumPlan::Part& part, const Offset& at, const Differences& differences,
                            Balance& balance) {
        const std::size_t before = balance.size();
        Offset where = at;
        for (int axis = 0; axis < kMaxRank; ++axis)
            where[axis] += part.shift[axis];
        if (part.value == nullptr) {
            const auto read = differences.find(where);
            if (read != differences.end()) balance.push_back(read->second);
        } else {
            for (const SumPlan::Part& inner : part.value->parts)
                if (!is_balanced(inner, where, differences, balance)) return false;
        }
        if (part.weight.is_sign()) return true;
        std::map<const Item*, int> sums;
        for (; balance.size() > before; balance.pop_back())
            sums[balance.back().first] += balance.back().second;
        return std::ranges::all_of(sums, [](const auto& sum) { return sum.second == 0; });
    }

    const Program& program_;
    std::vector<bool> uniform_, reads_data_;
    std::vector<std::uint32_t> uses_;
    std::vector<Expr> old_;
    std::vector<ExprId> new_;
    std::vector<bool> inner_;
    std::vector<Plane> planes_;
    ShiftedShapes shapes_;  // of the new arena
};

}  // namespace

void factor_sums(Program& program) {
    Factorer{program};
    prune(program);
}

}  // namespace halo::passes
