#include "compiler/lift/fortran/translate_statements.h"

#include <algorithm>

namespace halo::lift::fortran {

using c::Number;
using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

std::string words_for_operation(const mlir::Operation& from) {
    const std::string callee = without(from.attribute("callee"), "@");
    if (starts(callee, "_FortranA"))
        return "this is left to the library of Fortran, whose `" + callee.substr(9) +
               "` is not understood: input, output and functions of whole arrays are not followed";
    if (from.name == "fir.call")
        return "`" + (callee.empty() ? "a procedure" : last_name(callee)) +
               "` is called here: calls of procedures are not followed in Fortran";
    if (starts(from.name, "hlfir.where") || starts(from.name, "hlfir.forall"))
        return "this FORALL or WHERE is not understood";
    if (from.name == "fir.do_loop") return "this kind of DO is not understood";
    if (from.name == "fir.iterate_while") return "a loop that ends early is not understood";
    if (from.name == "hlfir.assign" || starts(from.name, "hlfir.elemental"))
        return "this assignment of arrays is not understood; DO loops are";
    if (starts(from.name, "omp.") || starts(from.name, "acc."))
        return "a directive is part of the program here: leave -fopenmp and -fopenacc out";
    return "this is not understood: flang has `" + from.name + "` for it";
}

void StatementTranslator::translate_blocks(const std::vector<mlir::Block>& blocks,
                                           const mlir::Operation& around, std::vector<int>& into) {
    if (blocks.empty()) return;
    if (blocks.size() == 1) {
        translate_list(blocks.front().operations, 0, into);
        return;
    }
    if (const auto found = find_constructs(module_, blocks)) {
        translate_constructs(*found, into);
        return;
    }
    for (const auto& each : blocks.front().operations) {
        if (!translate_value(*each) && each->name == "hlfir.declare") declare(*each, into);
    }
    add_unknown(around, "GO TO of several labels, or into a loop, is not followed", into);
}

void StatementTranslator::translate_list(const std::vector<std::unique_ptr<mlir::Operation>>& list,
                                         std::size_t first, std::vector<int>& into) {
    for (std::size_t i = first; i < list.size(); ++i)
        translate_operation(*list[i], into);
}

void StatementTranslator::translate_operation(const mlir::Operation& from, std::vector<int>& into) {
    // They make addresses, for something that follows.
    static const std::set<std::string> silent{
        "fir.absent",        "fir.address_of",  "fir.alloca",    "fir.assumed_size_extent",
        "fir.coordinate_of", "fir.dummy_scope", "fir.embox",     "fir.result",
        "fir.shape",         "fir.shape_shift", "fir.shift",     "fir.undefined",
        "fir.zero_bits",     "hlfir.as_expr",   "hlfir.destroy", "hlfir.end_associate"};
    if (silent.count(from.name) || translate_value(from)) return;
    if (from.name == "fir.convert") return;  // of an address
    if (from.name == "hlfir.declare") {
        declare(from, into);
    } else if (from.name == "hlfir.assign" || from.name == "fir.store") {
        translate_store(from, into);
    } else if (from.name == "fir.do_loop") {
        translate_loop(from, into);
    } else if (from.name == "fir.if" && from.results.empty()) {
        translate_branch(from, into);
    } else if (from.name == "hlfir.where") {
        translate_where(from, into);
    } else if (from.name == "func.return") {
        translate_return(from, into);
    } else {
        add_unknown(from, words_for_operation(from), into);
    }
}

void StatementTranslator::add_unknown(const mlir::Operation& from, const std::string& what,
                                      std::vector<int>& into, SourceRange where) {
    const int made = build_.unknown(trouble_of(from).value_or(what), where);
    std::set<int> given;
    mention(from, given);
    for (const int id : given) {
        const bool is_number = build_.type(unit_variable(id).type).kind == c::Type::Kind::number ||
                               build_.type(unit_variable(id).type).is_reference;
        const int named = build_.variable(id, where);
        const int part =
            is_number && is_changed(id)
                ? build_.add(ExprKind::address, build_.pointer_to(build_.expr(named).type), where, {named})
                : build_.read(named);
        build_.expr(made).operands.push_back(part);
    }
    const bool is_procedure = from.name == "func.func";  // in no order that is known
    build_.expr(made).is_opaque = is_procedure;
    const int statement = add_expression(made, where);
    c::Statement& around = build_.unit.statements[static_cast<std::size_t>(statement)];
    around.is_loop = is_procedure || from.name == "fir.do_loop" || starts(from.name, "hlfir.where") ||
                     starts(from.name, "hlfir.forall") ||
                     (from.name == "hlfir.assign" &&
                      module_.value(from.operands[1]).type.find("!fir.array") != std::string::npos);
    around.text = build_.expr(made).text;
    into.push_back(statement);
    something_changes();
}

std::optional<std::string> StatementTranslator::trouble_of(const mlir::Operation& from) {
    for (const int each : from.operands) {
        const int place = held(each).place;
        if (place >= 0 && build_.expr(place).kind == ExprKind::unknown) return build_.expr(place).text;
    }
    return std::nullopt;
}

void StatementTranslator::mention(const mlir::Operation& from, std::set<int>& into) {
    for (const int each : from.operands)
        mention_value(each, into);
    for (const auto& region : from.regions) {
        for (const mlir::Block& block : region) {
            for (const auto& each : block.operations)
                mention(*each, into);
        }
    }
}

void StatementTranslator::mention_value(int value, std::set<int>& into) {
    const Held& known = held(value);
    if (known.place >= 0)
        mention_expr(known.place, into);
    else if (known.expr < 0 && maker(value) != nullptr)
        mention(*maker(value), into);
}

void StatementTranslator::mention_expr(int id, std::set<int>& into) {
    const c::Expr from = build_.expr(id);
    if (from.kind == ExprKind::variable) into.insert(from.variable);
    if (from.kind == ExprKind::subscript || from.kind == ExprKind::convert)
        mention_expr(from.operands[0], into);
}

int StatementTranslator::add_expression(int expr, SourceRange where) {
    c::Statement made;
    made.kind = StatementKind::expression;
    made.expr = expr;
    made.where = where;
    return build_.add(std::move(made));
}

int StatementTranslator::assignment(int place, int value, SourceRange where) {
    return build_.add(ExprKind::assign, build_.expr(place).type, where, {place, value}, "=");
}

void StatementTranslator::translate_store(const mlir::Operation& from, std::vector<int>& into) {
    const mlir::Operation* loop = maker(from.operands[0]);
    if (loop != nullptr && loop->name == "fir.do_loop") return;  // what counts has its last value
    const SourceRange where = place_of(from);
    const Held to = held(from.operands[1]);
    const bool is_number = to.place >= 0 && to.array == nullptr && held(from.operands[0]).expr >= 0;
    if (is_array(from.operands[1])) {
        translate_array_store(from, into);
        return;
    }
    if (!is_number) {
        add_unknown(from, words_for_operation(from), into);
        return;
    }
    int value = number(from.operands[0], where);
    const int place = is_current(to.version) ? build_.copy(to.place, where)
                                             : build_.unknown(
                                                   "the subscripts of this were read before something else "
                                                   "has changed",
                                                   where);
    const Number type = build_.number_of(place);
    if (build_.number_of(value) != type && build_.number_of(value) != Number::none)
        value = build_.convert(value, build_.number_type(type));
    into.push_back(add_expression(assignment(place, value, where), where));
    something_changes();
}

void StatementTranslator::translate_branch(const mlir::Operation& from, std::vector<int>& into) {
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

void StatementTranslator::translate_return(const mlir::Operation& from, std::vector<int>& into) {
    if (from.operands.empty()) return;
    c::Statement made;
    made.kind = StatementKind::return_statement;
    made.where = place_of(from);
    made.expr = number(from.operands[0], made.where);
    build_.unit.functions[0].result = build_.expr(made.expr).type;
    into.push_back(build_.add(std::move(made)));
}

bool StatementTranslator::is_plain_loop(const mlir::Operation& from) const {
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

bool StatementTranslator::is_concurrent_loop(const mlir::Operation& from) const {
    if (from.operands.size() != 3 || from.regions.size() != 1 || from.regions[0].size() != 1) return false;
    const mlir::Block& body = from.regions[0].front();
    if (body.arguments.size() != 1 || body.operations.size() < 3) return false;
    const mlir::Operation &index = *body.operations[0], &store = *body.operations[1];
    return index.name == "fir.convert" && index.operands[0] == body.arguments[0] &&
           store.name == "fir.store" && store.operands[0] == index.results[0] &&
           body.operations.back()->name == "fir.result" && body.operations.back()->operands.empty();
}

void StatementTranslator::translate_loop(const mlir::Operation& from, std::vector<int>& into) {
    const std::optional<std::int64_t> step = constant(from.operands[2]);
    const bool is_plain = is_plain_loop(from);
    const int counter = is_plain || is_concurrent_loop(from)
                            ? held(from.regions[0].front().operations[is_plain ? 0 : 1]->operands[1]).place
                            : -1;
    if (counter < 0 || !step || *step == 0) {
        add_unknown(from, step ? words_for_operation(from) : "by how much this DO counts is not known", into);
        return;
    }
    const mlir::Block& body = from.regions[0].front();
    const auto inside = [&](std::vector<int>& inner) {
        translate_list(body.operations, is_plain ? 1 : 2, inner);
        return last_place(body, place_of(from));
    };
    add_loop(from, {counter, from.operands[0], from.operands[1], *step}, inside, into);
}

void StatementTranslator::add_loop(const mlir::Operation& from, const Counter& counter, const Body& body,
                                   std::vector<int>& into) {
    c::Statement made;
    made.where = place_of(from);
    const SourceRange head = made.where;
    const auto name = [&] { return build_.copy(counter.place, head); };
    const int lower = number(before_widening(counter.lower), head);
    const int upper = number(before_widening(counter.upper), head);
    const Number type = build_.number_of(counter.place);
    made.kind = StatementKind::for_loop;
    made.is_loop = true;
    made.statements.push_back(add_expression(assignment(name(), fit(lower, type), head), head));
    made.expr =
        build_.binary(counter.step > 0 ? "<=" : ">=", Number::boolean, build_.read(name()), fit(upper, type));
    made.step = step_of(name(), counter.step, head);
    something_changes();
    c::Statement inner;
    inner.kind = StatementKind::block;
    const SourceRange end = body(inner.statements);
    inner.where = {std::min(head.end + 1, end.begin), std::max(head.end + 1, end.end)};
    made.where.end = text_.loop_end(head.begin, std::max(head.end, end.end));
    made.statements.push_back(build_.add(std::move(inner)));
    into.push_back(build_.add(std::move(made)));
    something_changes();
}

// Where the last statement of a loop stands.
SourceRange StatementTranslator::last_place(const mlir::Block& body, SourceRange place) const {
    for (const auto& each : body.operations) {
        const SourceRange where = place_of(*each);
        if (where != head_ && where.end > place.end) place = where;
        for (const auto& region : each->regions) {
            for (const mlir::Block& block : region)
                place = last_place(block, place);
        }
    }
    return place;
}

int StatementTranslator::step_of(int counter, std::int64_t step, SourceRange where) {
    const int type = build_.expr(counter).type;
    if (step == 1 || step == -1)
        return build_.add(ExprKind::step, type, where, {counter}, step == 1 ? "++x" : "--x");
    const int by = build_.whole(std::abs(step), build_.number_of(counter), where);
    return build_.add(ExprKind::assign, type, where, {counter, by}, step > 0 ? "+=" : "-=");
}

}  // namespace halo::lift::fortran
