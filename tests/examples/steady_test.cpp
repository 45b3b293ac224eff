// Laplace's equation and the parting of two fluids: where they end, and what they keep.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

// The solution of the five-point Laplace equation on n x n cells with the value 1 beyond the high edge along
// y and 0 beyond the others, by separation of variables: sines along x, hyperbolic sines along y.
std::vector<double> hot_edge_solution(int n) {
    const double spacings = n + 1;
    std::vector<double> u(n * n, 0.0);
    for (int m = 1; m <= n; ++m) {
        const double rate = std::acosh(2 - std::cos(m * kPi / spacings));
        double weight = 0;  // of this sine in the constant 1
        for (int i = 1; i <= n; ++i)
            weight += 2 / spacings * std::sin(m * kPi * i / spacings);
        for (int j = 1; j <= n; ++j) {
            // sinh(rate * j) / sinh(rate * spacings), without overflow
            const double profile = std::exp(rate * (j - spacings)) * (1 - std::exp(-2 * rate * j)) /
                                   (1 - std::exp(-2 * rate * spacings));
            for (int i = 1; i <= n; ++i)
                u[(j - 1) * n + i - 1] += weight * profile * std::sin(m * kPi * i / spacings);
        }
    }
    return u;
}

double norm(const std::vector<double>& values) {
    double squares = 0;
    for (double value : values)
        squares += value * value;
    return std::sqrt(squares);
}

}  // namespace

TEST_CASE("Jacobi's iteration ends at the solution of Laplace's equation") {
    constexpr int n = 24;
    const Example example("jacobi2d");
    const nlohmann::json report =
        example.run({"--grid", "24,24", "--no-files", "--set", "hot=50", "--save", "u=u.npy"});
    CHECK(report["stopped"] == "until");
    const double change = report["reductions"]["change"];
    CHECK(change < 1e-5 * 50);
    std::vector<double> u = example.saved("u");
    const std::vector<double> solution = hot_edge_solution(n);
    REQUIRE(u.size() == solution.size());
    CHECK(solution[(n - 1) * n + n / 2] > 0.9);  // hot below the hot edge, cold at the other end
    CHECK(solution[n / 2] < 0.02);
    for (std::size_t cell = 0; cell < u.size(); ++cell)
        u[cell] -= 50 * solution[cell];
    // The iteration's matrix is symmetric with the largest eigenvalue cos(pi / (n + 1)), which bounds the
    // error by the last change.
    const double largest_eigenvalue = std::cos(kPi / (n + 1));
    INFO("error " << norm(u) << ", change " << change);
    CHECK(norm(u) <= change * largest_eigenvalue / (1 - largest_eigenvalue) * 1.0001);
}

TEST_CASE("two fluids part: mass is kept, energy falls") {
    const Example example("cahn_hilliard");
    double mass = 0, energy = 0;
    for (const int steps : {1, 30, 100, 300, 900}) {
        const nlohmann::json report = example.run(
            {"--grid", "64,64", "--no-files", "--steps", std::to_string(steps), "--save", "c=c.npy"});
        const double now = report["reductions"]["mass"], energy_now = report["reductions"]["energy"];
        INFO("after step " << steps << ": mass " << now << ", energy " << energy_now);
        if (steps == 1) {
            mass = now;
        } else {
            // 4096 cells, rounded to f32 in each step, at random
            CHECK(now == Approx(mass).margin(6e-8 * std::sqrt(4096.0 * steps)));
            CHECK(energy_now < energy);
        }
        energy = energy_now;
    }
    const std::vector<double> c = example.saved("c");
    REQUIRE(c.size() == 64 * 64);
    CHECK(std::count_if(c.begin(), c.end(), [](double value) { return std::abs(value) > 0.7; }) >
          64 * 64 / 2);
    CHECK(*std::max_element(c.begin(), c.end()) < 1.1);
    CHECK(*std::max_element(c.begin(), c.end()) > 0.9);
    CHECK(*std::min_element(c.begin(), c.end()) > -1.1);
    CHECK(*std::min_element(c.begin(), c.end()) < -0.9);
}

TEST_CASE("the layer at a wall is that of the equation on a grid that crowds there") {
    constexpr int cells = 65;
    constexpr double nu = 0.02;
    const Example example("boundary_layer");
    const auto largest_error = [&](double beta) {
        const std::string b = std::to_string(beta);
        example.run({"--no-files", "--set", "beta=" + b, "--init", "u = stretched(x, " + b + ")", "--save",
                     "u=u.npy"});
        const std::vector<double> u = example.saved("u");
        REQUIRE(u.size() == cells);
        double largest = 0;
        for (int i = 0; i < cells; ++i) {
            const double x = i / (cells - 1.0), s = 1 - std::sinh(beta * (1 - x)) / std::sinh(beta);
            const double exact = (std::exp((s - 1) / nu) - std::exp(-1 / nu)) / (1 - std::exp(-1 / nu));
            largest = std::max(largest, std::abs(u[static_cast<std::size_t>(i)] - exact));
        }
        return largest;
    };
    const double crowded = largest_error(4), even = largest_error(0.001);
    INFO("errors " << crowded << " and, of an even grid, " << even);
    CHECK(crowded < 5e-4);
    CHECK(even > 40 * crowded);
}

TEST_CASE("first arrivals are those along arcs of circles, and iterations end when none changes") {
    const Example example("eikonal2d");
    const nlohmann::json report = example.run({"--no-files", "--save", "T=T.npy"});
    const nlohmann::json& repeat = report["repeats"][0];
    CHECK(repeat["until"] == "change < tol");
    CHECK(repeat["steps_without_it"] == 0);
    CHECK(repeat["iterations"] > 200);  // cells on the longest way
    CHECK(repeat["iterations"] < 600);
    const std::vector<double> times = example.saved("T");
    REQUIRE(times.size() == 201 * 101);
    constexpr double h = 10, top = 1500, gain = 1.2, shot = 400;
    double longest = 0, error = 0;
    for (int j = 0; j < 101; ++j) {
        for (int i = 0; i < 201; ++i) {
            const double x = h * i - shot, z = h * j;
            const double time =
                std::acosh(1 + gain * gain * (x * x + z * z) / (2 * top * (top + gain * z))) / gain;
            longest = std::max(longest, time);
            error = std::max(error, std::abs(times[static_cast<std::size_t>(201 * j + i)] - time));
        }
    }
    CHECK(longest > 1);
    CHECK(error < 0.01 * longest);
    const nlohmann::json short_of =
        example.run({"--no-files", "--set", "tol=-1", "--grid", "20,10", "--steps", "2"});
    CHECK(short_of["repeats"][0]["steps_without_it"] == 2);
    CHECK(short_of["repeats"][0]["iterations"] == 4000);
    CHECK(short_of["reductions"]["change"] == 0);
}
