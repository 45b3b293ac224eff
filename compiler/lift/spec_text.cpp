#include "compiler/lift/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "compiler/lift/spec_words.h"

namespace halo::lift {

namespace {

using c::Number;

class Writer {
public:
    Writer(const Model& model, const Form& form, const Precision& precision, const FormOptions& options)
        : model_(model), form_(form), precision_(precision), options_(options) {}

    Spec write(const std::string& name) {
        Names stencils;
        spec_.name = stencils.take(name);
        choose_fields();
        std::string statements;
        for (const Statement& each : form_.statements)
            statements += base_copy(each) + statement(each);
        for (std::size_t i = 0; i < form_.fields.size(); ++i)
            statements += swap_copy(static_cast<int>(i));
        std::string axes;
        for (const std::string& axis : form_.axes)
            axes += (axes.empty() ? "" : ", ") + axis;
        spec_.body =
            "stencil " + spec_.name + "(" + axes + ") {\n" + params() + fields() + "\n" + statements + "}\n";
        spec_.is_exact = precision_.differences.empty() && !has_function_;
        for (const std::string& each : precision_.differences)
            spec_.remarks.push_back(each);
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
    const Field& field(int id) const { return form_.fields[static_cast<std::size_t>(id)]; }

    // What is called `id` now is called so after the step.
    int holder(int id) const {
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            if (form_.fields[i].after_step == id) return static_cast<int>(i);
        }
        return id;
    }
    bool covers_grid(const Statement& each) const { return store(each).guards.empty() && is_whole(each); }
    const Statement* first_write(int id) const {
        for (const Statement& each : form_.statements) {
            if (each.field == id) return &each;
        }
        return nullptr;
    }
    // With --equal-rims, of arrays that take turns and of which one is written in a step: cells that are not
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
    // An array that takes turns, and whose cells before the step show nowhere: neither in what is read, nor
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
                    fmt::format("`{}` takes turns with the others and has no field: what it holds afterwards "
                                "is left out.",
                                field(id).name));
            else
                kept.insert(id);
        }
        for (const int id : kept)
            spec_.fields[id] = names_.take(field(id).name);
        bool assumes = false;
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Statement* first = first_write(static_cast<int>(i));
            const bool is_swapped = form_.fields[i].after_step != static_cast<int>(i);
            assumes =
                assumes || (is_swapped && first && is_short(static_cast<int>(i)) && !covers_grid(*first));
        }
        if (assumes)
            spec_.remarks.push_back(
                "Assumes that the arrays that take turns hold the same values in the cells that "
                "no loop writes.");
        else if (std::any_of(form_.fields.begin(), form_.fields.end(), [&](const Field& each) {
                     return each.after_step != static_cast<int>(&each - form_.fields.data());
                 }))
            spec_.remarks.push_back("Arrays that take turns are a field each, and the swap is written out.");
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
            std::string& names = by_type[precision_.type.at(id)];
            names += (names.empty() ? "" : ", ") + name;
        }
        for (const auto& [type, names] : by_type)
            text += "field " + names + ": " + type + "\n";
        return text;
    }

    // ---- statements

    std::string statement(const Statement& each) {
        current_ = &each;
        const Store& from = store(each);
        count_uses(from);
        if (lets_of_ != key_of(each)) {
            lets_.clear();
            lets_of_ = key_of(each);
        }
        // What is written a second time in a step is written for some cells, be it all of them.
        const bool is_again = written_.count(each.field) || !base_copy(each).empty();
        written_.insert(each.field);
        std::string lets = is_again ? name_before(each) : "";
        for (const int id : terms_of(model_, from)) {
            if (!is_named(id) || lets_.count(id)) continue;
            const std::string words = term(id, true).words;
            const std::string& hint = model_.term(id).hint;
            lets_[id] = names_.take(hint.empty() ? "part" : hint);
            lets += broken("let " + lets_[id] + " = " + words) + "\n";
        }
        std::string condition;
        for (const int guard : from.guards)
            condition +=
                (condition.empty() ? "" : " and ") + term(guard).in(from.guards.size() > 1 ? kNot : kIf);
        std::string text = broken(target(each.field) + " = " + stored(from)) + "\n";
        if (!condition.empty()) text = broken("where " + condition) + " {\n" + text + "}\n";
        before_.clear();
        std::string region = needs_region(each) || is_again ? this->region(each) : "";
        if (is_again && region.empty() && condition.empty()) region = form_.axes[0] + " in 0..-1";
        if (!region.empty()) text = "on " + region + " {\n" + text + "}\n";
        return lets + text;
    }
    // A change in place that reads neighbours which it changes as well needs a name for what was there.
    std::string name_before(const Statement& each) {
        for (const auto& [id, read] : each.reads) {
            if (read.field != each.field || !read.is_new || is_apart(each, read.offset)) continue;
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
            // On its own a number takes the field's type.
            return decimal(value.number, value.type == Number::f32);
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

    // Without `on`, the cells are those whose neighbours are all there.
    bool needs_region(const Statement& each) {
        if (!lets_.empty()) {
            for (const auto& [id, read] : each.reads) {
                if (std::any_of(read.offset.begin(), read.offset.end(),
                                [](int offset) { return offset != 0; }))
                    return !is_whole(each);
            }
        }
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            int low = 0, high = 0;
            for (const auto& [id, read] : each.reads) {
                low = std::max(low, -read.offset[a]);
                high = std::max(high, read.offset[a]);
            }
            if (!(each.region[a].lower == Polynomial(low)) || !(each.region[a].upper == form_.grid[a] - high))
                return true;
        }
        return false;
    }
    bool is_whole(const Statement& each) const {
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            if (!(each.region[a].lower == Polynomial(0)) || !(each.region[a].upper == form_.grid[a]))
                return false;
        }
        return true;
    }

    std::string bound(const Polynomial& cell, std::size_t a, SourceRange where) const {
        const auto from_high = (cell - form_.grid[a]).constant();
        if (from_high && *from_high < 0) {
            const auto from_low = cell.constant();
            // Of a grid whose size is known both are: the nearer face.
            if (!from_low || *from_low > -*from_high) return std::to_string(*from_high);
        }
        if (const auto from_low = cell.constant(); from_low && *from_low >= 0)
            return std::to_string(*from_low);
        throw Refusal(
            where,
            fmt::format("the bound `{}` is no fixed number of cells from an edge of the grid, which has "
                        "{} cells along {}",
                        model_.text(cell), model_.text(form_.grid[a]), form_.axes[a]));
    }
    std::string region(const Statement& each) const {
        std::string text;
        const SourceRange where = store(each).where;
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            const Range& range = each.region[a];
            if (range.lower == Polynomial(0) && range.upper == form_.grid[a]) continue;
            if (!text.empty()) text += ", ";
            const std::string low = bound(range.lower, a, where), high = bound(range.upper - 1, a, where);
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

    // ---- expressions

    Text term(int id, bool spelled_out = false) {
        if (!spelled_out) {
            if (const auto found = lets_.find(id); found != lets_.end()) return {found->second, kLeaf};
        }
        const Term& each = model_.term(id);
        switch (each.kind) {
            case Term::Kind::number:
                return number(each, false);
            case Term::Kind::integer:
                return polynomial(each);
            case Term::Kind::scalar:
                return {param(each.index), kLeaf};
            case Term::Kind::read:
                return {access(each), kLeaf};
            case Term::Kind::convert:
                return term(each.operands[0]);
            case Term::Kind::unary: {
                const int binding = each.text == "not" ? kNot : kSign;
                const std::string operand = term(each.operands[0]).in(each.text == "not" ? kCompare : kLeaf);
                return {each.text == "not" ? "not " + operand : "-" + operand, binding};
            }
            case Term::Kind::binary:
                return binary(each);
            case Term::Kind::select: {
                const Text condition = term(each.operands[0]);
                const Text then = operand(each, 1), otherwise = operand(each, 2);
                return {"if " + condition.in(kOr) + " then " + then.in(kOr) + " else " + otherwise.in(kIf),
                        kIf};
            }
            case Term::Kind::call:
                return call(each);
        }
        return {};
    }

    // A number takes the type of what it meets: a float's decimals mean the float there, and not among
    // doubles.
    Text operand(const Term& of, std::size_t which) {
        const int id = of.operands[which];
        int leaf = id;
        while (model_.term(leaf).kind == Term::Kind::convert)
            leaf = model_.term(leaf).operands[0];
        if (model_.term(leaf).kind != Term::Kind::number) return term(id);
        bool meets_float = false;
        for (const int other : of.operands)
            meets_float = meets_float || precision_.compute[static_cast<std::size_t>(other)] == Compute::f32;
        return number(model_.term(leaf), meets_float);
    }
    static Text number(const Term& each, bool meets_float) {
        if (!std::isfinite(each.number))
            throw Refusal(each.where, "this number is not finite, and a spec cannot write it");
        const bool as_float = meets_float;
        return {decimal(each.number, as_float), std::signbit(each.number) ? kSign : kLeaf};
    }

    Text binary(const Term& each) {
        if (each.text == "mod")
            return {"mod(" + term(each.operands[0]).words + ", " + term(each.operands[1]).words + ")", kLeaf};
        if (each.text == "+" && is_zero(each.operands[0])) return operand(each, 1);  // where sums begin
        if (each.text == "*" && is_one(each.operands[0])) return operand(each, 1);
        const Text left = operand(each, 0), right = operand(each, 1);
        if (each.text == "+" && right.binding == kProduct && right.words[0] == '-')
            return {left.in(kSum) + " - " + right.words.substr(1), kSum};  // a + -2 * b
        if (each.text == "and") return {left.in(kAnd) + " and " + right.in(kNot), kAnd};
        if (each.text == "or") return {left.in(kOr) + " or " + right.in(kAnd), kOr};
        const bool is_sum = each.text == "+" || each.text == "-";
        const bool is_product = each.text == "*" || each.text == "/";
        const int binding = is_sum ? kSum : is_product ? kProduct : kCompare;
        const int at_left = binding == kCompare ? kSum : binding;
        // -1 * a stays a product of a number; a - -1 does not stand so.
        const int at_right = binding == kCompare                             ? kSum
                             : kLeaf > binding + 1 && right.binding == kSign ? kLeaf
                                                                             : binding + 1;
        return {left.in(at_left) + " " + each.text + " " + right.in(at_right), binding};
    }

    // A language that computes with exact numbers drops these, too.
    bool is_zero(int id) const { return is_value(id, 0); }
    bool is_one(int id) const { return is_value(id, 1); }
    bool is_value(int id, int value) const {
        const Term& each = model_.term(id);
        if (each.kind == Term::Kind::convert) return is_value(each.operands[0], value);
        if (each.kind == Term::Kind::integer) return each.poly == Polynomial(value);
        return each.kind == Term::Kind::number && each.number == value && !std::signbit(each.number);
    }

    Text call(const Term& each) {
        if (each.text == "min" || each.text == "max")
            has_extremum_ = true;
        else if (each.text != "sqrt" && each.text != "abs")
            has_function_ = true;
        std::string text = each.text + "(";
        for (std::size_t i = 0; i < each.operands.size(); ++i)
            text += (i ? ", " : "") + operand(each, i).words;
        return {text + ")", kLeaf};
    }

    std::string param(int scalar) {
        const auto found = spec_.params.find(scalar);
        if (found != spec_.params.end()) return found->second;
        return spec_.params[scalar] = names_.take(model_.scalars[static_cast<std::size_t>(scalar)].name);
    }

    // i + 2*n: the loop's index is that of the cell, less what is added to it where the cell is stored.
    Text polynomial(const Term& each) {
        Polynomial in_cells = each.poly;
        std::map<int, std::string> words;
        for (std::size_t a = 0; a < current_->axes.size(); ++a) {
            const AxisIndex& axis = current_->axes[a];
            if (axis.loop < 0) continue;
            const int symbol = model_.loop(axis.loop).symbol;
            const auto factor = in_cells.coefficient(symbol);
            if (!factor) throw Refusal(each.where, "a power of a loop's index is computed here");
            in_cells = in_cells - *factor * axis.offset;
            words[symbol] = "idx(" + form_.axes[a] + ")";
        }
        if (model_.time_loop >= 0) {
            const Loop& time = model_.loop(model_.time_loop);
            const auto factor = in_cells.coefficient(time.symbol);
            if (!factor) throw Refusal(each.where, "a power of the step is computed here");
            in_cells = in_cells + *factor * time.lower;
            words[time.symbol] = "step";
        }
        for (std::size_t s = 0; s < model_.symbols.size(); ++s) {
            const int symbol = static_cast<int>(s);
            if (words.count(symbol) || !in_cells.has(symbol)) continue;
            if (model_.symbols[s].scalar < 0)
                throw Refusal(each.where, "`" + model_.symbols[s].name + "` is no number that a spec knows");
            words[symbol] = param(model_.symbols[s].scalar);
        }
        std::string text = in_cells.text([&](int symbol) { return words.at(symbol); });
        std::string spaced;
        for (const char each_char : text)
            spaced += each_char == '*' ? std::string(" * ") : std::string(1, each_char);
        const bool is_sum = in_cells.terms().size() > 1;
        const bool is_product = spaced.find('*') != std::string::npos;
        return {spaced, is_sum ? kSum : is_product ? kProduct : spaced[0] == '-' ? kSign : kLeaf};
    }

    std::string access(const Term& each) {
        const ResolvedRead& read = current_->reads.at(each.index);
        const Field& of = field(read.field);
        const bool is_before = !before_.empty() && read.is_new && read.field == current_->field;
        const std::string text =
            is_before ? before_ : spec_.fields.at(read.is_new ? holder(read.field) : read.field);
        std::string inside = read.is_new && of.is_state && !is_before ? "t+1" : "";
        for (std::size_t a = 0; a < read.offset.size(); ++a) {
            if (read.offset[a] == 0) continue;
            inside += (inside.empty() ? "" : ", ") + form_.axes[a] + fmt::format("{:+d}", read.offset[a]);
        }
        return inside.empty() ? text : text + "[" + inside + "]";
    }

    const Model& model_;
    const Form& form_;
    const Precision& precision_;
    const FormOptions& options_;
    Spec spec_;
    Names names_;
    const Statement* current_ = nullptr;
    std::map<int, int> uses_;
    std::map<int, std::string> lets_;
    std::vector<std::pair<int, std::string>> lets_of_;
    std::set<int> written_;
    std::string before_;  // the let that holds what a statement changes in place
    bool has_function_ = false, has_extremum_ = false;
};

}  // namespace

Spec write_spec(const Model& model, const Form& form, const Precision& precision, const FormOptions& options,
                const std::string& name) {
    return Writer(model, form, precision, options).write(name);
}

}  // namespace halo::lift
