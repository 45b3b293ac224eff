// One stencil as a C function that takes the loop's arrays and numbers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/lift/form_origins.h"
#include "compiler/lift/replace.h"

namespace halo::lift {

namespace {

using c::Number;

const char* fixed_type_name(Number number) {
    switch (number) {
        case Number::f32:
            return "float";
        case Number::f64:
            return "double";
        case Number::i32:
            return "int32_t";
        case Number::i64:
            return "int64_t";
        default:
            return "unsigned char";
    }
}

class CallWriter {
public:
    CallWriter(const Lifted& lifted, const std::string& spec)
        : lifted_(lifted), unit_(lifted.unit), model_(lifted.model), form_(lifted.form), spec_(spec) {
        for (const char* word : {"array", "arrays", "bytes", "double", "float", "for", "grid", "held", "if",
                                 "int", "long", "return", "sizeof", "stencil", "text", "turn"})
            taken_.insert(word);
    }

    StencilCall write() {
        for (const auto& [id, name] : lifted_.spec.fields) {
            if (!is_local(id)) add_field(id);
        }
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const int id = static_cast<int>(i);
            if (!is_local(id) && !lifted_.spec.fields.count(id))
                throw Refusal(model_.object(form_.fields[i].object).where,
                              "`" + form_.fields[i].name +
                                  "` has no field in the spec, and would not hold what the loops leave in it",
                              {"without --equal-rims it has one"});
        }
        last_ = take("last");
        const std::string body = function_body();  // names the numbers that it needs
        StencilCall made;
        const std::string name = "halo_" + lifted_.spec.name;
        made.definition = "static int " + name + "(";
        made.call = name + "(";
        for (std::size_t i = 0; i < arguments_.size(); ++i) {
            made.definition += (i ? ", " : "") + arguments_[i].declared;
            made.call += arguments_[i].value + ", ";
        }
        made.definition += (arguments_.empty() ? "int " : ", int ") + last_ + ") {\n" + body + "}\n";
        made.call += "1)";
        return made;
    }

private:
    struct Argument {
        std::string declared, value;
    };

    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }
    const Field& field(int id) const { return form_.fields[static_cast<std::size_t>(id)]; }
    int array_of(int id) const {
        const Object& object = model_.object(field(id).object);
        return object.role_of >= 0 ? object.role_of : field(id).object;
    }
    bool is_local(int id) const { return model_.object(array_of(id)).origin == Object::Origin::local; }

    std::string take(std::string wanted) {
        std::string name = wanted;
        for (int i = 2; !taken_.insert(name).second; ++i)
            name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    // ---- arguments

    // How the source calls an array.
    std::string access(const Object& object) const {
        const std::string text = access_text(unit_, object.variable, object.members);
        if (object.is_inside) return "&" + text;
        const c::Type& of = type(variable(object.variable).type);
        const c::Type& held = of.is_reference ? type(of.element) : of;
        const bool is_container =
            object.members.empty() ? held.is_vector || held.is_std_array : object.is_vector;
        return is_container ? text + ".data()" : text;
    }

    void add_field(int id) {
        const Field& of = field(id);
        const int array = array_of(id);
        const Object& object = model_.object(array);
        const int depth = *std::max_element(of.level.begin(), of.level.end());
        if (of.modulus && of.phase_level != 0)
            throw Refusal(object.where, "`" + object.name + "` is an array of rows that rotate one by one");
        const std::string pointer = std::string(fixed_type_name(object.number)) + " " +
                                    std::string(static_cast<std::size_t>(depth) + 1, '*');
        if (!arrays_.count(array)) {
            const bool is_pointer = is_result(id);
            const std::string name = take(object.name);
            arrays_[array] = name;
            if (is_pointer) {
                pointers_.insert(array);
                arguments_.push_back({pointer + "*" + name, "(" + pointer + "*)&" + access(object)});
            } else {
                arguments_.push_back({pointer + name, "(" + pointer + ")" + access(object)});
            }
        }
        std::string first = pointers_.count(array) ? "*" + arrays_[array] : arrays_[array];
        if (of.modulus) {
            const Loop& time = model_.loop(model_.time_loop);
            const std::string slot = fmt::format("(({} + {}) % {} + {}) % {}", text(time.lower), *of.phase,
                                                 *of.modulus, *of.modulus, *of.modulus);
            const bool is_flat = depth == 0;
            first += is_flat ? fmt::format(" + ({}) * ({})", slot, text(of.phase_stride))
                             : fmt::format("[{}]", slot);
        }
        if (const Polynomial begin = first_element(of); !begin.is_zero()) first += " + (" + text(begin) + ")";
        const int above = of.modulus && depth > 0 ? 1 : 0;  // levels that the slot has passed
        std::string from, to, stride, level;
        for (std::size_t a = 0; a < 3; ++a) {
            const bool is_there = a < form_.axes.size();
            const auto [first_cell, past_cells] =
                is_there ? touched(id, a) : std::pair<std::string, std::string>("0", "1");
            from += (a ? ", " : "") + first_cell;
            to += (a ? ", " : "") + past_cells;
            stride += (a ? ", " : "") + (is_there ? text(of.stride[a]) : "0");
            level += (a ? ", " : "") + std::to_string(is_there ? of.level[a] - above : 0);
        }
        const std::string local = take("array_" + lifted_.spec.fields.at(id));
        locals_[id] = local;
        declared_ += fmt::format(
            "    halo_lift_array {} = {{{}, sizeof({}), {{{}}}, {{{}}}, {{{}}}, {{{}}}, {}}};\n", local,
            first, fixed_type_name(object.number), from, to, stride, level, is_overwritten(id) ? 1 : 0);
    }
    // Whether the nest writes each cell of the array that it touches, and reads none before: what the array
    // held is of no use to it.
    bool is_overwritten(int id) const {
        const Field& of = field(id);
        if (of.is_state || of.has_before || of.modulus || of.after_step != id || of.writes != 1) return false;
        const auto writer = std::ranges::find(form_.statements, id, &Statement::field);
        if (writer == form_.statements.end() ||
            !model_.stores[static_cast<std::size_t>(writer->store)].guards.empty())
            return false;
        const auto is_within = [&](const Range& cells, const Range& written) {
            const auto before = (cells.lower - written.lower).constant();
            const auto behind = (written.upper - cells.upper).constant();
            return before && behind && *before >= 0 && *behind >= 0;
        };
        return std::ranges::all_of(form_.statements, [&](const Statement& reader) {
            return std::ranges::all_of(reader.reads, [&](const auto& each) {
                const ResolvedRead& read = each.second;
                if (read.field != id) return true;
                if (!read.is_new) return false;
                for (std::size_t a = 0; a < form_.axes.size(); ++a)
                    for (const Range& cells : read.touched[a])
                        if (!is_within(cells, writer->region[a])) return false;
                return true;
            });
        });
    }
    // The cells that the loops read or write of a field, or of those that it rotates with, as bounds in C.
    // Beyond them the array may end.
    std::pair<std::string, std::string> touched(int id, std::size_t a) {
        std::set<int> group;
        for (int at = id; group.insert(at).second;)
            at = field(at).after_step;
        std::vector<Polynomial> lower, upper;  // of which the smallest and the largest count
        const auto add = [](std::vector<Polynomial>& all, const Polynomial& bound, bool is_upper) {
            for (Polynomial& each : all) {
                const auto apart = (bound - each).constant();
                if (apart && (*apart > 0) == is_upper) each = bound;
                if (apart) return;
            }
            all.push_back(bound);
        };
        const auto add_box = [&](const Range& box) {
            const auto count = (box.upper - box.lower).constant();
            if (count && *count <= 0) return;
            add(lower, box.lower, false);
            add(upper, box.upper, true);
        };
        for (const Statement& each : form_.statements) {
            if (group.count(each.field)) add_box(each.region[a]);
            for (const auto& [read, from] : each.reads) {
                for (const Range& cells : from.touched[a]) {
                    if (group.count(from.field)) add_box(cells);
                }
            }
        }
        return {extreme(lower, "<"), extreme(upper, ">")};
    }
    std::string extreme(const std::vector<Polynomial>& all, const char* comparison) {
        std::string words = all.empty() ? "0" : text(all.front());
        for (std::size_t i = 1; i < all.size(); ++i)
            words = fmt::format("({0} {2} {1} ? {0} : {1})", text(all[i]), words, comparison);
        return words;
    }
    // Whether the nest leaves another array in the pointer, which is read after it.
    bool is_result(int id) const {
        const Object& object = model_.object(field(id).object);
        if (object.role_of < 0) return false;
        return std::any_of(unit_.results.begin(), unit_.results.end(), [&](int each) {
            return variable(each).name == object.name &&
                   variable(each).name == model_.object(object.role_of).name;
        });
    }
    void check_pointers() const {
        for (const int each : unit_.results) {
            const c::Type& of = type(variable(each).type);
            if (of.kind != c::Type::Kind::pointer || of.is_reference) continue;
            const bool has = std::any_of(pointers_.begin(), pointers_.end(),
                                         [&](int array) { return model_.object(array).variable == each; });
            if (!has)
                throw Refusal(variable(each).where,
                              "`" + variable(each).name +
                                  "` is another pointer after the loop, and is none of the "
                                  "rotating arrays");
        }
    }

    std::string number(int scalar) {
        const Scalar& each = model_.scalars[static_cast<std::size_t>(scalar)];
        if (const auto found = numbers_.find(scalar); found != numbers_.end()) return found->second;
        const std::string name = take(each.name);
        std::string access = each.access;
        if (each.element) {  // of a list that may have several axes
            const c::Type& of = type(variable(each.variable).type);
            const bool is_plain = of.element >= 0 && type(of.element).kind == c::Type::Kind::number;
            if (!is_plain)
                access = fmt::format("(({} *){})[{}]", fixed_type_name(each.number),
                                     variable(each.variable).name, *each.element);
        }
        arguments_.push_back({(c::is_integer(each.number) ? "int64_t " : "double ") + name, access});
        return numbers_[scalar] = name;
    }
    std::string text(const Polynomial& poly) {
        const std::string words = poly.text(
            [&](int symbol) { return number(model_.symbols[static_cast<std::size_t>(symbol)].scalar); });
        std::string spaced;
        for (const char each : words)
            spaced += each == '*' ? std::string(" * ") : std::string(1, each);
        return spaced;
    }

    // ---- the function

    // Where a loop has no iteration, or what is assumed does not hold.
    std::string too_small() {
        std::vector<Polynomial> needed = form_needs(model_, form_);
        if (model_.time_loop >= 0) {
            const Loop& time = model_.loop(model_.time_loop);
            const auto fixed = (time.upper - time.lower).constant();
            if (!fixed || *fixed < 1) needed.push_back(time.upper - time.lower);
        }
        std::string all;
        for (const Polynomial& each : needed)
            all += (all.empty() ? "" : " || ") + text(each) + " < 1";
        return all;
    }

    std::string function_body() {
        check_pointers();
        std::string body = "    static HALO_LIFT_THREAD halo_lifted stencil;\n" + literal();
        std::string grid;
        for (std::size_t a = 0; a < 3; ++a)
            grid += (a ? ", " : "") + (a < form_.grid.size() ? text(form_.grid[a]) : "1");
        std::string all;
        for (const auto& [id, local] : locals_)
            all += (all.empty() ? "&" : ", &") + local;
        // Not the last: another stencil may do it, and the arrays stay where they are. For other values than
        // those that are assumed the loops may use other arrays than this stencil.
        const bool is_for_values =
            std::ranges::any_of(model_.symbols, [](const Symbol& each) { return each.assumed.has_value(); });
        const std::string leave = fmt::format("return {} ? halo_lift_loops(arrays, {}) : 0", last_,
                                              is_for_values ? "-1" : std::to_string(locals_.size()));
        body += "    const int64_t grid[3] = {" + grid + "};\n" + declared_;
        body += broken_line("    const halo_lift_array* const arrays[] = {" + all + "};", ", ");
        for (const ReductionName& each : lifted_.spec.reductions)
            body += "    double " + reduced(each) + ";\n";
        if (const std::string small = too_small(); !small.empty())
            body += broken_line("    if (" + small + ") " + leave + ";", " || ");
        body += fmt::format("    if (!halo_lift_ready(&stencil, \"{}\", text, {}, grid)) {};\n",
                            lifted_.spec.name, form_.axes.size(), leave);
        body +=
            "    if (" + run() + ") {\n        halo_lift_failed(&stencil);\n        " + leave + ";\n    }\n";
        body += finish(leave);
        return body + "    return 1;\n";
    }
    std::string literal() const {
        std::string text = "    static const char text[] =\n", line;
        for (const char each : spec_) {
            if (each == '\n') {
                text += "        \"" + line + "\\n\"\n";
                line.clear();
                continue;
            }
            if (each == '"' || each == '\\') line += '\\';
            line += each;
        }
        text.pop_back();
        return text + ";\n";
    }
    static std::string broken_line(const std::string& line, const std::string& between) {
        std::string text;
        std::size_t begin = 0;
        while (line.size() - begin > 110) {
            const std::size_t at = line.rfind(between, begin + 106);
            if (at == std::string::npos || at <= begin + 8) break;
            text += line.substr(begin, at + between.size() - 1 - begin) + "\n        ";
            begin = at + between.size();
        }
        return text + line.substr(begin) + "\n";
    }

    // Does all that may fail before anything of the program is changed.
    std::string run() {
        std::vector<std::string> calls;
        for (const auto& [id, name] : lifted_.spec.params) {
            const bool is_whole = c::is_integer(model_.scalars[static_cast<std::size_t>(id)].number);
            calls.push_back(fmt::format("halo_lift_set(&stencil, \"{}\", {}{})", name,
                                        is_whole ? "(double)" : "", number(id)));
        }
        for (const auto& [id, local] : locals_) {
            const auto write = [&](const std::string& field) {
                calls.push_back(fmt::format("halo_lift_write(&stencil, \"{}\", &{})", field, local));
            };
            write(lifted_.spec.fields.at(id));
            if (const auto before = lifted_.spec.before.find(id); before != lifted_.spec.before.end())
                write(before->second);
        }
        calls.push_back("halo_lift_step(&stencil, " + steps() + ")");
        for (const ReductionName& each : lifted_.spec.reductions)
            calls.push_back(fmt::format("halo_lift_reduce(&stencil, \"{}\", &{})", each.name, reduced(each)));
        std::string text;
        for (const std::string& each : calls)
            text += (text.empty() ? "" : " ||\n        ") + each;
        return text;
    }
    std::string steps() {
        if (model_.time_loop < 0) return "1";
        const Loop& time = model_.loop(model_.time_loop);
        return text(time.upper - time.lower);
    }
    const Reduction& reduction(const ReductionName& each) const {
        const Statement& cells = form_.statements[static_cast<std::size_t>(each.statement)];
        return model_.reduction(model_.stores[static_cast<std::size_t>(cells.store)].reduction);
    }
    std::string reduced(const ReductionName& each) {
        const auto found = reduced_.find(each.name);
        if (found != reduced_.end()) return found->second;
        return reduced_[each.name] = take("found_" + each.name);
    }

    std::string finish(const std::string& leave) {
        std::string body;
        for (const ReductionName& each : lifted_.spec.reductions) {
            if (reduction(each).op == "sum") continue;
            body += fmt::format("    if ({0} != {0}) {1}; /* C's comparisons pass over NaN */\n",
                                reduced(each), leave);
        }
        body += rotations();
        for (const auto& [id, local] : locals_) {
            const bool is_rotated = field(id).after_step != id;
            if (field(id).is_written || is_rotated)
                body += fmt::format("    halo_lift_read(&stencil, \"{}\", &{});\n",
                                    lifted_.spec.fields.at(id), local);
        }
        for (const auto& [id, local] : locals_) {
            if (!is_result(id) || !pointers_.count(array_of(id))) continue;
            const Object& object = model_.object(array_of(id));
            const int depth = *std::max_element(field(id).level.begin(), field(id).level.end());
            body += fmt::format("    *{} = ({} {}){}.first;\n", arrays_.at(array_of(id)),
                                fixed_type_name(object.number),
                                std::string(static_cast<std::size_t>(depth) + 1, '*'), local);
        }
        for (const ReductionName& each : lifted_.spec.reductions) {
            const Reduction& from = reduction(each);
            const c::Type& named = this->type(variable(from.variable).type);
            const std::string type = named.is_reference ? this->type(named.element).plain : named.plain;
            const std::string to = take(from.name);
            arguments_.push_back({type + " *" + to, "&" + from.name});
            const std::string found = reduced(each);
            if (from.op == "sum")
                body += fmt::format("    *{0} = ({1})((double)*{0} + {2});\n", to, type, found);
            else
                body += fmt::format("    if ({2} {3} (double)*{0}) *{0} = ({1}){2};\n", to, type, found,
                                    from.op == "max" ? ">" : "<");
        }
        return body;
    }
    // Swaps the arrays as the steps do.
    std::string rotations() {
        std::string held, moved;
        for (const auto& [id, local] : locals_) {
            const int next = field(id).after_step;
            if (next == id) continue;
            held += fmt::format("        const halo_lift_array held_{0} = {0};\n", local);
            moved += fmt::format("        {} = held_{};\n", local, locals_.at(next));
        }
        if (held.empty()) return "";
        return "    for (int64_t turn = 0; turn < " + steps() + "; ++turn) {\n" + held + moved + "    }\n";
    }

    const Lifted& lifted_;
    const c::Unit& unit_;
    const Model& model_;
    const Form& form_;
    const std::string& spec_;
    std::set<std::string> taken_;
    std::vector<Argument> arguments_;
    std::map<int, std::string> arrays_, numbers_;  // names of arguments, by object and scalar
    std::set<int> pointers_;                       // of these, arrays whose pointers are changed
    std::map<int, std::string> locals_;            // halo_lift_array, by field
    std::map<std::string, std::string> reduced_;
    std::string declared_;
    std::string last_;  // the argument that says whether the loops run where the stencil does not
};

}  // namespace

StencilCall write_call(const Lifted& lifted, const std::string& spec) {
    return CallWriter(lifted, spec).write();
}

}  // namespace halo::lift
