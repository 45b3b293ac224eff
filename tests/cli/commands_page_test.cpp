// docs/commands.md is what `haloc about markdown` prints. HALO_REGENERATE=1 writes it anew.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "process.h"

using namespace halo::test;

TEST_CASE("the command reference is what the command says of itself") {
    const std::string path = HALO_SOURCE_DIR "/docs/commands.md";
    Folder folder;
    const Outcome outcome = folder.haloc({"about", "markdown"});
    REQUIRE(outcome.code == 0);
    if (std::getenv("HALO_REGENERATE") != nullptr) {
        std::ofstream(path, std::ios::binary) << outcome.out;
        return;
    }
    std::ostringstream page;
    page << std::ifstream(path, std::ios::binary).rdbuf();
    CHECK(page.str() == outcome.out);
}
