#include "compiler/lift/fortran/harness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "compiler/lift/fortran/unit_builder.h"

namespace halo::lift::fortran {

namespace {

using c::Number;

constexpr char kNest[] = "halo_lift_nest";

std::string type_name(Number number, bool is_logical) {
    const std::string head = is_logical ? "logical" : c::is_real(number) ? "real" : "integer";
    const bool is_long = number == Number::i64 || number == Number::f64;
    return head + (number == Number::i8 ? "(1)" : number == Number::i16 ? "(2)" : is_long ? "(8)" : "(4)");
}

class HarnessWriter {
public:
    HarnessWriter(const c::Unit& whole, const Lifted& lifted, const Procedure& procedure,
                  const SourceText& text)
        : whole_(whole), lifted_(lifted), unit_(lifted.unit), procedure_(procedure), text_(text) {}

    FortranHarness write() {
        if (procedure_.is_inner)
            throw SourceError("`" + procedure_.name + "` is in another procedure, and is not run by itself");
        if (procedure_.end == 0 || !ends_there())
            throw SourceError("where `" + procedure_.name + "` ends in the text is not known");
        std::vector<int> parameters;
        for (const int id : whole_.functions[0].parameters) {
            if (!stands_for_length(id)) parameters.push_back(id);
        }
        if (lifted_.outline) {
            for (const int id : lifted_.outline->given) {
                if (!stands_for_length(id) &&
                    std::find(parameters.begin(), parameters.end(), id) == parameters.end())
                    parameters.push_back(id);
            }
        }
        const std::string nest = lifted_.outline ? nest_text(parameters) : "";
        const std::string& all = text_.text();
        made_.text = all.substr(0, procedure_.end) + nest + in_both_forms(call_text(parameters)) +
                     all.substr(procedure_.end);
        if (!lifted_.outline) {
            made_.first_line = line_of(whole_.functions[0].where.end) + 1;
            made_.last_line = line_of(procedure_.end - 1) - 1;
        }
        return std::move(made_);
    }

private:
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type_of(int id) const { return type(variable(id).type); }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }

    bool stands_for_length(int id) const {
        return std::ranges::any_of(whole_.shapes, [id](const auto& each) {
            return std::ranges::find(each.second, id) != each.second.end();
        });
    }

    int line_of(std::uint32_t at) const {
        return 1 + static_cast<int>(std::count(text_.text().begin(), text_.text().begin() + at, '\n'));
    }
    // An END statement, and no CONTAINS.
    bool ends_there() const {
        const std::uint32_t begin = text_.line_begin(procedure_.end - 1);
        const std::size_t word = text_.text().find_first_not_of(" \t0123456789", begin);
        return word + 3 <= text_.text().size() && (text_.text()[word] | 32) == 'e' &&
               (text_.text()[word + 1] | 32) == 'n' && (text_.text()[word + 2] | 32) == 'd';
    }

    // ---- the nest

    // The declarations as they stand in the file, and the loops as they stand there.
    std::string nest_text(const std::vector<int>& parameters) {
        const std::uint32_t head = text_.offset(procedure_.code->where.line, procedure_.code->where.column);
        const std::uint32_t declarations = text_.next_line(text_.statement_end(head));
        const std::uint32_t first = text_.line_begin(first_statement());
        const SourceRange nest = lifted_.outline->where;
        const std::uint32_t begin = text_.line_begin(nest.begin), end = text_.next_line(nest.end - 1);
        check_alone(begin, nest);
        if (declarations > first)
            throw SourceError("`" + procedure_.name + "` cannot be cut out of the text");
        std::vector<std::string> names;
        for (const int id : parameters)
            names.push_back(variable(id).name);
        std::string before =
            in_both_forms(fmt::format("subroutine {}({})\n", kNest, fmt::join(names, ", "))) +
            text_.text().substr(declarations, first - declarations);
        before += result_declaration(parameters);
        for (const int id : lifted_.outline->defined) {
            if (variable(id).is_const) continue;  // it has its value by its declaration
            const c::Expr& init = unit_.exprs[static_cast<std::size_t>(variable(id).init)];
            before += in_both_forms(std::string(unit_.source.text(init.where)) + "\n");
        }
        const std::string loops = text_.text().substr(begin, end - begin);
        const auto lines = [](const std::string& of) {
            return static_cast<int>(std::count(of.begin(), of.end(), '\n'));
        };
        made_.first_line = line_of(procedure_.end) + lines(before);
        made_.last_line = made_.first_line + lines(loops) - 1;
        made_.line_shift = made_.first_line - line_of(nest.begin);
        return before + loops + in_both_forms("end subroutine\n");
    }
    // The result of a function whose type is in its head alone.
    std::string result_declaration(const std::vector<int>& parameters) const {
        const std::uint32_t begin = text_.offset(procedure_.code->where.line, procedure_.code->where.column);
        std::string head = text_.text().substr(begin, text_.statement_end(begin) - begin);
        std::transform(head.begin(), head.end(), head.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const std::size_t type = head.find_first_not_of(" "), word = head.find("function");
        if (word == std::string::npos || word == type) return "";
        for (const int id : parameters) {
            const c::Type& of = type_of(id);
            if (variable(id).name == procedure_.name && of.kind == c::Type::Kind::number)
                return in_both_forms(
                    fmt::format("{} :: {}\n", type_name(of.number, of.text == kLogical), variable(id).name));
        }
        return "";
    }
    std::uint32_t first_statement() const {
        std::uint32_t first = procedure_.end;
        const c::Statement& body = whole_.statements[static_cast<std::size_t>(whole_.functions[0].body)];
        for (const int id : body.statements) {
            const c::Statement& each = whole_.statements[static_cast<std::size_t>(id)];
            if (each.kind != c::Statement::Kind::declare) first = std::min(first, each.where.begin);
        }
        return first;
    }
    void check_alone(std::uint32_t line, SourceRange nest) const {
        const std::size_t word = text_.text().find_first_not_of(" \t0123456789", line);
        const std::string& all = text_.text();
        const std::size_t next = std::min(all.find_first_not_of(" \t\r", nest.end), all.size() - 1);
        const bool goes_on = all[nest.end - 1] == ';' || (all[next] != '\n' && all[next] != '!');
        if (word != nest.begin || goes_on)
            throw SourceError("the loops share their first line, or their last one, with something else");
    }

    // ---- the call

    int scalar_of(int id) const {
        for (std::size_t i = 0; i < lifted_.model.scalars.size(); ++i) {
            const Scalar& each = lifted_.model.scalars[i];
            if (each.variable == id && each.members.empty() && !each.element) return static_cast<int>(i);
        }
        return -1;
    }
    int object_of(int id) const {
        for (std::size_t i = 0; i < lifted_.model.objects.size(); ++i) {
            const Object& each = lifted_.model.objects[i];
            if (each.variable == id && each.members.empty() && each.role_of < 0) return static_cast<int>(i);
        }
        return -1;
    }
    // Its place among the values, of which the first in Fortran's counting is left for the launch.
    std::size_t add_value(HarnessValue made) {
        made_.values.values.push_back(made);
        return made_.values.values.size() + 1;
    }

    std::string call_text(const std::vector<int>& parameters) {
        std::string declared, before, after;
        std::vector<std::string> names;
        std::map<int, std::string> name_of;
        for (const int id : parameters) {
            const c::Type& of = type(variable(id).type);
            const c::Type& held = of.is_reference ? type(of.element) : of;
            const std::string name = fmt::format("halo_{}", names.size() + 1);
            const bool is_number = held.kind == c::Type::Kind::number;
            const bool is_logical = held.text == kLogical;
            const Number number = number_of(held);
            if (number == Number::none)
                throw SourceError("`" + variable(id).name + "` cannot be made for a run");
            const HarnessValue value = is_number ? HarnessValue{HarnessValue::Kind::scalar, scalar_of(id), -1}
                                                 : HarnessValue{HarnessValue::Kind::array, object_of(id), -1};
            const std::string colons = is_number ? "" : shape_colons(id);
            declared += fmt::format("{}, pointer{} :: {}{}\n", type_name(number, false),
                                    is_number ? "" : ", contiguous", name, colons);
            const std::size_t at = add_value(value);
            const std::string lengths = is_number ? "" : shape_lengths(id, declared, before);
            before += fmt::format("call c_f_pointer(halo_v({}), {}{})\n", at, name, lengths);
            name_of[id] = name;
            names.push_back(name);
            if (!is_logical) continue;
            declared += fmt::format("{} :: {}_l\n", type_name(number, true), name);
            before += fmt::format("{0}_l = {0} /= 0\n", name);
            names.back() += "_l";
        }
        add_globals(declared, before);
        add_global_arrays(declared, before, after);
        for (std::size_t i = 0; i < lifted_.spec.reductions.size(); ++i)
            add_result(i, name_of, declared, before, after);
        return "subroutine halo_lift_call(halo_v) bind(c, name=\"halo_lift_call\")\n"
               "use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer\n" +
               used_ +
               "implicit none\n"
               "type(c_ptr), intent(in) :: halo_v(*)\n" +
               declared + before +
               fmt::format("call {}({})\n", lifted_.outline ? kNest : procedure_.name,
                           fmt::join(names, ", ")) +
               after + "end subroutine\n";
    }
    std::string shape_colons(int id) const {
        const auto found = whole_.shapes.find(id);
        std::string colons = "(:";
        for (std::size_t i = 1; found != whole_.shapes.end() && i < found->second.size(); ++i)
            colons += ",:";
        return colons + ")";
    }
    // Of other arrays the procedure itself says how long they are. What no spec has to know is any length.
    std::string shape_lengths(int id, std::string& declared, std::string& before) {
        const auto found = whole_.shapes.find(id);
        if (found == whole_.shapes.end()) return ", [1]";
        std::vector<std::string> lengths;
        for (const int each : found->second) {
            const int scalar = scalar_of(each);
            lengths.push_back(scalar < 0 ? "1000" : fmt::format("halo_length_{}", each));
            if (scalar < 0 || !lengths_.insert(each).second) continue;
            declared += fmt::format("integer, pointer :: {}\n", lengths.back());
            before += fmt::format("call c_f_pointer(halo_v({}), {})\n",
                                  add_value({HarnessValue::Kind::scalar, scalar, -1}), lengths.back());
        }
        return fmt::format(", [{}]", fmt::join(lengths, ", "));
    }
    // The procedure may see it by a USE of its own, which what is behind the procedure does not.
    std::string global_name(int id) {
        const c::Variable& named = variable(id);
        if (named.module == procedure_.module) return named.name;
        const std::string local = fmt::format("halo_used_{}", id);
        used_ += fmt::format("use {}, only: {} => {}\n", named.module, local, named.name);
        return local;
    }
    // Numbers of modules.
    void add_globals(std::string& declared, std::string& before) {
        for (std::size_t i = 0; i < lifted_.model.scalars.size(); ++i) {
            const Scalar& each = lifted_.model.scalars[i];
            if (each.variable < 0 || variable(each.variable).storage != c::Variable::Storage::global)
                continue;
            const std::string name = fmt::format("halo_global_{}", i + 1);
            const bool is_logical = type(variable(each.variable).type).text == kLogical;
            declared += fmt::format("{}, pointer :: {}\n", type_name(each.number, false), name);
            before += fmt::format("call c_f_pointer(halo_v({}), {})\n",
                                  add_value({HarnessValue::Kind::scalar, static_cast<int>(i), -1}), name);
            before += fmt::format("{} = {}{}\n", global_name(each.variable), name, is_logical ? " /= 0" : "");
        }
    }
    // Arrays of modules, too. No more of one is in memory than the loops need.
    void add_global_arrays(std::string& declared, std::string& before, std::string& after) {
        for (std::size_t i = 0; i < lifted_.model.objects.size(); ++i) {
            const Object& each = lifted_.model.objects[i];
            const bool is_global = each.variable >= 0 && each.role_of < 0 &&
                                   variable(each.variable).storage == c::Variable::Storage::global;
            if (!is_global) continue;
            const int object = static_cast<int>(i);
            const std::string name = fmt::format("halo_array_{}", i + 1);
            const std::string own = global_name(each.variable);
            declared += fmt::format("{}, pointer, contiguous :: {}(:)\ninteger(8), pointer :: {}_n\n",
                                    type_name(each.number, false), name, name);
            before += fmt::format(
                "call c_f_pointer(halo_v({}), {}_n)\ncall c_f_pointer(halo_v({}), {}, [{}_n])\n"
                "{} = reshape({}, shape({}), pad={}(1:1))\n",
                add_value({HarnessValue::Kind::length, object, -1}), name,
                add_value({HarnessValue::Kind::array, object, -1}), name, name, own, name, own, name);
            after += fmt::format("{} = reshape({}, [{}_n])\n", name, own, name);
        }
    }
    void add_result(std::size_t i, const std::map<int, std::string>& name_of, std::string& declared,
                    std::string& before, std::string& after) {
        const ReductionName& named = lifted_.spec.reductions[i];
        const Statement& statement = lifted_.form.statements[static_cast<std::size_t>(named.statement)];
        const Store& cells = lifted_.model.stores[static_cast<std::size_t>(statement.store)];
        const auto found = name_of.find(lifted_.model.reduction(cells.reduction).variable);
        if (found == name_of.end()) throw SourceError("a result of the loops is none of the procedure");
        const c::Type& of = type(variable(found->first).type);
        const std::string name = fmt::format("halo_result_{}", i + 1);
        declared += fmt::format("{}, pointer :: {}\n",
                                type_name(number_of(of.is_reference ? type(of.element) : of), false), name);
        before += fmt::format("call c_f_pointer(halo_v({}), {})\n",
                              add_value({HarnessValue::Kind::result, static_cast<int>(i), -1}), name);
        after += fmt::format("{} = {}\n", name, found->second);
    }
    Number number_of(const c::Type& of) const {
        return of.element >= 0 ? number_of(type(of.element)) : of.number;
    }

    const c::Unit& whole_;
    const Lifted& lifted_;
    const c::Unit& unit_;
    const Procedure& procedure_;
    const SourceText& text_;
    FortranHarness made_;
    std::string used_;       // what the call sees of other modules
    std::set<int> lengths_;  // that are declared
};

}  // namespace

FortranHarness write_harness(const c::Unit& whole, const Lifted& lifted, const Procedure& procedure,
                             const SourceText& text) {
    return HarnessWriter(whole, lifted, procedure, text).write();
}

}  // namespace halo::lift::fortran
