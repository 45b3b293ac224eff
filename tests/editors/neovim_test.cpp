// The language server in Neovim, without a window.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "catch.h"
#include "contains.h"
#include "process.h"
#include "skip.h"

#include <nlohmann/json.hpp>

using namespace halo::test;

namespace {
const SkipUnless neovim(std::system("nvim --version >/dev/null 2>&1") == 0, "Neovim (nvim) is not installed");

// What a script of this folder says of a spec in Neovim.
nlohmann::json told_by(const Folder& folder, const std::string& script, const std::string& spec) {
    Invocation invocation;
    invocation.launcher = {"timeout",
                           "60",
                           "nvim",
                           "--headless",
                           "--clean",
                           "-c",
                           "luafile " HALO_SOURCE_DIR "/tests/editors/" + script};
    invocation.program = "-n";  // no swap file
    invocation.folder = folder.path();
    invocation.set = {"HALOC=" HALO_BINARY_DIR "/bin/haloc",      "HALO_EDITORS=" HALO_SOURCE_DIR "/editors",
                      "PARSER=" HALO_BINARY_DIR "/neovim",        "SPEC=" + folder.path() + "/" + spec,
                      "RESULT=" + folder.path() + "/result.json", "XDG_STATE_HOME=" + folder.path(),
                      "XDG_CACHE_HOME=" + folder.path()};
    const Outcome outcome = run_haloc(invocation);
    INFO(outcome.err);
    INFO(outcome.out);
    CHECK(outcome.code == 0);
    nlohmann::json result = nlohmann::json::parse(folder.read("result.json"), nullptr, false);
    REQUIRE(result.is_object());
    return result;
}

}  // namespace

TEST_CASE("Neovim shows mistakes, mends, hovers, renames and sets the layout") {
    Folder folder;
    folder.write("heat.halo",
                 "# Ström ∂u 😀\n"
                 "stencil heat(x) {\n"
                 "  field u: f32 { boundary periodic }\n"
                 "    u[t+1] = u + 0.1 * lapalcian(u) # 😀\n"
                 "}\n");
    const nlohmann::json result = told_by(folder, "neovim.lua", "heat.halo");
    CHECK(contains(result.at("message").get<std::string>(), "lapalcian"));
    CHECK(result.at("word") == "lapalcian");
    CHECK(result.at("left") == 0);
    CHECK(contains(result.at("hover").get<std::string>(), "type: f32, state"));
    CHECK(result.at("defined") == 2);
    CHECK(result.at("text") ==
          "# Ström ∂u 😀\n"
          "stencil heat(x) {\n"
          "    field heat: f32 { boundary periodic }\n"
          "    heat[t+1] = heat + 0.1 * laplacian(heat)  # 😀\n"
          "}");
}

TEST_CASE("Neovim colours words by the tree-sitter grammar") {
    Folder folder;
    folder.write("on.halo",
                 "stencil tank(x, y) {\n"
                 "    param dt = 0.1\n"
                 "    field on: f32 { boundary clamp }\n"
                 "    def flow(v) = dt * laplacian(v)\n"
                 "    on[t+1] = on + flow(on)  # a field of that name\n"
                 "    on x.low { on[t+1] = 1 }\n"
                 "}\n"
                 "run tank { save on every 5 to \"on.npy\" }\n");
    const nlohmann::json result = told_by(folder, "colours.lua", "on.halo");
    CHECK(result.at("has_error") == false);
    CHECK(result.at("is_coloured") == true);
    const auto captures = result.at("captures").get<std::vector<std::string>>();
    const auto count = [&](const std::string& capture) { return std::ranges::count(captures, capture); };
    for (const char* capture :
         {"stencil keyword", "param keyword", "f32 type.builtin", "clamp constant.builtin", "flow function",
          "laplacian function.builtin", "0.1 number", "# a field of that name comment", "\"on.npy\" string",
          "every keyword", "+ operator", "tank type"}) {
        INFO(capture);
        CHECK(count(capture) >= 1);
    }
    CHECK(count("on keyword") == 1);  // the statement alone
}
