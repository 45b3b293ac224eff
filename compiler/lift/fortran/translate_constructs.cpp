// What find_constructs() finds, as statements.
#include <algorithm>
#include <sstream>

#include "compiler/lift/fortran/translate_statements.h"
#include "compiler/lift/mutation.h"

namespace halo::lift::fortran {

namespace {

using c::Number;
using StatementKind = c::Statement::Kind;

bool ends_with_jump(const std::vector<Construct>& list) {
    return !list.empty() && list.back().kind >= Construct::Kind::next;
}

// `[#fir.point, unit]`
std::vector<std::string> items_of(const std::string& list) {
    std::istringstream parts(without(list, "[]"));
    std::vector<std::string> items;
    for (std::string each; std::getline(parts, each, ',');)
        items.push_back(without(each, " "));
    return items;
}

}  // namespace

void StatementTranslator::translate_constructs(const std::vector<Construct>& list, std::vector<int>& into) {
    for (const Construct& each : list) {
        switch (each.kind) {
            case Construct::Kind::operations:
                for (std::size_t i = 0; i < each.count; ++i)
                    translate_operation(*each.block->operations[i], into);
                break;
            case Construct::Kind::branch:
                translate_condition(each, into);
                break;
            case Construct::Kind::choice:
                translate_cases(each, into);
                break;
            case Construct::Kind::counted_loop:
                translate_counted(each, into);
                break;
            case Construct::Kind::other_loop:
                translate_other_loop(each, into);
                break;
            default:
                translate_jump(each, into);
        }
    }
}

int StatementTranslator::block_of(const std::vector<Construct>& list, SourceRange where) {
    c::Statement made;
    made.kind = StatementKind::block;
    made.where = where;
    translate_constructs(list, made.statements);
    return build_.add(std::move(made));
}

void StatementTranslator::translate_condition(const Construct& from, std::vector<int>& into) {
    c::Statement made;
    made.kind = StatementKind::branch;
    made.where = place_of(*from.from);
    made.expr = number(from.from->operands[0], made.where);
    const SourceRange where = made.where;
    if (has(Mutation::swap_ways))
        made.expr =
            build_.add(c::Expr::Kind::unary, build_.number_type(Number::boolean), where, {made.expr}, "!");
    made.statements.push_back(block_of(from.parts[0], where));
    const bool is_rest = ends_with_jump(from.parts[0]);  // what follows a CYCLE or RETURN
    if (!is_rest && !from.parts[1].empty()) made.statements.push_back(block_of(from.parts[1], where));
    into.push_back(build_.add(std::move(made)));
    something_changes();
    if (is_rest) translate_constructs(from.parts[1], into);
}

void StatementTranslator::translate_cases(const Construct& from, std::vector<int>& into) {
    const mlir::Operation& select = *from.from;
    const SourceRange where = place_of(select);
    const std::vector<std::string> tags = items_of(select.attribute("case_tags"));
    std::vector<int> conditions(from.parts.size(), -1);
    std::optional<std::size_t> otherwise;
    std::size_t operand = 1;
    for (std::size_t i = 0; i < tags.size() && i < from.ways.size(); ++i) {
        const std::size_t part = from.ways[i];
        if (tags[i] == "unit") {
            otherwise = part;
            continue;
        }
        const auto compared = [&](const char* op) {
            const int value = number(select.operands[0], where);
            return build_.binary(op, Number::boolean, value, number(select.operands.at(operand++), where));
        };
        int holds = tags[i] == "#fir.point"   ? compared("==")
                    : tags[i] == "#fir.upper" ? compared("<=")
                                              : compared(">=");
        if (tags[i] == "#fir.interval") holds = build_.binary("&&", Number::boolean, holds, compared("<="));
        int& all = conditions[part];
        all = all < 0 ? holds : build_.binary("||", Number::boolean, all, holds);
    }
    std::vector<c::Statement> branches;
    for (std::size_t part = 0; part < from.parts.size(); ++part) {
        if (part == otherwise || conditions[part] < 0) continue;
        c::Statement made;
        made.kind = StatementKind::branch;
        made.where = where;
        made.expr = conditions[part];
        made.statements.push_back(block_of(from.parts[part], where));
        branches.push_back(std::move(made));
    }
    int other = otherwise ? block_of(from.parts[*otherwise], where) : -1;
    for (auto each = branches.rbegin(); each != branches.rend(); ++each) {
        if (other >= 0) each->statements.push_back(other);
        other = build_.add(std::move(*each));
    }
    if (other >= 0) into.push_back(other);
    something_changes();
}

void StatementTranslator::translate_counted(const Construct& from, std::vector<int>& into) {
    const std::optional<std::int64_t> step = constant(from.loop.step);
    const int counter = held(from.loop.counter).place;
    if (counter < 0 || !step || *step == 0) {
        translate_other_loop(from, into);
        return;
    }
    const auto inside = [&](std::vector<int>& body) {
        translate_constructs(from.parts[0], body);
        return place_of(*from.loop.last);
    };
    add_loop(*from.from, {counter, from.loop.lower, from.loop.upper, *step}, inside, into);
}

void StatementTranslator::translate_other_loop(const Construct& from, std::vector<int>& into) {
    c::Statement made;
    made.kind = StatementKind::while_loop;
    made.where = place_of(*from.from);
    made.is_loop = true;
    made.text = "how often this loop goes round is not known before";
    made.expr = build_.whole(1, Number::boolean, made.where);
    something_changes();
    const SourceRange where = made.where;
    made.statements.push_back(block_of(from.parts[0], where));
    into.push_back(build_.add(std::move(made)));
    something_changes();
}

void StatementTranslator::translate_jump(const Construct& from, std::vector<int>& into) {
    c::Statement made;
    made.where = place_of(*from.from);
    switch (from.kind) {
        case Construct::Kind::next:
            made.kind = StatementKind::continue_statement;
            break;
        case Construct::Kind::leave:
            made.kind = StatementKind::break_statement;
            made.text = "the loop is left early here";
            break;
        case Construct::Kind::end:
            made.kind = StatementKind::return_statement;
            if (from.block != nullptr) made.expr = result_in(*from.block, made.where);
            break;
        default:
            made.kind = StatementKind::goto_statement;
            made.text = "this goes on somewhere else than behind its construct or loop";
    }
    into.push_back(build_.add(std::move(made)));
}

int StatementTranslator::result_in(const mlir::Block& epilogue, SourceRange where) {
    for (const auto& each : epilogue.operations) {
        translate_value(*each);
        if (each->name == "func.return" && !each->operands.empty()) return number(each->operands[0], where);
    }
    return -1;
}

}  // namespace halo::lift::fortran
