// Text of any size and shape is read or refused, never crashed on; the work is proportional to the text.
#include <string>

#include "catch.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parser.h"

using namespace halo;
using namespace halo::syntax;

namespace {

// The kinds of all messages; the message texts must be short whatever the file holds.
std::vector<DiagnosticKind> kinds(const std::string& text) {
    const SourceFile source("big.halo", text);
    DiagnosticSink sink;
    parse(source, sink);
    std::vector<DiagnosticKind> all;
    for (const Diagnostic& diagnostic : sink.sorted()) {
        CHECK(render(diagnostic, source).size() < 4000);
        all.push_back(diagnostic.kind);
    }
    return all;
}

std::string repeated(std::string_view piece, std::size_t times) {
    std::string text;
    text.reserve(piece.size() * times);
    for (std::size_t i = 0; i < times; ++i)
        text += piece;
    return text;
}

std::string stencil_with(const std::string& body) {
    return "stencil s(x) {\n" + body + "\n}\n";
}
std::string assigned(const std::string& value) {
    return stencil_with("v = " + value);
}

constexpr std::size_t kAlmostFull = kMaxFileBytes - 100;
using Kinds = std::vector<DiagnosticKind>;

}  // namespace

TEST_CASE("a file over the limit is refused in one message") {
    CHECK(kinds(std::string(10'000'000, '(')) == Kinds{DiagnosticKind::file_too_large});
    CHECK(kinds(std::string(kMaxFileBytes, ' ')).empty());
}

TEST_CASE("text made of brackets is refused, whatever the brackets") {
    // A quarter of a megabyte: quadratic work would take minutes.
    for (const char* bracket :
         {"(", "[", "{", ")", "]", "}", "([{", "()", "{}", "u[", "f(", "{(", "{;", "(\n", "{\n", "[1,\n"}) {
        INFO(bracket);
        const std::string many = repeated(bracket, 250'000 / std::string(bracket).size());
        CHECK_FALSE(kinds(many).empty());
        CHECK_FALSE(kinds(stencil_with(many)).empty());
        CHECK_FALSE(kinds(assigned(many)).empty());
        CHECK_FALSE(kinds(stencil_with("coef c[1..2] = " + many)).empty());
        CHECK_FALSE(kinds(stencil_with("field u: f32 " + many)).empty());
    }
}

TEST_CASE("a file as long as may be, made of brackets, is refused") {
    for (const char* bracket : {"(", "{", "([{", "{;"}) {
        INFO(bracket);
        CHECK_FALSE(kinds(assigned(repeated(bracket, kAlmostFull / std::string(bracket).size()))).empty());
    }
}

TEST_CASE("depth is limited where the parser's stack grows") {
    CHECK(kinds(assigned(repeated("(", 150) + "a" + repeated(")", 150))).empty());
    const Kinds too_deep{DiagnosticKind::nesting_too_deep};
    CHECK(kinds(assigned(repeated("(", 5000) + "a" + repeated(")", 5000))) == too_deep);
    CHECK(kinds(assigned(repeated("f(", 5000) + "a" + repeated(")", 5000))) == too_deep);
    CHECK(kinds(assigned(repeated("-", 500) + "a")) == too_deep);
    CHECK(kinds(assigned(repeated("not ", 500) + "a")) == too_deep);
    CHECK(kinds(assigned("a" + repeated("^a", 500))) == too_deep);
    CHECK(kinds(assigned(repeated("if a then b else ", 500) + "a")) == too_deep);
    CHECK(kinds(assigned(repeated("sum(i in 1..2) ", 500) + "a")) == too_deep);
    CHECK(kinds(stencil_with("coef c[1..2] = " + repeated("[", 500) + repeated("]", 500))) == too_deep);
}

TEST_CASE("height is limited where later rooms' stacks would grow") {
    CHECK(kinds(assigned("a" + repeated(" + a", kMaxExpressionHeight))).empty());
    const Kinds too_long{DiagnosticKind::expression_too_long};
    CHECK(kinds(assigned("a" + repeated(" + a", kMaxExpressionHeight + 1))) == too_long);
    CHECK(kinds(assigned("a" + repeated("+a", 1'900'000))) == too_long);
    CHECK(kinds(assigned("a" + repeated("[1]", 2000))) == too_long);
    CHECK(kinds(assigned("a" + repeated(".b", 2000))) == too_long);
}

TEST_CASE("many of anything are read") {
    std::string fields;
    for (int i = 0; i < 10'000; ++i)
        fields += "field u" + std::to_string(i) + ": f32 { boundary periodic }\n";
    CHECK(kinds(stencil_with(fields)).empty());
    CHECK(kinds(stencil_with("coef c[1..2] = [" + repeated("1,", 1'000'000) + "1]")).empty());
    CHECK(kinds(assigned("f(" + repeated("1,", 1'000'000) + "1)")).empty());
    CHECK(kinds(repeated("stencil s(x) { }\n", 100'000)).empty());
    CHECK(kinds(repeated("# comment\n", 400'000)).empty());
    CHECK(kinds(stencil_with("v = " + std::string(3'000'000, 'a'))).empty());
}

TEST_CASE("many mistakes are counted, not all kept") {
    for (const char* line :
         {"v = (\n", "(\n", "u[\n", "parm\n", "v = 1 +\n", "$\n", "field u: f32 {\n", "v = 'a\n", "v = \"\n",
          "1e999\n", "stencil\n", "run\n", "}\n", "λ\n", "v ** 2\n", "v = a ** b\n"}) {
        INFO(line);
        const std::size_t count = 1'000'000 / std::string(line).size();
        CHECK_FALSE(kinds(repeated(line, count)).empty());
        CHECK_FALSE(kinds(stencil_with(repeated(line, count))).empty());
    }
}

TEST_CASE("a formatted file is not much larger than its source") {
    // One long line must not push the comments of all its neighbours.
    const std::string text = stencil_with("v = f(" + repeated("1, ", 100'000) + "1) # a\n" +
                                          repeated("# b\n", 1000) + repeated("w = 1 # c\n", 20'000));
    const SourceFile source("f", text);
    DiagnosticSink sink;
    const std::optional<std::string> formatted = format(source, sink);
    REQUIRE(formatted.has_value());
    CHECK(formatted->size() < 2 * text.size());
}
