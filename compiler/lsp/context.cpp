#include "compiler/lsp/context.h"

#include <algorithm>

#include "compiler/syntax/lexer.h"

namespace halo::lsp {

using syntax::Token;
using syntax::TokenKind;

namespace {

BlockKind kind_of(std::string_view first, BlockKind outer) {
    if (first == "stencil") return BlockKind::stencil;
    if (first == "run") return BlockKind::run;
    if (first == "field" || first == "let") return BlockKind::properties;
    if (first == "table") return BlockKind::table;
    if (first == "schedule") return BlockKind::schedule;
    return outer;  // for, on, where, sweep, repeat
}

// Whether a token begins a statement, seen from the one before it.
bool begins_statement(const Token& token, TokenKind before) {
    if (before == TokenKind::left_brace || before == TokenKind::right_brace || before == TokenKind::semicolon)
        return true;
    return token.newline_before && !syntax::joins_lines(before) && !syntax::joins_lines(token.kind);
}

bool is_word(const Token& token) {
    return token.kind == TokenKind::identifier ||
           (token.kind >= TokenKind::kw_stencil && token.kind <= TokenKind::kw_not);
}

bool is_in_string(const Token& token, std::uint32_t offset) {
    if (token.where.begin >= offset) return false;
    const bool is_open = token.kind == TokenKind::unterminated_string;
    return (token.kind == TokenKind::string && offset < token.where.end) ||
           (is_open && offset <= token.where.end);
}

bool is_in_comment(const SourceFile& source, const syntax::Tokens& all, std::uint32_t offset) {
    return std::ranges::any_of(all.comments, [&](SourceRange where) {
        return where.begin < offset &&
               source.text({where.begin, offset}).find('\n') == std::string_view::npos;
    });
}

// Follows the blocks and the statements up to a place.
class ContextReader {
public:
    ContextReader(const SourceFile& source, std::uint32_t offset) : source_(source), offset_(offset) {}

    Context read() {
        const syntax::Tokens all = syntax::lex(source_);
        context_.in_comment = is_in_comment(source_, all, offset_);
        for (const Token& token : all.tokens) {
            context_.in_string = context_.in_string || is_in_string(token, offset_);
            const bool is_passed = is_word(token) ? token.where.end < offset_ : token.where.end <= offset_;
            if (!is_passed || token.kind == TokenKind::end) {
                if (begins_here(token)) context_.statement.clear();
                break;
            }
            pass(token);
        }
        context_.block = blocks_.back();
        return context_;
    }

private:
    // Whether a statement begins at the place: with the word that is being written there, or on an empty
    // line.
    bool begins_here(const Token& token) const {
        if (is_word(token) && token.where.begin < offset_)
            return depth_ == 0 && begins_statement(token, before_);
        const std::string_view passed = source_.text({0, offset_});
        const std::size_t line = passed.rfind('\n') + 1;  // 0 where there is none
        const bool is_empty_line = passed.find_first_not_of(" \t", line) == std::string_view::npos;
        return depth_ == 0 && is_empty_line && !syntax::joins_lines(before_);
    }

    void pass(const Token& token) {
        if (depth_ == 0 && begins_statement(token, before_)) context_.statement.clear();
        switch (token.kind) {
            case TokenKind::left_brace:
                blocks_.push_back(kind_of(context_.first(), blocks_.back()));
                end_statement();
                break;
            case TokenKind::right_brace:
                if (blocks_.size() > 1) blocks_.pop_back();
                end_statement();
                break;
            case TokenKind::semicolon:
                end_statement();
                break;
            case TokenKind::left_paren:
            case TokenKind::left_bracket:
                ++depth_;
                context_.statement.push_back(source_.text(token.where));
                break;
            case TokenKind::right_paren:
            case TokenKind::right_bracket:
                depth_ = std::max(depth_ - 1, 0);
                context_.statement.push_back(source_.text(token.where));
                break;
            default:
                context_.statement.push_back(source_.text(token.where));
        }
        before_ = token.kind;
    }
    void end_statement() {
        context_.statement.clear();
        depth_ = 0;
    }

    const SourceFile& source_;
    std::uint32_t offset_;
    Context context_;
    std::vector<BlockKind> blocks_{BlockKind::file};
    int depth_ = 0;  // of parentheses and brackets
    TokenKind before_ = TokenKind::semicolon;
};

}  // namespace

Context context_at(const SourceFile& source, std::uint32_t offset) {
    return ContextReader(source, offset).read();
}

OpenCall call_around(const SourceFile& source, std::uint32_t offset) {
    std::vector<OpenCall> open;  // an entry for each bracket that is open
    const Token* before = nullptr;
    const syntax::Tokens all = syntax::lex(source);
    for (const Token& token : all.tokens) {
        if (token.where.begin >= offset || token.kind == TokenKind::end) break;
        const bool is_call =
            token.kind == TokenKind::left_paren && before != nullptr && before->kind == TokenKind::identifier;
        if (is_call) {
            open.push_back({before->where, 0, true});
        } else if (token.kind == TokenKind::left_paren || token.kind == TokenKind::left_bracket) {
            open.emplace_back();
        } else if (token.kind == TokenKind::right_paren || token.kind == TokenKind::right_bracket) {
            if (!open.empty()) open.pop_back();
        } else if (token.kind == TokenKind::left_brace || token.kind == TokenKind::right_brace) {
            open.clear();
        } else if (token.kind == TokenKind::comma && !open.empty()) {
            ++open.back().argument;
        }
        before = &token;
    }
    const auto found =
        std::find_if(open.rbegin(), open.rend(), [](const OpenCall& each) { return each.is_found; });
    return found == open.rend() ? OpenCall{} : *found;
}

}  // namespace halo::lsp
