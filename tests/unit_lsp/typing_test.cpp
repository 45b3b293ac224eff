// Texts that are half-written, and long ones.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "catch.h"
#include "client.h"
#include "compiler/syntax/lexer.h"

using namespace halo;
using namespace halo::test;

namespace {

std::string example(const std::string& name) {
    std::ifstream file(std::filesystem::path(HALO_SOURCE_DIR) / "dsl_examples" / name, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

// All that can be asked about a place.
void ask_all(Client& client, std::size_t offset) {
    for (const char* method : {"hover", "definition", "completion", "signatureHelp"})
        client.request(std::string("textDocument/") + method, client.at(offset));
    for (const char* method : {"documentSymbol", "formatting", "semanticTokens/full"})
        client.request(std::string("textDocument/") + method, client.document());
    Json params = client.at(offset);
    params["context"] = {{"includeDeclaration", true}};
    client.request("textDocument/references", params);
    client.send("textDocument/prepareRename", client.at(offset));
}

}  // namespace

TEST_CASE("a text that is written word by word always has answers") {
    for (const char* name :
         {"burgers.halo", "maxwell2d.halo", "heat2d_adi.halo", "mri_fhd.halo", "shot3d.halo"}) {
        INFO(name);
        const std::string text = example(name);
        const SourceFile source(name, text);
        Client client;
        for (const syntax::Token& token : syntax::lex(source).tokens) {
            const std::string written = text.substr(0, token.where.end);
            client.open(written);
            CHECK(!client.diagnostics().is_discarded());
            ask_all(client, written.size());
            if (written.size() > 2) ask_all(client, written.size() - 2);
        }
        CHECK(client.diagnostics().is_null());
    }
}

TEST_CASE("all examples have answers at all of their words") {
    namespace fs = std::filesystem;
    std::size_t count = 0;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        INFO(entry.path().string());
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        const std::string uri = "file://" + entry.path().string();
        Client client;
        client.open(text, uri);
        CHECK(client.diagnostics(uri) == Json::array());
        for (const syntax::Token& token : syntax::lex(SourceFile("", text)).tokens)
            client.request("textDocument/hover", client.at(token.where.begin, uri));
        ++count;
    }
    CHECK(count > 40);
}

TEST_CASE("edits of parts give the text that the editor has") {
    std::mt19937 random(7);
    const auto draw = [&](std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
    };
    const std::vector<std::string> pieces{"",  "u", "\n",  "\r\n",         "∂u",        "😀",
                                          "}", "{", " = ", "laplacian(u)", "# Ström\n", "\""};
    for (const std::string encoding : {"utf-8", "utf-16"}) {
        std::string text = example("wave2d.halo") + "# 😀 Ström\n";
        Client client(encoding);
        client.open(text);
        for (int i = 0; i < 300; ++i) {
            const auto is_inside_character = [&](std::size_t at) {
                const bool is_pair = at > 0 && at < text.size() && text[at - 1] == '\r' && text[at] == '\n';
                return is_pair ||
                       (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u);
            };
            std::size_t begin = draw(text.size() + 1);
            while (is_inside_character(begin))
                --begin;
            std::size_t end = std::min(text.size(), begin + draw(12));
            while (is_inside_character(end))
                ++end;
            const lsp::Lines lines(text, encoding == "utf-8" ? lsp::Encoding::utf8 : lsp::Encoding::utf16);
            const SourceRange where{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
            const std::string piece = pieces[draw(pieces.size())];
            client.change(Json::array({{{"range", lines.range(where)}, {"text", piece}}}));
            text.replace(begin, end - begin, piece);
            client.server().settle();
        }
        Client other(encoding);
        other.open(text);
        // Both say the same of the text, place by place.
        const std::string method = "textDocument/semanticTokens/full";
        CHECK(client.request(method, client.document()) == other.request(method, other.document()));
    }
}

TEST_CASE("whatever parameters a client sends, there is an answer") {
    std::mt19937 random(11);
    const auto draw = [&](std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
    };
    Client client;
    client.open(example("heat3d.halo"));
    const std::vector<Json> values{
        nullptr,
        -1,
        3,
        1e9,
        4294967296,
        "",
        "halocline.showCuda",
        Client::kUri,
        Json::array(),
        Json::object(),
        Json::array({1, "a"}),
        {{"uri", Client::kUri}},
        {{"uri", 3}},
        {{"line", 3}, {"character", 7}},
        {{"line", -3}, {"character", 1e300}},
        {{"start", {{"line", 9}, {"character", 2}}}, {"end", {{"line", 1}, {"character", 1}}}}};
    const std::vector<std::string> keys{"textDocument", "position",  "range",          "context", "newName",
                                        "command",      "arguments", "contentChanges", "text",    "options"};
    const std::vector<std::string> methods{"initialize",
                                           "textDocument/hover",
                                           "textDocument/definition",
                                           "textDocument/references",
                                           "textDocument/rename",
                                           "textDocument/prepareRename",
                                           "textDocument/completion",
                                           "textDocument/signatureHelp",
                                           "textDocument/codeAction",
                                           "textDocument/inlayHint",
                                           "textDocument/codeLens",
                                           "textDocument/formatting",
                                           "textDocument/documentSymbol",
                                           "textDocument/semanticTokens/full",
                                           "workspace/executeCommand"};
    const std::vector<std::string> notifications{
        "textDocument/didOpen", "textDocument/didChange",          "textDocument/didClose",
        "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders",
        "$/cancelRequest"};
    for (int i = 0; i < 3000; ++i) {
        Json params = draw(10) == 0 ? values[draw(values.size())] : Json::object();
        for (const std::string& key : keys)
            if (params.is_object() && draw(2) == 0) params[key] = values[draw(values.size())];
        if (params.is_object() && draw(2) == 0) params["textDocument"] = {{"uri", Client::kUri}};
        client.send(methods[draw(methods.size())], params);
        if (i % 5 == 0) client.notify(notifications[draw(notifications.size())], params);
        client.server().settle();
        if (client.server()
                .handle({{"id", 1}, {"method", "textDocument/documentSymbol"}, {"params", client.document()}})
                .front()
                .contains("error"))
            client.open(example("heat3d.halo"));  // it was closed
    }
}

TEST_CASE("times of a text of 1000 lines") {
    std::string text =
        "stencil long(x, y) {\n    param dt = 0.1\n    field u0: f32 { boundary periodic }\n"
        "    u0[t+1] = u0 + dt * laplacian(u0)\n";
    int lines = 5;
    for (int i = 1; lines < 1000; ++i, lines += 3) {
        const std::string name = "u" + std::to_string(i);
        const std::string before = "u" + std::to_string(i - 1);
        text += "    # diffuses, and follows the one before\n    field " + name +
                ": f32 { boundary periodic }\n    " + name + "[t+1] = " + name + " + dt * laplacian(" + name +
                ") + d(" + before + ", x)\n";
    }
    text += "}\n";
    Client client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    const std::size_t place = text.rfind("laplacian") + 11;
    const auto timed = [](const std::string& what, auto&& work) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
        std::cout << "1000 lines, " << what << ": " << taken.count() << " ms\n";
    };
    timed("a letter typed and its diagnostics", [&] {
        const Json at = client.position(text.size() - 2);
        client.change(Json::array({{{"range", {{"start", at}, {"end", at}}}, {"text", "\n"}}}));
        client.diagnostics();
    });
    for (const char* method : {"hover", "definition", "completion", "signatureHelp"})
        timed(method, [&] { client.request(std::string("textDocument/") + method, client.at(place)); });
    for (const char* method : {"documentSymbol", "formatting", "semanticTokens/full"})
        timed(method, [&] { client.request(std::string("textDocument/") + method, client.document()); });
    Json params = client.at(place);
    params["context"] = {{"includeDeclaration", true}};
    timed("references", [&] { client.request("textDocument/references", params); });
    params["newName"] = "heat";
    timed("rename", [&] { client.request("textDocument/rename", params); });
}
