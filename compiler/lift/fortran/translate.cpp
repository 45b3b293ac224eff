#include "compiler/lift/fortran/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "compiler/lift/fortran/translate_values.h"
#include "compiler/lift/mutation.h"

namespace halo::lift::fortran {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;
using Storage = c::Variable::Storage;

bool starts(const std::string& text, std::string_view with) {
    return text.rfind(with, 0) == 0;
}

// `_QMmoduleFprocedureEname`: flang's letters between names are capitals, names have none.
std::string last_name(const std::string& unique) {
    const std::size_t at = unique.find_last_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return at == std::string::npos ? unique : unique.substr(at + 1);
}

std::string without(const std::string& text, const std::string& quotes) {
    const std::size_t begin = text.find_first_not_of(quotes), end = text.find_last_not_of(quotes);
    return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

// Of `!fir.array<3x?xf64>` in a reference or a box: f64 and the lengths; -1 where one is not said.
struct ArrayType {
    Number number = Number::none;
    std::vector<std::int64_t> lengths;
    bool is_box = false;
};
ArrayType array_type(const std::string& type) {
    ArrayType made;
    made.is_box = starts(type, "!fir.box<!fir.array<");
    const std::string head = made.is_box ? "!fir.box<!fir.array<" : "!fir.ref<!fir.array<";
    if (!starts(type, head)) return made;
    std::string rest = type.substr(head.size());
    for (std::size_t digits = 0; (digits = rest.find_first_not_of("?0123456789")) > 0;) {
        if (digits == std::string::npos || rest[digits] != 'x') break;
        made.lengths.push_back(rest[0] == '?' ? -1 : std::stoll(rest));
        rest = rest.substr(digits + 1);
    }
    made.number = number_named(rest.substr(0, rest.find('>')));
    return made;
}

std::string words_for_operation(const mlir::Operation& from) {
    const std::string callee = without(from.attribute("callee"), "@");
    if (starts(callee, "_FortranA"))
        return "this is left to the library of Fortran, whose `" + callee.substr(9) +
               "` is not understood: input, output and functions of whole arrays are not followed";
    if (from.name == "fir.call")
        return "`" + (callee.empty() ? "a procedure" : last_name(callee)) +
               "` is called here: calls of procedures are not followed in Fortran";
    if (starts(from.name, "hlfir.where") || starts(from.name, "hlfir.forall"))
        return "WHERE and FORALL are not understood";
    if (from.name == "fir.do_loop") return "this kind of DO is not understood";
    if (from.name == "fir.iterate_while") return "a loop that ends early is not understood";
    if (from.name == "hlfir.assign" || starts(from.name, "hlfir.elemental"))
        return "assignments of whole arrays and of sections are not understood; DO loops are";
    if (starts(from.name, "omp.") || starts(from.name, "acc."))
        return "a directive is part of the program here: leave -fopenmp and -fopenacc out";
    return "this is not understood: flang has `" + from.name + "` for it";
}

class Translator : public ValueTranslator {
public:
    using ValueTranslator::ValueTranslator;

    c::Unit run(const Procedure& procedure) {
        const mlir::Operation& code = *procedure.code;
        c::Function made;
        made.name = made.full_name = procedure.name;
        made.where = head_ = head_of(code);
        made.begin = text_.line_begin(head_.begin);
        made.result = build_.other_type("void");
        build_.unit.functions.push_back(made);
        build_.unit.function = 0;
        find_changed(code.regions.at(0));
        number_arguments(code);
        c::Statement body;
        body.kind = StatementKind::block;
        body.where = head_;
        translate_blocks(code.regions[0], code, body.statements);
        const int id = build_.add(std::move(body));
        c::Function& function = build_.unit.functions[0];
        for (const int argument : code.regions[0].front().arguments) {
            const int variable = argument_variables_.count(argument) ? argument_variables_.at(argument) : -1;
            if (variable >= 0) function.parameters.push_back(variable);
        }
        function.body = id;
        return std::move(build_.unit);
    }

private:
    // `SUBROUTINE name`
    SourceRange head_of(const mlir::Operation& code) const {
        const std::uint32_t begin = text_.offset(code.where.line, code.where.column);
        const std::uint32_t end = text_.statement_end(begin);
        const std::size_t list = text_.text().find('(', begin);
        return {begin, list < end ? static_cast<std::uint32_t>(list) : end};
    }

    // ---- variables

    // The memory that something else than reads is done with, by the value that stands for it.
    void find_changed(const std::vector<mlir::Block>& blocks) {
        for (const mlir::Block& block : blocks) {
            for (const auto& each : block.operations) {
                const bool is_store = each->name == "hlfir.assign" || each->name == "fir.store";
                for (std::size_t i = 0; i < each->operands.size(); ++i) {
                    const bool reads = each->name == "fir.load" || each->name == "hlfir.declare" ||
                                       each->name == "hlfir.designate" || (is_store && i == 0);
                    if (!reads) changed_.insert(declaration_of(each->operands[i]));
                }
                for (const auto& region : each->regions)
                    find_changed(region);
            }
        }
    }
    const mlir::Operation* declaration_of(int value) const {
        const mlir::Operation* from = maker(value);
        if (from != nullptr && from->name == "fir.convert") return declaration_of(from->operands[0]);
        return from;
    }
    void number_arguments(const mlir::Operation& code) {
        const mlir::Block& entry = code.regions[0].front();
        for (const int each : entry.arguments)
            argument_variables_[each] = -1;
    }

    void declare(const mlir::Operation& from, std::vector<int>& into) {
        const int memory = from.operands[0];
        c::Variable named;
        named.name = last_name(without(from.attribute("uniq_name"), "\""));
        named.where = place_of_name(from, named.name);
        const bool is_argument = argument_variables_.count(memory) > 0;
        const mlir::Operation* source = maker(memory);
        named.storage = is_argument ? Storage::parameter : Storage::local;
        const std::string trouble =
            trouble_with(from, named.name, is_argument || (source && source->name == "fir.alloca"));
        const std::string& type = module_.value(memory).type;
        const ArrayType array = array_type(type);
        Array shape;
        if (!trouble.empty()) {
            named.type = build_.other_type("");
        } else if (!array.lengths.empty()) {
            named.type = shaped_type(from, array, is_argument, shape);
        } else {
            const std::string plain = without_reference(type);
            const bool is_logical = starts(plain, "!fir.logical");
            const int number = is_logical ? build_.logical_type(number_named(plain))
                                          : build_.number_type(number_named(plain));
            named.type = is_argument && changed_.count(&from) ? build_.reference_to(number) : number;
        }
        const int id = static_cast<int>(build_.unit.variables.size());
        const SourceRange where = named.where;
        build_.unit.variables.push_back(std::move(named));
        const int place = trouble.empty() ? build_.variable(id, where) : build_.unknown(trouble, where);
        const Array* held_shape = nullptr;
        if (!shape.lower.empty()) held_shape = &(arrays_[id] = std::move(shape));
        for (const int result : from.results)
            held(result) = {-1, place, held_shape, -1};
        if (is_argument) argument_variables_[memory] = id;
        if (is_argument || !trouble.empty()) return;
        c::Statement made;
        made.kind = StatementKind::declare;
        made.variables = {id};
        made.where = where;
        into.push_back(build_.add(std::move(made)));
    }
    // The name in the declaration, where it stands there as flang writes it.
    SourceRange place_of_name(const mlir::Operation& from, const std::string& name) const {
        if (from.where.line == 0) return head_;
        const std::uint32_t begin = text_.offset(from.where.line, from.where.column);
        return {begin, begin + static_cast<std::uint32_t>(name.size())};
    }
    static std::string without_reference(const std::string& type) {
        return starts(type, "!fir.ref<") ? type.substr(9, type.size() - 10) : type;
    }
    std::string trouble_with(const mlir::Operation& from, const std::string& name, bool is_here) const {
        const std::string written = from.attribute("fortran_attrs");  // #fir.var_attrs<intent_in, target>
        const std::size_t list = std::min(written.find('<'), written.size() - 1) + 1;
        std::istringstream attributes(without(written.substr(list), ">"));
        for (std::string each; std::getline(attributes, each, ',');) {
            each = without(each, " ");
            const bool is_known = starts(each, "intent_") || each == "contiguous" || each == "target";
            if (!is_known) return fmt::format("`{}` is declared {}, which is not understood", name, each);
        }
        if (!is_here) return fmt::format("`{}` is not of this procedure alone, which is not followed", name);
        const std::string& type = module_.value(from.operands[0]).type;
        const ArrayType array = array_type(type);
        if (array.is_box)
            return fmt::format("`{}` is of assumed shape: give its bounds, as in `{}(n, m)`", name, name);
        const Number number = array.lengths.empty() ? number_named(without_reference(type)) : array.number;
        if (number == Number::none)
            return fmt::format("`{}` is of a type that is not understood", name);
        const std::string moved = changed_in(from.operands.size() > 1 ? from.operands[1] : -1);
        if (!moved.empty())
            return fmt::format("the bounds of `{}` are made of `{}`, which is changed", name, moved);
        return "";
    }
    // The name of a variable that the value is made of, and that changes; empty: there is none.
    std::string changed_in(int value) const {
        const mlir::Operation* from = value < 0 ? nullptr : maker(value);
        if (from == nullptr) return "";
        const mlir::Operation* declared = from->name == "fir.load" ? maker(from->operands[0]) : nullptr;
        if (declared != nullptr && changed_.count(declared))
            return last_name(without(declared->attribute("uniq_name"), "\""));
        for (const int each : from->operands) {
            const std::string found = changed_in(each);
            if (!found.empty()) return found;
        }
        return "";
    }
    // An argument is a pointer to all but its last axis, as in C.
    int shaped_type(const mlir::Operation& from, const ArrayType& array, bool is_argument, Array& shape) {
        const mlir::Operation* said = from.operands.size() > 1 ? maker(from.operands[1]) : nullptr;
        const bool has_lower = said != nullptr && said->name == "fir.shape_shift";
        const std::size_t rank = array.lengths.size();
        std::vector<int> lengths(rank, -1);
        for (std::size_t axis = 0; axis < rank; ++axis) {
            shape.lower.push_back(-1);
            if (said == nullptr) continue;
            if (has_lower) {
                const int value = before_index(said->operands[2 * axis]);
                const auto known = constant(value);
                shape.lower.back() =
                    known ? build_.whole(*known, Number::i64, place_of(from)) : as_i64(held(value).expr);
            }
            lengths[axis] = length_of(said->operands[has_lower ? 2 * axis + 1 : axis]);
        }
        int type = build_.number_type(array.number);
        std::vector<int> elements{type};
        for (std::size_t axis = 0; axis < rank; ++axis) {
            const bool is_last = axis + 1 == rank;
            if (is_last && is_argument)
                type = build_.pointer_to(type, !is_target(from));
            else
                type = build_.array_of(type, lengths[axis]);
            elements.push_back(type);
        }
        shape.elements.assign(elements.rbegin(), elements.rend() - 1);
        return type;
    }
    static bool is_target(const mlir::Operation& from) {
        return from.attribute("fortran_attrs").find("target") != std::string::npos;
    }
    int as_i64(int expr) {
        return build_.number_of(expr) == Number::i64 ? expr
                                                     : build_.convert(expr, build_.number_type(Number::i64));
    }
    // An array has no fewer elements than none, which flang says by a choice: where there is one, this is it.
    int length_of(int value) {
        if (const auto known = constant(value)) return build_.whole(*known, Number::i64, head_);
        const mlir::Operation* from = maker(value);
        if (from != nullptr && from->name == "arith.select") return length_of(from->operands[1]);
        return held(value).expr < 0 ? -1 : as_i64(held(value).expr);
    }

    // ---- statements

    void translate_blocks(const std::vector<mlir::Block>& blocks, const mlir::Operation& around,
                          std::vector<int>& into) {
        if (blocks.empty()) return;
        if (blocks.size() == 1) {
            translate_list(blocks.front().operations, 0, into);
            return;
        }
        for (const auto& each : blocks.front().operations) {
            if (!translate_value(*each) && each->name == "hlfir.declare") declare(*each, into);
        }
        const mlir::Operation* leaves = &around;
        for (const auto& each : blocks.front().operations) {
            if (each->has_successors) leaves = each.get();
        }
        add_unknown("what EXIT, CYCLE, GO TO, RETURN and DO WHILE make of a procedure is not followed",
                    place_of(*leaves), into);
    }
    void translate_list(const std::vector<std::unique_ptr<mlir::Operation>>& list, std::size_t first,
                        std::vector<int>& into) {
        for (std::size_t i = first; i < list.size(); ++i)
            translate_operation(*list[i], into);
    }

    void translate_operation(const mlir::Operation& from, std::vector<int>& into) {
        static const std::vector<std::string> silent{
            "fir.dummy_scope", "fir.alloca", "fir.address_of", "fir.shape",  "fir.shape_shift",
            "fir.undefined",   "fir.result", "fir.has_value",  "fir.assumed_size_extent"};
        if (std::find(silent.begin(), silent.end(), from.name) != silent.end()) return;
        if (translate_value(from)) return;
        if (from.name == "hlfir.declare") {
            declare(from, into);
        } else if (from.name == "hlfir.assign" || from.name == "fir.store") {
            translate_store(from, into);
        } else if (from.name == "fir.do_loop") {
            translate_loop(from, into);
        } else if (from.name == "fir.if" && from.results.empty()) {
            translate_branch(from, into);
        } else if (from.name == "func.return") {
            translate_return(from, into);
        } else {
            add_unknown(words_for_operation(from), place_of(from), into);
        }
    }
    void add_unknown(const std::string& what, SourceRange where, std::vector<int>& into) {
        c::Statement made;
        made.kind = StatementKind::unknown;
        made.is_opaque = true;
        made.text = what;
        made.where = where;
        into.push_back(build_.add(std::move(made)));
        something_changes();
    }
    int add_expression(int expr, SourceRange where) {
        c::Statement made;
        made.kind = StatementKind::expression;
        made.expr = expr;
        made.where = where;
        return build_.add(std::move(made));
    }
    int assignment(int place, int value, SourceRange where) {
        return build_.add(ExprKind::assign, build_.expr(place).type, where, {place, value}, "=");
    }

    void translate_store(const mlir::Operation& from, std::vector<int>& into) {
        const mlir::Operation* loop = maker(from.operands[0]);
        if (loop != nullptr && loop->name == "fir.do_loop") return;  // what counts has its last value
        const SourceRange where = place_of(from);
        const Held to = held(from.operands[1]);
        const bool is_number = to.place >= 0 && to.array == nullptr && held(from.operands[0]).expr >= 0;
        if (!is_number) {
            add_unknown(words_for_operation(from), where, into);
            return;
        }
        int value = number(from.operands[0], where);
        int place = to.place;
        build_.expr(place).where = where;
        const Number type = build_.number_of(place);
        if (build_.number_of(value) != type && build_.number_of(value) != Number::none)
            value = build_.convert(value, build_.number_type(type));
        into.push_back(add_expression(assignment(place, value, where), where));
        something_changes();
    }

    void translate_branch(const mlir::Operation& from, std::vector<int>& into) {
        c::Statement made;
        made.kind = StatementKind::branch;
        made.where = place_of(from);
        made.expr = number(from.operands[0], made.where);
        for (const auto& region : from.regions) {
            c::Statement side;
            side.kind = StatementKind::block;
            side.where = made.where;
            translate_blocks(region, from, side.statements);
            const bool is_left_out = side.statements.empty() && !made.statements.empty();
            if (!is_left_out) made.statements.push_back(build_.add(std::move(side)));
        }
        into.push_back(build_.add(std::move(made)));
        something_changes();
    }

    void translate_return(const mlir::Operation& from, std::vector<int>& into) {
        if (from.operands.empty()) return;
        c::Statement made;
        made.kind = StatementKind::return_statement;
        made.where = place_of(from);
        made.expr = number(from.operands[0], made.where);
        build_.unit.functions[0].result = build_.expr(made.expr).type;
        into.push_back(build_.add(std::move(made)));
    }

    // What a DO counts by is the first thing that its body is given; it is stored first, and counted last.
    bool is_plain_loop(const mlir::Operation& from) const {
        if (from.operands.size() != 4 || from.regions.size() != 1 || from.regions[0].size() != 1) return false;
        const mlir::Block& body = from.regions[0].front();
        if (body.arguments.size() != 2 || body.operations.size() < 2) return false;
        const mlir::Operation& first = *body.operations.front();
        const mlir::Operation& last = *body.operations.back();
        if (first.name != "fir.store" || first.operands[0] != body.arguments[1]) return false;
        if (last.name != "fir.result" || last.operands.size() != 2) return false;
        const mlir::Operation* counted = maker(last.operands[1]);
        if (counted == nullptr || counted->name != "arith.addi") return false;
        const mlir::Operation* read = maker(counted->operands[0]);
        return read != nullptr && read->name == "fir.load" &&
               maker(read->operands[0]) == maker(first.operands[1]) &&
               constant(counted->operands[1]) == constant(from.operands[2]);
    }
    void translate_loop(const mlir::Operation& from, std::vector<int>& into) {
        c::Statement made;
        made.where = place_of(from);
        const std::optional<std::int64_t> step = constant(from.operands[2]);
        if (!is_plain_loop(from) || !step || *step == 0) {
            add_unknown(step ? words_for_operation(from) : "by how much this DO counts is not known",
                        made.where, into);
            return;
        }
        const mlir::Block& body = from.regions[0].front();
        const int counter = held(body.operations.front()->operands[1]).place;
        const SourceRange head = made.where;
        const auto name = [&] {
            const int id = build_.add(build_.expr(counter).kind, build_.expr(counter).type, head, {},
                                      build_.expr(counter).text);
            build_.expr(id).variable = build_.expr(counter).variable;
            return id;
        };
        const int lower = number(before_index(from.operands[0]), head);
        const int upper = number(before_index(from.operands[1]), head);
        const Number type = build_.number_of(counter);
        const auto fit = [&](int bound) {
            return build_.number_of(bound) == type ? bound : build_.convert(bound, build_.number_type(type));
        };
        made.kind = StatementKind::for_loop;
        made.is_loop = true;
        made.statements.push_back(add_expression(assignment(name(), fit(lower), head), head));
        made.expr = build_.binary(*step > 0 ? "<=" : ">=", Number::boolean, build_.read(name()), fit(upper));
        made.step = step_of(name(), *step, head);
        something_changes();
        c::Statement inner;
        inner.kind = StatementKind::block;
        translate_list(body.operations, 1, inner.statements);
        const SourceRange last = place_of(*body.operations.back());
        inner.where = {std::min(head.end + 1, last.begin), std::max(head.end + 1, last.end)};
        made.where.end = text_.loop_end(head.begin, std::max(head.end, last.end));
        made.statements.push_back(build_.add(std::move(inner)));
        into.push_back(build_.add(std::move(made)));
        something_changes();
    }
    int step_of(int counter, std::int64_t step, SourceRange where) {
        const int type = build_.expr(counter).type;
        if (step == 1 || step == -1)
            return build_.add(ExprKind::step, type, where, {counter}, step == 1 ? "++x" : "--x");
        const int by = build_.whole(std::abs(step), build_.number_of(counter), where);
        return build_.add(ExprKind::assign, type, where, {counter, by}, step > 0 ? "+=" : "-=");
    }

    std::map<int, int> argument_variables_;
    std::set<const mlir::Operation*> changed_;
};

}  // namespace

std::vector<Procedure> procedures(const mlir::Module& module, const SourceText& text) {
    std::vector<Procedure> all;
    for (const auto& outer : module.operations) {
        if (outer->regions.empty() || outer->regions[0].empty()) continue;
        for (const auto& each : outer->regions[0].front().operations) {
            if (each->name != "func.func" || each->regions.empty() || each->regions[0].empty()) continue;
            Procedure made;
            const std::string unique = without(each->attribute("sym_name"), "\"");
            if (starts(unique, "_QQ")) continue;  // the main program
            made.name = last_name(unique);
            made.is_inner = unique.find('F') != std::string::npos;
            if (starts(unique, "_QM")) made.module = unique.substr(3, unique.find_first_of("PFS", 3) - 3);
            made.code = each.get();
            for (const auto& operation : each->regions[0].back().operations) {
                if (operation->name != "func.return" || operation->where.line == 0) continue;
                const std::uint32_t begin = text.offset(operation->where.line, operation->where.column);
                made.end = text.next_line(text.statement_end(begin));
            }
            all.push_back(std::move(made));
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Procedure& a, const Procedure& b) {
        return a.code->where.line < b.code->where.line;
    });
    return all;
}

c::Unit translate(const mlir::Module& module, const Procedure& procedure, const SourceText& text,
                  const std::string& file) {
    return Translator(module, text, file).run(procedure);
}

}  // namespace halo::lift::fortran
