// What the protocol says of messages, whatever they ask for.
#include "catch.h"
#include "client.h"
#include "compiler/lsp/framing.h"
#include "contains.h"

using namespace halo;
using namespace halo::test;

TEST_CASE("requests before initialize are refused, and after shutdown") {
    lsp::Server server;
    const Json hover{
        {"jsonrpc", "2.0"}, {"id", 1}, {"method", "textDocument/hover"}, {"params", Json::object()}};
    CHECK(server.handle(hover).front().at("error").at("code") == -32002);
    Client client;
    CHECK(client.refused("initialize", Json::object()) == "the server is initialized already");
    CHECK(client.request("shutdown", nullptr).is_null());
    CHECK(client.send("textDocument/hover", Json::object()).at("error").at("code") == -32600);
    CHECK(!client.server().has_ended());
    client.notify("exit", nullptr);
    CHECK(client.server().has_ended());
    CHECK(client.server().exit_code() == 0);
}

TEST_CASE("exit without shutdown is an error") {
    Client client;
    client.notify("exit", nullptr);
    CHECK(client.server().has_ended());
    CHECK(client.server().exit_code() == 1);
}

TEST_CASE("messages that are none are answered with errors") {
    Client client;
    const auto code = [&](const std::string& text) {
        const std::vector<Json> replies = client.server().handle_text(text);
        return replies.empty() ? Json() : replies.front().at("error").at("code");
    };
    CHECK(code("{\"jsonrpc\": ") == -32700);
    CHECK(code("[1, 2]") == -32600);
    CHECK(code("{\"id\": 3}") == -32600);
    CHECK(code("{\"id\": 3, \"method\": 7}") == -32600);
    CHECK(code("{\"id\": 3, \"method\": \"halo/none\"}") == -32601);
    CHECK(code("{\"id\": 3, \"method\": \"textDocument/hover\"}") == -32602);
    CHECK(code("{\"id\": 3, \"method\": \"textDocument/hover\", \"params\": null}") == -32602);
    CHECK(code("{\"method\": \"halo/none\"}").is_null());               // notifications have no answer
    CHECK(code("{\"method\": \"textDocument/didChange\"}").is_null());  // nor has one without parameters
    CHECK(code("{\"id\": 9, \"result\": null}").is_null());             // an answer to the server
    CHECK(client.refused("textDocument/hover", client.document("file:///gone.halo")) ==
          "file:///gone.halo is not open");
}

TEST_CASE("headers are read whatever pieces they come in") {
    const std::string text = lsp::framed("{\"a\": 1}") + "content-length:2\r\nContent-Type: x\r\n\r\n{}";
    lsp::MessageReader reader;
    std::vector<std::string> messages;
    for (const char byte : text) {
        reader.feed({&byte, 1});
        while (const auto message = reader.next())
            messages.push_back(message->text);
    }
    CHECK(messages == std::vector<std::string>{"{\"a\": 1}", "{}"});
    reader.feed("Content-Length: many\r\n\r\n" + lsp::framed("{}"));
    CHECK(contains(reader.next()->trouble, "no Content-Length"));
    CHECK(reader.next()->text == "{}");
    reader.feed("Content-Length: 99999999999\r\n\r\n");
    CHECK(contains(reader.next()->trouble, "at most"));
    CHECK(reader.is_lost());
    CHECK(!reader.next());
}

TEST_CASE("a document that is closed has no diagnostics any more") {
    Client client;
    client.open("stencil s(x) { field u: f32; u[t+1] = v }\n");
    CHECK(client.diagnostics().size() == 1);
    CHECK(client.diagnostics().is_null());  // nothing has changed
    client.notify("textDocument/didClose", client.document());
    CHECK(client.diagnostics() == Json::array());
    CHECK(client.diagnostics().is_null());
}
