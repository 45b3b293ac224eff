#include "compiler/syntax/token.h"

namespace halo::syntax {

std::string_view spelling(TokenKind kind) {
    switch (kind) {
        case TokenKind::end:
            return "the end of the file";
        case TokenKind::identifier:
            return "a name";
        case TokenKind::number:
        case TokenKind::malformed_number:
            return "a number";
        case TokenKind::string:
        case TokenKind::unterminated_string:
            return "a text in quotes";
        case TokenKind::invalid:
        case TokenKind::no_operator:
            return "a character that means nothing here";
        case TokenKind::kw_stencil:
            return "stencil";
        case TokenKind::kw_run:
            return "run";
        case TokenKind::kw_if:
            return "if";
        case TokenKind::kw_then:
            return "then";
        case TokenKind::kw_else:
            return "else";
        case TokenKind::kw_and:
            return "and";
        case TokenKind::kw_or:
            return "or";
        case TokenKind::kw_not:
            return "not";
        case TokenKind::plus:
            return "+";
        case TokenKind::minus:
            return "-";
        case TokenKind::star:
            return "*";
        case TokenKind::slash:
            return "/";
        case TokenKind::caret:
            return "^";
        case TokenKind::less:
            return "<";
        case TokenKind::less_equal:
            return "<=";
        case TokenKind::greater:
            return ">";
        case TokenKind::greater_equal:
            return ">=";
        case TokenKind::equal_equal:
            return "==";
        case TokenKind::not_equal:
            return "!=";
        case TokenKind::assign:
            return "=";
        case TokenKind::comma:
            return ",";
        case TokenKind::dot:
            return ".";
        case TokenKind::dot_dot:
            return "..";
        case TokenKind::colon:
            return ":";
        case TokenKind::semicolon:
            return ";";
        case TokenKind::left_paren:
            return "(";
        case TokenKind::right_paren:
            return ")";
        case TokenKind::left_bracket:
            return "[";
        case TokenKind::right_bracket:
            return "]";
        case TokenKind::left_brace:
            return "{";
        case TokenKind::right_brace:
            return "}";
    }
    return "";
}

bool joins_lines(TokenKind kind) {
    switch (kind) {
        case TokenKind::plus:
        case TokenKind::minus:
        case TokenKind::star:
        case TokenKind::slash:
        case TokenKind::caret:
        case TokenKind::less:
        case TokenKind::less_equal:
        case TokenKind::greater:
        case TokenKind::greater_equal:
        case TokenKind::equal_equal:
        case TokenKind::not_equal:
        case TokenKind::kw_and:
        case TokenKind::kw_or:
        case TokenKind::kw_then:
        case TokenKind::kw_else:
        case TokenKind::assign:
        case TokenKind::comma:
        case TokenKind::colon:
            return true;
        default:
            return false;
    }
}

}  // namespace halo::syntax
