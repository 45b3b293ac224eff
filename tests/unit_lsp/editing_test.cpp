// Diagnostics with their mends, formatting, completion, signatures and colours.
#include <algorithm>

#include "catch.h"
#include "client.h"
#include "compiler/sema/builtins.h"
#include "contains.h"

using namespace halo;
using namespace halo::test;

namespace {

const std::string kHeat =
    "use \"operators.halo\"\n"
    "stencil heat(x, y) {\n"
    "    param dt = 0.1\n"
    "    field u: f32 { boundary periodic }\n"
    "    field v: (x: f32, y: f32)\n"
    "    def rate(c, k) = k * laplacian(c)\n"
    "    u[t+1] = u + dt * rate(u, 1)\n"
    "    v = grad(u)\n"
    "}\n";

std::vector<std::string> labels(const std::string& text) {
    const Marked place = marked(text);
    Client client;
    client.open(place.text);
    std::vector<std::string> all;
    for (const Json& item : client.request("textDocument/completion", client.at(place.offset)))
        all.push_back(item.at("label").get<std::string>());
    return all;
}

bool offers(const std::vector<std::string>& all, const std::string& label) {
    return std::ranges::find(all, label) != all.end();
}

// kHeat with a text in the place of the one before.
std::string heat_with(const std::string& before, const std::string& after) {
    std::string text = kHeat;
    return text.replace(text.find(before), before.size(), after);
}

}  // namespace

TEST_CASE("a mistake has its place, its kind and notes, and its mend as a quick fix") {
    const std::string text = heat_with("rate(u, 1)", "rate(u, 1) + lapalcian(u)");
    Client client;
    client.open(text);
    const Json messages = client.diagnostics();
    REQUIRE(messages.size() == 1);
    CHECK(messages.front().at("severity") == 1);
    CHECK(messages.front().at("source") == "haloc");
    CHECK(messages.front().at("code") == "unknown-function");
    Json params = client.document();
    params["range"] = messages.front().at("range");
    params["context"] = {{"diagnostics", messages}};
    const Json actions = client.request("textDocument/codeAction", params);
    REQUIRE(actions.size() == 1);
    CHECK(actions.front().at("title") == "Replace `lapalcian` by `laplacian`");
    CHECK(actions.front().at("kind") == "quickfix");
    const std::string mended = edited(text, actions.front().at("edit").at("changes").at(Client::kUri));
    CHECK(mended == heat_with("rate(u, 1)", "rate(u, 1) + laplacian(u)"));
    client.change(Json::array({{{"text", mended}}}));
    CHECK(client.diagnostics() == Json::array());
    CHECK(client.request("textDocument/codeAction", params) == Json::array());
}

TEST_CASE("places that have to do with a mistake are told with it, and warnings are warnings") {
    Client client;
    client.open(
        "stencil s(x) {\n    param a = 1\n    param a = 2\n    field u: f32\n    u[t+1] = u + a\n}\n");
    const Json messages = client.diagnostics();
    REQUIRE(messages.size() == 1);
    REQUIRE(messages.front().contains("relatedInformation"));
    CHECK(
        messages.front().at("relatedInformation").front().at("location").at("range").at("start").at("line") ==
        1);
    client.change(Json::array({{{"text", heat_with("rate(u, 1)", "laplacian(u)")}}}));
    const Json warnings = client.diagnostics();
    REQUIRE(!warnings.empty());  // rate is not used
    CHECK(warnings.front().at("severity") == 2);
}

TEST_CASE("formatting edits the lines that change, and no text with mistakes") {
    Client client;
    const std::string untidy = heat_with("    param dt = 0.1", "  param   dt=0.1");
    client.open(untidy);
    const Json edits = client.request("textDocument/formatting", client.document());
    REQUIRE(edits.size() == 1);
    CHECK(edits.front().at("newText") == "    param dt = 0.1\n");
    CHECK(edited(untidy, edits) == kHeat);
    client.open(kHeat, "file:///specs/tidy.halo");
    CHECK(client.request("textDocument/formatting", client.document("file:///specs/tidy.halo")) ==
          Json::array());
    client.open("stencil s(x {\n", "file:///specs/bad.halo");
    CHECK(client.request("textDocument/formatting", client.document("file:///specs/bad.halo")).is_null());
}

TEST_CASE("completion knows where it is") {
    const std::vector<std::string> file = labels("st|\n" + kHeat);
    CHECK(offers(file, "stencil"));
    CHECK(!offers(file, "boundary"));
    const std::vector<std::string> statement = labels(heat_with("    v = grad(u)", "    v|"));
    CHECK(offers(statement, "field"));
    CHECK(offers(statement, "v"));
    CHECK(!offers(statement, "grid"));
    const std::vector<std::string> expression = labels(heat_with("grad(u)", "grad(u) + |"));
    for (const char* name : {"u", "dt", "rate", "laplacian", "sponge", "pi", "if"})
        CHECK(offers(expression, name));
    CHECK(!offers(expression, "c"));  // a parameter of the def
    CHECK(offers(labels(heat_with("k * laplacian(c)", "k * |")), "k"));
    CHECK(labels(heat_with("grad(u)", "v.|")) == std::vector<std::string>{"x", "y"});
    CHECK(offers(labels(heat_with("u: f32 {", "u: | {")), "bf16"));
    CHECK(offers(labels(heat_with("boundary periodic", "boundary p|")), "periodic"));
    CHECK(offers(labels(heat_with("boundary periodic", "|")), "halo"));
    CHECK(labels(heat_with("operators.halo", "o|")) ==
          std::vector<std::string>{"coordinates.halo", "cpml.halo", "multigrid.halo", "operators.halo"});
    CHECK(labels("# a |\n" + kHeat).empty());
    const std::vector<std::string> run = labels(kHeat + "run heat {\n    |\n}\n");
    CHECK(offers(run, "grid"));
    CHECK(offers(labels(kHeat + "run heat {\n    init |\n}\n"), "u"));
    CHECK(labels(kHeat + "run |") == std::vector<std::string>{"heat"});
}

TEST_CASE("signatures are those of defs and of all functions of the language") {
    const Marked place = marked(heat_with("rate(u, 1)", "rate(u, |"));
    Client client;
    client.open(place.text);
    const Json help = client.request("textDocument/signatureHelp", client.at(place.offset));
    CHECK(help.at("signatures").front().at("label") == "rate(c, k)");
    CHECK(help.at("activeParameter") == 1);
    CHECK(help.at("signatures").front().at("parameters").at(1).at("label") == "k");
    CHECK(client.request("textDocument/signatureHelp", client.at(0)).is_null());
    for (const std::string& name : sema::function_names()) {
        INFO(name);
        const auto has_form = [&](const sema::FunctionForm& form) {
            return form.name == name && form.call.starts_with(name + "(") && !form.gives.empty();
        };
        CHECK(std::ranges::any_of(sema::function_forms(), has_form));
    }
}

TEST_CASE("colours are those of what the words mean") {
    Client client;
    client.open("stencil s(x) {\n    field on: f32\n    on[t+1] = abs(on)\n}\n");
    // Line, character, length, type and modifiers, from the word before.
    CHECK(client.request("textDocument/semanticTokens/full", client.document()).at("data") ==
          Json({0, 0, 7, 5, 0, 0, 8, 1, 0, 1, 0, 2, 1, 1, 3,                    // stencil s x
                1, 4, 5, 5, 0, 0, 6, 2, 2, 1, 0, 4, 3, 6, 8,                    // field on f32
                1, 4, 2, 2, 4, 0, 5, 1, 7, 0, 0, 5, 3, 4, 8, 0, 4, 2, 2, 0}));  // on 1 abs on
}
