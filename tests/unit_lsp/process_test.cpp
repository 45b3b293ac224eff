// haloc lsp over pipes: clients that die, headers that are none, exit codes.
#include "process.h"
#include "catch.h"
#include "compiler/lsp/framing.h"
#include "contains.h"

using namespace halo::test;
using halo::lsp::framed;

namespace {

const std::string kInitialize =
    framed(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}})");
const std::string kShutdown = framed(R"({"jsonrpc":"2.0","id":2,"method":"shutdown"})");
const std::string kExit = framed(R"({"jsonrpc":"2.0","method":"exit"})");

Outcome serve(const std::string& input) {
    return Folder().haloc({"lsp"}, input);
}

}  // namespace

TEST_CASE("a session from initialize to exit") {
    const std::string open = framed(
        R"({"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.halo","languageId":"halocline","version":7,"text":"stencil s(x) { field u: f32; u[t+1] = v }"}}})");
    const Outcome outcome = serve(kInitialize + open);
    CHECK(contains(outcome.out, "\"positionEncoding\":\"utf-16\""));
    CHECK(contains(outcome.out, "textDocument/publishDiagnostics"));
    CHECK(contains(outcome.out, "\"version\":7"));
    CHECK(outcome.code == 1);  // the client has gone without a word
    CHECK(outcome.err.empty());
    CHECK(serve(kInitialize + kShutdown + kExit).code == 0);
    CHECK(serve(kInitialize + kExit).code == 1);
    CHECK(serve("").code == 1);
    CHECK(Folder().haloc({"lsp", "--stdio", "-I", "modules"}, kInitialize + kShutdown + kExit).code == 0);
}

TEST_CASE("what cannot be read is answered, and what comes after it is read") {
    const Outcome outcome =
        serve("Content-Length: x\r\n\r\n" + framed("{ no json") + kInitialize + kShutdown + kExit);
    CHECK(contains(outcome.out, "no Content-Length"));
    CHECK(contains(outcome.out, "-32700"));
    CHECK(contains(outcome.out, "\"serverInfo\""));
    CHECK(outcome.code == 0);
    CHECK(serve("Content-Length: 99999999999\r\n\r\n{}").code == 1);
    CHECK(serve(std::string(100'000, 'a')).code == 1);
    CHECK(serve(kInitialize + "Content-Length: 500\r\n\r\n{\"jsonrpc\"").code ==
          1);  // it died while it wrote
}

TEST_CASE("a request that waits can be cancelled") {
    const std::string symbols = framed(R"({"jsonrpc":"2.0","id":"a","method":"halo/none","params":{}})");
    const std::string cancel = framed(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}})");
    const Outcome outcome = serve(kInitialize + symbols + cancel + kShutdown + kExit);
    const bool is_cancelled = contains(outcome.out, "-32800");
    const bool is_answered = contains(outcome.out, "-32601");
    CHECK((is_cancelled || is_answered));  // as the pipe has it
    CHECK_FALSE((is_cancelled && is_answered));
    CHECK(outcome.code == 0);
}

TEST_CASE("a client that does not read any more ends the server") {
    // `head` takes one byte and goes.
    Invocation invocation;
    invocation.launcher = {"/bin/sh", "-c", "\"$0\" \"$@\" | head -c 1 >/dev/null; exit 0"};
    invocation.arguments = {"lsp"};
    for (int i = 0; i < 2000; ++i)
        invocation.input += framed(R"({"jsonrpc":"2.0","id":1,"method":"halo/none","params":{}})");
    CHECK(run_haloc(invocation).code == 0);
}
