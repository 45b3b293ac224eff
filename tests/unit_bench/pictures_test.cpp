// The pictures are there, have their size, and hold what was measured where it belongs.
#include <png.h>

#include <vector>

#include "catch.h"
#include "compiler/bench/chart.h"
#include "compiler/bench/pictures.h"
#include "sample_results.h"
#include "temporary_folder.h"

using namespace halo;

namespace {

struct Png {
    unsigned width = 0, height = 0;
    std::vector<unsigned char> pixels;
    int count(rt::Colour colour) const {
        int found = 0;
        for (std::size_t n = 0; n + 2 < pixels.size(); n += 3)
            found += pixels[n] == colour.red && pixels[n + 1] == colour.green && pixels[n + 2] == colour.blue
                         ? 1
                         : 0;
        return found;
    }
};

Png read_png(const std::string& path) {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
    image.format = PNG_FORMAT_RGB;
    Png png{image.width, image.height, std::vector<unsigned char>(PNG_IMAGE_SIZE(image))};
    REQUIRE(png_image_finish_read(&image, nullptr, png.pixels.data(), 0, nullptr) != 0);
    return png;
}

}  // namespace

TEST_CASE("a roofline has roofs, points and their list") {
    const TemporaryFolder folder;
    const std::string path = folder / "roofline.png";
    bench::write_roofline(path, test::gpu_results());
    const Png picture = read_png(path);
    CHECK(picture.width > 900);
    CHECK(picture.height > 600);
    CHECK(picture.count(bench::kChartBlue) > 500);    // the roof and the points of f32
    CHECK(picture.count(bench::kChartOrange) > 300);  // the roof of f64; its one choice is wrong
    bench::Results fewer = test::gpu_results();
    fewer.cases.erase(fewer.cases.begin());
    bench::write_roofline(path, fewer);
    CHECK(read_png(path).count(bench::kChartBlue) < picture.count(bench::kChartBlue));
}

TEST_CASE("a roofline of a processor does without roofs that nobody measured") {
    const TemporaryFolder folder;
    const std::string path = folder / "roofline.png";
    bench::write_roofline(path, test::cpu_results());
    CHECK(read_png(path).count(bench::kChartOrange) == 0);
}

TEST_CASE("growth is drawn as far as it was measured") {
    const TemporaryFolder folder;
    const std::string path = folder / "growth.png";
    bench::Results results = test::gpu_results();
    bench::write_growth(path, results);
    const Png both = read_png(path);
    results.grids.clear();
    bench::write_growth(path, results);
    CHECK(2 * read_png(path).width == both.width);
}

TEST_CASE("axes begin and end at round numbers") {
    CHECK(bench::round_down(0.7) == Approx(0.5));
    CHECK(bench::round_down(30) == Approx(20));
    CHECK(bench::round_down(100) == Approx(100));
    CHECK(bench::round_up(0.7) == Approx(1));
    CHECK(bench::round_up(21) == Approx(50));
    CHECK(bench::round_up(500) == Approx(500));
}
