// An editor beside the core of the language server.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/lsp/server.h"

namespace halo::test {

using lsp::Json;

// A position, found by a mark: "u[t+1] = |u".
struct Marked {
    std::string text;  // without the mark
    std::size_t offset = 0;
};
Marked marked(const std::string& text);

class Client {
public:
    explicit Client(const std::string& encoding = "utf-16", const std::string& root = "");

    Json send(const std::string& method, Json params);     // the whole answer
    Json request(const std::string& method, Json params);  // its result; fails the test where it is an error
    std::string refused(const std::string& method,
                        Json params);  // the error's message; empty: there was none
    void notify(const std::string& method, Json params);

    void open(const std::string& text, const std::string& uri = kUri);
    void change(Json changes, const std::string& uri = kUri);
    // Of the last text that was opened under the URI.
    Json position(std::size_t offset, const std::string& uri = kUri) const;
    Json at(std::size_t offset, const std::string& uri = kUri) const;  // parameters of a request
    Json document(const std::string& uri = kUri) const { return {{"textDocument", {{"uri", uri}}}}; }

    Json diagnostics(const std::string& uri = kUri);  // after settle(); null: none were sent
    lsp::Server& server() { return server_; }

    static constexpr const char* kUri = "file:///specs/test.halo";

private:
    lsp::Server server_;
    lsp::Encoding encoding_;
    int next_ = 0;
    std::map<std::string, std::string> texts_;
};

// A text after the edits of a WorkspaceEdit, or of a list of edits.
std::string edited(std::string text, const Json& edits, lsp::Encoding encoding = lsp::Encoding::utf16);

}  // namespace halo::test
