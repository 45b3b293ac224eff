// Places in UTF-8 and UTF-16, with text beyond ASCII, and URIs.
#include "catch.h"
#include "client.h"
#include "compiler/lsp/uri.h"

using namespace halo;
using namespace halo::test;

namespace {
const std::string kSpec =
    "# Ström ∂u 😀 is a comment\n"
    "stencil heat(x) {\n"
    "    field u: f32 { boundary periodic }\n"
    "    u[t+1] = u + 0.1 * d2(u, x)  # 😀\n"
    "}\n"
    "run heat { grid 8; steps 1; save u to \"Ström😀.npy\"; plot w to \"w.png\" }\n";
}

TEST_CASE("positions count units of the encoding that was agreed on") {
    const std::string line = "aö∂😀b";
    const lsp::Lines bytes(line, lsp::Encoding::utf8);
    const lsp::Lines units(line, lsp::Encoding::utf16);
    CHECK(bytes.position(10).at("character") == 10);
    CHECK(units.position(10).at("character") == 5);  // a, ö, ∂ and a pair of surrogates
    CHECK(units.offset({{"line", 0}, {"character", 5}}) == 10);
    CHECK(units.offset({{"line", 0}, {"character", 4}}) == 6);  // within the pair: before it
    CHECK(units.offset({{"line", 0}, {"character", 99}}) == line.size());
    CHECK(bytes.offset({{"line", 7}, {"character", 0}}) == line.size());
}

TEST_CASE("lines end in a line feed, a carriage return or both") {
    const std::string text = "a\r\nb\rc\nd";
    const lsp::Lines lines(text, lsp::Encoding::utf16);
    CHECK(lines.position(7) == Json{{"line", 3}, {"character", 0}});
    CHECK(lines.offset({{"line", 1}, {"character", 0}}) == 3);
    CHECK(lines.offset({{"line", 0}, {"character", 9}}) == 1);
}

TEST_CASE("diagnostics and edits are at the same words in both encodings") {
    for (const std::string encoding : {"utf-8", "utf-16"}) {
        Client client(encoding);
        client.open(kSpec);
        const Json messages = client.diagnostics();
        REQUIRE(messages.size() == 1);  // there is no field w
        const lsp::Encoding units = encoding == "utf-8" ? lsp::Encoding::utf8 : lsp::Encoding::utf16;
        const SourceRange where = lsp::Lines(kSpec, units).offsets(messages.front().at("range"));
        CHECK(kSpec.substr(where.begin, where.end - where.begin) == "w");
        const std::uint32_t column = encoding == "utf-8" ? 61 : 58;
        CHECK(messages.front().at("range").at("start").at("character") == column);

        // A letter behind all of that is changed.
        const std::size_t letter = kSpec.find("plot w") + 5;
        client.change(Json::array(
            {{{"range", {{"start", client.position(letter)}, {"end", client.position(letter + 1)}}},
              {"text", "u"}}}));
        CHECK(client.diagnostics() == Json::array());
    }
}

TEST_CASE("colours have lengths in units of the encoding") {
    Client client;
    client.open("# 😀\n");
    CHECK(client.request("textDocument/semanticTokens/full", client.document()).at("data") ==
          Json({0, 0, 4, 9, 0}));
    Client other("utf-8");
    other.open("# 😀\n");
    CHECK(other.request("textDocument/semanticTokens/full", other.document()).at("data") ==
          Json({0, 0, 6, 9, 0}));
}

TEST_CASE("URIs of files are paths with escapes") {
    CHECK(lsp::path_of("file:///a%20b/Str%C3%B6m.halo") == "/a b/Ström.halo");
    CHECK(lsp::path_of("file://localhost/a/../b.halo") == "/b.halo");
    CHECK(lsp::path_of("untitled:1").empty());
    CHECK(lsp::path_of("file:///100%.halo") == "/100%.halo");
    CHECK(lsp::uri_of("/a b/Ström.halo") == "file:///a%20b/Str%C3%B6m.halo");
}
