#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.h"
#include "runtime/io/contours.h"
#include "runtime/io/image.h"
#include "runtime/io/plane_layers.h"
#include "runtime/io/ticks.h"
#include "runtime/io/value_scale.h"

using namespace halo::rt;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

template <class Function>
PlaneValues made_plane(std::int64_t width, std::int64_t height, const Function& value) {
    PlaneValues plane{width, height, {}};
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            plane.values.push_back(value(static_cast<double>(x), static_cast<double>(y)));
    return plane;
}

PlaneLayer layer_of(const std::string& name, PlaneValues plane) {
    const auto last = [](std::int64_t cells) { return static_cast<double>(cells - 1); };
    const PictureAxis across{"x", 0, last(plane.width)}, up{"y", 0, last(plane.height)};
    return {name, std::move(plane), across, up};
}

Picture blank_picture(std::int64_t width, std::int64_t height) {
    Picture picture;
    picture.width = width;
    picture.height = height;
    picture.values.assign(static_cast<std::size_t>(width * height), 0.5);
    picture.range = {0.0, 1.0};
    picture.across = {"x", 0, static_cast<double>(width - 1)};
    picture.up = {"y", 0, static_cast<double>(height - 1)};
    return picture;
}

// The cells of a blank picture of so many pixels, below a title and beside an axis.
struct CellPixels {
    const Canvas& canvas;
    int left = 0, top = 0, pixels;

    CellPixels(const Canvas& of, int pixels_across) : canvas(of), pixels(pixels_across) {
        const Colour background = ColourMap::sequential()(0.5);
        while (!(canvas.at(left, canvas.height() / 2) == background))
            ++left;
        while (!(canvas.at(left, top) == background))
            ++top;
    }
    bool is_drawn(int x, int y) const {
        return !(canvas.at(left + x, top + y) == ColourMap::sequential()(0.5));
    }
    std::vector<int> drawn_columns(int row) const {
        std::vector<int> found;
        for (int x = 0; x < pixels; ++x)
            if (is_drawn(x, row)) found.push_back(x);
        return found;
    }
    int count(int from, int to) const {  // of columns
        int found = 0;
        for (int x = from; x < to; ++x)
            for (int y = 0; y < 32; ++y)
                found += is_drawn(x, y);
        return found;
    }
};

}  // namespace

TEST_CASE("contours lie where the values between the points are the level") {
    const PlaneValues cone =
        made_plane(41, 41, [](double x, double y) { return std::hypot(x - 20, y - 20); });
    const std::vector<Segment> circle = contour(cone, 10.25);
    REQUIRE(circle.size() > 40);
    double length = 0;
    for (const Segment& part : circle) {
        CHECK(std::hypot(part.x0 - 20, part.y0 - 20) == Approx(10.25).margin(0.02));
        length += std::hypot(part.x1 - part.x0, part.y1 - part.y0);
    }
    CHECK(length == Approx(2 * M_PI * 10.25).epsilon(0.01));
    CHECK(contour(cone, -1).empty());
    CHECK(contour(made_plane(1, 5, [](double, double y) { return y; }), 2).empty());

    // Not next to a cell that is not finite.
    PlaneValues broken = made_plane(4, 4, [](double x, double) { return x; });
    CHECK(contour(broken, 1.5).size() == 3);
    broken.values[5] = kNoNumber;  // x = 1, y = 1
    CHECK(contour(broken, 1.5).size() == 1);
    broken.values[5] = std::numeric_limits<double>::infinity();
    CHECK(contour(broken, 1.5).size() == 1);
}

TEST_CASE("of a saddle the lines part what its middle does not join") {
    for (const double high : {1.2, 3.0}) {  // the corners (0, 0) and (1, 1); the middle is 0.6 or 1.5
        const PlaneValues saddle{2, 2, {high, 0, 0, high}};
        const std::vector<Segment> lines = contour(saddle, 1);
        REQUIRE(lines.size() == 2);
        for (const Segment& line : lines) {
            // Around a high corner the line falls from left to right, around a low one it rises.
            const bool falls = (line.x1 - line.x0) * (line.y1 - line.y0) < 0;
            CHECK(falls == (high < 2));
        }
    }
}

TEST_CASE("values between points, and past them") {
    const PlaneValues plane = made_plane(3, 2, [](double x, double y) { return 10 * x + y; });
    CHECK(plane.between(0.5, 0.25) == Approx(5.25));
    CHECK(plane.between(-4, 7) == 1);
    CHECK(plane.between(9, 0.5) == Approx(20.5));
}

TEST_CASE("a contour is drawn at its coordinate, also of a field that lies half a cell further") {
    Picture picture = blank_picture(8, 8);
    const Canvas plain = draw(picture);
    REQUIRE(CellPixels(plain, 512).drawn_columns(256).empty());
    for (const double shift : {0.0, 0.5}) {
        PlaneLayer layer = layer_of("w", made_plane(8, 8, [](double x, double) { return x; }));
        layer.across.first += shift;
        layer.across.last += shift;
        picture.contours = Contours{layer, {3.25}};
        const Canvas drawn = draw(picture);
        const std::vector<int> columns = CellPixels(drawn, 512).drawn_columns(256);
        REQUIRE_FALSE(columns.empty());
        const double centre = (3.25 + shift + 0.5) * 64 - 0.5;
        CHECK(std::fabs(columns.front() - centre) < 3);
        CHECK(std::fabs(columns.back() - centre) < 3);
    }
}

TEST_CASE("what lies over the colours is said below, and nothing is drawn of what is nowhere") {
    const auto words = [](const PlaneValues& plane, std::vector<double> levels) {
        return words_of(Contours{layer_of("w", plane), std::move(levels)});
    };
    const PlaneValues slope = made_plane(11, 3, [](double x, double) { return x / 10; });
    CHECK(words(slope, {}) == "lines of w: 0.1 to 0.9, every 0.1");
    CHECK(words(slope, {0, 0.5}) == "lines of w: 0, 0.5");
    const PlaneValues flat = made_plane(3, 3, [](double, double) { return 2.0; });
    CHECK(words(flat, {}) == "no line of w: it is the same everywhere");
    const PlaneValues broken = made_plane(3, 3, [](double, double) { return kNoNumber; });
    CHECK(words(broken, {}) == "no line of w: it is the same everywhere");

    const PlaneValues none = made_plane(3, 3, [](double, double) { return 0.0; });
    CHECK(words_of(Arrows{layer_of("a", flat), layer_of("b", none)}) == "arrows of a, b: the longest is 2");
    CHECK(words_of(Arrows{layer_of("a", none), layer_of("b", none)}) == "no arrow of a, b: they are zero");
    for (const PlaneValues& plane : {none, broken}) {
        Picture picture = blank_picture(3, 3);
        picture.arrows = Arrows{layer_of("a", plane), layer_of("b", plane)};
        picture.contours = Contours{layer_of("w", plane), {}};
        CHECK(draw(picture).width() > 0);
    }
}

TEST_CASE("an arrow points where its vector does, also on flipped axes") {
    const PlaneValues one = made_plane(4, 4, [](double, double) { return 1.0; });
    const PlaneValues none = made_plane(4, 4, [](double, double) { return 0.0; });
    const auto drawn = [&](const PlaneValues& right, const PlaneValues& up, bool flips) {
        Picture picture = blank_picture(4, 4);
        picture.arrows = Arrows{layer_of("a", right), layer_of("b", up)};
        if (flips)
            for (PictureAxis* axis :
                 {&picture.across, &picture.arrows->across.across, &picture.arrows->up.across})
                std::swap(axis->first, axis->last);
        return draw(picture);
    };
    const Canvas right = drawn(one, none, false), left = drawn(one, none, true), up = drawn(none, one, false);
    // The first arrow has 32 pixels, and most of its head in the half that it points to.
    CHECK(CellPixels(right, 512).count(0, 16) < CellPixels(right, 512).count(16, 32));
    CHECK(CellPixels(left, 512).count(0, 16) > CellPixels(left, 512).count(16, 32));
    const CellPixels upright(up, 512);
    CHECK(upright.drawn_columns(6).size() > upright.drawn_columns(26).size());
    CHECK(upright.drawn_columns(26).size() >= 16 * 2);
}

TEST_CASE("a logarithmic scale has even decades, and what is not positive at its low end") {
    const FoundScale found = scale_of({0, -3, 1e-3, 10, kNoNumber}, {}, true);
    CHECK(found.not_finite == 1);
    CHECK(found.scale.low == 1e-3);
    CHECK(found.scale.high == 10);
    CHECK(found.scale.part_of(0.1) == Approx(0.5));
    CHECK(found.scale.part_of(0) == 0);
    CHECK(found.scale.part_of(-5) == 0);
    CHECK(scale_of({1e-300, 1}, {}, true).scale.low == kLogarithmicReach);
    CHECK(scale_of({0, -1}, {}, true).scale.part_of(1) == 0.5);
    CHECK(scale_of({1}, std::pair(1e-2, 1e2), true).scale.part_of(1) == Approx(0.5));

    const auto labels = [](double low, double high, int count) {
        std::string all;
        for (const Tick& tick : make_logarithmic_ticks(low, high, count).ticks)
            all += tick.label + " ";
        return all;
    };
    CHECK(labels(1e-3, 1e2, 8) == "1e-3 1e-2 1e-1 1e0 1e1 1e2 ");
    CHECK(labels(1e-9, 1, 4) == "1e-9 1e-6 1e-3 1e0 ");
    CHECK(labels(0.7, 30, 8) == "1e0 2e0 5e0 1e1 2e1 ");
    CHECK(labels(2.1, 4.9, 4) == "3 4 ");
    CHECK(labels(3, 3, 4) == "3.0000 ");
}

TEST_CASE("pictures and curves are drawn by logarithms") {
    Picture picture = blank_picture(3, 1);
    picture.values = {1, 10, 100};
    picture.range.reset();
    picture.logarithmic = true;
    const ColouredCells cells = colour_cells(picture);
    const Colour middle = ColourMap::sequential()(0.5);
    CHECK(Colour{cells.rgb[3], cells.rgb[4], cells.rgb[5]} == middle);
    Curve curve{"two", {{"a", {1, 0, 1e5}, 0, 2}, {"b", {kNoNumber, -1, 3}, 0, 2}}, {"x", 0, 2}, "", {},
                true};
    const Canvas even = draw(curve);
    curve.logarithmic = false;
    CHECK(draw(curve).png() != even.png());
}
