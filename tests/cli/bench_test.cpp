// haloc bench on a machine that may have no GPU: what it writes, what it says, how it ends.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "process.h"

using namespace halo::test;

namespace {

const std::string kBegin = "<!-- haloc bench: begin -->\n", kEnd = "<!-- haloc bench: end -->\n";

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// One small stencil on the CPU.
Outcome bench(const Folder& folder, std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", "--device", "cpu", "--filter", "2D 5-point f32"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return folder.haloc(arguments);
}

bool is_without_cpu(const Outcome& outcome) {
    return outcome.code == 3 && contains(outcome.err, "LLVM");
}

}  // namespace

TEST_CASE("bench writes a page with its picture, and JSON") {
    Folder folder;
    folder.write("page.md", "# Mine\n\n" + kBegin + "old\n" + kEnd + "\nMy own words.\n");
    const Outcome outcome = bench(folder, {"--output", "page.md", "--json", "figures.json"});
    if (is_without_cpu(outcome)) return;
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(folder.names() == std::vector<std::string>{"figures.json", "page-roofline.png", "page.md"});
    const std::string page = folder.read("page.md");
    INFO(page);
    CHECK(page.starts_with("# Mine\n\n" + kBegin));
    CHECK(page.ends_with(kEnd + "\nMy own words.\n"));
    CHECK_FALSE(contains(page, "old\n"));
    CHECK(contains(page, "| 2D 5-point f32 1024² | **"));
    CHECK(contains(page, "](page-roofline.png)"));
    CHECK(folder.read("page-roofline.png").compare(1, 3, "PNG") == 0);
    const nlohmann::json json = nlohmann::json::parse(folder.read("figures.json"));
    REQUIRE(json["cases"].size() == 1);
    const nlohmann::json& measured = json["cases"][0]["measurements"][0];
    CHECK(measured["verified"] == true);
    CHECK(measured["rate_per_s"] > 0);
    CHECK(json["machine"]["copy_driver_bytes_per_s"] > 0);
}

TEST_CASE("without --output the page goes to standard output, and no file is written") {
    Folder folder;
    const Outcome outcome = bench(folder, {"-q"});
    if (is_without_cpu(outcome)) return;
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "## On a CPU\n"));
    CHECK(outcome.err.empty());
    CHECK(folder.names().empty());
}

TEST_CASE("a schedule is nothing for a CPU, and the page says so") {
    Folder folder;
    const Outcome outcome = bench(folder, {"--schedule", "direct threads=32x8"});
    if (is_without_cpu(outcome)) return;
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "direct threads=32x8: schedules are for GPUs"));
}

TEST_CASE("what cannot be measured or written is said before anything is measured") {
    Folder folder;
    Outcome outcome = folder.haloc({"bench", "--output", "none/page.md"});
    CHECK(outcome.code == 4);
    CHECK(contains(outcome.err, "there is no folder none"));
    folder.write("page.md", "# A page of somebody's own\n");
    outcome = folder.haloc({"bench", "--output", "page.md"});
    CHECK(outcome.code == 4);
    CHECK(contains(outcome.err, "page.md is there and has not the lines"));
    CHECK(folder.read("page.md") == "# A page of somebody's own\n");
    CHECK(folder.haloc({"bench", "--device", "interpreter"}).code == 2);
    CHECK(folder.haloc({"bench", "--device", "cuda:x"}).code == 2);
    CHECK(folder.haloc({"bench", "--device", "cuda:99"}).code == 3);
    CHECK(folder.haloc({"bench", "--growth", "--growth-alone"}).code == 2);
    outcome = folder.haloc({"bench", "--device", "cpu", "--filter", "7D"});
    if (is_without_cpu(outcome)) return;
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "no case has `7D` in its name"));
    CHECK(contains(outcome.err, "2D 5-point f32 1024²"));
}
