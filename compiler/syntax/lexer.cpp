#include "compiler/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/support/work.h"

namespace halo::syntax {

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
    return is_letter(c) || is_digit(c);
}
bool is_beyond_ascii(char c) {
    return static_cast<unsigned char>(c) >= 0x80;
}

struct Symbol {
    std::string_view text;
    TokenKind kind;
    bool is_foreign = false;
};

// Longest first where one begins another.
constexpr Symbol kSymbols[] = {
    {"**", TokenKind::caret, true},
    {"&&", TokenKind::kw_and, true},
    {"||", TokenKind::kw_or, true},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal_equal},
    {"!=", TokenKind::not_equal},
    {"<>", TokenKind::not_equal, true},
    {"/=", TokenKind::no_operator},
    {"+=", TokenKind::no_operator},
    {"-=", TokenKind::no_operator},
    {"*=", TokenKind::no_operator},
    {"->", TokenKind::no_operator},
    {"++", TokenKind::no_operator},
    {"//", TokenKind::no_operator},
    {"...", TokenKind::dot_dot, true},
    {"..", TokenKind::dot_dot},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"*", TokenKind::star},
    {"/", TokenKind::slash},
    {"^", TokenKind::caret},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
    {"=", TokenKind::assign},
    {",", TokenKind::comma},
    {".", TokenKind::dot},
    {":", TokenKind::colon},
    {";", TokenKind::semicolon},
    {"(", TokenKind::left_paren},
    {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},
    {"!", TokenKind::kw_not, true},
    {"%", TokenKind::no_operator},
    {"?", TokenKind::no_operator},
    {"&", TokenKind::no_operator},
    {"|", TokenKind::no_operator},
    {"~", TokenKind::no_operator},
    {"−", TokenKind::minus, true},
    {"–", TokenKind::minus, true},
    {"×", TokenKind::star, true},
    {"·", TokenKind::star, true},
    {"⋅", TokenKind::star, true},
    {"÷", TokenKind::slash, true},
    {"≤", TokenKind::less_equal, true},
    {"≥", TokenKind::greater_equal, true},
    {"≠", TokenKind::not_equal, true},
};

constexpr std::pair<std::string_view, TokenKind> kReserved[] = {
    {"stencil", TokenKind::kw_stencil}, {"run", TokenKind::kw_run},   {"if", TokenKind::kw_if},
    {"then", TokenKind::kw_then},       {"else", TokenKind::kw_else}, {"and", TokenKind::kw_and},
    {"or", TokenKind::kw_or},           {"not", TokenKind::kw_not},
};

class Lexer {
public:
    Lexer(std::string_view text, std::size_t begin) : text_(text), at_(begin) {}

    Tokens run() {
        result_.tokens.reserve(text_.size() / 3 + 1);
        if (text_.substr(at_, 3) == "\xEF\xBB\xBF") at_ += 3;  // a byte order mark says nothing
        for (skip_blanks(); at_ < text_.size(); skip_blanks())
            word();
        newline_ = true;
        emit(TokenKind::end, at_);
        return std::move(result_);
    }

private:
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    void skip_blanks() {
        for (; at_ < text_.size(); space_ = true) {
            const char c = text_[at_];
            if (c == '\n') newline_ = true;
            if (c == '#') {
                const std::size_t begin = at_;
                at_ = std::min(text_.find('\n', at_), text_.size());
                std::size_t end = at_;
                while (is_blank(text_[end - 1]))
                    --end;
                result_.comments.push_back(
                    {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
            } else if (is_blank(c) || c == '\n') {
                ++at_;
            } else {
                return;
            }
        }
    }

    void emit(TokenKind kind, std::size_t end, bool is_foreign = false) {
        const SourceRange where{static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(end)};
        result_.tokens.push_back({where, kind, newline_ || result_.tokens.empty(), space_, is_foreign});
        at_ = end;
        newline_ = space_ = false;
    }

    void word() {
        Work::count();
        const char c = peek();
        if (is_digit(c) || (c == '.' && is_digit(peek(1)) && !follows_operand())) return number();
        if (is_letter(c) || begins_with_index()) return identifier();
        if (c == '"') return string();
        for (const Symbol& symbol : kSymbols) {
            if (text_.substr(at_, symbol.text.size()) == symbol.text) {
                return emit(symbol.kind, at_ + symbol.text.size(), symbol.is_foreign);
            }
        }
        invalid();
    }

    // Right after a name or a closing bracket a dot names a component: f.3
    bool follows_operand() const {
        if (space_ || result_.tokens.empty()) return false;
        const TokenKind last = result_.tokens.back().kind;
        return last == TokenKind::identifier || last == TokenKind::right_bracket ||
               last == TokenKind::right_paren;
    }

    void number() {
        std::size_t end = at_;
        const auto digits = [&] {
            while (end < text_.size() && is_digit(text_[end]))
                ++end;
        };
        const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
        const bool is_member =
            !result_.tokens.empty() && result_.tokens.back().kind == TokenKind::dot && !space_;
        digits();
        if (!is_member) {
            if (at(end) == '.' && at(end + 1) != '.') {
                ++end;
                digits();
            }
            const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
            if ((at(end) == 'e' || at(end) == 'E') && is_digit(at(end + 1 + sign))) {
                end += 1 + sign;
                digits();
            }
            // 2i; not 2in, which is a mistake.
            if (at(end) == 'i' && !is_word(at(end + 1)) && !is_beyond_ascii(at(end + 1))) ++end;
        }
        bool is_malformed = false;
        while (is_word(at(end)) || is_beyond_ascii(at(end)) ||
               (!is_member && at(end) == '.' && is_digit(at(end + 1)))) {
            // A foreign operator ends a number, too: 2×x.
            if (is_beyond_ascii(at(end)) && is_symbol(end)) break;
            is_malformed = true;
            ++end;
        }
        emit(is_malformed ? TokenKind::malformed_number : TokenKind::number, end);
    }

    bool is_symbol(std::size_t at) const {
        return std::any_of(std::begin(kSymbols), std::end(kSymbols), [&](const Symbol& symbol) {
            return text_.substr(at, symbol.text.size()) == symbol.text;
        });
    }

    // `{k}_1` is a name; a `{k}` with nothing behind it is a block.
    bool begins_with_index() const {
        const std::size_t length = index_length(at_);
        if (length == 0 || at_ + length >= text_.size()) return false;
        return is_word(text_[at_ + length]) || index_length(at_ + length) > 0;
    }

    void identifier() {
        std::size_t end = at_;
        bool is_plain = true;
        while (end < text_.size()) {
            if (is_beyond_ascii(text_[end])) {
                if (is_symbol(end)) break;
                is_plain = false;
            } else if (const std::size_t index = index_length(end); index > 0) {
                end += index;
                continue;
            } else if (!is_word(text_[end])) {
                break;
            }
            ++end;
        }
        if (!is_plain) return emit(TokenKind::invalid, end);
        const std::string_view name = text_.substr(at_, end - at_);
        const auto* reserved = std::find_if(std::begin(kReserved), std::end(kReserved),
                                            [&](const auto& entry) { return entry.first == name; });
        emit(reserved == std::end(kReserved) ? TokenKind::identifier : reserved->second, end);
    }

    // The bytes of `{a}` or `{l+1}` in a name such as psi_{a}; 0 where it is something else.
    // `schedule{direct}` is a block.
    std::size_t index_length(std::size_t at) const {
        if (text_[at] != '{' || at + 1 >= text_.size() || !is_letter(text_[at + 1])) return 0;
        if (text_.substr(at_, at - at_) == "schedule") return 0;
        std::size_t end = at + 1;
        while (end < text_.size() && is_word(text_[end]))
            ++end;
        if (end + 1 < text_.size() && (text_[end] == '+' || text_[end] == '-') && is_digit(text_[end + 1])) {
            ++end;
            while (end < text_.size() && is_digit(text_[end]))
                ++end;
        }
        return end < text_.size() && text_[end] == '}' ? end + 1 - at : 0;
    }

    void string() {
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n' && text_[end] != '\r')
            ++end;
        const bool is_closed = end < text_.size() && text_[end] == '"';
        emit(is_closed ? TokenKind::string : TokenKind::unterminated_string, is_closed ? end + 1 : end);
    }

    // As much as one message covers: a whole word beyond ASCII, else one character.
    void invalid() {
        std::size_t end = at_ + 1;
        if (is_beyond_ascii(text_[at_])) {
            while (end < text_.size() && (is_beyond_ascii(text_[end]) || is_word(text_[end])) &&
                   !is_symbol(end))
                ++end;
        }
        emit(TokenKind::invalid, end);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool newline_ = false;
    bool space_ = false;
    Tokens result_;
};

}  // namespace

Tokens lex(const SourceFile& source, std::uint32_t begin) {
    return Lexer(source.text(), begin).run();
}

std::vector<std::uint32_t> match_brackets(const std::vector<Token>& tokens) {
    std::vector<std::uint32_t> match(tokens.size(), kUnmatched);
    std::vector<std::uint32_t> open;
    const auto opener = [](TokenKind closer) {
        return closer == TokenKind::right_paren     ? TokenKind::left_paren
               : closer == TokenKind::right_bracket ? TokenKind::left_bracket
                                                    : TokenKind::left_brace;
    };
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        const TokenKind kind = tokens[i].kind;
        if (kind == TokenKind::left_paren || kind == TokenKind::left_bracket ||
            kind == TokenKind::left_brace) {
            open.push_back(i);
        } else if (kind == TokenKind::right_brace) {
            while (!open.empty() && tokens[open.back()].kind != TokenKind::left_brace)
                open.pop_back();
            if (!open.empty()) {
                match[open.back()] = i;
                open.pop_back();
            }
        } else if (kind == TokenKind::right_paren || kind == TokenKind::right_bracket) {
            if (!open.empty() && tokens[open.back()].kind == opener(kind)) {
                match[open.back()] = i;
                open.pop_back();
            }
        }
    }
    return match;
}

}  // namespace halo::syntax
