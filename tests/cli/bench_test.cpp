// haloc bench on a machine that may have no GPU: what it writes, what it says, how it ends.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "contains.h"
#include "process.h"

using namespace halo::test;

namespace {

const std::string kBegin = "<!-- haloc bench: begin -->\n", kEnd = "<!-- haloc bench: end -->\n";

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

TEST_CASE("bench --scaling measures what it is asked for, checked, and writes its page") {
    Folder folder;
    const Outcome outcome =
        folder.haloc({"bench", "--scaling", "--device", "cpu", "--only", "link", "--only", "lengths",
                      "--lengths", "32,40", "--output", "page.md", "--json", "figures.json"});
    if (is_without_cpu(outcome)) return;
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(folder.names() == std::vector<std::string>{"figures.json", "page-lengths.png", "page.md"});
    const std::string page = folder.read("page.md");
    INFO(page);
    CHECK(page.starts_with("# Scaling\n\n" + kBegin + "## On 2 pieces of a CPU\n"));
    CHECK(contains(page, "| length | one device | halos of 2 | halos of 4 | halos of 8 | halos of 16 |\n"));
    CHECK(contains(page, "](page-lengths.png)"));
    CHECK(contains(page, "--only link --only lengths --lengths 32,40`"));
    CHECK_FALSE(contains(page, "### Beyond"));
    CHECK_FALSE(contains(page, "What is wrong or missing"));
    const nlohmann::json json = nlohmann::json::parse(folder.read("figures.json"));
    CHECK(json["lengths"].size() == 4 + 2 * 8);  // and half the least length on one device
    for (const nlohmann::json& run : json["lengths"]) {
        CHECK(run["wrong"] == "");
        CHECK(run["seconds_per_step"] > 0);
        CHECK((run["devices"] == 1) == (run["checked_on"] == ""));
        CHECK((run["devices"] == 1) == !run.contains("predicted_seconds_per_step"));
    }
    CHECK(json["link"]["pairs"].size() == 2);
    CHECK(json["strong"].empty());
}

TEST_CASE("bench --scaling leaves out what is past its budget, and says so") {
    Folder folder;
    const Outcome outcome = folder.haloc({"bench", "--scaling", "--device", "cpu", "--only", "lengths",
                                          "--lengths", "32", "--budget", "1e-9", "-q"});
    if (is_without_cpu(outcome)) return;
    CHECK(outcome.code == 0);
    for (const char* where : {"one device: 8 of 8", "2 devices: 4 of 4"})
        CHECK(contains(outcome.out,
                       std::string("- Cahn-Hilliard on ") + where + " measurements left out, the "));
    CHECK(contains(outcome.out, "of `--budget` were spent\n"));
    CHECK(std::ranges::count(outcome.out, '\n') < 40);  // a line for each kind, not for each measurement
}

TEST_CASE("what bench --scaling cannot do is said at once") {
    Folder folder;
    CHECK(folder.haloc({"bench", "--scaling", "--filter", "f64"}).code == 2);
    CHECK(folder.haloc({"bench", "--only", "link"}).code == 2);
    CHECK(folder.haloc({"bench", "--budget", "1"}).code == 2);
    CHECK(folder.haloc({"bench", "--scaling", "--programs"}).code == 2);
    Outcome outcome = folder.haloc({"bench", "--scaling", "--only", "wide"});
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "the parts are link, strong, weak, lengths, beyond"));
    outcome = folder.haloc({"bench", "--scaling", "--lengths", "20"});
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "the least length is 32"));
    CHECK(folder.haloc({"bench", "--scaling", "--device", "interpreter"}).code == 2);
    CHECK(folder.haloc({"bench", "--scaling", "--output", "none/page.md"}).code == 4);
    CHECK(folder.haloc({"bench", "--scaling", "--device", "cuda", "--devices", "64"}).code == 3);
}

TEST_CASE("bench --programs verifies every program on small grids, and writes its page and JSON") {
    Folder folder;
    const Outcome outcome = folder.haloc({"bench", "--programs", "--device", "cpu", "--quick", "--output",
                                          "page.md", "--json", "figures.json"});
    if (is_without_cpu(outcome)) return;
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(folder.names() == std::vector<std::string>{"figures.json", "page.md"});  // none of the run blocks
    const std::string page = folder.read("page.md");
    INFO(page);
    CHECK(page.starts_with("# Programs\n\n" + kBegin + "## On a CPU\n"));
    CHECK_FALSE(contains(page, "What is wrong or missing"));
    const nlohmann::json json = nlohmann::json::parse(folder.read("figures.json"));
    CHECK(json["programs"].size() >= 25);
    for (const nlohmann::json& program : json["programs"]) {
        INFO(program);
        for (const char* way : {"run", "single"}) {
            CHECK(program[way]["verified"] == true);
            CHECK(program[way]["rate_per_s"] > 0);
        }
        CHECK(program["bytes_per_cell"] > 0);
        CHECK_FALSE(program.contains("trouble"));
    }
}

TEST_CASE("bench --programs measures what is named, and what there is time for") {
    Folder folder;
    Outcome outcome = folder.haloc({"bench", "--programs", "--only", "heat3d,heat4d"});
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "no program is called `heat4d`"));
    CHECK(contains(outcome.err, "heat3d-128, heat3d-1024"));
    CHECK(folder.haloc({"bench", "--programs", "--filter", "f64"}).code == 2);
    CHECK(folder.haloc({"bench", "--programs", "--output", "none/page.md"}).code == 4);
    outcome = folder.haloc(
        {"bench", "--programs", "--device", "cpu", "--only", "heat3d-1024,wave2d", "--budget", "1e-9", "-q"});
    if (is_without_cpu(outcome)) return;
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out,
                   "- heat3d 24 × 20 × 19: left out, as the 1e-09 seconds of --budget were spent\n"));
    CHECK(contains(outcome.out, "- wave2d 48 × 37: left out"));
    CHECK(std::ranges::count(outcome.out, '\n') < 24);
}
