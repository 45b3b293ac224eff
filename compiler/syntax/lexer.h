// Text to tokens. Never fails: what is no word becomes a token that the parser reports where it meets it.
#pragma once

#include <vector>

#include "compiler/support/source.h"
#include "compiler/syntax/token.h"

namespace halo::syntax {

struct Tokens {
    std::vector<Token> tokens;          // the last one is `end`
    std::vector<SourceRange> comments;  // from # to the line's last word, in order
};

Tokens lex(const SourceFile& source, std::uint32_t begin = 0);  // from an offset to the end

// For each opening bracket the index of the token that closes it; kUnmatched for the others and for all other
// tokens. A brace closes the parentheses and brackets that are still open within it.
inline constexpr std::uint32_t kUnmatched = 0;
std::vector<std::uint32_t> match_brackets(const std::vector<Token>& tokens);

}  // namespace halo::syntax
