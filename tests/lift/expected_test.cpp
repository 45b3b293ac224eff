// What lift writes, text for text, in expected/. HALO_REGENERATE=1 writes it anew.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "cases.h"
#include "catch.h"

namespace {

std::string without_header(std::string text) {
    while (text.rfind("#", 0) == 0)
        text = text.substr(text.find('\n') + 1);
    return text;
}

}  // namespace

TEST_CASE("lifted specs are as expected", "[cases]") {
    std::map<std::string, std::string> files;
    for (const halo::test::LiftCase& each : halo::test::lift_cases()) {
        if (!each.refused.empty()) continue;
        std::string name = each.file;
        name[name.rfind('.')] = '_';
        for (const halo::lift::Lifted& lifted : halo::test::nests_of(each).lifted) {
            std::string& text = files[name + ".halo"];
            text += (text.empty() ? "" : "\n") + without_header(halo::lift::file_text(lifted, {}));
        }
    }
    for (const auto& [name, text] : files) {
        INFO(name);
        const std::string path = HALO_SOURCE_DIR "/tests/lift/expected/" + name;
        if (std::getenv("HALO_REGENERATE")) std::ofstream(path) << text;
        std::ifstream in(path);
        std::ostringstream expected;
        expected << in.rdbuf();
        CHECK(text == expected.str());
    }
}
