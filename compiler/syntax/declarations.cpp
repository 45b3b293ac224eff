// Statements of a stencil.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/syntax/keywords.h"
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

void Parser::stencil_statement(Stencil& result) {
    if (guarded(result)) return;
    if (at_name_loop()) {
        return name_loop(Block::stencil, [&] {
            if (!refuse_repeated()) stencil_statement(result);
        });
    }
    const std::string_view word = text(peek());
    std::optional<StencilStatement> statement = declaration();
    const bool sweeps = in_sweep();
    const bool repeats = !guards_.empty() && file_[guards_.back()].repeat;
    auto* const let = statement ? std::get_if<LetDecl>(&*statement) : nullptr;
    auto* const solve = statement ? std::get_if<SolveStatement>(&*statement) : nullptr;
    if (sweeps && let != nullptr) let->guards = guards_;
    if (repeats && let != nullptr) let->repeat = guards_.back();
    if (repeats && solve != nullptr) solve->repeat = guards_.back();
    const bool reduces = statement && std::holds_alternative<ReduceDecl>(*statement);
    const bool is_of_step = !statement || ((sweeps || repeats) && let != nullptr) || (!sweeps && reduces) ||
                            (repeats && solve != nullptr);
    if (!guards_.empty() && !is_of_step && !failing_) {
        const SourceRange where = std::visit([](const auto& node) { return node.where; }, *statement);
        const char* const block = sweeps ? "`sweep`" : repeats ? "`repeat`" : "`on` and `where`";
        sink_
            .report(DiagnosticKind::misplaced_statement, where,
                    fmt::format("`{}` stands outside of {}", word, block))
            .note(sweeps    ? "between its braces are assignments, `let`, `on`, `where` and a `sweep`"
                  : repeats ? "between its braces are assignments, `let`, `reduce`, `solve`, `on`, `where`, "
                              "`sweep` and `repeat`"
                            : "between their braces are assignments and reductions");
        return;
    }
    if (!statement && !failing_) statement = assignment_statement();
    if (!failing_ && statement) result.statements.push_back(*std::move(statement));
}

std::optional<StencilStatement> Parser::assignment_statement() {
    const TokenKind next = ahead(1).kind;
    const bool is_assignment =
        is(TokenKind::identifier) && (next == TokenKind::assign || next == TokenKind::left_bracket ||
                                      next == TokenKind::dot || next == TokenKind::no_operator);
    // f(u) = …
    const std::uint32_t closing = next == TokenKind::left_paren ? match_[at_ + 1] : kUnmatched;
    if (closing != kUnmatched && tokens_[closing + 1].kind == TokenKind::assign) {
        const SourceRange where{peek().where.begin, tokens_[closing].where.end};
        fail(DiagnosticKind::invalid_target, where, "only a field can be given a value")
            .note("cells are written `u[t+1]`, functions `def f(a) = …`");
        return std::nullopt;
    }
    if (is_assignment) return assignment();
    unknown_statement(Block::stencil);
    return std::nullopt;
}

// ---- loops

ForStatement Parser::loop(std::uint32_t begin) {
    const Nesting nesting(*this);
    ForStatement result;
    if (failing_) return result;
    advance();
    result.indices = range_indices();
    const std::uint32_t opening = opening_brace("`{` and what to repeat");
    if (failing_) return result;
    for (const RangeIndex& index : result.indices)
        range_names_.push_back(index.name.text);
    std::vector<std::string> unread_names;
    statements(Block::loop, unread_names, [&] { loop_statement(result.body); });
    range_names_.resize(range_names_.size() - result.indices.size());
    unread_->insert(unread_->end(), unread_names.begin(), unread_names.end());
    close_block(opening);
    result.where = since(begin);
    return result;
}

// What belongs to the stencil as a whole is said once, not for each name.
bool Parser::refuse_repeated() {
    const Token keyword = peek();
    const bool is_whole = is_word("accuracy") || at_statement("schedule") || at_statement("fast");
    if (!is_whole) return false;
    fail(DiagnosticKind::misplaced_statement, keyword.where,
         fmt::format("`{}` cannot be repeated by a `for`", text(keyword)))
        .note("it is for the whole stencil");
    return true;
}

// What is declared is declared once, so a loop over a range holds no declarations but lets, which are its
// own.
void Parser::loop_statement(std::vector<LoopBody>& body) {
    const Token keyword = peek();
    const std::uint32_t begin = keyword.where.begin;
    const auto add = [&](std::optional<StencilStatement> statement) {
        if (!failing_ && statement) body.push_back({*std::move(statement)});
    };
    if (at_name_loop()) return name_loop(Block::loop, [&] { loop_statement(body); });
    if (at_statement("let")) return add(let(begin));
    if (at_statement("for")) return add(loop(begin));
    const std::vector<std::string>& words = stencil_words();
    const bool is_declaration = std::find(words.begin(), words.end(), text(keyword)) != words.end() &&
                                (text(keyword) == "accuracy" || at_statement(text(keyword)));
    if (!is_declaration) return add(assignment_statement());
    fail(DiagnosticKind::misplaced_statement, keyword.where,
         fmt::format("`{}` cannot be repeated by a `for` over a range", text(keyword)))
        .note(
            "such a `for` holds assignments, `let` and other `for`; one over names, `for a in x, y`, holds "
            "declarations, too");
}

std::optional<StencilStatement> Parser::declaration() {
    const std::uint32_t begin = peek().where.begin;
    const Token keyword = peek();
    if (is_word("accuracy")) {
        advance();
        refuse_equals(keyword);
        const ExprId order = expression();
        return AccuracyDecl{order, since(begin)};
    }
    if (at_statement("param")) {
        advance();
        if (accept_word("coef")) return coef(begin, true);
        std::vector<Definition> params = definitions(false);
        return ParamDecl{std::move(params), since(begin)};
    }
    if (at_statement("const")) {
        advance();
        std::vector<Definition> consts = definitions(true);
        return ConstDecl{std::move(consts), since(begin)};
    }
    if (at_statement("spacing")) {
        advance();
        std::vector<AxisValue> values = axis_values("an axis and its spacing, as in `x = 0.1`", true);
        return SpacingDecl{std::move(values), since(begin)};
    }
    if (at_statement("origin")) {
        advance();
        std::vector<AxisValue> values =
            axis_values("an axis and the position of its first cell, as in `x = 0`", false);
        return OriginDecl{std::move(values), since(begin)};
    }
    if (at_statement("coef")) {
        advance();
        return coef(begin, false);
    }
    if (at_statement("field")) return field(begin);
    if (at_statement("table")) return table(begin);
    if (at_statement("series")) return series(begin);
    if (at_statement("fast")) return fast(begin);
    if (at_statement("points")) return points(begin);
    if (at_statement("inject")) return inject(begin);
    if (at_statement("sample")) return sample(begin);
    if (at_statement("def")) return def(begin);
    if (at_statement("let")) return let(begin);
    if (at_statement("reduce")) return reduce(begin);
    if (at_statement("schedule")) return schedule(begin);
    if (at_statement("solve")) return solve(begin);
    if (at_statement("for")) return loop(begin);
    return std::nullopt;
}

std::vector<Definition> Parser::definitions(bool need_values) {
    std::vector<Definition> all;
    do {
        Definition definition;
        definition.name = name("a name");
        definition.type = optional_type();
        if (accept(TokenKind::assign)) {
            definition.value = expression();
        } else if (need_values && !failing_) {
            fail_expected("`=` and the value of the constant");
        }
        definition.unit = unit_of_value(need_values ? "a const has no unit" : "");
        all.push_back(std::move(definition));
    } while (accept(TokenKind::comma));
    return all;
}

std::vector<AxisValue> Parser::axis_values(std::string_view what, bool has_units) {
    std::vector<AxisValue> all;
    do {
        AxisValue entry;
        entry.axis = name(what);
        expect(TokenKind::assign, "`=` and the value");
        entry.value = expression();
        entry.unit = unit_of_value(has_units ? "" : "the unit of an axis stands behind its spacing");
        all.push_back(std::move(entry));
    } while (accept(TokenKind::comma));
    return all;
}

std::optional<TypeRef> Parser::optional_type() {
    if (!accept(TokenKind::colon)) return std::nullopt;
    return simple_type();
}

TypeRef Parser::type() {
    if (!is(TokenKind::left_paren) || failing_) return simple_type();
    TypeRef result;
    result.components = components();
    return result;
}

std::vector<Component> Parser::components() {
    std::vector<Component> result;
    const std::uint32_t opening = open(TokenKind::left_paren, "`(`");
    do {
        Component component;
        component.name = name("the name of a component");
        expect(TokenKind::colon, "`:` and the type of the component");
        component.type = simple_type();
        component.at = stagger(true);
        result.push_back(std::move(component));
    } while (accept(TokenKind::comma));
    close(opening, TokenKind::right_paren);
    return result;
}

TypeRef Parser::simple_type() {
    TypeRef result;
    result.storage = name("a type, f32 or f64");
    if (is(TokenKind::left_bracket) && !failing_ && !peek().newline_before) {
        const std::uint32_t opening = open(TokenKind::left_bracket, "`[`");
        result.count = expression();
        close(opening, TokenKind::right_bracket);
    }
    if (accept_word("as")) result.arithmetic = name("the type to compute in");
    return result;
}

CoefDecl Parser::coef(std::uint32_t begin, bool is_param) {
    CoefDecl result;
    result.is_param = is_param;
    result.name = name("the name of the coefficients");
    const std::uint32_t opening = open(TokenKind::left_bracket, "`[` and a range of offsets, as in `[1..4]`");
    do {
        CoefRange range;
        range.low = bound();
        expect(TokenKind::dot_dot, "`..` and the last offset");
        range.high = bound();
        result.ranges.push_back(range);
    } while (accept(TokenKind::comma));
    close(opening, TokenKind::right_bracket);
    result.type = optional_type();
    expect(TokenKind::assign, "`=` and the values, as in `[1, -2, 1]`");
    result.value = value_or_list();
    result.where = since(begin);
    return result;
}

FastDecl Parser::fast(std::uint32_t begin) {
    FastDecl result;
    advance();
    do {
        result.functions.push_back(name("the name of a function, as in `fast sin, cos`"));
    } while (accept(TokenKind::comma));
    result.where = since(begin);
    return result;
}

LetDecl Parser::let(std::uint32_t begin) {
    LetDecl result;
    advance();
    const Token word = peek();
    result.name = name("a name");
    result.coarse = coarse();
    result.at = stagger();
    if (is(TokenKind::left_brace))
        properties({result.name}, result.halos, result.boundaries, nullptr, nullptr);
    refuse_late_place();
    expect(TokenKind::assign, "`=` and an expression");
    result.value = expression();
    result.where = since(begin);
    keep_in_iteration(result.name, word);
    return result;
}

DefDecl Parser::def(std::uint32_t begin) {
    DefDecl result;
    advance();
    result.name = name("the name of the function");
    const std::uint32_t opening = open(TokenKind::left_paren, "`(` and the names of the arguments");
    if (!is(TokenKind::right_paren)) {
        do {
            result.parameters.push_back(name("the name of an argument"));
        } while (accept(TokenKind::comma));
    }
    close(opening, TokenKind::right_paren);
    expect(TokenKind::assign, "`=` and an expression");
    result.value = expression();
    result.where = since(begin);
    return result;
}

ReduceDecl Parser::reduce(std::uint32_t begin) {
    ReduceDecl result;
    advance();
    result.name = name("the name of the result");
    expect(TokenKind::assign, "`=` and what to reduce, as in `max(abs(u))`");
    constexpr std::string_view kOneFold =
        "a reduction is one number of all cells: factors and functions stand within its parentheses, as in "
        "`sum(u * h^2)`";
    if (!is(TokenKind::identifier) && !failing_)
        fail_expected("sum, min, max, mean, norm1 or norm2").note(std::string(kOneFold));
    result.operation = name("sum, min, max, mean, norm1 or norm2");
    const std::uint32_t opening = open(TokenKind::left_paren, "`(` and the expression to reduce");
    result.value = expression();
    close(opening, TokenKind::right_paren);
    const TokenKind next = peek().kind;
    if (!failing_ && next >= TokenKind::plus && next <= TokenKind::not_equal)
        fail_expected("the end of the statement").note(std::string(kOneFold));
    if (accept_word("start")) result.start = expression();
    if (is_word("on") && text(ahead(1)) == "coarse" && ahead(2).kind == TokenKind::left_paren)
        result.coarse = coarse();
    result.guards = guards_;
    for (const char* word : {"on", "where"}) {
        if (is_word(word) && !peek().newline_before && !failing_) result.guards.push_back(guard(false));
    }
    result.unit = unit_of_value();
    for (const char* word : {"start", "on", "where"})
        if (result.unit && is_word(word) && !peek().newline_before && !failing_)
            fail(DiagnosticKind::unexpected_token, peek().where,
                 fmt::format("`{}` stands before the unit, which is last", word));
    result.where = since(begin);
    return result;
}

ScheduleBlock Parser::schedule(std::uint32_t begin) {
    ScheduleBlock result;
    advance();
    const std::uint32_t opening = opening_brace("`{` and the schedule");
    if (failing_) return result;
    while (!at_block_end()) {
        // Its words are the schedule's own (tile=64x4): taken as they are.
        const Token& token = tokens_[at_++];
        if (!result.text.empty() && (token.space_before || token.newline_before)) result.text += ' ';
        result.text += text(token);
    }
    close_block(opening);
    result.where = since(begin);
    return result;
}

Assignment Parser::assignment() {
    Assignment result;
    result.guards = guards_;
    const std::uint32_t begin = peek().where.begin;
    result.target = postfix();
    expect(TokenKind::assign, "`=` and the new value");
    result.value = expression();
    result.where = since(begin);
    return result;
}

}  // namespace halo::syntax
