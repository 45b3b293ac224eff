// Fields and their properties: halos, boundaries, layouts.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/syntax/keywords.h"
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

constexpr std::size_t kRobinValues = 3;

bool is_boundary_kind(std::string_view word) {
    return std::ranges::find(boundary_kinds(), word) != boundary_kinds().end();
}

}  // namespace

FieldDecl Parser::field(std::uint32_t begin) {
    FieldDecl result;
    advance();
    do {
        result.names.push_back(name("the name of the field"));
    } while (accept(TokenKind::comma));
    expect(TokenKind::colon, "`:` and the type of the field, as in `u: f32`");
    result.type = type();
    result.over = over();
    result.coarse = coarse();
    result.at = stagger();
    if (is_word("grid") && !peek().newline_before && !failing_) {
        fail(DiagnosticKind::unexpected_token, peek().where,
             "a field has no grid of its own: all fields of a stencil have a value in each of its cells")
            .note("the run says how many cells there are: `grid 128, 128` in its block, or `--grid`");
    }
    if (is_word("over") && !result.at.empty() && !peek().newline_before && !failing_)
        fail(DiagnosticKind::unexpected_token, peek().where, "`over` stands before `at`");
    refuse_bare_property(result.names);
    if (is(TokenKind::left_brace))
        properties(result.names, result.halos, result.boundaries, &result.layout, &result.unit);
    refuse_late_place();
    refuse_bare_property(result.names);
    result.where = since(begin);
    return result;
}

// `let m { boundary clamp } at x+1/2`
void Parser::refuse_late_place() {
    if (is_word("at") && !peek().newline_before && !failing_)
        fail(DiagnosticKind::unexpected_token, peek().where, "`at` stands before the `{ … }`");
}

// `field u: f32 unit "K"`, `field u: f32 { halo 1 } boundary clamp`.
void Parser::refuse_bare_property(const std::vector<Name>& owners) {
    const std::vector<std::string>& words = field_words();
    const std::string word(text(peek()));
    if (failing_ || peek().newline_before || peek().kind != TokenKind::identifier ||
        std::find(words.begin(), words.end(), word) == words.end())
        return;
    fail(DiagnosticKind::unexpected_token, peek().where,
         fmt::format("`{}` of a field stands in braces", word))
        .note(
            "as in `{ boundary clamp; halo 2; unit \"K\" }`: properties are on lines of their own, or "
            "separated by `;`");
    // What they lack is not to be missed elsewhere.
    for (const Name& owner : owners)
        unread_->push_back(owner.text);
}

// `over x, y`: the axes that a field has.
std::vector<Name> Parser::over() {
    std::vector<Name> result;
    if (!is_word("over") || peek().newline_before) return result;
    advance();
    do {
        result.push_back(name("an axis"));
    } while (accept(TokenKind::comma));
    return result;
}

// `on coarse(2)`: how much coarser the grid is that it lies on.
std::optional<ExprId> Parser::coarse() {
    if (!is_word("on") || peek().newline_before || failing_) return std::nullopt;
    advance();
    if (!expect_word("coarse", "and how much coarser its grid is, as in `on coarse(2)`")) return std::nullopt;
    const std::uint32_t opening = open(TokenKind::left_paren, "`(` and how much coarser the grid is");
    const ExprId factor = expression();
    close(opening, TokenKind::right_paren);
    return factor;
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
                        std::vector<BoundaryEntry>& boundaries, std::optional<LayoutEntry>* layout_entry,
                        std::optional<Unit>* unit_entry) {
    const std::uint32_t opening = opening_brace("`{`");
    std::vector<std::string> unread_names;
    statements(Block::field, unread_names, [&] {
        const Token keyword = peek();
        if (is_word("halo")) {
            advance();
            refuse_equals(keyword);
            do {
                halos.push_back(halo_entry());
            } while (accept_entry_comma());
            if (failing_) halos.pop_back();
        } else if (is_word("boundary")) {
            advance();
            refuse_equals(keyword);
            do {
                boundaries.push_back(boundary_entry(owners));
            } while (accept_entry_comma());
            if (failing_) boundaries.pop_back();
        } else if (is_word("layout")) {
            layout(layout_entry);
        } else if (is_word("unit")) {
            unit_property(unit_entry);
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

// A comma before the next entry of a halo or boundary, and not before another property: `halo 1, boundary
// clamp`.
bool Parser::accept_entry_comma() {
    const std::vector<std::string>& words = field_words();
    const Token& next = ahead(1);
    const std::string_view word = text(next);
    const bool is_axis = this->is_axis(word);
    const bool begins_property = is(TokenKind::comma) && next.kind == TokenKind::identifier && !is_axis &&
                                 std::find(words.begin(), words.end(), word) != words.end();
    if (!begins_property || failing_) return accept(TokenKind::comma);
    const SourceRange comma = peek().where;
    resume_at_ = at_ + 1;
    fail(DiagnosticKind::unexpected_token, comma, fmt::format("`{}` begins a property of its own", word))
        .note("properties are on lines of their own, or separated by `;`")
        .mend(comma, ";");
    return false;
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

// `unit "K"`; `given` is null of a `let`.
void Parser::unit_property(std::optional<Unit>* given) {
    std::optional<Unit> entry = unit();
    if (failing_ || !entry) return;
    if (given == nullptr) {
        fail(DiagnosticKind::misplaced_statement, entry->where, "a `let` has no unit")
            .note("that of a field goes to the files and pictures of it");
    } else if (*given) {
        sink_.report(DiagnosticKind::duplicate_setting, entry->where, "the unit of a field is given twice")
            .label((*given)->where, "given here before");
    } else {
        *given = std::move(entry);
    }
}

// Behind a value on its line; `why_not` where it may not stand there.
std::optional<Unit> Parser::unit_of_value(std::string_view why_not) {
    if (!is_word("unit") || peek().newline_before) return std::nullopt;
    if (why_not.empty()) return unit();
    fail(DiagnosticKind::misplaced_statement, peek().where, std::string(why_not))
        .note("params, spacings, fields, reductions and sampled traces have units");
    return std::nullopt;
}

// `unit "m/s"`; nullopt: the word is not there, or what follows it is reported.
std::optional<Unit> Parser::unit() {
    const std::uint32_t begin = peek().where.begin;
    if (!accept_word("unit")) return std::nullopt;
    Unit result;
    result.text = quoted_text("a unit in quotes, as in `unit \"m/s\"`", "a unit");
    result.where = since(begin);
    if (failing_) return std::nullopt;
    if (result.text.empty() || result.text.front() == ' ' || result.text.back() == ' ') {
        sink_
            .report(DiagnosticKind::invalid_unit, result.where,
                    result.text.empty() ? "a unit is a text that is not empty"
                                        : "a unit neither begins nor ends with a space")
            .note("`unit \"1\"` is that of pure numbers, as CF has it");
        return std::nullopt;
    }
    return result;
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

// An axis, or an index that stands for one.
bool Parser::is_axis(std::string_view word) const {
    const std::string* const name = chosen(word);
    return std::any_of(axes_.begin(), axes_.end(),
                       [&](const Name& axis) { return axis.text == (name != nullptr ? *name : word); });
}

// An axis or face before the boundary's kind: `x periodic`, `x.low fixed 1`; not in `periodic`, `fixed a`.
bool Parser::at_boundary_face() const {
    if (!is(TokenKind::identifier)) return false;
    const Token& next = ahead(1);
    if (next.kind == TokenKind::dot) return true;
    if (next.kind != TokenKind::identifier || next.newline_before) return false;
    const std::string_view word = text(peek());
    return is_axis(word) || (!is_boundary_kind(word) && is_boundary_kind(text(next)));
}

// `owners`: the fields, or the let, whose boundary it is. Their components can have boundaries of their own.
BoundaryEntry Parser::boundary_entry(const std::vector<Name>& owners) {
    BoundaryEntry result;
    const std::uint32_t begin = peek().where.begin;
    const bool names_part =
        is(TokenKind::identifier) && ahead(1).kind == TokenKind::dot && !failing_ &&
        std::any_of(owners.begin(), owners.end(),
                    [&, word = resolved(peek())](const Name& owner) { return owner.text == word; });
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

}  // namespace halo::syntax
