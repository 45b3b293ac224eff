// What makes patterns by itself: fluids that part, spots that divide.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

// How many patches of cells above a level there are, on a periodic plane of n x n cells.
int count_patches(const std::vector<double>& cells, int n, double level) {
    std::vector<bool> seen(cells.size());
    int patches = 0;
    for (std::size_t start = 0; start < cells.size(); ++start) {
        if (seen[start] || cells[start] <= level) continue;
        ++patches;
        std::vector<std::size_t> pending{start};
        seen[start] = true;
        while (!pending.empty()) {
            const int at = static_cast<int>(pending.back());
            pending.pop_back();
            const int x = at % n, y = at / n;
            for (const auto& [dx, dy] :
                 {std::pair(1, 0), std::pair(-1, 0), std::pair(0, 1), std::pair(0, -1)}) {
                const auto next = static_cast<std::size_t>((x + dx + n) % n + (y + dy + n) % n * n);
                if (seen[next] || cells[next] <= level) continue;
                seen[next] = true;
                pending.push_back(next);
            }
        }
    }
    return patches;
}

}  // namespace

TEST_CASE("two fluids part by Runge-Kutta steps: mass is kept to f64 rounding, energy falls, patches grow") {
    const Example example("cahn_hilliard_rk4");
    double mass = 0, energy = 0;
    int patches = 0;
    for (const int steps : {1, 100, 300, 900}) {
        const nlohmann::json report = example.run(
            {"--grid", "48,48", "--no-files", "--steps", std::to_string(steps), "--save", "c=c.npy"});
        const double now = report["reductions"]["mass"], energy_now = report["reductions"]["energy"];
        const int patches_now = count_patches(example.saved("c"), 48, 0);
        INFO("after step " << steps << ": mass " << now << ", energy " << energy_now << ", patches "
                           << patches_now);
        if (steps == 1) {
            mass = now;
        } else {
            // 2304 cells about 1 in size, rounded to f64 in each step, at random
            CHECK(now == Approx(mass).margin(1.1e-16 * std::sqrt(2304.0 * steps) * 20));
            CHECK(energy_now < energy);
            CHECK(patches_now < patches);
        }
        energy = energy_now;
        patches = patches_now;
    }
    const std::vector<double> c = example.saved("c");
    CHECK(std::count_if(c.begin(), c.end(), [](double value) { return std::abs(value) > 0.7; }) >
          48 * 48 / 2);
    CHECK(*std::max_element(c.begin(), c.end()) < 1.1);
}

TEST_CASE("Runge-Kutta steps are of fourth order: halving them takes the error down sixteen times") {
    const Example example("cahn_hilliard_rk4");
    const auto at_end = [&](int steps) {
        example.run({"--grid", "24,24", "--no-files", "--steps", std::to_string(steps), "--set",
                     "dt=1/" + std::to_string(steps), "--save", "c=c.npy"});
        return example.saved("c");
    };
    const std::vector<double> reference = at_end(800);
    const auto error = [&](int steps) {
        const std::vector<double> c = at_end(steps);
        double largest = 0;
        for (std::size_t i = 0; i < c.size(); ++i)
            largest = std::max(largest, std::abs(c[i] - reference[i]));
        return largest;
    };
    CHECK(std::log2(error(80) / error(160)) == Approx(4).margin(0.3));
}

TEST_CASE("spots grow and divide, and what is fed and decays is all that changes the total") {
    const Example example("gray_scott");
    const double dt = 0.5;
    const auto run = [&](int steps) {
        return example.run({"--grid", "96,96", "--no-files", "--set", "dt=1/2", "--steps",
                            std::to_string(steps), "--save", "v=v.npy"})["reductions"];
    };
    nlohmann::json before = run(1);
    const int spots_at_start = count_patches(example.saved("v"), 96, 0.15);
    for (const int steps : {2, 3, 4}) {
        const nlohmann::json now = run(steps);
        const double change = now["total"].get<double>() - before["total"].get<double>();
        // 9216 cells, rounded to f32, at random
        CHECK(change == Approx(dt * now["gain"].get<double>()).margin(6e-8 * std::sqrt(9216.0) * 4));
        before = now;
    }
    const nlohmann::json after = run(6000);
    CHECK(after["lowest"].get<double>() > 0);
    CHECK(after["highest"].get<double>() <= 1);
    const int spots = count_patches(example.saved("v"), 96, 0.15);
    INFO(spots_at_start << " spots at the start, " << spots << " at the end");
    CHECK(spots_at_start >= 1);
    CHECK(spots > 2 * spots_at_start);
}

TEST_CASE("u without v stays as it is") {
    const Example example("gray_scott");
    example.give("u", {32, 32}, std::vector<double>(1024, 1));
    example.give("v", {32, 32}, std::vector<double>(1024, 0));
    CHECK(example.run({"--grid", "32,32", "--no-files", "--steps", "500", "--load", "u=u.npy", "--load",
                       "v=v.npy"})["reductions"]["total"] == 1024);
}

TEST_CASE("rolls grow as the linear equation says, and end at their height") {
    constexpr int width = 44, waves = 7, height = 8;
    constexpr double dt = 0.03, r = 0.2, start = 0.001;
    const double k2 = 2 - 2 * std::cos(2 * kPi * waves / width);  // of the differences
    const double growth = r - (1 - k2) * (1 - k2);
    const Example example("swift_hohenberg");
    const auto strongest = [&](int steps) {
        example.run({"--grid", "44,8", "--steps", std::to_string(steps), "--no-files", "--init",
                     "u = 0.001 * cos(2 * pi * 7 * x / 44)", "--save", "u=u.npy"});
        const std::vector<double> u = example.saved("u");
        REQUIRE(u.size() == width * height);
        return u.front();  // the crest of the wave
    };
    CHECK(strongest(200) == Approx(start * std::pow(1 + dt * growth, 200)).epsilon(0.001));
    CHECK(strongest(6000) == Approx(std::sqrt(4 * growth / 3)).epsilon(0.01));
}
