// Hover, definitions, references, symbols and renaming, in one file and across modules.
#include "catch.h"
#include "client.h"
#include "contains.h"
#include "process.h"

using namespace halo;
using namespace halo::test;

namespace {

const std::string kSound =
    "stencil sound(x, y) {\n"
    "    param dt = 0.002, bulk = 2\n"
    "    spacing x = 0.01, y = 0.01\n"
    "    field p: f32 { boundary periodic }\n"
    "    field vx: f64 at x+1/2 { boundary periodic }\n"
    "    vx[t+1] = vx - dt * d(p, x, order=4)\n"
    "    let squeeze at x = d(vx[t+1], x)\n"
    "    p[t+1] = 2*p - p[t-1] - bulk * dt * squeeze + laplacian(p) + d(p, x, side=low)\n"
    "    reduce loudest = max(abs(p[t+1]))\n"
    "}\n"
    "run sound { grid 8, 8; steps 9 until loudest > 3; init p = x; bulk = 3 }\n";

std::string hover_at(const std::string& before, const std::string& text = kSound) {
    Client client;
    client.open(text);
    const std::size_t place = text.find(before);
    REQUIRE(place != std::string::npos);
    const Json found = client.request("textDocument/hover", client.at(place));
    return found.is_null() ? "" : found.at("contents").at("value").get<std::string>();
}

std::vector<int> lines_of(const Json& places) {
    std::vector<int> lines;
    for (const Json& place : places)
        lines.push_back(place.at("range").at("start").at("line").get<int>());
    return lines;
}

}  // namespace

TEST_CASE("hover tells of a field its type, place, halo and memory") {
    const std::string p = hover_at("p: f32");
    CHECK(contains(p, "field p: f32 { boundary periodic }"));
    CHECK(contains(p, "type: f32, state"));
    CHECK(contains(p, "place: the cells' points"));
    CHECK(contains(p, "halo: x 2, y 1"));
    CHECK(contains(p, "12 bytes a cell, in 3 time levels"));
    const std::string vx = hover_at("vx[t+1] = ");
    CHECK(contains(vx, "type: f64, state"));
    CHECK(contains(vx, "place: x+1/2, y"));
    CHECK(contains(vx, "16 bytes a cell, in 2 time levels"));
    CHECK(contains(hover_at("squeeze +"), "let `squeeze` of stencil `sound`"));
    CHECK(contains(hover_at("bulk * dt"), "param dt = 0.002, bulk = 2"));
    CHECK(hover_at("0.002").empty());
}

TEST_CASE("hover tells the weights that a derivative becomes") {
    const std::string staggered = hover_at("d(p, x, order=4)");
    CHECK(contains(staggered, "first derivative** along `x`, order 4, half a cell from the operand"));
    CHECK(
        contains(staggered, "`x-3/2`: 1/24, `x-1/2`: -9/8, `x+1/2`: 9/8, `x+3/2`: -1/24 (over the spacing)"));
    const std::string laplacian = hover_at("laplacian(p)");
    CHECK(contains(laplacian, "`y-1`: 1, `y`: -2, `y+1`: 1 (over the spacing^2)"));
    const std::string low = hover_at("d(p, x, side=low)");
    CHECK(contains(low, "from the low side"));
    CHECK(contains(low, "`x-2`: 1/2, `x-1`: -2, `x`: 3/2 (over the spacing)"));
}

TEST_CASE("definitions and references are those of the name that is meant") {
    const std::string text =
        "def twice(a) = 2 * a\n"
        "stencil s(x) {\n"
        "    field a: f32 { boundary clamp }\n"
        "    def own(x, u) = u + a\n"
        "    a[t+1] = own(x, sum(i in 1..2) a[x+i]) + twice(a)\n"
        "}\n"
        "run s { grid 8; steps 1; init a = x }\n";
    Client client;
    client.open(text);
    const auto defined = [&](const std::string& at, std::size_t plus = 0) {
        return lines_of(client.request("textDocument/definition", client.at(text.find(at) + plus)));
    };
    CHECK(defined("a\nstencil") == std::vector<int>{0});  // the parameter
    CHECK(defined("u + a", 4) == std::vector<int>{2});    // the field
    CHECK(defined("own(x, sum") == std::vector<int>{3});
    CHECK(defined("x+i", 2) == std::vector<int>{4});  // the index of the sum
    CHECK(defined("run s", 4) == std::vector<int>{1});
    CHECK(defined("init a", 5) == std::vector<int>{2});
    Json params = client.at(text.find("a: f32"));
    params["context"] = {{"includeDeclaration", true}};
    CHECK(lines_of(client.request("textDocument/references", params)) == std::vector<int>{2, 3, 4, 4, 4, 6});
    params["context"] = {{"includeDeclaration", false}};
    CHECK(lines_of(client.request("textDocument/references", params)) == std::vector<int>{3, 4, 4, 4, 6});
}

TEST_CASE("a run knows the stencils that it chains, and their names") {
    const std::string text =
        "stencil main(x) {\n    field u: f32 { boundary periodic }\n    u[t+1] = u / 2\n}\n"
        "stencil smooth(x) {\n    field u, kept: f32 { boundary periodic }\n    u[t+1] = u[x+1]\n    kept = "
        "u\n}\n"
        "run main { grid 8; steps 9; every 3 do smooth; save kept to \"kept.npy\" }\n";
    Client client;
    client.open(text);
    const auto line_of = [&](const std::string& at) {
        const Json found = client.request("textDocument/definition", client.at(text.rfind(at)));
        return found.is_array() ? lines_of(found).at(0) : found.at("range").at("start").at("line").get<int>();
    };
    CHECK(line_of("smooth; save") == 4);
    CHECK(line_of("kept to") == 5);
}

TEST_CASE("components, columns, rows, levels and lets of loops have their definitions") {
    const std::string text =
        "stencil s(x) {\n"
        "    field v: (up: f32, on: f32) { boundary clamp; boundary v.up x mirror }\n"
        "    table atoms { q, r: f32 }\n"
        "    coef c[0..1] = [1, 2]\n"
        "    field f: f32[2] { boundary clamp }\n"
        "    field p: f32 { boundary clamp }\n"
        "    param n = 3\n"
        "    for i in 0..1 {\n"
        "        let g = c[i] * f.i[x+1]\n"
        "        f.i[t+1] = g\n"
        "    }\n"
        "    v.up[t+1] = v[x+1].up + sum(a in atoms) { let e = a.q * n; e + a.r }\n"
        "    v.on[t+1] = v.on\n"
        "    repeat k to 20 {\n"
        "        p[k+1] = 0.5 * p[k]\n"
        "    }\n"
        "    sweep x up {\n"
        "        let b = p[x-1]\n"
        "        p[t+1] = b\n"
        "    }\n"
        "}\n";
    Client client;
    client.open(text);
    const auto defined = [&](const std::string& at, std::size_t plus) {
        INFO(at);
        return lines_of(client.request("textDocument/definition", client.at(text.find(at) + plus)));
    };
    CHECK(defined("v.up x", 2) == std::vector<int>{1});
    CHECK(defined("[x+1].up", 6) == std::vector<int>{1});
    CHECK(defined("v.on[t+1]", 2) == std::vector<int>{1});
    CHECK(defined("a.q", 0) == std::vector<int>{11});
    CHECK(defined("a.q", 2) == std::vector<int>{2});
    CHECK(defined("e + a.r", 0) == std::vector<int>{11});
    CHECK(defined("in atoms", 3) == std::vector<int>{2});
    CHECK(defined("c[i]", 2) == std::vector<int>{7});
    CHECK(defined("= g", 2) == std::vector<int>{8});
    CHECK(defined("p[k]", 2) == std::vector<int>{13});
    CHECK(defined("= b\n", 2) == std::vector<int>{17});
}

TEST_CASE("a trace of points is declared where it is used first") {
    const std::string text =
        "stencil s(x) {\n"
        "    points shots, phones\n"
        "    field p: f32 { boundary clamp }\n"
        "    p[t+1] = p\n"
        "    inject p[t+1] at shots += shots.wavelet[t]\n"
        "    sample p[t+1] at phones into phones.trace[t]\n"
        "}\n"
        "run s {\n"
        "    grid 9\n"
        "    steps 2\n"
        "    shots at [3]\n"
        "    phones at [4]\n"
        "    init shots.wavelet = 1\n"
        "    save phones.trace to \"trace.npy\"\n"
        "}\n";
    Client client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    Json params = client.at(text.find("trace to"));
    CHECK(lines_of(client.request("textDocument/definition", params)) == std::vector<int>{5});
    params["newName"] = "heard";
    const Json changes = client.request("textDocument/rename", params).at("changes");
    CHECK(contains(edited(text, changes.at(Client::kUri)), "save phones.heard to \"trace.npy\""));
}

TEST_CASE("symbols are the stencils with what they declare, and the runs") {
    Client client;
    client.open(kSound);
    const Json symbols = client.request("textDocument/documentSymbol", client.document());
    REQUIRE(symbols.size() == 2);
    CHECK(symbols.at(0).at("name") == "sound");
    std::vector<std::string> names;
    for (const Json& child : symbols.at(0).at("children"))
        names.push_back(child.at("name").get<std::string>());
    CHECK(names == std::vector<std::string>{"dt", "bulk", "p", "vx", "squeeze", "loudest"});
    CHECK(symbols.at(1).at("name") == "run sound");
}

TEST_CASE("renaming edits all uses, and is refused where it would change what names mean") {
    Client client;
    client.open(kSound);
    const auto renamed = [&](const std::string& at, const std::string& name) {
        Json params = client.at(kSound.find(at));
        params["newName"] = name;
        return client.send("textDocument/rename", params);
    };
    const Json edit = renamed("bulk", "stiffness");
    REQUIRE(edit.contains("result"));
    std::string expected = kSound;
    for (std::size_t at = 0; (at = expected.find("bulk", at)) != std::string::npos;)
        expected.replace(at, 4, "stiffness");
    CHECK(edited(kSound, edit.at("result").at("changes").at(Client::kUri)) == expected);
    const auto why = [&](const std::string& at, const std::string& name) {
        const Json reply = renamed(at, name);
        return reply.contains("error") ? reply.at("error").at("message").get<std::string>() : "";
    };
    CHECK(contains(why("bulk", "dt"), "would have a mistake"));
    CHECK(contains(why("bulk", "if"), "would have a mistake"));
    CHECK(contains(why("bulk", "2x"), "is not a name"));
    CHECK(contains(why("order=4", "o"), "no name here"));
    CHECK(client.request("textDocument/prepareRename", client.at(kSound.find("squeeze"))).at("placeholder") ==
          "squeeze");

    // A name that an inner scope has would be meant instead.
    const std::string text =
        "stencil s(x) {\n    param q = 1\n    field u: f32\n    def f(k) = k * q\n"
        "    u[t+1] = f(u) + q\n}\n";
    client.open(text, "file:///specs/inner.halo");
    Json params = client.at(text.find("q = 1"), "file:///specs/inner.halo");
    params["newName"] = "k";
    CHECK(contains(client.refused("textDocument/rename", params), "another name"));
}

TEST_CASE("the axes of a field are names, too, and it tells of its own cells") {
    const std::string text =
        "stencil s(x, height) {\n    field wind: f64 over height at height+1/2\n    field u: f32\n"
        "    u[t+1] = u + interpolate(wind, height)\n}\n";
    Client client;
    client.open(text);
    Json params = client.at(text.find("height)"));
    params["newName"] = "z";
    std::string expected = text;
    for (std::size_t at = 0; (at = expected.find("height", at)) != std::string::npos;)
        expected.replace(at, 6, "z");
    CHECK(edited(text, client.request("textDocument/rename", params).at("changes").at(Client::kUri)) ==
          expected);
    const std::string hover =
        client.request("textDocument/hover", client.at(text.find("wind"))).at("contents").at("value");
    CHECK(contains(hover, "place: height+1/2"));
    CHECK(contains(hover, "8 bytes for each cell along height"));
}

TEST_CASE("names of loops over names are renamed by hand") {
    const std::string text =
        "stencil s(x, y) {\n"
        "    field u: f32 { boundary periodic }\n"
        "    for a in axes { field psi_{a}: f32 }\n"
        "    for a in x, y { psi_{a} = d(u, a) }\n"
        "}\n";
    Client client;
    client.open(text);
    CHECK(client.diagnostics() == Json::array());
    CHECK(
        contains(client.refused("textDocument/prepareRename", client.at(text.find("psi_{a} ="))), "by hand"));
    Json params = client.at(text.find("x, y) {"));
    params["newName"] = "z";
    CHECK(contains(client.refused("textDocument/rename", params), "by hand"));
    CHECK(lines_of(client.request("textDocument/definition", client.at(text.find("psi_{a} =")))) ==
          std::vector<int>{2});
}

TEST_CASE("definitions, references and renaming go across modules") {
    Folder folder;
    folder.write("rates.halo", "const half = 1/2\ndef rate(c) = half * laplacian(c)\n");
    const std::string spec =
        "use \"rates.halo\"\nstencil s(x) {\n    field u: f32 { boundary periodic }\n    u[t+1] = u + "
        "rate(u)\n}\n";
    folder.write("a.halo", spec);
    folder.write("b.halo", spec);
    folder.write("other.halo", "stencil o(x) { field rate: f32; rate[t+1] = 2 * rate }\n");
    const std::string root = "file://" + folder.path();
    Client client("utf-16", root);
    client.open(spec, root + "/a.halo");
    CHECK(client.diagnostics(root + "/a.halo") == Json::array());
    const Json place = client.at(spec.find("rate(u)"), root + "/a.halo");
    const Json definition = client.request("textDocument/definition", place);
    REQUIRE(definition.size() == 1);
    CHECK(definition.front().at("uri") == root + "/rates.halo");
    CHECK(definition.front().at("range").at("start") == Json{{"line", 1}, {"character", 4}});
    CHECK(client.request("textDocument/definition", client.at(6, root + "/a.halo")).front().at("uri") ==
          root + "/rates.halo");
    Json params = place;
    params["context"] = {{"includeDeclaration", true}};
    CHECK(client.request("textDocument/references", params).size() == 3);  // not those of other.halo
    params["newName"] = "change";
    const Json changes = client.request("textDocument/rename", params).at("changes");
    CHECK(changes.size() == 3);
    CHECK(changes.contains(root + "/b.halo"));
    CHECK(edited(folder.read("rates.halo"), changes.at(root + "/rates.halo")) ==
          "const half = 1/2\ndef change(c) = half * laplacian(c)\n");

    // What is written in the module counts before it is saved, and a module that is gone is a mistake.
    client.open("const half = 1/2\n", root + "/rates.halo");
    CHECK(client.diagnostics(root + "/a.halo").size() == 1);
    client.notify("textDocument/didClose", client.document(root + "/rates.halo"));
    CHECK(client.diagnostics(root + "/a.halo") == Json::array());
    std::filesystem::remove(folder.path() + "/rates.halo");
    client.notify("workspace/didChangeWatchedFiles", {{"changes", Json::array()}});
    const Json gone = client.diagnostics(root + "/a.halo");
    REQUIRE(gone.size() == 1);
    CHECK(gone.front().at("code") == "module-not-found");
}

TEST_CASE("mistakes of a module are shown where it is used") {
    Folder folder;
    folder.write("rates.halo", "const half = 1/\n");
    const std::string uri = "file://" + folder.path() + "/a.halo";
    Client client;
    client.open("use \"rates.halo\"\nstencil s(x) {\n    field u: f32\n    u[t+1] = u\n}\n", uri);
    const Json messages = client.diagnostics(uri);
    REQUIRE(messages.size() == 1);
    CHECK(messages.front().at("range").at("start").at("line") == 0);
    CHECK(
        contains(messages.front().at("message").get<std::string>(), "in " + folder.path() + "/rates.halo: "));
    CHECK(contains(messages.front().at("relatedInformation").dump(), "rates.halo"));
}

TEST_CASE("names of the compiler's own library are shown and not renamed") {
    Folder folder;
    const std::string text =
        "use \"operators.halo\"\nstencil s(x) {\n    field u: f32\n    u[t+1] = u * sponge(x, 3, 1)\n}\n";
    Client client;
    client.open(text);
    const std::size_t place = text.find("sponge");
    CHECK(contains(client.request("textDocument/hover", client.at(place)).dump(),
                   "def sponge(axis, width, strength)"));
    CHECK(contains(client.refused("textDocument/prepareRename", client.at(place)), "own library"));
}
