// The words of a .halo file.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/support/source.h"

namespace halo::syntax {

enum class TokenKind : std::uint8_t {
    end,  // of the file
    identifier,
    number,
    string,               // with its quotes
    malformed_number,     // 1.2.3, 2x, 0x10
    unterminated_string,  // up to the end of its line
    invalid,              // characters that belong to no word
    no_operator,          // %, ?, += and the like: operators of other languages without a like here
    // Reserved words.
    kw_stencil,
    kw_run,
    kw_if,
    kw_then,
    kw_else,
    kw_and,
    kw_or,
    kw_not,
    // Operators and punctuation.
    plus,
    minus,
    star,
    slash,
    caret,
    less,
    less_equal,
    greater,
    greater_equal,
    equal_equal,
    not_equal,
    assign,
    comma,
    dot,
    dot_dot,
    colon,
    semicolon,
    left_paren,
    right_paren,
    left_bracket,
    right_bracket,
    left_brace,
    right_brace
};

struct Token {
    SourceRange where;
    TokenKind kind = TokenKind::end;
    bool newline_before = false;  // first of its line
    bool space_before = false;    // white space or a comment before it
    // Another language's spelling (**, &&, ×) of the operator that `kind` says: understood, then refused with
    // a mend.
    bool is_foreign = false;
};

std::string_view spelling(TokenKind kind);  // "^"; a few words for kinds without one spelling ("a name")

// An operator with a left and a right operand, also `=` `,` `then` `else` `:`: a line that ends in one goes
// on, and so does one that begins with one.
bool joins_lines(TokenKind kind);

}  // namespace halo::syntax
