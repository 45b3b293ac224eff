#include "runtime/io/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/io/canvas.h"
#include "runtime/io/colour_map.h"
#include "runtime/io/font.h"
#include "runtime/io/ticks.h"
#include "temporary_folder.h"

using namespace halo::rt;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Pixels {
    int width = 0, height = 0;
    std::vector<std::uint8_t> bytes;
    Colour at(int x, int y) const {
        const std::uint8_t* pixel = &bytes[(static_cast<std::size_t>(y) * width + x) * 3];
        return {pixel[0], pixel[1], pixel[2]};
    }
    std::int64_t count(Colour colour) const {
        std::int64_t found = 0;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                found += at(x, y) == colour;
        return found;
    }
};

Pixels read_png(const std::string& path) {
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
    image.format = PNG_FORMAT_RGB;
    Pixels pixels{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    pixels.bytes.resize(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, nullptr, pixels.bytes.data(), 0, nullptr) != 0);
    return pixels;
}

constexpr Colour kMagenta{255, 0, 200};

}  // namespace

TEST_CASE("picture: each cell is a square of its colour, low end of the second axis below") {
    const TemporaryFolder folder;
    Picture picture;
    picture.title = "four cells";
    picture.width = picture.height = 2;
    picture.values = {0, 1, 2, kNan};
    picture.across = {"x", 0, 1};
    picture.up = {"y", 0, 1};
    picture.value_label = "u";
    write_picture(folder / "a.png", picture);
    const Pixels pixels = read_png(folder / "a.png");
    CHECK(pixels.width >= 512);
    CHECK(pixels.height >= 512);
    const ColourMap& map = ColourMap::sequential();
    // 256 by 256 pixels each; the bar shows all colours, too.
    CHECK(pixels.count(map(0.5)) >= 256 * 256);
    CHECK(pixels.count(map(0)) >= 256 * 256);
    CHECK(pixels.count(kMagenta) >= 256 * 256);
    const auto find = [&](Colour colour) {  // the first from the top with 100 of its kind to its right
        for (int y = 0; y < pixels.height; ++y)
            for (int x = 0; x + 100 < pixels.width; ++x)
                if (pixels.at(x, y) == colour && pixels.at(x + 100, y) == colour) return std::pair(x, y);
        return std::pair(-1, -1);
    };
    const auto [zero_x, zero_y] = find(map(0));
    const auto [one_x, one_y] = find(map(0.5));
    const auto [two_x, two_y] = find(map(1));
    CHECK(one_x == zero_x + 256);
    CHECK(one_y == zero_y);
    CHECK(two_x == zero_x);
    CHECK(two_y == zero_y - 256);
}

TEST_CASE("picture: values of both signs have zero in the middle") {
    const TemporaryFolder folder;
    Picture picture;
    picture.width = 3;
    picture.height = 1;
    picture.values = {-1, 0, 2};
    write_picture(folder / "a.png", picture);
    const Pixels pixels = read_png(folder / "a.png");
    CHECK(pixels.count(ColourMap::diverging()(0.5)) > 1000);
    CHECK(pixels.count(ColourMap::diverging()(0.25)) > 1000);
    CHECK(pixels.count(ColourMap::diverging()(1)) > 1000);
}

TEST_CASE("picture: any size and any values") {
    const TemporaryFolder folder;
    const double huge = std::numeric_limits<double>::max();
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {1, 700}, {3000, 2}, {1537, 1600}}) {
        for (const double scale : {0.0, 1.0, 1e-300, huge, kNan}) {
            Picture picture;
            picture.title =
                "a title that is far too long for a picture of this size, whatever size it may be, \xc3\x97";
            picture.width = width;
            picture.height = height;
            for (int i = 0; i < width * height; ++i)
                picture.values.push_back(scale * std::cos(0.01 * i));
            picture.across = {"x", -1e6, 1e6};
            picture.up = {"y", 3, 3};
            picture.value_label = "u";
            write_picture(folder / "a.png", picture);
            const Pixels pixels = read_png(folder / "a.png");
            CHECK(pixels.width >= 200);
            CHECK(pixels.width <= 2000);
            CHECK(pixels.height <= 2000);
            if (std::isnan(scale)) CHECK(pixels.count(kMagenta) > 10000);
        }
    }
    CHECK_THROWS_AS(write_picture(folder / "none/a.png", Curve{"", {{"", {1}}}, {}, "", {}}), Error);
}

TEST_CASE("curve: drawn, with gaps where cells are not finite") {
    const TemporaryFolder folder;
    for (const std::size_t count : {1, 2, 50, 5000}) {
        Curve curve{"sine", {{"u", {}, 0, 6.3}}, {"x", 0, 6.3}, "u", {}};
        for (std::size_t i = 0; i < count; ++i)
            curve.lines.front().values.push_back(std::sin(6.3 * static_cast<double>(i) / 50));
        write_picture(folder / "a.png", curve);
        const Pixels pixels = read_png(folder / "a.png");
        CHECK(pixels.count({36, 84, 164}) > (count == 1 ? 4 : 400));
        CHECK(pixels.count(kMagenta) == 0);
        curve.lines.front().values.front() = kNan;
        write_picture(folder / "a.png", curve);
        CHECK(read_png(folder / "a.png").count(kMagenta) > 10);
    }
}

TEST_CASE("colours: lightness is even, maps stay in sRGB, Oklab goes there and back") {
    const ColourMap& map = ColourMap::sequential();
    double before = to_oklab(map(0)).lightness;
    for (int i = 1; i <= 64; ++i) {
        const double lightness = to_oklab(map(i / 64.0)).lightness;
        CHECK(lightness - before > 0.75 / 64 - 0.006);
        CHECK(lightness - before < 0.75 / 64 + 0.006);
        before = lightness;
    }
    const ColourMap& signs = ColourMap::diverging();
    for (int i = 0; i <= 32; ++i) {
        const double low = to_oklab(signs(0.5 - i / 64.0)).lightness,
                     high = to_oklab(signs(0.5 + i / 64.0)).lightness;
        CHECK(std::fabs(low - high) < 0.03);
    }
    CHECK(map(-3) == map(0));
    CHECK(map(7) == map(1));
    for (const Colour colour :
         {Colour{0, 0, 0}, Colour{255, 255, 255}, Colour{12, 200, 77}, Colour{255, 0, 200}})
        CHECK(to_colour(to_oklab(colour)) == colour);
}

TEST_CASE("ticks: round numbers inside the range") {
    const auto labels = [](double low, double high, int count) {
        std::string text;
        const Ticks ticks = make_ticks(low, high, count);
        for (const Tick& tick : ticks.ticks) {
            CHECK(tick.value >= low - 1e-9 * (high - low));
            CHECK(tick.value <= high + 1e-9 * (high - low));
            text += tick.label + " ";
        }
        return text + ticks.factor;
    };
    CHECK(labels(0, 1, 5) == "0.0 0.2 0.4 0.6 0.8 1.0 ");
    CHECK(labels(0, 127, 6) == "0 50 100 ");
    CHECK(labels(-3, 3, 6) == "-3 -2 -1 0 1 2 3 ");
    CHECK(labels(0, 2e-6, 4) == "0.0 0.5 1.0 1.5 2.0 x1e-6");
    CHECK(labels(9.9995, 10.0005, 5) == "9.9996 9.9998 10.0000 10.0002 10.0004 ");
    CHECK(labels(0, 3e8, 3) == "0 1 2 3 x1e8");
    CHECK(labels(10, 10, 5) == "10.000 ");
    CHECK(labels(0, 0, 5) == "0.0000 ");
}

TEST_CASE("canvas: nothing is drawn outside, and every letter has a shape of its own") {
    Canvas canvas(20, 10, {255, 255, 255});
    canvas.fill(-5, -5, 100, 100, {1, 2, 3});
    canvas.line(-10, -10, 50, 50, 3, {9, 9, 9});
    canvas.text(-7, -7, "far too long", Canvas::Align::centre, {0, 0, 0});
    CHECK(canvas.at(19, 0) == Colour{1, 2, 3});
    CHECK(Canvas::text_width("ab") == Canvas::text_width("\xc3\x97"
                                                         "b"));
    std::vector<std::string> shapes;
    for (char letter = ' '; letter <= '~'; ++letter)
        shapes.emplace_back(reinterpret_cast<const char*>(glyph_rows(letter)), kGlyphRows);
    std::sort(shapes.begin(), shapes.end());
    CHECK(std::adjacent_find(shapes.begin(), shapes.end()) == shapes.end());
}
