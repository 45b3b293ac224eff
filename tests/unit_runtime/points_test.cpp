// The weights of points off the grid, and the lists that kernels run over.
#include "runtime/core/points.h"

#include <cmath>
#include <map>
#include <string>

#include "catch.h"
#include "runtime/core/error.h"

using namespace halo::rt;

namespace {

constexpr double kPi = 3.14159265358979323846;

PointsPlan linear() {
    PointsPlan plan;
    plan.name = "phones";
    return plan;
}

PointsPlan sinc(int radius) {
    PointsPlan plan = linear();
    plan.interpolation = PointsPlan::Interpolation::sinc;
    plan.radius = radius;
    return plan;
}

PointGrid grid(int rank) {
    PointGrid grid;
    grid.rank = rank;
    grid.extent = {60, rank > 1 ? 50 : 1, rank > 2 ? 40 : 1};
    grid.spacing = {0.5, 2, 3};
    grid.origin = {-4, 10, 0};
    return grid;
}

// What is sampled of f(x, y, z) at a position.
template <class Function>
double sampled(const PointsPlan& plan, const PointGrid& where, const std::array<double, 3>& position,
               const Function& f) {
    double sum = 0;
    for (const TouchedCell& touched : touched_cells(plan, where, position.data(), 0)) {
        std::array<double, 3> at{};
        for (int axis = 0; axis < where.rank; ++axis)
            at[axis] = where.origin[axis] + where.spacing[axis] * touched.cell[axis];
        sum += touched.weight * f(at[0], at[1], at[2]);
    }
    return sum;
}

}  // namespace

TEST_CASE("linear weights give multilinear functions exactly") {
    const auto f = [](double x, double y, double z) {
        return 2 + 3 * x - y + 0.25 * z + x * y - 0.5 * y * z + x * z + 0.125 * x * y * z;
    };
    const std::array<double, 3> position{1.3, 37.7, 50.1};
    for (int rank = 1; rank <= 3; ++rank) {
        std::array<double, 3> at{};
        std::copy_n(position.begin(), rank, at.begin());
        CHECK(touched_cells(linear(), grid(rank), at.data(), 0).size() ==
              (1u << static_cast<unsigned>(rank)));
        CHECK(sampled(linear(), grid(rank), at, f) == Approx(f(at[0], at[1], at[2])).epsilon(1e-13));
    }
}

TEST_CASE("a point on a cell touches that cell alone, with weight 1") {
    for (const PointsPlan& plan : {linear(), sinc(2), sinc(4), sinc(10)}) {
        for (const double x : {-4.0, 1.5, 25.5}) {  // the first, one inside, the last
            const std::array<double, 3> at{x, 10 + 2.0 * 7, 0};
            const std::vector<TouchedCell> touched = touched_cells(plan, grid(2), at.data(), 0);
            REQUIRE(touched.size() == 1);
            CHECK(touched[0].weight == 1);
            CHECK(touched[0].cell == std::array<std::int32_t, halo::rt::kMaxRank>{
                                         static_cast<std::int32_t>((x + 4) / 0.5), 7, 0});
        }
    }
}

TEST_CASE("sinc weights give waves, the better the wider and the longer the wave") {
    // The largest error over places between two cells, for waves of so many cells.
    const auto error = [](const PointsPlan& plan, double cells) {
        double largest = 0;
        for (int place = 1; place < 16; ++place) {
            for (const double phase : {0.0, 0.7, 1.9}) {
                const auto wave = [&](double x, double, double) {
                    return std::sin(2 * kPi * x / (0.5 * cells) + phase);
                };
                const std::array<double, 3> at{6 + 0.5 * place / 16, 0, 0};
                largest = std::max(largest, std::abs(sampled(plan, grid(1), at, wave) - wave(at[0], 0, 0)));
            }
        }
        return largest;
    };
    CHECK(error(sinc(4), 8) < 1e-3);
    CHECK(error(sinc(4), 4) < 1.4e-3);
    CHECK(error(sinc(6), 4) < 6e-5);
    CHECK(error(sinc(8), 4) < 1e-6);
    for (int radius = 2; radius < 8; ++radius)
        CHECK(error(sinc(radius + 1), 4.2) < 0.6 * error(sinc(radius), 4.2));
    CHECK(error(linear(), 4) > 0.2);
}

TEST_CASE("cells outside of the grid get nothing") {
    const std::array<double, 3> at{-3.9, 0, 0};
    for (const TouchedCell& touched : touched_cells(sinc(4), grid(1), at.data(), 0))
        CHECK(touched.cell[0] >= 0);
    CHECK(touched_cells(sinc(4), grid(1), at.data(), 0).size() == 5);  // 0 to 4
}

TEST_CASE("a point off the grid is named with its place") {
    const auto message = [](const std::array<double, 3>& at, std::size_t number) -> std::string {
        try {
            touched_cells(linear(), grid(2), at.data(), number);
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::bad_argument);
            return error.what();
        }
        return "";
    };
    CHECK(message({0, 108, 0}, 0).empty());  // the last cell
    CHECK(message({0, 108.5, 0}, 3) ==
          "point 3 of 'phones' is at (0, 108.5), outside of the grid, which spans -4 to 25.5, 10 to 108");
    CHECK(message({-4.1, 20, 0}, 0).find("point 0") != std::string::npos);
    CHECK(message({std::nan(""), 20, 0}, 7).find("point 7") != std::string::npos);
}

TEST_CASE(
    "lists have each cell once, with its points in their order, and each point's cells in memory order") {
    // Points 0 and 2 share cells with each other and with 1; 3 is apart.
    const std::vector<double> positions{1.1, 20.5, 1.6, 20.5, 1.2, 21.5, 20, 90};
    const PointLists lists = make_point_lists(linear(), grid(2), positions);
    REQUIRE(lists.point_begin.size() == 5);
    CHECK(lists.point_begin[4] - lists.point_begin[3] == 1);  // on a cell
    REQUIRE(lists.cell_begin.size() == lists.cell_x.size() + 1);
    CHECK(lists.cell_begin.back() == static_cast<std::int32_t>(lists.entry_point.size()));
    CHECK(lists.entry_point.size() == lists.sample_weight.size());
    const auto key = [](std::int32_t x, std::int32_t y) { return 1000 * y + x; };
    std::map<std::pair<int, int>, double> by_point;  // (cell, point)
    for (std::size_t point = 0; point + 1 < lists.point_begin.size(); ++point) {
        for (auto i = lists.point_begin[point]; i < lists.point_begin[point + 1]; ++i) {
            const int cell = key(lists.sample_x[i], lists.sample_y[i]);
            by_point[{cell, static_cast<int>(point)}] = lists.sample_weight[i];
            if (i > lists.point_begin[point]) CHECK(cell > key(lists.sample_x[i - 1], lists.sample_y[i - 1]));
        }
    }
    bool shared = false;
    for (std::size_t c = 0; c < lists.cell_x.size(); ++c) {
        const int cell = key(lists.cell_x[c], lists.cell_y[c]);
        if (c > 0) CHECK(cell > key(lists.cell_x[c - 1], lists.cell_y[c - 1]));
        for (auto i = lists.cell_begin[c]; i < lists.cell_begin[c + 1]; ++i) {
            CHECK(by_point.at({cell, lists.entry_point[i]}) == lists.entry_weight[i]);
            by_point.erase({cell, lists.entry_point[i]});
            if (i == lists.cell_begin[c]) continue;
            CHECK(lists.entry_point[i] > lists.entry_point[i - 1]);
            shared = true;
        }
    }
    CHECK(by_point.empty());
    CHECK(shared);
    const PointLists none = make_point_lists(linear(), grid(2), {});
    CHECK(none.cell_x.empty());
    CHECK(none.cell_begin == std::vector<std::int32_t>{0});
}
