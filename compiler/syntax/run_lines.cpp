// What the command line says in the place of lines of a run block.
#include <algorithm>

#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

// The stencil's run block, made where there is none.
Run& Parser::run_of(const std::string& stencil) {
    const auto found =
        std::ranges::find_if(file_.runs, [&](const Run& run) { return run.name.text == stencil; });
    if (found != file_.runs.end()) return *found;
    Run made;
    made.name = {stencil, tokens_.front().where};
    made.where = tokens_.front().where;
    file_.runs.push_back(std::move(made));
    return file_.runs.back();
}

// "v" of `v.x`.
std::string_view Parser::base_of(ExprId field) const {
    const Expr* expr = &file_[field];
    while (const auto* member = std::get_if<Member>(&expr->node))
        expr = &file_[member->base];
    const auto* name = std::get_if<NameUse>(&expr->node);
    return name != nullptr ? std::string_view(name->name) : std::string_view();
}

// `u = EXPR`: what the file says of the field's start, or of this component's, is left out.
File Parser::replaced_init(const std::string& stencil, std::uint32_t first) {
    const std::uint32_t begin = peek().where.begin;
    InitStatement given = init(begin);
    if (!failing_ && tokens_[at_].kind != TokenKind::end) fail_expected("the end of the expression");
    if (failing_) {
        file_.is_complete = false;
        return std::move(file_);
    }
    const bool is_whole = std::holds_alternative<NameUse>(file_[given.field].node);
    const std::string_view own = source_.text(file_[given.field].where);
    const auto is_replaced = [&](const SourceRange where, ExprId field) {
        return where.begin < first &&
               (is_whole ? base_of(field) == own : source_.text(file_[field].where) == own);
    };
    std::vector<RunStatement>& statements = run_of(stencil).statements;
    std::erase_if(statements, [&](RunStatement& statement) {
        if (const auto* line = std::get_if<InitStatement>(&statement))
            return is_replaced(line->where, line->field);
        if (const auto* load = std::get_if<LoadStatement>(&statement))
            return is_replaced(load->where, load->field);
        auto* loop = std::get_if<InitLoop>(&statement);
        if (loop == nullptr) return false;
        std::erase_if(loop->body,
                      [&](const InitStatement& line) { return is_replaced(line.where, line.field); });
        return loop->body.empty();
    });
    statements.emplace_back(std::move(given));
    return std::move(file_);
}

// The condition of a run that has a number of steps, or is given one later.
File Parser::replaced_until(const std::string& stencil) {
    const SourceRange begin = peek().where;
    const ExprId until = condition();
    if (!failing_ && tokens_[at_].kind != TokenKind::end) fail_expected("the end of the condition");
    if (failing_) {
        file_.is_complete = false;
        return std::move(file_);
    }
    std::vector<RunStatement>& statements = run_of(stencil).statements;
    for (RunStatement& statement : statements) {
        if (auto* steps = std::get_if<StepsStatement>(&statement)) {
            steps->until = until;
            return std::move(file_);
        }
    }
    StepsStatement steps;
    steps.count = make({begin, false, Number{Rational(1), false}});
    steps.until = until;
    steps.where = since(begin.begin);
    statements.emplace_back(steps);
    return std::move(file_);
}

File Parser::added_picture(const std::string& stencil) {
    const std::uint32_t begin = peek().where.begin;
    std::optional<RunStatement> statement;
    if (is_word("movie")) {
        MovieStatement given = movie(begin);
        given.is_asked = true;
        statement = std::move(given);
    } else {
        PlotStatement given = plot(begin);
        given.is_asked = true;
        statement = std::move(given);
    }
    if (!failing_ && tokens_[at_].kind != TokenKind::end) fail_expected("the end of the line");
    if (failing_)
        file_.is_complete = false;
    else
        run_of(stencil).statements.push_back(*std::move(statement));
    return std::move(file_);
}

}  // namespace halo::syntax
