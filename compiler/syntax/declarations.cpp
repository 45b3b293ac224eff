// Statements of a stencil.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/syntax/keywords.h"
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

constexpr std::string_view kBoundaryKinds[] = {"periodic",    "fixed",      "clamp",     "mirror",
                                               "free",        "antimirror", "symmetric", "antisymmetric",
                                               "extrapolate", "gradient",   "robin"};
constexpr std::size_t kRobinValues = 3;
constexpr std::size_t kMaxGuards = 16;

bool is_boundary_kind(std::string_view word) {
    return std::find(std::begin(kBoundaryKinds), std::end(kBoundaryKinds), word) != std::end(kBoundaryKinds);
}

}  // namespace

void Parser::stencil_statement(Stencil& result) {
    if (guarded(result)) return;
    const std::string_view word = text(peek());
    std::optional<StencilStatement> statement = declaration();
    const bool is_of_step = !statement || std::holds_alternative<ReduceDecl>(*statement);
    if (!guards_.empty() && !is_of_step && !failing_) {
        const SourceRange where = std::visit([](const auto& node) { return node.where; }, *statement);
        sink_
            .report(DiagnosticKind::misplaced_statement, where,
                    fmt::format("`{}` stands outside of `on` and `where`", word))
            .note("between their braces are assignments and reductions");
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
    std::vector<std::string> unread_names;
    statements(Block::loop, unread_names, [&] {
        std::optional<StencilStatement> statement = loop_statement();
        if (!failing_ && statement) result.body.push_back({*std::move(statement)});
    });
    unread_->insert(unread_->end(), unread_names.begin(), unread_names.end());
    close_block(opening);
    result.where = since(begin);
    return result;
}

// What is declared is declared once, so a loop holds no declarations but lets, which are its own.
std::optional<StencilStatement> Parser::loop_statement() {
    const Token keyword = peek();
    const std::uint32_t begin = keyword.where.begin;
    if (at_statement("let")) return let(begin);
    if (at_statement("for")) return loop(begin);
    const std::vector<std::string>& words = stencil_words();
    const bool is_declaration = std::find(words.begin(), words.end(), text(keyword)) != words.end() &&
                                (text(keyword) == "accuracy" || at_statement(text(keyword)));
    if (!is_declaration) return assignment_statement();
    fail(DiagnosticKind::misplaced_statement, keyword.where,
         fmt::format("`{}` cannot be repeated by a `for`", text(keyword)))
        .note("a `for` holds assignments, `let` and other `for`");
    return std::nullopt;
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
        std::vector<AxisValue> values = axis_values("an axis and its spacing, as in `x = 0.1`");
        return SpacingDecl{std::move(values), since(begin)};
    }
    if (at_statement("origin")) {
        advance();
        std::vector<AxisValue> values =
            axis_values("an axis and the position of its first cell, as in `x = 0`");
        return OriginDecl{std::move(values), since(begin)};
    }
    if (at_statement("coef")) {
        advance();
        return coef(begin, false);
    }
    if (at_statement("field")) return field(begin);
    if (at_statement("table")) return table(begin);
    if (at_statement("fast")) return fast(begin);
    if (at_statement("points")) return points(begin);
    if (at_statement("inject")) return inject(begin);
    if (at_statement("sample")) return sample(begin);
    if (at_statement("def")) return def(begin);
    if (at_statement("let")) return let(begin);
    if (at_statement("reduce")) return reduce(begin);
    if (at_statement("schedule")) return schedule(begin);
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
        all.push_back(std::move(definition));
    } while (accept(TokenKind::comma));
    return all;
}

std::vector<AxisValue> Parser::axis_values(std::string_view what) {
    std::vector<AxisValue> all;
    do {
        AxisValue entry;
        entry.axis = name(what);
        expect(TokenKind::assign, "`=` and the value");
        entry.value = expression();
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

FieldDecl Parser::field(std::uint32_t begin) {
    FieldDecl result;
    advance();
    do {
        result.names.push_back(name("the name of the field"));
    } while (accept(TokenKind::comma));
    expect(TokenKind::colon, "`:` and the type of the field, f32 or f64");
    result.type = type();
    result.at = stagger();
    if (is(TokenKind::left_brace)) properties(result.names, result.halos, result.boundaries, &result.layout);
    result.where = since(begin);
    return result;
}

// `at x+1/2, y+1/2`: where in the cells the points lie. In a list of components a comma may begin the next.
std::vector<ExprId> Parser::stagger(bool in_list) {
    std::vector<ExprId> result;
    if (!is_word("at") || (peek().newline_before && !in_list)) return result;
    advance();
    const auto goes_on = [&] {
        const bool begins_next =
            in_list && ahead(1).kind == TokenKind::identifier && ahead(2).kind == TokenKind::colon;
        return !begins_next && accept(TokenKind::comma);
    };
    do {
        result.push_back(expression());
    } while (goes_on());
    return result;
}

void Parser::properties(const std::vector<Name>& owners, std::vector<HaloEntry>& halos,
                        std::vector<BoundaryEntry>& boundaries, std::optional<LayoutEntry>* layout_entry) {
    const std::uint32_t opening = opening_brace("`{`");
    std::vector<std::string> unread_names;
    statements(Block::field, unread_names, [&] {
        const Token keyword = peek();
        if (is_word("halo")) {
            advance();
            refuse_equals(keyword);
            do {
                halos.push_back(halo_entry());
            } while (accept(TokenKind::comma));
            if (failing_) halos.pop_back();
        } else if (is_word("boundary")) {
            advance();
            refuse_equals(keyword);
            do {
                boundaries.push_back(boundary_entry(owners));
            } while (accept(TokenKind::comma));
            if (failing_) boundaries.pop_back();
        } else if (is_word("layout")) {
            layout(layout_entry);
        } else {
            unknown_statement(Block::field);
        }
        if (failing_) {
            for (const Name& owner : owners)
                unread_names.push_back(owner.text);
        }
    });
    unread_->insert(unread_->end(), unread_names.begin(), unread_names.end());
    close_block(opening);
}

// `layout aos`; `given` is null where what has the properties lies nowhere in memory that a spec speaks of.
void Parser::layout(std::optional<LayoutEntry>* given) {
    const Token keyword = advance();
    refuse_equals(keyword);
    LayoutEntry entry;
    entry.kind = name("`soa` or `aos`");
    entry.where = since(keyword.where.begin);
    if (failing_) return;
    if (given == nullptr) {
        fail(DiagnosticKind::misplaced_statement, entry.where, "a `let` has no layout")
            .note("that of a field is how its components lie in memory");
    } else if (*given) {
        sink_.report(DiagnosticKind::duplicate_setting, entry.where, "the layout of a field is given twice")
            .label((*given)->where, "given here before");
    } else {
        *given = std::move(entry);
    }
}

std::optional<FaceRef> Parser::face() {
    FaceRef result;
    result.axis = name("an axis");
    result.where = result.axis.where;
    if (accept(TokenKind::dot)) {
        const Name side = name("`low` or `high`");
        if (side.text == "low") {
            result.side = Side::low;
        } else if (side.text == "high") {
            result.side = Side::high;
        } else if (!failing_) {
            fail(DiagnosticKind::unexpected_token, side.where,
                 fmt::format("an axis has the faces `low` and `high`, not `{}`", side.text));
        }
        result.where.end = side.where.end;
    }
    return result;
}

HaloEntry Parser::halo_entry() {
    HaloEntry result;
    const std::uint32_t begin = peek().where.begin;
    const TokenKind next = ahead(1).kind;
    const bool has_face =
        is(TokenKind::identifier) &&
        (next == TokenKind::dot ||
         (!ahead(1).newline_before && (next == TokenKind::number || next == TokenKind::identifier)));
    if (has_face) result.face = face();
    result.width = expression();
    result.where = since(begin);
    return result;
}

// An axis or face before the boundary's kind: `x periodic`, `x.low fixed 1`; not in `periodic`, `fixed a`.
bool Parser::at_boundary_face() const {
    if (!is(TokenKind::identifier)) return false;
    const Token& next = ahead(1);
    if (next.kind == TokenKind::dot) return true;
    if (next.kind != TokenKind::identifier || next.newline_before) return false;
    const std::string_view word = text(peek());
    const bool is_axis =
        std::any_of(axes_.begin(), axes_.end(), [&](const Name& axis) { return axis.text == word; });
    return is_axis || (!is_boundary_kind(word) && is_boundary_kind(text(next)));
}

// `owners`: the fields, or the let, whose boundary it is. Their components can have boundaries of their own.
BoundaryEntry Parser::boundary_entry(const std::vector<Name>& owners) {
    BoundaryEntry result;
    const std::uint32_t begin = peek().where.begin;
    const bool names_part = is(TokenKind::identifier) && ahead(1).kind == TokenKind::dot &&
                            std::any_of(owners.begin(), owners.end(),
                                        [&](const Name& owner) { return owner.text == text(peek()); });
    if (names_part) result.part = field_reference("a component");
    if (at_boundary_face()) result.face = face();
    result.kind = name("the kind of boundary, as in `periodic`, `clamp` or `fixed 0`");
    const Token& next = peek();
    const bool ends = next.newline_before || next.kind == TokenKind::comma ||
                      next.kind == TokenKind::right_brace || next.kind == TokenKind::semicolon ||
                      next.kind == TokenKind::end;
    if (!ends && !failing_) result.values.push_back(expression());
    if (result.kind.text == "robin" && !result.values.empty()) {
        while (result.values.size() < kRobinValues && accept(TokenKind::comma))
            result.values.push_back(expression());
    }
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
    result.name = name("a name");
    result.at = stagger();
    if (is(TokenKind::left_brace)) properties({result.name}, result.halos, result.boundaries, nullptr);
    expect(TokenKind::assign, "`=` and an expression");
    result.value = expression();
    result.where = since(begin);
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
    result.operation = name("sum, min, max or norm2");
    const std::uint32_t opening = open(TokenKind::left_paren, "`(` and the expression to reduce");
    result.value = expression();
    close(opening, TokenKind::right_paren);
    if (accept_word("start")) result.start = expression();
    result.guards = guards_;
    for (const char* word : {"on", "where"}) {
        if (is_word(word) && !peek().newline_before && !failing_) result.guards.push_back(guard(false));
    }
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

// `on x.low { … }`, `where c > 0 { … }`: what is between the braces is for some of the cells.
bool Parser::guarded(Stencil& result) {
    const bool is_guard = at_statement("on") || at_statement("where");
    if (!is_guard || ahead(1).kind == TokenKind::left_brace) return false;
    const GuardId id = guard(true);
    if (guards_.size() >= kMaxGuards && !failing_) {
        fail(DiagnosticKind::nesting_too_deep, file_[id].where,
             fmt::format("more than {} `on` and `where` are within each other", kMaxGuards));
    }
    const std::uint32_t opening = opening_brace("`{` and the statements for these cells");
    if (failing_) return true;
    guards_.push_back(id);
    statements(Block::stencil, result.unread_names, [&] { stencil_statement(result); });
    guards_.pop_back();
    close_block(opening);
    return true;
}

GuardId Parser::guard(bool is_block) {
    Guard result;
    result.is_block = is_block;
    const std::uint32_t begin = peek().where.begin;
    if (accept_word("on")) {
        do {
            result.region.push_back(region_entry());
        } while (accept(TokenKind::comma));
    } else {
        advance();
        result.condition = condition();
    }
    result.where = since(begin);
    file_.guards.push_back(std::move(result));
    return {static_cast<std::uint32_t>(file_.guards.size() - 1)};
}

RegionEntry Parser::region_entry() {
    RegionEntry result;
    const std::uint32_t begin = peek().where.begin;
    if (ahead(1).kind == TokenKind::dot) {
        const std::optional<FaceRef> named = face();
        result.axis = named->axis;
        result.side = named->side;
    } else {
        result.axis = name("an axis or a face, as in `x.low` or `x in 2..-3`");
        if (expect_word("in", "and a range of cells, or a face as in `x.low`")) {
            result.low = bound();
            expect(TokenKind::dot_dot, "`..` and the last cell");
            result.high = bound();
        }
    }
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
