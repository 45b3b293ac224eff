#include "compiler/syntax/lexer.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace halo;
using namespace halo::syntax;

namespace {

// "number:1 dot_dot:.. number:4" by spelling: the words, with | between.
std::string words(const std::string& text) {
    const SourceFile file("f", text);
    std::string out;
    for (const Token& token : lex(file).tokens) {
        if (token.kind == TokenKind::end) break;
        if (!out.empty()) out += '|';
        out += file.text(token.where);
    }
    return out;
}

TokenKind first_kind(const std::string& text) {
    return lex(SourceFile("f", text)).tokens.front().kind;
}

}  // namespace

TEST_CASE("text is cut into words") {
    CHECK(words("u[t+1]=u*2.5e-3 # why") == "u|[|t|+|1|]|=|u|*|2.5e-3");
    CHECK(words("sum(r in 1..4)c[r]") == "sum|(|r|in|1|..|4|)|c|[|r|]");
    CHECK(words("-1..-0.5") == "-|1|..|-|0.5");
    CHECK(words("1...2") == "1|...|2");
    CHECK(words("1. .5 1.e3") == "1.|.5|1.e3");
    CHECK(words("f.3.x") == "f|.|3|.|x");
    CHECK(words("f.3 + f[x].2") == "f|.|3|+|f|[|x|]|.|2");
    CHECK(words("a<=b!=c==d>=e") == "a|<=|b|!=|c|==|d|>=|e");
    CHECK(words("x**2&&y||!z") == "x|**|2|&&|y||||!|z");
    CHECK(words("\"a b # c\" x") == "\"a b # c\"|x");
    CHECK(words("2×x−y") == "2|×|x|−|y");
    CHECK(words("").empty());
    CHECK(words("\xEF\xBB\xBFu") == "u");
}

TEST_CASE("what is no word is marked") {
    for (const char* text : {"1x", "0x10", "1.0f", "1.2.3", "1e", "2λ"}) {
        INFO(text);
        CHECK(first_kind(text) == TokenKind::malformed_number);
        CHECK(words(text) == text);
    }
    for (const char* text : {"λ", "a_λ1", "é", "$", "@", "`", "'", "\\"}) {
        INFO(text);
        CHECK(first_kind(text) == TokenKind::invalid);
        CHECK(words(text) == text);
    }
    CHECK(first_kind(std::string("\0", 1)) == TokenKind::invalid);
    CHECK(first_kind("\xff\xfe") == TokenKind::invalid);
    CHECK(first_kind("\"abc\nx") == TokenKind::unterminated_string);
    CHECK(words("\"abc\nx") == "\"abc|x");
    for (const char* text : {"%", "?", "+=", "//", "&", "++"}) {
        INFO(text);
        CHECK(first_kind(text) == TokenKind::no_operator);
    }
}

TEST_CASE("lines, spaces and comments are noted") {
    const SourceFile file("f", "a b # one\r\n  c(d)# two \r\t\n# three  ");
    const Tokens result = lex(file);
    REQUIRE(result.tokens.size() == 7);
    CHECK(result.tokens[0].newline_before);
    CHECK_FALSE(result.tokens[1].newline_before);
    CHECK(result.tokens[1].space_before);
    CHECK(result.tokens[2].newline_before);
    CHECK_FALSE(result.tokens[3].space_before);
    REQUIRE(result.comments.size() == 3);
    CHECK(file.text(result.comments[0]) == "# one");
    CHECK(file.text(result.comments[1]) == "# two");
    CHECK(file.text(result.comments[2]) == "# three");
}

TEST_CASE("brackets find their ends") {
    const auto ends = [](const std::string& text) {
        return match_brackets(lex(SourceFile("f", text)).tokens);
    };
    using Ends = std::vector<std::uint32_t>;
    CHECK(ends("([])") == Ends{3, 2, 0, 0, 0});
    CHECK(ends("(()") == Ends{0, 2, 0, 0});
    CHECK(ends("{(}") == Ends{2, 0, 0, 0});
    CHECK(ends("(])") == Ends{2, 0, 0, 0});
    CHECK(ends("})]") == Ends{0, 0, 0, 0});
}
