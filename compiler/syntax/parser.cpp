// Files and their blocks.
#include "compiler/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/syntax/keywords.h"
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

const std::vector<std::string>& words_of(bool is_run) {
    return is_run ? run_words() : stencil_words();
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Parser::Parser(const SourceFile& source, std::uint32_t begin, DiagnosticSink& sink, File into)
    : source_(source), sink_(sink), file_(std::move(into)) {
    Tokens words = lex(source, begin);
    tokens_ = std::move(words.tokens);
    match_ = match_brackets(tokens_);
    heights_.resize(file_.exprs.size());
    starts_.resize(file_.exprs.size());
    file_.comments.reserve(words.comments.size());
    for (const SourceRange where : words.comments)
        file_.comments.push_back({where});
}

File Parser::run() {
    while (tokens_[at_].kind != TokenKind::end)
        file_item();
    return std::move(file_);
}

File Parser::run_until(const std::string& stencil) {
    const SourceRange first = peek().where;
    StepsStatement steps;
    steps.count = make({first, false, Number{Rational(1), false}});
    steps.until = condition();
    if (!failing_ && tokens_[at_].kind != TokenKind::end) fail_expected("the end of the condition");
    steps.where = since(first.begin);
    if (failing_) file_.is_complete = false;
    Run run;
    run.name = {stencil, first};
    run.where = steps.where;
    if (!failing_) run.statements.emplace_back(steps);
    file_.runs.assign(1, std::move(run));
    return std::move(file_);
}

void Parser::file_item() {
    const std::size_t start = at_;
    statement_start_ = at_;
    axes_.clear();
    if (is(TokenKind::kw_stencil)) return stencil();
    if (is(TokenKind::kw_run)) return run_block();
    if (accept(TokenKind::semicolon)) return;
    if (shared_statement()) {
        end_of_statement();
        if (!failing_) return;
        file_.is_complete = false;
        return recover_to_block(start);
    }
    file_.is_complete = false;
    const Token token = peek();
    const std::string_view word = text(token);
    if (token.kind == TokenKind::right_brace) {
        fail(DiagnosticKind::unmatched_bracket, token.where, "`}` closes nothing");
        resume_at_ = at_ + 1;
    } else if (token.kind == TokenKind::identifier && contains(stencil_words(), word)) {
        fail(DiagnosticKind::misplaced_statement, token.where,
             fmt::format("`{}` belongs between the braces of a `stencil`", word))
            .note("`use`, `def`, `const` and `coef` can stand outside");
    } else if (token.kind == TokenKind::identifier && contains(run_words(), word)) {
        fail(DiagnosticKind::misplaced_statement, token.where,
             fmt::format("`{}` belongs between the braces of a `run`", word));
    } else {
        const bool is_name = token.kind == TokenKind::identifier;
        Diagnostic& diagnostic =
            is_name ? fail(DiagnosticKind::unknown_statement, token.where,
                           fmt::format("expected `stencil` or `run`, found {}", describe(token)))
                    : fail_expected("`stencil` or `run`");
        if (const auto meant = closest_name(word, {"stencil", "run"})) diagnostic.mend(token.where, *meant);
    }
    recover_to_block(start);
}

// What can stand outside of blocks, and in modules: `use`, `def`, `const`, `coef`. False where it is
// something else.
bool Parser::shared_statement() {
    const std::uint32_t begin = peek().where.begin;
    if (at_statement("use")) {
        advance();
        Use use;
        use.path = path();
        use.where = since(begin);
        if (!failing_) file_.uses.push_back(std::move(use));
        return true;
    }
    if (!at_statement("def") && !at_statement("const") && !at_statement("coef")) return false;
    std::optional<StencilStatement> statement = declaration();
    if (!failing_ && statement) file_.shared.push_back(*std::move(statement));
    return true;
}

// On to the next block: what is before it is the same mistake.
void Parser::recover_to_block(std::size_t start) {
    recover(start, file_.unread_names);
    while (tokens_[at_].kind != TokenKind::end && !at_block_header()) {
        at_ = match_[at_] == kUnmatched ? at_ + 1 : match_[at_] + 1;
    }
}

// `stencil`, `run`, or a line that looks like the head of one: `stencl heat(x) {`.
bool Parser::at_block_header() const {
    const Token& token = tokens_[at_];
    if (token.kind == TokenKind::kw_stencil || token.kind == TokenKind::kw_run) return true;
    const bool is_shared = token.newline_before && token.kind == TokenKind::identifier &&
                           contains({"use", "def", "const", "coef"}, text(token));
    if (is_shared) return true;
    const TokenKind after_name = ahead(2).kind;
    return token.kind == TokenKind::identifier && token.newline_before &&
           ahead(1).kind == TokenKind::identifier &&
           (after_name == TokenKind::left_paren || after_name == TokenKind::left_brace);
}

// ---- blocks -------------------------------------------------------------------------------------

bool Parser::stencil_header(Stencil& result) {
    result.name = name("the name of the stencil");
    const std::uint32_t opening =
        open(TokenKind::left_paren, "`(` and the names of the axes, as in `(x, y, z)`");
    do {
        result.axes.push_back(name("the name of an axis"));
    } while (accept(TokenKind::comma));
    close(opening, TokenKind::right_paren);
    if (!failing_) return true;
    // The body can still be read where its brace is on the same line.
    failing_ = false;
    resume_at_.reset();
    open_.clear();
    while (tokens_[at_].kind != TokenKind::end && tokens_[at_].kind != TokenKind::left_brace &&
           tokens_[at_].kind != TokenKind::right_brace && !tokens_[at_].newline_before) {
        ++at_;
    }
    file_.is_complete = false;
    return false;
}

void Parser::stencil() {
    const std::uint32_t begin = advance().where.begin;
    Stencil result;
    const bool is_header_read = stencil_header(result);
    axes_ = result.axes;
    const bool has_body = is_header_read || is(TokenKind::left_brace);
    if (has_body) {
        const std::uint32_t opening = opening_brace("`{` and the body of the stencil");
        if (!failing_) {
            statements(Block::stencil, result.unread_names, [&] { stencil_statement(result); });
            close_block(opening);
        }
    }
    if (failing_) {
        file_.is_complete = false;
        recover(statement_start_, result.unread_names);
        return;
    }
    result.where = since(begin);
    if (is_header_read) file_.stencils.push_back(std::move(result));
}

void Parser::run_block() {
    const std::uint32_t begin = advance().where.begin;
    Run result;
    result.name = name("the name of the stencil to run");
    for (const Stencil& stencil : file_.stencils)
        if (stencil.name.text == result.name.text) axes_ = stencil.axes;
    const std::uint32_t opening = opening_brace("`{` and what to run");
    if (!failing_) {
        in_run_ = true;
        statements(Block::run, result.unread_names, [&] { run_statement(result); });
        in_run_ = false;
        close_block(opening);
    }
    if (failing_) {
        file_.is_complete = false;
        recover(statement_start_, result.unread_names);
        return;
    }
    result.where = since(begin);
    file_.runs.push_back(std::move(result));
}

std::uint32_t Parser::opening_brace(std::string_view what) {
    const std::size_t opening = at_;
    expect(TokenKind::left_brace, what);
    return static_cast<std::uint32_t>(opening);
}

bool Parser::at_block_end() const {
    const Token& token = tokens_[at_];
    const bool is_block = token.kind == TokenKind::kw_stencil || token.kind == TokenKind::kw_run;
    return token.kind == TokenKind::end || token.kind == TokenKind::right_brace ||
           (is_block && token.newline_before);
}

void Parser::close_block(std::uint32_t opening) {
    if (accept(TokenKind::right_brace)) return;
    // Blocks within each other that end at the same place lack one brace, as far as anyone can tell.
    if (unclosed_at_ == at_) return;
    unclosed_at_ = at_;
    const Token& token = tokens_[at_];
    sink_.report(DiagnosticKind::missing_bracket, tokens_[opening].where, "this `{` is not closed")
        .label(token.where, fmt::format("expected `}}` before {}", describe(token)));
}

// Reads statements up to the block's end. A statement that could not be read leaves its names.
void Parser::statements(Block block, std::vector<std::string>& unread_names,
                        const std::function<void()>& statement) {
    const std::size_t outer_start = statement_start_;
    const int nesting = nesting_;  // blocks within blocks count, too
    std::vector<std::string>* const outer_unread = std::exchange(unread_, &unread_names);
    while (!at_block_end()) {
        if (accept(TokenKind::semicolon)) continue;
        // A stencil's statement in a field's block: the brace before it is missing.
        if (block == Block::field && is(TokenKind::identifier)) {
            const TokenKind next = ahead(1).kind;
            const bool is_declaration =
                contains(stencil_words(), text(peek())) && next == TokenKind::identifier;
            const bool is_target = next == TokenKind::assign || next == TokenKind::left_bracket;
            if (is_declaration || (is_target && !contains(field_words(), text(peek())))) break;
        }
        const std::size_t start = at_;
        statement_start_ = at_;
        statement();
        end_of_statement();
        if (failing_) recover(start, unread_names);
        nesting_ = nesting;
    }
    statement_start_ = outer_start;
    unread_ = outer_unread;
}

// A keyword is a name like any other where it is given a value or indexed.
bool Parser::at_statement(std::string_view keyword) const {
    if (!is_word(keyword)) return false;
    const TokenKind next = ahead(1).kind;
    return next != TokenKind::left_bracket && next != TokenKind::assign && next != TokenKind::dot;
}

// `grid = 128`: the `=` is too much; what follows can be read.
void Parser::refuse_equals(const Token& keyword) {
    if (failing_ || !is(TokenKind::assign)) return;
    const Token token = advance();
    sink_
        .report(DiagnosticKind::unexpected_token, token.where,
                fmt::format("`{}` is followed by its value, without `=`", text(keyword)))
        .mend(token.where, "");
}

void Parser::unknown_statement(Block block) {
    const Token& token = peek();
    if (token.kind != TokenKind::identifier) {
        fail_expected("a statement");
        return;
    }
    const std::string_view word = text(token);
    if (contains(future_words(), word) && ahead(1).kind != TokenKind::assign) {
        fail(DiagnosticKind::not_built_yet, token.where, fmt::format("`{}` is not built yet", word));
        return;
    }
    const bool is_run = block == Block::run || block == Block::run_loop;
    if (word == "use" && ahead(1).kind == TokenKind::string) {
        fail(DiagnosticKind::misplaced_statement, token.where, "`use` stands outside of blocks");
        return;
    }
    if (block == Block::field) {
        Diagnostic& diagnostic = fail(DiagnosticKind::unknown_statement, token.where,
                                      fmt::format("a field has no property {}", describe(token)));
        diagnostic.note("expected `halo`, `boundary`, `layout` or `unit`");
        if (const auto meant = closest_name(word, field_words())) diagnostic.mend(token.where, *meant);
    } else if (contains(words_of(!is_run), word) && ahead(1).kind != TokenKind::assign) {
        fail(DiagnosticKind::misplaced_statement, token.where,
             fmt::format("`{}` belongs in the `{}` block", word, is_run ? "stencil" : "run"));
    } else if (contains(field_words(), word)) {
        fail(DiagnosticKind::misplaced_statement, token.where,
             fmt::format("`{}` belongs to a field: `field u: f32 {{ {} … }}`", word, word));
    } else {
        Diagnostic& diagnostic = fail(DiagnosticKind::unknown_statement, token.where,
                                      fmt::format("no statement begins with {}", describe(token)));
        if (const auto meant = closest_name(word, words_of(is_run))) {
            diagnostic.mend(token.where, *meant);
        } else {
            diagnostic.note(is_run ? "expected grid, steps, rows, init, load, save, plot, movie, every, "
                                     "then, or a parameter's value `dt = 0.1`"
                                   : "expected a declaration or an assignment such as `u[t+1] = …`");
        }
    }
}

File parse(const SourceFile& source, DiagnosticSink& sink) {
    if (source.text().size() > kMaxFileBytes) {
        sink.report(DiagnosticKind::file_too_large, {0, 0},
                    fmt::format("this file has {} bytes; a spec has at most {}", source.text().size(),
                                kMaxFileBytes))
            .note("tables of numbers are loaded from .npy files by the `run` block");
        File file;
        file.is_complete = false;
        return file;
    }
    return Parser(source, 0, sink, File{}).run();
}

void parse_module(const SourceFile& source, std::uint32_t begin, DiagnosticSink& sink, File& into) {
    if (source.text().size() - begin > kMaxFileBytes) {
        sink.report(DiagnosticKind::file_too_large, {begin, begin},
                    fmt::format("this file has {} bytes; a module has at most {}",
                                source.text().size() - begin, kMaxFileBytes));
        into.is_complete = false;
        return;
    }
    const std::size_t stencils = into.stencils.size(), runs = into.runs.size();
    into = Parser(source, begin, sink, std::move(into)).run();
    into.stencils.resize(stencils);
    into.runs.resize(runs);
}

void parse_until(const SourceFile& source, std::uint32_t begin, const std::string& stencil,
                 DiagnosticSink& sink, File& into) {
    into = Parser(source, begin, sink, std::move(into)).run_until(stencil);
}

void parse_run_init(const SourceFile& source, std::uint32_t begin, std::uint32_t first,
                    const std::string& stencil, DiagnosticSink& sink, File& into) {
    into = Parser(source, begin, sink, std::move(into)).replaced_init(stencil, first);
}

void parse_run_picture(const SourceFile& source, std::uint32_t begin, const std::string& stencil,
                       DiagnosticSink& sink, File& into) {
    into = Parser(source, begin, sink, std::move(into)).added_picture(stencil);
}

void parse_run_until(const SourceFile& source, std::uint32_t begin, const std::string& stencil,
                     DiagnosticSink& sink, File& into) {
    into = Parser(source, begin, sink, std::move(into)).replaced_until(stencil);
}

}  // namespace halo::syntax
