// The examples' texts, and the page that shows them.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../cli/process.h"
#include "catch.h"
#include "contains.h"

using namespace halo::test;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = HALO_SOURCE_DIR;

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::vector<std::string> example_paths(const fs::path& folder = kRoot / "dsl_examples") {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".halo") paths.push_back(entry.path().string());
    return paths;
}

}  // namespace

TEST_CASE("every example is in the usual layout and has no mistakes") {
    const Folder folder;
    for (const char* command : {"fmt", "check"}) {
        std::vector<std::string> arguments{command};
        if (arguments[0] == "fmt") arguments.push_back("--check");
        for (const std::string& path : example_paths())
            arguments.push_back(path);
        for (const std::string& path : example_paths(kRoot / "dsl_examples/bench"))
            arguments.push_back(path);
        for (const std::string& path : example_paths(kRoot / "lib"))
            arguments.push_back(path);
        REQUIRE(arguments.size() > 11);
        const Outcome outcome = folder.haloc(arguments);
        INFO(outcome.err);
        CHECK(outcome.code == 0);
    }
}

TEST_CASE("docs/examples.md shows every example as it is") {
    const std::string page = read(kRoot / "docs/examples.md");
    for (const fs::path path : example_paths()) {
        const std::string name = path.stem().string();
        INFO(name);
        CHECK(contains(page, "haloc run dsl_examples/" + name + ".halo"));
    }
    // A spec on the page is the stencil of an example, word for word.
    std::string all;
    for (const std::string& path : example_paths())
        all += read(path);
    int specs = 0;
    const std::string opening = "```halo\n";
    for (std::size_t at = page.find(opening); at != std::string::npos; at = page.find(opening, at + 1)) {
        const std::size_t begin = at + opening.size();
        const std::string spec = page.substr(begin, page.find("```", begin) - begin);
        INFO(spec);
        CHECK(contains(all, spec));
        ++specs;
    }
    CHECK(specs >= 9);
}

TEST_CASE("every picture on the page is there, is a small PNG, and none is left over") {
    const std::string page = read(kRoot / "docs/examples.md");
    std::size_t pictures = 0;
    for (const auto& entry : fs::directory_iterator(kRoot / "docs/images")) {
        const std::string file = entry.path().filename().string();
        INFO(file);
        CHECK(contains(page, "](images/" + file + ")"));
        CHECK(read(entry.path()).compare(1, 3, "PNG") == 0);
        CHECK(entry.file_size() < 60 * 1024);
        ++pictures;
    }
    std::size_t shown = 0;
    for (std::size_t at = page.find("](images/"); at != std::string::npos;
         at = page.find("](images/", at + 1))
        ++shown;
    CHECK(pictures == shown);
}
