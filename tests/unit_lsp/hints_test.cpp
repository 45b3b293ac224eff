// Inlay hints, lenses and what their commands give.
#include "catch.h"
#include "client.h"
#include "contains.h"

using namespace halo;
using namespace halo::test;

namespace {

const std::string kWaves =
    "stencil waves(x, y) {\n"
    "    accuracy 4\n"
    "    field p: f32 { boundary periodic }\n"
    "    field vx: f32 at x+1/2 { boundary periodic }\n"
    "    let slope = d(p, x, order=2) * vx\n"
    "    vx[t+1] = vx - slope\n"
    "    p[t+1] = p + laplacian(p) + d(vx[t+1], x)\n"
    "}\n"
    "run waves { grid 64, 32; steps 9 }\n";

}  // namespace

TEST_CASE("hints tell the order of a derivative and the place of a let that are not written") {
    Client client;
    client.open(kWaves);
    CHECK(client.diagnostics() == Json::array());
    Json params = client.document();
    params["range"] = {{"start", client.position(0)}, {"end", client.position(kWaves.size())}};
    std::string text = kWaves;
    Json edits = Json::array();
    for (const Json& hint : client.request("textDocument/inlayHint", params))
        edits.push_back({{"range", {{"start", hint.at("position")}, {"end", hint.at("position")}}},
                         {"newText", hint.at("label")}});
    text = edited(text, edits);
    CHECK(contains(text, "let slope at x+1/2, y = d(p, x, order=2) * vx\n"));
    CHECK(contains(text, "p + laplacian(p, order=4) + d(vx[t+1], x, order=4)\n"));
    CHECK(edits.size() == 3);
    // What is told is what is meant: written out, the text means the same.
    client.change(Json::array({{{"text", text}}}));
    CHECK(client.diagnostics() == Json::array());
    params["range"] = {{"start", client.position(0)}, {"end", client.position(20)}};
    CHECK(client.request("textDocument/inlayHint", params) == Json::array());
}

TEST_CASE("the lenses of a stencil give its code and its plan") {
    Client client;
    client.open(kWaves);
    const Json lenses = client.request("textDocument/codeLens", client.document());
    REQUIRE(lenses.size() == 2);
    std::vector<std::string> texts;
    for (const Json& lens : lenses) {
        CHECK(lens.at("range").at("start") == client.position(8));
        texts.push_back(client.request("workspace/executeCommand", lens.at("command")).get<std::string>());
    }
    CHECK(contains(texts.at(0), "__global__"));
    CHECK(contains(texts.at(0), "waves"));
    CHECK(contains(texts.at(1), "stage"));
    Json params = lenses.at(0).at("command");
    params["arguments"][1] = "ripples";
    CHECK(contains(client.refused("workspace/executeCommand", params), "there is no stencil `ripples`"));
    params["command"] = "halocline.none";
    CHECK(contains(client.refused("workspace/executeCommand", params), "there is no command"));
    client.change(Json::array({{{"text", "stencil waves(x) {\n"}}}));
    CHECK(client.request("textDocument/codeLens", client.document()) == Json::array());
}
