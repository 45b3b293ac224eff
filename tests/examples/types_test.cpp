// Fields that are not f32: conditions, bytes and half precision.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

using Plane = std::vector<double>;

// Cells of a small board whose rows are given as text, '#' alive.
Plane board(int width, int height, int left, int bottom, const std::vector<std::string>& rows) {
    Plane cells(static_cast<std::size_t>(width * height), 0.0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t column = 0; column < rows[row].size(); ++column) {
            const std::size_t x = (static_cast<std::size_t>(left) + column) % static_cast<std::size_t>(width);
            const std::size_t y = (static_cast<std::size_t>(bottom) + row) % static_cast<std::size_t>(height);
            if (rows[row][column] == '#') cells[y * static_cast<std::size_t>(width) + x] = 1;
        }
    }
    return cells;
}

Plane after(const Plane& start, int width, int height, int steps) {
    const Example life("game_of_life");
    life.give("alive", {height, width}, start);
    const auto result =
        life.run({"--grid", std::to_string(width) + "," + std::to_string(height), "--steps",
                  std::to_string(steps), "--load", "alive=alive.npy", "--save", "alive=alive.npy"});
    const Plane end = life.saved("alive");
    double population = 0;
    for (double cell : end)
        population += cell;
    CHECK(result["reductions"]["population"].get<double>() == population);
    return end;
}

const std::vector<std::string> kGlider{".#.", "..#", "###"};

// A picture of 40 x 31 greys with an edge, a slope and some noise.
constexpr int kWidth = 40, kHeight = 31;
Plane picture() {
    Plane greys;
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
            const int noise = (x * 7919 + y * 104729) % 23;
            greys.push_back((x < 17 ? 60 : 180) + y + noise);
        }
    }
    return greys;
}

double at(const Plane& greys, int x, int y) {
    const int i = std::clamp(x, 0, kWidth - 1), j = std::clamp(y, 0, kHeight - 1);
    return greys[static_cast<std::size_t>(j * kWidth + i)];
}

// The filters as their definitions say, in double.
double gaussian(const Plane& greys, int x, int y) {
    static constexpr double kWeights[] = {1, 4, 6, 4, 1};
    double sum = 0;
    for (int j = -2; j <= 2; ++j)
        for (int i = -2; i <= 2; ++i)
            sum += kWeights[i + 2] * kWeights[j + 2] / 256 * at(greys, x + i, y + j);
    return sum;
}

double sobel(const Plane& greys, int x, int y) {
    double across = 0, along = 0;
    for (int k = -1; k <= 1; ++k) {
        const double weight = k == 0 ? 2 : 1;
        across += weight * (at(greys, x + 1, y + k) - at(greys, x - 1, y + k));
        along += weight * (at(greys, x + k, y + 1) - at(greys, x + k, y - 1));
    }
    return std::min(255.0, std::hypot(across, along) / 4);
}

double bilateral(const Plane& greys, int x, int y, double contrast) {
    double sum = 0, weights = 0;
    for (int j = -2; j <= 2; ++j) {
        for (int i = -2; i <= 2; ++i) {
            const double difference = at(greys, x + i, y + j) - at(greys, x, y);
            const double weight = std::exp(-(i * i + j * j) / 8.0) *
                                  std::exp(-difference * difference / (2 * contrast * contrast));
            sum += weight * at(greys, x + i, y + j);
            weights += weight;
        }
    }
    return sum / weights;
}

}  // namespace

TEST_CASE("game_of_life: a glider flies one cell along the diagonal in four steps, past the edges, too") {
    for (const int turns : {1, 5, 20}) {
        const Plane end = after(board(16, 12, 3, 4, kGlider), 16, 12, 4 * turns);
        CHECK(end == board(16, 12, 3 + turns, 4 + turns, kGlider));
    }
}

TEST_CASE("game_of_life: a pulsar repeats after three steps and no fewer") {
    std::vector<std::string> rows{"..###...###..", ".............", "#....#.#....#", "#....#.#....#",
                                  "#....#.#....#", "..###...###..", "............."};
    for (int row = 5; row >= 0; --row)
        rows.push_back(rows[static_cast<std::size_t>(row)]);
    const Plane start = board(24, 20, 5, 3, rows);
    CHECK(after(start, 24, 20, 1) != start);
    CHECK(after(start, 24, 20, 2) != start);
    CHECK(after(start, 24, 20, 3) == start);
    CHECK(after(start, 24, 20, 30) == start);
}

TEST_CASE("image_filters: the greys of the definitions, to the nearest") {
    const Example filters("image_filters");
    const Plane greys = picture();
    filters.give("picture", {kHeight, kWidth}, greys);
    filters.run({"--grid", "40,31", "--load", "picture=picture.npy", "--save", "blurred=blurred.npy",
                 "--save", "edges=edges.npy", "--save", "smoothed=smoothed.npy"});
    const Plane blurred = filters.saved("blurred"), edges = filters.saved("edges"),
                smoothed = filters.saved("smoothed");
    for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
            const auto cell = static_cast<std::size_t>(y * kWidth + x);
            // Half a grey for the rounding, and what f32 loses where a value lies between two greys.
            CHECK(std::abs(blurred[cell] - gaussian(greys, x, y)) <= 0.5001);
            CHECK(std::abs(edges[cell] - sobel(greys, x, y)) <= 0.5001);
            CHECK(std::abs(smoothed[cell] - bilateral(greys, x, y, 30)) <= 0.5001);
        }
    }
}

TEST_CASE("heat_f16: half-precision storage stays near f32 while it cools") {
    const Example heat("heat_f16");
    const auto result = heat.run({"--save", "u=u.npy", "--save", "v=v.npy"});
    const Plane u = heat.saved("u"), v = heat.saved("v");
    double apart = 0, peak = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        apart = std::max(apart, std::abs(u[i] - v[i]));
        peak = std::max(peak, v[i]);
    }
    CHECK(result["reductions"]["apart"].get<double>() == apart);
    CHECK(peak > 0.4);
    CHECK(apart > 0);  // it is another storage, after all
    CHECK(apart < 0.02);
}
