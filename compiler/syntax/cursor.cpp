// The parser's tokens, its messages and its way back after a mistake.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/syntax/keywords.h"
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

constexpr std::size_t kMaxQuoted = 40;  // bytes of a word that a message repeats

bool is_closer(TokenKind kind) {
    return kind == TokenKind::right_paren || kind == TokenKind::right_bracket;
}

bool begins_operand(TokenKind kind) {
    return kind == TokenKind::identifier || kind == TokenKind::number || kind == TokenKind::left_paren ||
           kind == TokenKind::kw_if || kind == TokenKind::malformed_number;
}

bool ends_operand(TokenKind kind) {
    return kind == TokenKind::identifier || kind == TokenKind::number || is_closer(kind);
}

// And never goes on with one, as `every` may.
bool begins_statement(std::string_view word) {
    const auto is_in = [&](const std::vector<std::string>& words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    return (is_in(stencil_words()) || is_in(run_words()) || is_in(field_words())) && !is_in(clause_words());
}

bool is_reserved_kind(TokenKind kind) {
    return kind >= TokenKind::kw_stencil && kind <= TokenKind::kw_not;
}

std::string quoted(TokenKind kind) {
    return fmt::format("`{}`", spelling(kind));
}

}  // namespace

bool is_reserved(std::string_view word) {
    for (auto kind = TokenKind::kw_stencil; kind <= TokenKind::kw_not;
         kind = static_cast<TokenKind>(static_cast<int>(kind) + 1)) {
        if (spelling(kind) == word) return true;
    }
    return false;
}

const Token& Parser::ahead(std::size_t count) const {
    return failing_ ? tokens_.back() : tokens_[std::min(at_ + count, tokens_.size() - 1)];
}

bool Parser::is_word(std::string_view word) const {
    return is(TokenKind::identifier) && text(peek()) == word;
}

Token Parser::advance() {
    const Token token = peek();
    if (failing_ || token.kind == TokenKind::end) return token;
    ++at_;
    if (token.is_foreign) {
        // Understood, so reading goes on.
        const std::string_view ours = spelling(token.kind);
        sink_
            .report(DiagnosticKind::foreign_operator, token.where,
                    fmt::format("`{}` is written `{}` here", text(token), ours))
            .mend(token.where, token.kind == TokenKind::kw_not ? "not " : std::string(ours));
    }
    return token;
}

bool Parser::accept(TokenKind kind) {
    if (!is(kind) || failing_) return false;
    advance();
    return true;
}

bool Parser::accept_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
}

bool Parser::expect(TokenKind kind, std::string_view what) {
    if (accept(kind)) return true;
    if (!failing_) fail_expected(what);
    return false;
}

bool Parser::expect_word(std::string_view word, std::string_view after) {
    if (accept_word(word)) return true;
    if (!failing_) fail_expected(fmt::format("`{}` {}", word, after));
    return false;
}

Name Parser::name(std::string_view what) {
    const Token token = peek();
    if (!failing_ && is_reserved_kind(token.kind) && !token.is_foreign) {
        fail(DiagnosticKind::unexpected_token, token.where,
             fmt::format("expected {}, but `{}` is a word of the language", what, text(token)));
        return {};
    }
    if (!expect(TokenKind::identifier, what)) return {};
    std::string result = resolved(token);
    if (!result.empty() && result.front() >= '0' && result.front() <= '9' && !failing_)
        fail(DiagnosticKind::unexpected_token, token.where,
             fmt::format("expected {}, and `{}` stands for the number {} here", what, text(token), result));
    return {std::move(result), token.where};
}

SourceRange Parser::since(std::uint32_t begin) const {
    const std::uint32_t end = at_ == 0 ? begin : tokens_[at_ - 1].where.end;
    return {begin, std::max(begin, end)};
}

std::uint32_t Parser::open(TokenKind kind, std::string_view what) {
    const std::size_t opening = at_;
    if (expect(kind, what)) open_.push_back(static_cast<std::uint32_t>(opening));
    return static_cast<std::uint32_t>(opening);
}

void Parser::close(std::uint32_t opening, TokenKind kind) {
    if (failing_) return;
    if (is(kind)) {
        advance();
        open_.pop_back();
        return;
    }
    const Token& token = peek();
    const SourceRange opened = tokens_[opening].where;
    const bool is_odd = token.kind == TokenKind::invalid || token.kind == TokenKind::no_operator ||
                        token.kind == TokenKind::malformed_number ||
                        token.kind == TokenKind::unterminated_string;
    const bool on_line = !token.newline_before && token.kind != TokenKind::end;
    if (is_odd && on_line) {
        fail_at_odd_token(token);
    } else if (token.kind == TokenKind::assign && line_begin() > opening) {
        // The line before was not closed; this one is a statement of its own.
        const std::size_t line = line_begin();
        const std::uint32_t end = tokens_[line - 1].where.end;
        fail(DiagnosticKind::missing_bracket, {end, end},
             fmt::format("{} is missing before the end of the line", quoted(kind)))
            .label(opened, fmt::format("{} is opened here", quoted(tokens_[opening].kind)));
        resume_at_ = line;
    } else if (on_line && begins_operand(token.kind)) {
        fail(DiagnosticKind::unexpected_token, token.where,
             fmt::format("expected an operator or {} before {}", quoted(kind), describe(token)))
            .label(opened, fmt::format("{} is opened here", quoted(tokens_[opening].kind)))
            .note("multiplication is written with `*`");
    } else {
        const std::uint32_t end = tokens_[at_ - 1].where.end;
        fail(DiagnosticKind::missing_bracket, {end, end},
             fmt::format("{} is missing before {}", quoted(kind),
                         token.newline_before && token.kind != TokenKind::end ? "the end of the line"
                                                                              : describe(token)))
            .label(opened, fmt::format("{} is opened here", quoted(tokens_[opening].kind)));
    }
}

// ---- mistakes -----------------------------------------------------------------------------------

std::string Parser::describe(const Token& token) const {
    if (token.kind == TokenKind::end) return std::string(spelling(token.kind));
    const std::string_view word = text(token);
    if (word.size() <= kMaxQuoted) return fmt::format("`{}`", word);
    // Never half a UTF-8 character.
    std::size_t end = kMaxQuoted;
    while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0u) == 0x80u)
        --end;
    return fmt::format("`{}…`", word.substr(0, end));
}

Diagnostic& Parser::fail(DiagnosticKind kind, SourceRange where, std::string message) {
    failing_ = true;
    return sink_.report(kind, where, std::move(message));
}

Diagnostic& Parser::fail_expected(std::string_view what) {
    const Token& token = peek();
    switch (token.kind) {
        case TokenKind::malformed_number:
        case TokenKind::unterminated_string:
        case TokenKind::invalid:
        case TokenKind::no_operator:
            return fail_at_odd_token(token);
        default:
            break;
    }
    if (is_closer(token.kind) && open_.empty()) {
        return fail(DiagnosticKind::unmatched_bracket, token.where,
                    fmt::format("{} closes nothing", describe(token)))
            .note(fmt::format("expected {}", what));
    }
    // What is missing at the end of a line is shown there, not at the next statement.
    if (at_ > statement_start_ && (token.newline_before || token.kind == TokenKind::end)) {
        const std::uint32_t end = tokens_[at_ - 1].where.end;
        return fail(DiagnosticKind::unexpected_token, {end, end},
                    fmt::format("expected {}, found {}", what,
                                token.kind == TokenKind::end ? describe(token) : "the end of the line"));
    }
    const std::string_view index = text(ahead(1));
    const bool is_index_alone = token.kind == TokenKind::left_brace && chosen(index) != nullptr &&
                                ahead(2).kind == TokenKind::right_brace;
    Diagnostic& diagnostic = fail(DiagnosticKind::unexpected_token, token.where,
                                  fmt::format("expected {}, found {}", what, describe(token)));
    if (is_index_alone)
        diagnostic.note(
            fmt::format("an index alone is written without braces: `{0}`, but `{{{0}}}_1`", index));
    return diagnostic;
}

// Tokens that fit nowhere.
Diagnostic& Parser::fail_at_odd_token(const Token& token) {
    const std::string_view word = text(token);
    switch (token.kind) {
        case TokenKind::malformed_number: {
            Diagnostic& diagnostic = fail(DiagnosticKind::malformed_number, token.where,
                                          fmt::format("{} is not a number", describe(token)));
            const std::size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
            const std::string_view number = word.substr(0, digits);
            const std::string_view rest = word.substr(digits);
            const bool has_suffix = rest == "f" || rest == "F" || rest == "l" || rest == "L" || rest == "d";
            if (has_suffix) {
                diagnostic.note("numbers are exact here and take the type they meet, so they have no suffix")
                    .mend(token.where, std::string(number));
            } else if (number != "0" && std::count(number.begin(), number.end(), '.') <= 1 && !rest.empty()) {
                diagnostic.mend(token.where, fmt::format("{} * {}", number, rest));
            }
            return diagnostic;
        }
        case TokenKind::unterminated_string:
            return fail(DiagnosticKind::unterminated_string, token.where, "this text in quotes has no end")
                .note("a text ends with `\"` on the same line");
        case TokenKind::no_operator:
            return fail_no_operator(token);
        default: {
            const bool is_name = word.size() > 1 || static_cast<unsigned char>(word[0]) >= 0x80;
            Diagnostic& diagnostic = fail(DiagnosticKind::invalid_character, token.where,
                                          fmt::format("{} cannot be used here", describe(token)));
            if (const auto latin = latin_name(word)) diagnostic.mend(token.where, std::string(*latin));
            if (is_name) diagnostic.note("names are made of a-z, A-Z, 0-9 and _; comments may hold any text");
            if (word == "'") diagnostic.note("texts are in double quotes: \"u.npy\"");
            return diagnostic;
        }
    }
}

Diagnostic& Parser::fail_no_operator(const Token& token) {
    const std::string_view word = text(token);
    Diagnostic& diagnostic = fail(DiagnosticKind::foreign_operator, token.where,
                                  fmt::format("there is no operator {}", describe(token)));
    if (word == "?") diagnostic.note("a choice is written `if condition then a else b`");
    if (word == "&") diagnostic.mend(token.where, "and");
    if (word == "|") diagnostic.mend(token.where, "or");
    if (word == "//") diagnostic.note("a comment begins with `#`");
    if (word.size() == 2 && word[1] == '=') {
        diagnostic.note(fmt::format("every cell gets one new value: write `u[t+1] = u {} …`", word[0]));
    }
    return diagnostic;
}

// The token that begins the current line, within the statement.
std::size_t Parser::line_begin() const {
    std::size_t line = at_;
    while (line > statement_start_ && !tokens_[line].newline_before)
        --line;
    return line;
}

// "u = a +" with the next statement on the next line: the mistake is the operator's, and the next statement
// is whole.
bool Parser::fail_if_statement_is_missing_its_end() {
    const Token& token = peek();
    const bool follows_target = token.kind == TokenKind::assign;
    if (!follows_target && token.kind != TokenKind::identifier && token.kind != TokenKind::left_bracket)
        return false;
    const std::size_t line = line_begin();
    if (line <= statement_start_ || !joins_lines(tokens_[line - 1].kind)) return false;
    if (!follows_target && at_ != line + 1) return false;
    const Token& joint = tokens_[line - 1];
    fail(DiagnosticKind::unexpected_token, joint.where,
         fmt::format("something is missing after {}: the next line begins a new statement", describe(joint)));
    resume_at_ = line;
    return true;
}

void Parser::end_of_statement() {
    if (failing_) return;
    const Token& token = peek();
    const bool is_end = token.kind == TokenKind::end || token.kind == TokenKind::right_brace ||
                        token.kind == TokenKind::semicolon;
    const bool begins_phase = in_run_ && token.kind == TokenKind::kw_then && token.newline_before;
    if (is_end || begins_phase ||
        (token.newline_before && !joins_lines(token.kind) && !is_closer(token.kind)))
        return;
    if (fail_if_statement_is_missing_its_end()) return;
    const bool follows_operand = at_ > 0 && ends_operand(tokens_[at_ - 1].kind);
    if (token.kind == TokenKind::equal_equal || token.kind == TokenKind::assign) {
        fail_expected("the end of the statement").note("one `=` gives a value, `==` compares");
    } else if (token.kind == TokenKind::identifier && begins_statement(text(token))) {
        fail_expected("an operator or the end of the line")
            .mend(token.where, "; " + std::string(text(token)))
            .note("statements on one line are separated by `;`");
    } else if (begins_operand(token.kind) && follows_operand && token.kind != TokenKind::malformed_number) {
        fail_expected("an operator or the end of the line").note("multiplication is written with `*`");
    } else {
        fail_expected("an operator or the end of the line");
    }
}

// ---- recovery -----------------------------------------------------------------------------------

void Parser::skip_to_next_statement() {
    const std::size_t start = at_;
    for (; tokens_[at_].kind != TokenKind::end; ++at_) {
        const Token& token = tokens_[at_];
        if (token.kind == TokenKind::right_brace || token.kind == TokenKind::semicolon) return;
        const bool is_block = token.kind == TokenKind::kw_stencil || token.kind == TokenKind::kw_run;
        const bool goes_on = joins_lines(token.kind) || is_closer(token.kind) ||
                             (at_ > start && joins_lines(tokens_[at_ - 1].kind));
        if (token.newline_before && at_ > statement_start_ && (is_block || !goes_on)) return;
        if (match_[at_] != kUnmatched) at_ = match_[at_];
    }
}

void Parser::recover(std::size_t start, std::vector<std::string>& unread_names) {
    if (resume_at_) {
        at_ = *resume_at_;
    } else {
        if (!open_.empty() && match_[open_.front()] > at_) at_ = match_[open_.front()] + 1;
        statement_start_ = start;
        skip_to_next_statement();
    }
    resume_at_.reset();
    open_.clear();
    nesting_ = 0;
    failing_ = true;  // no message about a name in what has had its own
    for (std::size_t i = start; i < at_; ++i) {
        if (tokens_[i].kind != TokenKind::identifier) continue;
        const std::string_view word = text(tokens_[i]);
        // Where an index stands for nothing here, as its loop was not read, the name is kept as it is
        // written.
        const std::string made = resolved(tokens_[i]);
        unread_names.push_back(made.empty() ? std::string(word) : made);
    }
    failing_ = false;
}

}  // namespace halo::syntax
