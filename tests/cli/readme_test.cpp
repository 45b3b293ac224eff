// What the README shows is what the command does. HALO_REGENERATE=1 writes its CUDA anew; read the difference
// before you commit it.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "process.h"

using namespace halo::test;

namespace {

std::string readme() {
    std::ifstream file(HALO_SOURCE_DIR "/README.md");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The text of the fenced block number `index` (from 0) of a language.
std::string block(const std::string& language, int index) {
    static const std::string text = readme();
    std::size_t at = 0;
    for (int i = 0; i <= index; ++i) {
        at = text.find("```" + language + "\n", at);
        REQUIRE(at != std::string::npos);
        at += language.size() + 4;
    }
    return text.substr(at, text.find("```", at) - at);
}

}  // namespace

TEST_CASE("the README's spec becomes the README's CUDA") {
    Folder folder;
    folder.write("heat.halo", block("halo", 0));
    Outcome outcome = folder.haloc({"emit", "heat.halo", "--schedule", "direct threads=32x8 cells=1x1"});
    REQUIRE(outcome.code == 0);
    std::string shown = block("cuda", 0);
    if (std::getenv("HALO_REGENERATE") != nullptr) {
        std::string text = readme();
        text.replace(text.find(shown), shown.size(), outcome.out);
        std::ofstream(HALO_SOURCE_DIR "/README.md", std::ios::binary) << text;
        return;
    }
    CHECK(outcome.out == shown);
}

TEST_CASE("the README's specs are in the usual layout and run") {
    Folder folder;
    for (int i = 0; i < 2; ++i) {
        folder.write("heat.halo", block("halo", i));
        CHECK(folder.haloc({"fmt", "--check", "heat.halo"}).code == 0);
    }
    Outcome outcome = folder.haloc({"run", "heat.halo", "--grid", "16,16", "--steps", "20", "--set", "dt=1/8",
                                    "--save", "u=short.npy", "--timings", "--device", "interpreter"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(folder.names() == std::vector<std::string>{"heat.halo", "heat.png", "short.npy"});
}
