#include "compiler/lift/fortran/translate_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace halo::lift::fortran {

using c::Number;
using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;
using Storage = c::Variable::Storage;

// Of `!fir.array<3x?xf64>` in a reference or a box: f64 and the lengths; -1 where one is not said.
struct VariableTranslator::ArrayType {
    Number number = Number::none;
    std::vector<std::int64_t> lengths;
    bool is_box = false;
};

VariableTranslator::ArrayType VariableTranslator::array_type(const std::string& type) {
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

void VariableTranslator::find_changed(const std::vector<mlir::Block>& blocks) {
    for (const mlir::Block& block : blocks) {
        for (const auto& each : block.operations) {
            for (std::size_t i = 0; i < each->operands.size(); ++i) {
                if (may_change(*each, i)) changed_.insert(declaration_of(each->operands[i]));
            }
            for (const auto& region : each->regions)
                find_changed(region);
        }
    }
}

bool VariableTranslator::may_change(const mlir::Operation& from, std::size_t operand) const {
    const bool is_store = from.name == "hlfir.assign" || from.name == "fir.store";
    if (is_store) return operand > 0;
    if (from.name == "fir.call") return call_changes(from, operand);
    return from.name != "fir.load" && from.name != "hlfir.declare" && from.name != "hlfir.designate" &&
           from.name != "fir.convert";
}

bool VariableTranslator::call_changes(const mlir::Operation& call, std::size_t argument) const {
    const mlir::Operation* called = procedure_named(without(call.attribute("callee"), "@\""));
    if (called == nullptr) return true;
    const mlir::Block& entry = called->regions[0].front();
    if (argument >= entry.arguments.size()) return true;
    if (!asked_.insert({called, argument}).second) return true;  // it is being asked
    bool changes = false;
    const auto look = [&](const auto& self, const std::vector<mlir::Block>& blocks) -> void {
        for (const mlir::Block& block : blocks) {
            for (const auto& each : block.operations) {
                for (std::size_t i = 0; i < each->operands.size(); ++i) {
                    const mlir::Operation* declared = declaration_of(each->operands[i]);
                    const bool is_it = declared != nullptr && declared->name == "hlfir.declare" &&
                                       declared->operands[0] == entry.arguments[argument];
                    changes = changes || (is_it && may_change(*each, i));
                }
                for (const auto& region : each->regions)
                    self(self, region);
            }
        }
    };
    look(look, called->regions[0]);
    asked_.erase({called, argument});
    return changes;
}

const mlir::Operation* VariableTranslator::procedure_named(const std::string& symbol) const {
    for (const auto& each : module_.operations.front()->regions.at(0).front().operations) {
        const bool is_it = each->name == "func.func" && without(each->attribute("sym_name"), "\"") == symbol;
        if (is_it && !each->regions.empty() && !each->regions[0].empty()) return each.get();
    }
    return nullptr;
}

const mlir::Operation* VariableTranslator::declaration_of(int value) const {
    const mlir::Operation* from = maker(value);
    if (from != nullptr && from->name == "fir.convert") return declaration_of(from->operands[0]);
    return from;
}

void VariableTranslator::number_arguments(const mlir::Operation& code) {
    const mlir::Block& entry = code.regions[0].front();
    for (const int each : entry.arguments)
        argument_variables_[each] = -1;
}

void VariableTranslator::declare(const mlir::Operation& from, std::vector<int>& into) {
    const int memory = from.operands[0];
    c::Variable named;
    named.name = last_name(without(from.attribute("uniq_name"), "\""));
    named.where = place_of_name(from, named.name);
    const bool is_argument = argument_variables_.count(memory) > 0;
    const Static kept = static_of(from);
    if (kept.is_there && !kept.is_local) named.module = module_of(without(from.attribute("uniq_name"), "\""));
    named.storage = is_argument                       ? Storage::parameter
                    : kept.is_there && !kept.is_local ? Storage::global
                                                      : Storage::local;
    named.init = kept.first;
    named.is_const = kept.first >= 0;
    const std::string trouble = kept.trouble.empty() ? trouble_with(from, named.name) : kept.trouble;
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
        const int number =
            is_logical ? build_.logical_type(number_named(plain)) : build_.number_type(number_named(plain));
        named.type = is_argument && changed_.count(&from) ? build_.reference_to(number) : number;
    }
    const int id = static_cast<int>(build_.unit.variables.size());
    const SourceRange where = named.where;
    if (changed_.count(&from))
        changed_variables_.insert(id);
    else if (named.storage != Storage::global && !is_target(from))
        steady_.insert(id);
    build_.unit.variables.push_back(std::move(named));
    const int place = trouble.empty() ? build_.variable(id, where) : build_.unknown(trouble, where);
    if (!shape.sizes.empty()) build_.unit.shapes[id] = shape.sizes;
    const Array* held_shape = nullptr;
    if (!shape.lower.empty()) held_shape = &(arrays_[id] = std::move(shape));
    for (const int result : from.results)
        held(result) = {-1, place, held_shape, -1};
    if (is_argument) argument_variables_[memory] = id;
    const bool is_local = unit_variable(id).storage == Storage::local;
    if (!is_local || !trouble.empty()) return;
    c::Statement made;
    made.kind = StatementKind::declare;
    made.variables = {id};
    made.where = where;
    into.push_back(build_.add(std::move(made)));
}

const c::Variable& VariableTranslator::unit_variable(int id) const {
    return build_.unit.variables[static_cast<std::size_t>(id)];
}

VariableTranslator::Static VariableTranslator::static_of(const mlir::Operation& declared) {
    Static made;
    const mlir::Operation* source = maker(declared.operands[0]);
    if (source == nullptr || source->name != "fir.address_of") return made;
    const std::string symbol = without(source->attribute("symbol"), "@\"");
    made.is_there = true;
    made.is_local = symbol.find('F') != std::string::npos ||
                    declared.attribute("fortran_attrs").find("parameter") != std::string::npos;
    const std::string name = last_name(symbol);
    const std::string& type = module_.value(declared.operands[0]).type;
    const std::vector<std::int64_t> lengths = array_type(type).lengths;
    const bool is_fixed = !lengths.empty() && std::ranges::find(lengths, -1) == lengths.end();
    if (!made.is_local && type.find("array") != std::string::npos && !is_fixed)
        made.trouble = fmt::format(
            "`{}` is an array of a module whose bounds are no numbers: give it as an argument", name);
    if (!made.is_local) return made;
    made.first = first_value(symbol, place_of(declared));
    if (changed_.count(&declared) || made.first < 0)
        made.trouble = fmt::format("`{}` keeps its value from call to call", name);
    return made;
}

int VariableTranslator::first_value(const std::string& symbol, SourceRange where) {
    const auto is_it = [&](const auto& each) {
        return each->name == "fir.global" && without(each->attribute("sym_name"), "\"") == symbol;
    };
    const auto& all = module_.operations.front()->regions.at(0).front().operations;
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    if (found == all.end()) return -1;
    const std::string list = (*found)->attribute("initVal");
    if (!list.empty()) return constant_list(list, where);
    if ((*found)->regions.empty() || (*found)->regions[0].empty()) return -1;
    const auto& operations = (*found)->regions[0].front().operations;
    if (operations.size() != 2 || operations[0]->name != "arith.constant") return -1;
    translate_value(*operations[0]);
    const int made = held(operations[0]->results[0]).expr;
    build_.expr(made).where = where;
    return made;
}

int VariableTranslator::constant_list(const std::string& list, SourceRange where) {
    const std::size_t begin = list.find("<["), end = list.find("]>"), type_at = list.rfind('x');
    if (begin == std::string::npos || end == std::string::npos || type_at == std::string::npos) return -1;
    const Number type = number_named(without(list.substr(type_at + 1), ">"));
    std::istringstream parts(list.substr(begin + 2, end - begin - 2));
    std::vector<int> items;
    for (std::string each; std::getline(parts, each, ',');) {
        if (type == Number::none || each.find_first_of("[]") != std::string::npos) return -1;
        items.push_back(written_number(without(each, " "), type, where));
    }
    return build_.add(ExprKind::list, build_.number_type(type), where, items);
}

SourceRange VariableTranslator::place_of_name(const mlir::Operation& from, const std::string& name) const {
    if (from.where.line == 0) return head_;
    const std::uint32_t begin = text_.offset(from.where.line, from.where.column);
    return {begin, begin + static_cast<std::uint32_t>(name.size())};
}

std::string VariableTranslator::without_reference(const std::string& type) {
    return starts(type, "!fir.ref<") ? type.substr(9, type.size() - 10) : type;
}

std::string VariableTranslator::trouble_with(const mlir::Operation& from, const std::string& name) const {
    const std::string written = from.attribute("fortran_attrs");  // #fir.var_attrs<intent_in, target>
    const std::size_t list = std::min(written.find('<'), written.size() - 1) + 1;
    std::istringstream attributes(without(written.substr(list), ">"));
    for (std::string each; std::getline(attributes, each, ',');) {
        each = without(each, " ");
        const bool is_known =
            starts(each, "intent_") || each == "contiguous" || each == "target" || each == "parameter";
        if (!is_known) return fmt::format("`{}` is declared {}, which is not understood", name, each);
    }
    const mlir::Operation* source = maker(from.operands[0]);
    if (source != nullptr && source->name != "fir.alloca" && source->name != "fir.address_of")
        return fmt::format("`{}` is of an outer procedure or shares its memory, which is not followed", name);
    const std::string& type = module_.value(from.operands[0]).type;
    const ArrayType array = array_type(type);
    if (array.is_box && argument_variables_.count(from.operands[0]) == 0)
        return fmt::format("`{}` is part of another array, which is not followed", name);
    const Number number = array.lengths.empty() ? number_named(without_reference(type)) : array.number;
    if (number == Number::none) return fmt::format("`{}` is of a type that is not understood", name);
    const std::string moved = changed_in(from.operands.size() > 1 ? from.operands[1] : -1);
    if (!moved.empty())
        return fmt::format("the bounds of `{}` are made of `{}`, which something here may change", name,
                           moved);
    return "";
}

std::string VariableTranslator::changed_in(int value) const {
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

int VariableTranslator::shaped_type(const mlir::Operation& from, const ArrayType& array, bool is_argument,
                                    Array& shape) {
    const mlir::Operation* said = from.operands.size() > 1 ? maker(from.operands[1]) : nullptr;
    const bool has_both = said != nullptr && said->name == "fir.shape_shift";
    const bool has_lower = has_both || (said != nullptr && said->name == "fir.shift");
    const std::size_t rank = array.lengths.size();
    std::vector<int> lengths(rank, -1);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        shape.lower.push_back(-1);
        if (array.is_box) {
            shape.sizes.push_back(add_length(from, axis));
            lengths[axis] = build_.read(build_.variable(shape.sizes.back(), place_of(from)));
        }
        if (has_lower) {
            const int value = before_widening(said->operands[has_both ? 2 * axis : axis]);
            const auto known = constant(value);
            shape.lower.back() = known ? build_.whole(*known, Number::i32, place_of(from)) : held(value).expr;
        }
        if (said != nullptr && !array.is_box)
            lengths[axis] = length_of(said->operands[has_both ? 2 * axis + 1 : axis]);
    }
    shape.lengths = lengths;
    int type = build_.number_type(array.number);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const bool is_pointer = is_argument && axis + 1 == rank;
        type = is_pointer ? build_.pointer_to(type, !is_target(from)) : build_.array_of(type, lengths[axis]);
    }
    return type;
}

// A parameter for what the array itself tells.
int VariableTranslator::add_length(const mlir::Operation& array, std::size_t axis) {
    c::Variable made;
    made.name = fmt::format("{}_size_{}", last_name(without(array.attribute("uniq_name"), "\"")), axis + 1);
    made.where = place_of(array);
    made.storage = Storage::parameter;
    made.type = build_.number_type(Number::i32);
    build_.unit.variables.push_back(std::move(made));
    return static_cast<int>(build_.unit.variables.size()) - 1;
}

bool VariableTranslator::is_target(const mlir::Operation& from) {
    return from.attribute("fortran_attrs").find("target") != std::string::npos;
}

int VariableTranslator::length_of(int value) {
    if (const auto known = constant(value)) return build_.whole(*known, Number::i32, head_);
    const mlir::Operation* from = maker(value);
    if (from != nullptr && from->name == "arith.select") return length_of(from->operands[1]);
    return held(value).expr;
}

}  // namespace halo::lift::fortran
