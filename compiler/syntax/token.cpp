#include "compiler/syntax/token.h"

#include <iterator>

namespace halo::syntax {

namespace {

// In the order of the enumerators.
constexpr std::string_view kSpellings[] = {"the end of the file",
                                           "a name",
                                           "a number",
                                           "a text in quotes",
                                           "a number",
                                           "a text in quotes",
                                           "a character that means nothing here",
                                           "an operator of another language",
                                           "stencil",
                                           "run",
                                           "if",
                                           "then",
                                           "else",
                                           "and",
                                           "or",
                                           "not",
                                           "+",
                                           "-",
                                           "*",
                                           "/",
                                           "^",
                                           "<",
                                           "<=",
                                           ">",
                                           ">=",
                                           "==",
                                           "!=",
                                           "=",
                                           ",",
                                           ".",
                                           "..",
                                           ":",
                                           ";",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           "{",
                                           "}"};
static_assert(std::size(kSpellings) == static_cast<std::size_t>(TokenKind::right_brace) + 1);

}  // namespace

std::string_view spelling(TokenKind kind) {
    return kSpellings[static_cast<std::size_t>(kind)];
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
