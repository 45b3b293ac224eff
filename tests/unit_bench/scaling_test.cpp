// The page of scaling, its JSON and its pictures, of results that nobody measured; and what is computed of
// measurements on the way.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "compiler/bench/page.h"
#include "compiler/bench/scaling_lab.h"
#include "compiler/bench/scaling_page.h"
#include "contains.h"
#include "sample_scaling.h"
#include "temporary_folder.h"

using namespace halo;
using bench::ScalingRun;
using rt::ExchangeScheme;

namespace {

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// As the picture's file says it.
std::pair<int, int> size_of_png(const std::string& path) {
    const std::string bytes = read(path);
    REQUIRE(bytes.substr(1, 3) == "PNG");
    const auto number = [&](std::size_t at) {
        int value = 0;
        for (std::size_t n = 0; n < 4; ++n)
            value = 256 * value + static_cast<unsigned char>(bytes[at + n]);
        return value;
    };
    return {number(16), number(20)};
}

std::vector<ScalingRun> line_through(const std::vector<std::pair<int, double>>& points) {
    std::vector<ScalingRun> line;
    for (const auto& [length, seconds] : points) {
        ScalingRun run;
        run.extent = {length, length, 1};
        run.seconds = seconds;
        line.push_back(run);
    }
    return line;
}

}  // namespace

TEST_CASE("the whole page of scaling") {
    const std::string path = HALO_SOURCE_DIR "/tests/unit_bench/expected/scaling.md";
    const std::string page =
        bench::scaling_page(test::scaling_results(true), {"a-lengths.png", "a-beyond.png"});
    if (std::getenv("HALO_REGENERATE") != nullptr) std::ofstream(path, std::ios::binary) << page;
    INFO(path << ": read what changed, then HALO_REGENERATE=1 keeps it");
    CHECK(read(path) == page);
}

TEST_CASE("a page of one scheme compares it with nothing") {
    const std::string page = bench::scaling_page(test::scaling_results(false), {});
    CHECK(contains(page, "#### 4 devices, synchronous exchange\n"));
    CHECK(page.find("asynchronous") == std::string::npos);
    CHECK(page.find("![") == std::string::npos);
}

TEST_CASE("what was not measured has no part of the page") {
    bench::ScalingResults results = test::scaling_results(false);
    results.strong.clear();
    results.weak.clear();
    results.link = {};
    results.beyond.clear();
    results.missing.clear();
    results.kinds.clear();
    const std::string page = bench::scaling_page(results, {});
    for (const char* title :
         {"### One grid", "### A grid", "### The link", "### Beyond", "### What is wrong"})
        CHECK(page.find(title) == std::string::npos);
    CHECK(contains(page, "### Lengths and halos"));
}

TEST_CASE("a kink is how far a length lies off the line of its neighbours") {
    // A cost of a step and one of a cell are a straight line, however far the lengths are apart.
    const auto straight = line_through({{100, 3.0}, {300, 11.0}, {400, 18.0}, {1000, 102.0}});
    CHECK(bench::largest_kinks(straight).above.deviation < 1e-9);
    CHECK(bench::largest_kinks(straight).below.deviation > -1e-9);
    const auto bent = line_through({{100, 1.0}, {200, 4.4}, {400, 16.0}, {800, 64.0}});
    CHECK(bench::largest_kinks(bent).above.length == 200);
    CHECK(bench::largest_kinks(bent).above.deviation == Approx(0.1));
    CHECK(bench::largest_kinks(bent).below.length == 400);  // 16, where 4.4 and 64 have 16.32 between them
    CHECK(bench::largest_kinks(bent).below.deviation == Approx(16 / 16.32 - 1));
    const auto two = bench::largest_kinks(line_through({{100, 1.0}, {200, 9.0}}));
    CHECK(two.above.length + two.below.length == 0);  // none between others
}

TEST_CASE("the model's link is the slowest of all pairs, and waits as long as was measured of so many") {
    const bench::ScalingResults results = test::scaling_results(false);
    const driver::Link of_four = bench::link_of(results.link, 4, true);
    CHECK(of_four.bytes_per_second == Approx(395e9).epsilon(0.01));  // between 2 and 3
    CHECK(of_four.copy_seconds == Approx(9.01e-6).epsilon(0.01));
    CHECK(of_four.wait_seconds == Approx(26e-6).epsilon(0.01));
    CHECK(of_four.barrier_seconds == 15e-6);
    CHECK(bench::link_of(results.link, 2, true).wait_seconds == Approx(11e-6).epsilon(0.01));
    const driver::Link built_in = bench::link_of({}, 2, true);
    CHECK(built_in.bytes_per_second == driver::built_in_link(true).bytes_per_second);
    CHECK(built_in.wait_seconds == driver::built_in_link(true).wait_seconds);
}

TEST_CASE("the programs of scaling have one field, and no sums that nobody looks at") {
    CHECK(bench::scaling_program("bench/star3d1").reach == 1);
    const bench::ScalingProgram program = bench::scaling_program("cahn_hilliard");
    CHECK(program.reach == 2);
    CHECK(program.field == "c");
    for (const ir::Statement& statement : program.program.statements)
        CHECK_FALSE(std::holds_alternative<ir::Reduce>(statement));
}

TEST_CASE("the JSON of scaling has every figure") {
    const nlohmann::json json = nlohmann::json::parse(bench::scaling_json(test::scaling_results(true)));
    CHECK(json["strong"].size() == 1 + 2 * 3);
    CHECK(json["each_device"][3]["first_device"] == 3);
    CHECK(json["weak"][6]["wrong"].get<std::string>().starts_with("after 69 steps"));
    CHECK(json["lengths"].size() == 6 * (4 + 2 * 3 * 4));
    CHECK(json["link"]["pairs"].size() == 12);
    CHECK(json["link"]["pairs"][0]["copies"][0]["bytes"] == 4096);
    CHECK(json["model"]["points"].size() == 2 * (11 + 11 + 3));
    CHECK(json["model"]["network_bytes_per_s"] == 50e9);
    CHECK(json["measurements"][0]["wanted"] == 84);
    CHECK(json["measurements"][0]["left_out"] == 63);
}

TEST_CASE("what one device does is the fastest of its kernels, by length") {
    const auto one = bench::fastest_on_one(test::scaling_results(false).lengths);
    REQUIRE(one.size() == 6);
    CHECK(one.front().extent[0] == 1024);
    for (const ScalingRun& run : one)
        CHECK(run.width == 16);
}

TEST_CASE("pictures have a panel for each scheme, and two rows for each number of devices") {
    const TemporaryFolder folder;
    const std::string path = folder / "picture.png";
    bench::write_beyond(path, test::scaling_results(true));
    const auto [width, height] = size_of_png(path);
    const std::pair<int, int> panel{width / 2, height};
    bench::write_lengths(path, test::scaling_results(true));
    CHECK(size_of_png(path) == std::pair{3 * panel.first, 4 * panel.second});
    bench::write_lengths(path, test::scaling_results(false));
    CHECK(size_of_png(path) == std::pair{panel.first, 4 * panel.second});
}
