// Statements of a run.
#include <fmt/format.h>

#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

void Parser::run_statement(Run& result) {
    if (at_name_loop()) return name_loop(Block::run, [&] { run_statement(result); });
    std::optional<RunStatement> statement = run_keyword();
    if (!statement && !failing_) {
        if (!is(TokenKind::identifier) || ahead(1).kind != TokenKind::assign)
            return unknown_statement(Block::run);
        OverrideStatement value;
        const std::uint32_t begin = peek().where.begin;
        value.name = name("a name");
        expect(TokenKind::assign, "`=`");
        value.value = value_or_list();
        value.where = since(begin);
        statement = std::move(value);
    }
    if (!failing_ && statement) result.statements.push_back(*std::move(statement));
}

std::optional<RunStatement> Parser::run_keyword() {
    const Token keyword = peek();
    const std::uint32_t begin = keyword.where.begin;
    if (accept_word("grid")) {
        refuse_equals(keyword);
        std::vector<ExprId> extents = expression_list();
        return GridStatement{std::move(extents), since(begin)};
    }
    if (accept_word("steps")) {
        refuse_equals(keyword);
        return steps(begin);
    }
    if (at_statement("rows")) {
        advance();
        RowsStatement result;
        result.table = name("the name of a table");
        expect(TokenKind::assign, "`=` and the number of rows");
        result.count = expression();
        result.where = since(begin);
        return result;
    }
    if (at_statement("init")) return init(begin);
    if (at_statement("for")) return init_loop(begin);
    if (at_statement("load")) {
        advance();
        LoadStatement result;
        result.field = field_reference("the field to fill");
        expect_word("from", "and a file's name in quotes");
        result.path = path();
        result.where = since(begin);
        return result;
    }
    if (at_statement("save")) {
        advance();
        SaveStatement result;
        result.field = field_reference("the field to save");
        refuse_subscript();
        read_part(result);
        result.every = every();
        expect_word("to", "and a file's name in quotes");
        result.path = path();
        if (!result.every) result.every = every();
        const SourceRange word = peek().where;
        if (accept_on_line("together")) result.together = word;
        result.where = since(begin);
        return result;
    }
    if (at_statement("every") || is(TokenKind::kw_then)) return chained(begin);
    if (at_statement("plot")) return plot(begin);
    if (at_statement("movie")) return movie(begin);
    if (at_place()) return place(begin);
    return std::nullopt;
}

InitStatement Parser::init(std::uint32_t begin) {
    InitStatement result;
    advance();
    result.field = field_reference("the field to fill");
    expect(TokenKind::assign, "`=` and an expression");
    result.value = expression();
    result.where = since(begin);
    return result;
}

InitLoop Parser::init_loop(std::uint32_t begin) {
    InitLoop result;
    advance();
    result.indices = range_indices();
    const std::uint32_t opening = opening_brace("`{` and what to repeat");
    if (failing_) return result;
    std::vector<std::string> unread_names;
    statements(Block::run_loop, unread_names, [&] {
        if (!at_statement("init")) {
            fail_expected("`init`").note("a `for` of a run fills components of a field");
            return;
        }
        const InitStatement statement = init(peek().where.begin);
        if (!failing_) result.body.push_back(statement);
    });
    unread_->insert(unread_->end(), unread_names.begin(), unread_names.end());
    close_block(opening);
    result.where = since(begin);
    return result;
}

// u, v.x, f.3
ExprId Parser::field_reference(std::string_view what) {
    const Name base = name(what);
    if (failing_) return missing();
    ExprId result = make({base.where, false, NameUse{base.text}});
    while (is(TokenKind::dot) && !failing_)
        result = member(result);
    return result;
}

std::vector<ExprId> Parser::expression_list() {
    std::vector<ExprId> all;
    do {
        all.push_back(expression());
    } while (accept(TokenKind::comma));
    return all;
}

StepsStatement Parser::steps(std::uint32_t begin) {
    StepsStatement result;
    result.count = expression();
    if (accept_word("until")) result.until = expression();
    result.where = since(begin);
    return result;
}

// every 10 [from 5 [to 95]] do smooth; then settle for 200
ChainStatement Parser::chained(std::uint32_t begin) {
    ChainStatement result;
    if (accept(TokenKind::kw_then)) {
        result.stencil = name("the name of a stencil, as in `then settle for 200`");
        expect_word("for", "and a number of steps");
        result.count = expression();
    } else {
        result.every = every_steps();
        expect_word("do", "and the name of a stencil");
        if (!failing_ && peek().newline_before) fail_expected("the name of a stencil");
        result.stencil = name("the name of a stencil, as in `every 10 do smooth`");
    }
    result.where = since(begin);
    return result;
}

PlotStatement Parser::plot(std::uint32_t begin) {
    PlotStatement result;
    advance();
    shown(result);
    result.every = every();
    layers(result);
    expect_word("to", "and a file's name in quotes");
    result.path = path();
    looks(result);
    if (!result.every) result.every = every();
    result.where = since(begin);
    return result;
}

MovieStatement Parser::movie(std::uint32_t begin) {
    MovieStatement result;
    advance();
    shown(result);
    result.every = every();
    layers(result);
    if (accept_on_line("fps")) result.fps = bound();
    expect_word("to", "and a file's name in quotes");
    result.path = path();
    looks(result);
    if (!result.fps && accept_on_line("fps")) result.fps = bound();
    if (!result.every) result.every = every();
    result.where = since(begin);
    return result;
}

// u, w at z = 64 contours p arrows v: what a picture shows.
void Parser::shown(PlotStatement& plot) {
    plot.field = field_reference("the field to show");
    while (accept(TokenKind::comma))
        plot.beside.push_back(field_reference("another field in the same picture"));
    plot.cut = cut();
    layers(plot);
    for (const std::string_view word : {"range", "log", "flip"}) {
        if (!is_word(word) || peek().newline_before || failing_) continue;
        fail(DiagnosticKind::unexpected_token, peek().where,
             fmt::format("`{}` stands behind the name of the file", word))
            .note(fmt::format("`plot u to \"u.png\" {}`", word == "range" ? "range 0..1"
                                                          : word == "log" ? "log"
                                                                          : "flip y"));
    }
}

// What lies over the colours, each once.
void Parser::layers(PlotStatement& plot) {
    while (!failing_) {
        if (!plot.contours && accept_word("contours")) {
            ContourClause contours;
            contours.field = field_reference("the field whose lines are drawn");
            if (accept(TokenKind::assign)) contours.levels = expression_list();
            plot.contours = std::move(contours);
        } else if (plot.arrows.empty() && accept_word("arrows")) {
            plot.arrows.push_back(field_reference("a vector, or its component to the right"));
            if (accept(TokenKind::comma)) plot.arrows.push_back(field_reference("the component upwards"));
        } else {
            return;
        }
    }
}

std::optional<Cut> Parser::cut() {
    if (!accept_word("at")) return std::nullopt;
    return cut_place();
}

// z = 64, pos(z) = 0.5
Cut Parser::cut_place() {
    Cut result;
    const bool is_coordinate = ahead(1).kind == TokenKind::left_paren;
    if (is_coordinate && (is_word("pos") || is_word("idx"))) {
        result.kind = is_word("pos") ? CutKind::position : CutKind::index;
        advance();
        const std::uint32_t opening = open(TokenKind::left_paren, "`(`");
        result.axis = name("an axis");
        close(opening, TokenKind::right_paren);
    } else {
        result.axis = name("an axis, as in `at z = 64`");
    }
    expect(TokenKind::assign, "`=` and the place of the cut");
    result.value = expression();
    return result;
}

// A word that goes on with the statement: on the next line it may be the name of a param.
bool Parser::accept_on_line(std::string_view word) {
    return !peek().newline_before && accept_word(word);
}

std::optional<Every> Parser::every() {
    if (peek().newline_before || !is_word("every") || failing_) return std::nullopt;
    return every_steps();
}

Every Parser::every_steps() {
    const std::uint32_t begin = advance().where.begin;
    Every result;
    result.steps = expression();
    if (accept_on_line("from")) {
        result.from = expression();
        // `to` also stands before the file of a movie.
        if (ahead(1).kind != TokenKind::string && accept_on_line("to")) result.to = expression();
    }
    result.where = since(begin);
    return result;
}

// A part of a field, as others write it.
void Parser::refuse_subscript() {
    if (!is(TokenKind::left_bracket) || failing_) return;
    fail(DiagnosticKind::unexpected_token, peek().where, "a part of a field has no brackets here")
        .note(
            "`save u at z = 64 to …` saves a plane, `save u on x in 10..50, y every 2 to …` a part along "
            "axes");
}

void Parser::read_part(SaveStatement& save) {
    if (accept_word("at")) {
        do {
            save.cuts.push_back(cut_place());
        } while (accept(TokenKind::comma));
    }
    if (!accept_word("on")) return;
    do {
        save.ranges.push_back(part_range());
    } while (accept(TokenKind::comma));
}

// x in 10..-1 every 2; x in 10..50; y every 2
PartRange Parser::part_range() {
    PartRange result;
    const std::uint32_t begin = peek().where.begin;
    result.axis = name("an axis, as in `on x in 10..50`");
    if (is(TokenKind::dot) && !failing_) {
        fail(DiagnosticKind::unexpected_token, since(begin), "a file has a range of cells, and no face")
            .note(fmt::format("the first cells along `{0}` are `at {0} = 0`", result.axis.text));
        return result;
    }
    if (accept_word("in")) {
        result.low = bound();
        expect(TokenKind::dot_dot, "`..` and the last cell");
        result.high = bound();
    } else if (!is_word("every") && !failing_) {
        fail_expected("`in` and a range of cells, or `every`");
    }
    if (accept_word("every")) result.stride = bound();
    result.where = since(begin);
    return result;
}

// `range -1..1`, `log` and `flip y`: how a picture looks.
void Parser::looks(PlotStatement& plot) {
    const auto read_log = [&] {
        const SourceRange word = peek().where;
        if (!plot.logarithmic && accept_on_line("log")) plot.logarithmic = word;
    };
    read_log();
    if (const std::uint32_t begin = peek().where.begin; accept_on_line("range")) {
        ValueRange range;
        range.low = bound();
        expect(TokenKind::dot_dot, "`..` and the largest value");
        range.high = bound();
        range.where = since(begin);
        plot.range = range;
    }
    read_log();
    if (!accept_on_line("flip")) return;
    do {
        plot.flipped.push_back(name("an axis"));
    } while (accept(TokenKind::comma));
}

// "v_{a}.npy" in a loop over names.
std::string Parser::with_names(std::string_view content) const {
    std::string result;
    while (!content.empty()) {
        const std::size_t open = std::min(content.find('{'), content.size());
        const std::size_t close = std::min(content.find('}', open), content.size());
        result += content.substr(0, open);
        const std::string* const name =
            close < content.size() ? chosen(content.substr(open + 1, close - open - 1)) : nullptr;
        const std::size_t end = name != nullptr ? close + 1 : std::min(open + 1, content.size());
        result += name != nullptr ? std::string_view(*name) : content.substr(open, end - open);
        content.remove_prefix(end);
    }
    return result;
}

FilePath Parser::path() {
    const SourceRange where = peek().where;
    const std::string content = quoted_text("a file's name in quotes", "a file's name");
    if (failing_) return {};
    return {with_names(content), where};
}

// of: what it is, in words.
std::string Parser::quoted_text(std::string_view what, std::string_view of) {
    const Token token = peek();
    if (!failing_ && token.kind != TokenKind::string) fail_expected(std::string(what));
    if (failing_) return {};
    advance();
    const std::string_view quoted = text(token);
    const std::string_view content = quoted.substr(1, quoted.size() - 2);
    for (const char c : content) {
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) continue;
        fail(DiagnosticKind::invalid_character, token.where,
             fmt::format("{} cannot hold control characters", of));
        return {};
    }
    return std::string(content);
}

}  // namespace halo::syntax
