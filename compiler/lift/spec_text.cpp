#include "compiler/lift/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "compiler/lift/mutation.h"
#include "compiler/lift/spec_terms.h"

namespace halo::lift {

namespace {

using c::Number;

class SpecWriter : private TermWriter {
public:
    SpecWriter(const Model& model, const Form& form, const Precision& precision, const FormOptions& options)
        : TermWriter(model, form, precision), options_(options) {}

    Spec write(const std::string& name) {
        Names stencils;
        spec_.name = stencils.take(name);
        choose_fields();
        std::string statements;
        for (const Statement& each : form_.statements)
            statements += each.field < 0 ? reduction(each) : base_copy(each) + statement(each);
        for (std::size_t i = 0; i < form_.fields.size(); ++i)
            statements += swap_copy(static_cast<int>(i));
        std::string axes;
        for (const std::string& axis : form_.axes)
            axes += (axes.empty() ? "" : ", ") + axis;
        spec_.body =
            "stencil " + spec_.name + "(" + axes + ") {\n" + params() + fields() + "\n" + statements + "}\n";
        check_sums();
        spec_.is_exact = precision_.differences.empty() && !has_function_;
        for (const std::string& each : precision_.differences)
            spec_.remarks.push_back(each);
        spec_.keeps_zeros = !has_extremum_ && spec_.reductions.empty();
        if (has_function_) spec_.remarks.push_back("Functions are those of each platform's library.");
        if (has_extremum_)
            spec_.remarks.push_back(
                "Where an operand of min or max is NaN the result is the right one, not the number.");
        return std::move(spec_);
    }

private:
    const Store& store(const Statement& each) const {
        return model_.stores[static_cast<std::size_t>(each.store)];
    }

    bool covers_grid(const Statement& each) const { return store(each).guards.empty() && is_whole(each); }
    const Statement* first_write(int id) const {
        for (const Statement& each : form_.statements) {
            if (each.field == id) return &each;
        }
        return nullptr;
    }
    // With --equal-rims, of rotating arrays and of which one is written in a step: cells that are not
    // written keep what the name held, which is the same in all of them.
    bool is_short_cycle(int id) const {
        if (!options_.equal_rims || field(id).after_step == id) return false;
        int written = 0;
        bool is_guarded = false;
        int at = id;
        do {
            for (const Statement& each : form_.statements)
                is_guarded = is_guarded || (each.field == at && !store(each).guards.empty());
            written += first_write(at) != nullptr;
            at = field(at).after_step;
        } while (at != id);
        return written == 1 && !is_guarded;
    }
    bool is_short(int id) const { return first_write(id) && is_short_cycle(id); }
    // A rotating array whose cells before the step show nowhere: neither in what is read, nor
    // under its next name, where that shows.
    bool is_scratch(int id) const {
        if (!is_short_cycle(id)) return false;
        std::set<int> passed;
        for (int at = id; passed.insert(at).second; at = holder(at)) {
            if (field(at).is_old_read) return false;
            if (first_write(at)) return true;
        }
        return true;
    }

    void choose_fields() {
        std::set<int> kept;
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const int id = static_cast<int>(i);
            // Its last values are what the caller finds in the array: kept, unless only its being there
            // matters.
            const bool is_computed =
                std::any_of(form_.statements.begin(), form_.statements.end(),
                            [&](const Statement& each) { return holder(each.field) == id; });
            const bool is_dropped = options_.equal_rims && is_scratch(id) && !is_computed;
            if (is_dropped)
                spec_.remarks.push_back(
                    fmt::format("`{}` rotates with the others and has no field: what it holds afterwards "
                                "is left out.",
                                field(id).name));
            else
                kept.insert(id);
        }
        for (const int id : kept)
            spec_.fields[id] = names_.take(field(id).name);
        for (const int id : kept)
            if (field(id).has_before) spec_.before[id] = names_.take(field(id).name + "_before");
        for (const auto& [id, name] : spec_.before)
            spec_.remarks.push_back(fmt::format("`{}` is changed in place: `{}` is the same array before.",
                                                spec_.fields[id], name));
        bool assumes = false;
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Statement* first = first_write(static_cast<int>(i));
            const bool is_swapped = form_.fields[i].after_step != static_cast<int>(i);
            assumes =
                assumes || (is_swapped && first && is_short(static_cast<int>(i)) && !covers_grid(*first));
        }
        if (assumes)
            spec_.remarks.push_back(
                "Assumes that the rotating arrays hold the same values in the cells that "
                "no loop writes.");
        else if (std::any_of(form_.fields.begin(), form_.fields.end(), [&](const Field& each) {
                     return each.after_step != static_cast<int>(&each - form_.fields.data());
                 }))
            spec_.remarks.push_back("Rotating arrays are a field each, and the swap is written out.");
    }

    std::string target(int id) {
        const std::string& name = spec_.fields.at(holder(id));
        return field(id).is_state ? name + "[t+1]" : name;
    }

    // Cells of the array that are not written keep what it held, not what its next name held.
    std::string base_copy(const Statement& each) {
        const int to = holder(each.field);
        if (to == each.field || first_write(each.field) != &each || covers_grid(each) || is_short(each.field))
            return "";
        return spec_.fields.at(to) + "[t+1] = " + spec_.fields.at(each.field) + "\n";
    }
    std::string swap_copy(int id) {
        const int to = holder(id);
        if (to == id || first_write(id) || !spec_.fields.count(to)) return "";
        return spec_.fields.at(to) + "[t+1] = " + spec_.fields.at(id) + "\n";
    }

    std::string params() {
        std::string text;
        for (const auto& [id, name] : spec_.params) {
            const Number number = model_.scalars[static_cast<std::size_t>(id)].number;
            text += (text.empty() ? "param " : ", ") + name +
                    (c::is_integer(number) ? (number == Number::i32 ? ": i32" : ": i64") : "");
        }
        return text.empty() ? text : text + "\n";
    }
    std::string fields() {
        std::string text;
        std::map<std::string, std::string> by_type;
        for (const auto& [id, name] : spec_.fields) {
            std::string& names = by_type[precision_.type.at(id) + over(field(id)) + boundary_of(field(id))];
            names += (names.empty() ? "" : ", ") + name;
            if (const auto before = spec_.before.find(id); before != spec_.before.end())
                names += ", " + before->second;
        }
        for (const auto& [type, names] : by_type)
            text += "field " + names + ": " + type + "\n";
        return text;
    }

    // The axes of an array that has fewer than the grid.
    std::string over(const Field& of) const {
        std::string text;
        for (std::size_t a = 0; a < form_.axes.size() && !of.own_axis.empty(); ++a)
            if (of.lies_along(a)) text += (text.empty() ? " over " : ", ") + form_.axes[a];
        return text;
    }

    // What is read beyond the edges. Where that is not looked at, it is the cell at the edge.
    std::string boundary_of(const Field& of) const {
        const auto name = [](Field::Past past) {
            const bool is_periodic = (past == Field::Past::periodic) != has(Mutation::swap_boundary);
            return is_periodic ? " periodic" : " clamp";
        };
        std::string text;
        bool is_same = true;
        std::size_t first = 0;
        while (!of.lies_along(first))
            ++first;
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            if (!of.lies_along(a)) continue;
            const auto& [low, high] = of.past[a];
            const auto add = [&](const std::string& faces, Field::Past past) {
                text += (text.empty() ? "" : ", ") + faces + name(past);
            };
            const bool has_low = low != Field::Past::nothing, has_high = high != Field::Past::nothing;
            is_same = is_same && has_low && has_high && name(low) == std::string(name(high)) &&
                      name(low) == std::string(name(of.past[first][0]));
            if (has_low && has_high && name(low) == std::string(name(high))) {
                add(form_.axes[a], low);
                continue;
            }
            if (has_low) add(form_.axes[a] + ".low", low);
            if (has_high) add(form_.axes[a] + ".high", high);
        }
        if (text.empty()) return "";
        return " { boundary " + (is_same ? name(of.past[first][0]) + 1 : text) + " }";
    }

    // ---- statements

    std::string statement(const Statement& each) {
        begin(each);
        const Store& from = store(each);
        // What is written a second time in a step is written for some cells, be it all of them.
        const bool is_again = written_.count(each.field) || !base_copy(each).empty();
        written_.insert(each.field);
        const std::string lets = (is_again ? name_before(each) : "") + name_parts(from);
        const std::string condition = condition_of(each);
        std::string text = broken(target(each.field) + " = " + stored(from)) + "\n";
        if (!condition.empty()) text = broken("where " + condition) + " {\n" + text + "}\n";
        before_.clear();
        std::string region =
            needs_region(each) || is_again || is_named_elsewhere(each) ? this->region(each) : "";
        if (is_again && region.empty() && condition.empty()) region = form_.axes[0] + " in 0..-1";
        if (!region.empty()) text = "on " + region + " {\n" + text + "}\n";
        return lets + text;
    }
    void begin(const Statement& each) {
        current_ = &each;
        count_uses(store(each));
        if (lets_of_ == key_of(each)) return;
        lets_.clear();
        lets_of_ = key_of(each);
    }
    std::string name_parts(const Store& from) {
        std::string text;
        for (const int id : terms_of(model_, from)) {
            if (!is_named(id) || lets_.count(id)) continue;
            const std::string words = term(id, true).words;
            const std::string& hint = model_.term(id).hint;
            lets_[id] = names_.take(hint.empty() ? "part" : hint);
            text += broken("let " + lets_[id] + " = " + words) + "\n";
        }
        return text;
    }
    std::string condition_of(const Statement& each) {
        const Store& from = store(each);
        std::string text;
        for (std::size_t a = 0; a < form_.axes.size(); ++a)
            text += (text.empty() || bounds_of(each, a).empty() ? "" : " and ") + bounds_of(each, a);
        const bool is_alone = text.empty() && from.guards.size() == 1;
        for (const int guard : from.guards)
            text += (text.empty() ? "" : " and ") + term(guard).in(is_alone ? kIf : kNot);
        return text;
    }
    // A bound that parameters put at no fixed distance from an edge: idx(x) >= h and idx(x) < n - h.
    std::string bounds_of(const Statement& each, std::size_t a) {
        const Range& range = each.region[a];
        const SourceRange where = store(each).where;
        std::string text;
        if (!is_fixed(range.lower, a) && !has(Mutation::drop_bound))
            text = "idx(" + form_.axes[a] + ") >= " + bound_of(range.lower, where);
        if (!is_fixed(range.upper, a)) {
            const bool is_last = range.upper.of({}) == 1;
            text += (text.empty() ? "idx(" : " and idx(") + form_.axes[a] + (is_last ? ") <= " : ") < ") +
                    bound_of(is_last ? range.upper - 1 : range.upper, where);
        }
        return text;
    }
    std::string bound_of(const Polynomial& cell, SourceRange where) {
        for (const auto& [monomial, factor] : cell.terms()) {
            if (monomial.size() > 1)
                throw Refusal(where,
                              fmt::format("the bound `{}` multiplies parameters, and is no fixed number of "
                                          "cells from an edge of the grid",
                                          model_.text(cell)),
                              {fmt::format("for one value of a parameter it can be lifted: --assume {}=4, or "
                                           "what it is",
                                           model_.name(monomial[0]))});
        }
        return polynomial(cell, where).in(kSum);
    }
    bool is_fixed(const Polynomial& cell, std::size_t a) const {
        return cell.constant() || (cell - form_.grid[a]).constant();
    }
    // The cells that the statement is for, or more where parameters say which: all that have neighbours.
    Range box(const Statement& each, std::size_t a) const {
        const auto [low, high] = reach(each, a);
        Range range = each.region[a];
        if (!is_fixed(range.lower, a)) range.lower = low;
        if (!is_fixed(range.upper, a)) range.upper = form_.grid[a] - high;
        return range;
    }
    // How far it reads towards the low and the high edge, where there is no boundary.
    std::pair<int, int> reach(const Statement& each, std::size_t a) const {
        int low = 0, high = 0;
        for (const auto& [id, read] : each.reads) {
            const auto& past = field(read.is_new ? holder(read.field) : read.field).past[a];
            if (past[0] == Field::Past::nothing) low = std::max(low, -read.offset[a]);
            if (past[1] == Field::Past::nothing) high = std::max(high, read.offset[a]);
        }
        return {low, high};
    }

    // reduce s = sum(u * u) on x in 1..-2 where mask != 0
    std::string reduction(const Statement& each) {
        begin(each);
        const Store& from = store(each);
        const Reduction& reduction = model_.reduction(from.reduction);
        const std::string lets = name_parts(from);
        std::string cells = region(each);
        if (!cells.empty()) cells = " on " + cells;
        if (const std::string condition = condition_of(each); !condition.empty())
            cells += " where " + condition;
        const std::string value = term(from.value).words;
        ReductionName made;
        made.statement = static_cast<int>(&each - form_.statements.data());
        made.name = names_.take(reduction.name);
        const auto line = [&](const std::string& name, const std::string& op, const std::string& of) {
            return broken("reduce " + name + " = " + op + "(" + of + ")" + cells) + "\n";
        };
        made.line = line(made.name, reduction.op, value);
        std::string sizes;
        for (const int part : reduction.parts)
            sizes += (sizes.empty() ? "abs(" : " + abs(") + term(part).words + ")";
        made.magnitude_name = names_.take(made.name + "_magnitude");
        if (reduction.op == "sum") made.magnitude = line(made.magnitude_name, "sum", sizes);
        spec_.reductions.push_back(made);
        return lets + made.line;
    }
    // Sums begin with what the variable was before.
    void check_sums() {
        for (const ReductionName& each : spec_.reductions) {
            const Store& from = store(form_.statements[static_cast<std::size_t>(each.statement)]);
            const Reduction& reduction = model_.reduction(from.reduction);
            const bool is_real_sum = reduction.op == "sum" && c::is_real(reduction.type);
            if (is_real_sum && options_.strict_fp)
                throw Refusal(from.where,
                              "this sum is added in another order by a spec: its last digits differ",
                              {"without --strict-fp it is lifted, and the header says so"});
            const std::string& variable = reduction.name;
            spec_.remarks.push_back(
                reduction.op == "sum"
                    ? fmt::format(
                          "Behind the nest `{}` is what it was before plus `{}`.{}", variable, each.name,
                          is_real_sum ? " The sum is added in another order, in f64: its last digits differ."
                                      : "")
                    : fmt::format(
                          "Behind the nest `{}` is the {} of what it was before and `{}`. Where a value is "
                          "NaN, so is `{}`.",
                          variable, reduction.op == "max" ? "larger" : "smaller", each.name, each.name));
        }
    }
    // A change in place that reads neighbours which it changes as well needs a name for what was there.
    std::string name_before(const Statement& each) {
        for (const auto& [id, read] : each.reads) {
            if (read.field != each.field || !read.is_new || is_apart(each, read.offset)) continue;
            if (!boundary_of(field(holder(read.field))).empty())
                throw Refusal(model_.read(id).where,
                              "this reads new values of what it changes, in some cells alone");
            const std::string now = target(each.field);
            before_ = names_.take(field(each.field).name + "_before");
            return "let " + before_ + " = " + now + "\n";
        }
        return "";
    }
    // Whether cells at the offset are none of those that are written, or each is the cell itself.
    static bool is_apart(const Statement& each, const std::vector<int>& offset) {
        bool is_same = true;
        for (std::size_t a = 0; a < offset.size(); ++a) {
            const auto width = (each.region[a].upper - each.region[a].lower).constant();
            if (width && *width <= std::abs(offset[a])) return true;
            is_same = is_same && offset[a] == 0;
        }
        return is_same;
    }
    std::string stored(const Store& from) {
        const Term& value = model_.term(from.value);
        if (value.kind == Term::Kind::number) {
            // A value that is a number alone takes the field's type.
            return number(value, value.type == Number::f32).words;
        }
        return term(from.value).words;
    }

    // Lets are seen from the cell that is computed.
    static std::vector<std::pair<int, std::string>> key_of(const Statement& each) {
        std::vector<std::pair<int, std::string>> key;
        for (const AxisIndex& axis : each.axes)
            key.emplace_back(axis.loop, axis.offset.text([](int symbol) { return std::to_string(symbol); }));
        return key;
    }

    void count_uses(const Store& from) {
        uses_.clear();
        ++uses_[from.value];
        for (const int guard : from.guards)
            ++uses_[guard];
        for (const int id : terms_of(model_, from)) {
            for (const int operand : model_.term(id).operands)
                ++uses_[operand];
        }
    }
    bool is_named(int id) const {
        const Term& each = model_.term(id);
        const bool is_operation = each.kind == Term::Kind::binary || each.kind == Term::Kind::call ||
                                  each.kind == Term::Kind::select || each.kind == Term::Kind::unary;
        const auto found = uses_.find(id);
        return is_operation && each.type != Number::boolean && each.text != "mod" && found != uses_.end() &&
               found->second > 1;
    }

    // Without `on`, a statement covers the cells whose neighbours all exist.
    bool needs_region(const Statement& each) {
        if (!lets_.empty()) {
            for (const auto& [id, read] : each.reads) {
                if (std::any_of(read.offset.begin(), read.offset.end(),
                                [](int offset) { return offset != 0; }))
                    return !is_whole(each);
            }
        }
        return !has_neighbours(each);
    }
    // Whether it is for all cells whose neighbours exist.
    bool has_neighbours(const Statement& each) const {
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            const auto [low, high] = reach(each, a);
            const Range range = box(each, a);
            if (!(range.lower == Polynomial(low)) || !(range.upper == form_.grid[a] - high)) return false;
        }
        return true;
    }
    // Whether a statement that needs `on` is for the same cells: where both say so, one kernel is for both.
    // States have kernels of their own.
    bool is_named_elsewhere(const Statement& each) const {
        if (field(each.field).is_state) return false;
        return std::ranges::any_of(form_.statements, [&](const Statement& other) {
            const bool is_reduction = other.field < 0;
            if (&other == &each || (!is_reduction && (field(other.field).is_state || has_neighbours(other))))
                return false;
            for (std::size_t a = 0; a < form_.axes.size(); ++a) {
                const Range own = box(each, a), range = box(other, a);
                if (!(own.lower == range.lower) || !(own.upper == range.upper)) return false;
            }
            return true;
        });
    }
    bool is_whole(const Statement& each) const {
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            if (!(each.region[a].lower == Polynomial(0)) || !(each.region[a].upper == form_.grid[a]))
                return false;
        }
        return true;
    }

    std::string bound(const Polynomial& cell, std::size_t a) const {
        const auto from_high = (cell - form_.grid[a]).constant(), from_low = cell.constant();
        // Of a grid whose size is known both are: the nearer face.
        const bool is_low = from_low && (!from_high || *from_high >= 0 || *from_low <= -*from_high);
        return std::to_string(is_low ? *from_low : *from_high);
    }
    std::string region(const Statement& each) const {
        std::string text;
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            const Range range = box(each, a);
            if (range.lower == Polynomial(0) && range.upper == form_.grid[a]) continue;
            if (!text.empty()) text += ", ";
            const std::string low = bound(range.lower, a), high = bound(range.upper - 1, a);
            const bool is_one = low == high;
            if (is_one && low == "0")
                text += form_.axes[a] + ".low";
            else if (is_one && low == "-1")
                text += form_.axes[a] + ".high";
            else
                text += form_.axes[a] + " in " + low + ".." + high;
        }
        return text;
    }

    const FormOptions& options_;
    std::map<int, int> uses_;
    std::vector<std::pair<int, std::string>> lets_of_;
    std::set<int> written_;
};

}  // namespace

Spec write_spec(const Model& model, const Form& form, const Precision& precision, const FormOptions& options,
                const std::string& name) {
    return SpecWriter(model, form, precision, options).write(name);
}

}  // namespace halo::lift
