// The page and the JSON of results, and how a page is put into a file that is there.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "compiler/bench/json.h"
#include "compiler/bench/page.h"
#include "compiler/driver/console/exit_code.h"
#include "contains.h"
#include "sample_results.h"

using namespace halo;
using bench::kBegin;
using bench::kEnd;

namespace {}  // namespace

TEST_CASE("a page says what was measured, against its bound and against naive") {
    const std::string page = bench::page(test::gpu_results(), {"a-roofline.png", "a-growth.png"});
    CHECK(contains(page, "Made-up GPU, sm_90, 100 SMs; driver 1.2, CUDA 13.0, NVRTC 13.0; commit abc1234"));
    CHECK(contains(page, "by a kernel of 16 bytes a thread and at 3.90 TB/s"));
    CHECK(contains(page, "1.98 GHz before the first measurement and at 1.75 GHz after the last"));
    // No column for a strategy that none could run by; the choice is bold; 450 of 500.
    CHECK(contains(page, "| stencil | naive | direct | stream | of the bound |\n"));
    CHECK(contains(page, "| 3D 7-point f32 1000³ | 250.0 | **450.0** | 200.0 | 90.0 % |\n"));
    CHECK(contains(
        page, "| 3D 7-point f32 1000³ | direct threads=32x4x1 cells=4x2x4 | 1.80 × | 96 | 0 B | 2.0 % |\n"));
    CHECK(contains(page,
                   "| heat f32 128³, 5000 steps | direct threads=32x4x4 cells=4x2x4 | 20.0 ms | **524.3** | "
                   "104.9 % | 40.0 ms | 370 ms: somebody else |\n"));
    CHECK(contains(
        page,
        "| Coulomb potential f32 100³, 1000 rows | direct threads=32x4x1 cells=4x1x1 | 1000.00 | 9000.0 | "
        "31.2 % | – |\n"));
    CHECK(contains(page, "](a-roofline.png)"));
    CHECK(contains(page, "](a-growth.png)"));
    CHECK(contains(page, "| 512³ | 300.0 | 447.0 | direct |\n"));
    CHECK(contains(page, "| chain | 100 | 10.00 | 10.00 | 10.00 | 10.00 | 10.00 | 50.00 | 100 | – |\n"));
}

TEST_CASE("what is wrong is named, has no figure and no share of the bound") {
    const std::string page = bench::page(test::gpu_results(), {});
    CHECK(contains(page, "| 2D 9-point box f64 1000² | 100.0 | **wrong** | – | – |\n"));
    CHECK(contains(page,
                   "- 2D 9-point box f64 1000² by direct threads=128x2 cells=2x4 is wrong: u differs from"));
    CHECK_FALSE(contains(page, "2D 9-point box f64 1000² | direct"));
    CHECK_FALSE(contains(page, "![Roofline"));
}

TEST_CASE("a page of a processor says that no GPU was measured") {
    const std::string page = bench::page(test::cpu_results(), {});
    CHECK(contains(page, "| stencil | cpu | of the bound |\n"));
    CHECK(contains(page, "| 2D 5-point f32 1000² | **1.000** | 20.0 % |\n"));
    CHECK(contains(page, "- no GPU was measured: there is none\n"));
    CHECK_FALSE(contains(page, "GHz"));
    CHECK_FALSE(contains(page, "naive"));
}

TEST_CASE("the JSON has every measurement") {
    const nlohmann::json json = nlohmann::json::parse(bench::to_json(test::gpu_results()));
    CHECK(json["machine"]["copy_kernel_bytes_per_s"] == 4e12);
    REQUIRE(json["cases"].size() == 4);
    const nlohmann::json& star = json["cases"][0];
    CHECK(star["spec"] == "bench/star3d1");
    CHECK(star["chosen"] == "direct");
    CHECK(star["bound_per_s"] == 5e11);
    REQUIRE(star["measurements"].size() == 3);
    CHECK(star["measurements"][0]["verified"] == true);
    CHECK(star["measurements"][0]["rate_per_s"].get<double>() == Approx(2.5e11));
    CHECK(json["cases"][1]["measurements"][1]["verified"] == false);
    CHECK(json["grids"].size() == 3);
    CHECK(json["compiles"].size() == 4);
}

TEST_CASE("a page keeps what stands around it") {
    const std::string begin = std::string(kBegin) + "\n", end = std::string(kEnd) + "\n";
    const std::string fresh = bench::put_into("", "new\n", "p.md");
    CHECK(fresh == "# Performance\n\n" + begin + "new\n" + end);
    CHECK(bench::put_into("before\n" + begin + "old\n" + end + "after\n", "new\n", "p.md") ==
          "before\n" + begin + "new\n" + end + "after\n");
    CHECK(bench::put_into(fresh, "newer\n", "p.md") == "# Performance\n\n" + begin + "newer\n" + end);
    CHECK_THROWS_AS(bench::put_into("before\n" + begin + "old\n", "new\n", "p.md"), driver::CommandError);
    CHECK_THROWS_AS(bench::put_into(end + begin, "new\n", "p.md"), driver::CommandError);
    CHECK_THROWS_AS(bench::put_into("a page that somebody wrote\n", "new\n", "p.md"), driver::CommandError);
}
