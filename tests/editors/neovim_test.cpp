// The language server in Neovim, without a window.
#include <cstdlib>

#include "catch.h"
#include "contains.h"
#include "process.h"
#include "skip.h"

#include <nlohmann/json.hpp>

using namespace halo::test;

namespace {
const SkipUnless neovim(std::system("nvim --version >/dev/null 2>&1") == 0, "Neovim (nvim) is not installed");
}

TEST_CASE("Neovim shows mistakes, mends, hovers, renames and sets the layout") {
    Folder folder;
    folder.write("heat.halo",
                 "# Ström ∂u 😀\n"
                 "stencil heat(x) {\n"
                 "  field u: f32 { boundary periodic }\n"
                 "    u[t+1] = u + 0.1 * lapalcian(u) # 😀\n"
                 "}\n");
    Invocation invocation;
    invocation.launcher = {"timeout",
                           "60",
                           "nvim",
                           "--headless",
                           "--clean",
                           "-c",
                           "luafile " HALO_SOURCE_DIR "/tests/editors/neovim.lua"};
    invocation.program = "-n";  // no swap file
    invocation.folder = folder.path();
    invocation.set = {"HALOC=" HALO_BINARY_DIR "/bin/haloc",  "HALO_EDITORS=" HALO_SOURCE_DIR "/editors",
                      "SPEC=" + folder.path() + "/heat.halo", "RESULT=" + folder.path() + "/result.json",
                      "XDG_STATE_HOME=" + folder.path(),      "XDG_CACHE_HOME=" + folder.path()};
    const Outcome outcome = run_haloc(invocation);
    INFO(outcome.err);
    INFO(outcome.out);
    CHECK(outcome.code == 0);
    const nlohmann::json result = nlohmann::json::parse(folder.read("result.json"), nullptr, false);
    REQUIRE(result.is_object());
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
