// Sources and receivers between the cells, against Green's functions of the wave equation in a medium of one
// velocity.
#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "example.h"

using namespace halo::test;

namespace {

double ricker(double frequency, double time) {
    const double a = kPi * frequency * time;
    return (1 - 2 * a * a) * std::exp(-a * a);
}

// p_tt / v^2 - laplacian(p) = w(t) delta(r) in the plane: an integral over the times at which the wave set
// out, with t - tau = r/v cosh(theta).
template <class Wavelet>
double in_the_plane(double r, double v, double t, const Wavelet& w) {
    if (t <= r / v) return 0;
    const double last = std::acosh(t * v / r);
    constexpr int n = 4000;  // even: Simpson's rule
    double sum = 0;
    for (int i = 0; i <= n; ++i) {
        const double weight = i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * w(t - r / v * std::cosh(last * i / n));
    }
    return sum * last / n / 3 / (2 * kPi);
}

// Of trace number `point` of `points`: the difference to `exact`, relative to that.
template <class Exact>
double error_of(const std::vector<double>& trace, int points, int point, const Exact& exact) {
    double apart = 0, whole = 0;
    for (std::size_t step = 0; step * points < trace.size(); ++step) {
        const double wanted = exact(static_cast<int>(step));
        const double got = trace[step * points + point];
        apart += (got - wanted) * (got - wanted);
        whole += wanted * wanted;
    }
    return std::sqrt(apart / whole);
}

std::vector<double> traces(const Example& example, const std::vector<std::string>& more) {
    std::vector<std::string> options{"--no-files", "--save", "phones.trace=trace.npy"};
    options.insert(options.end(), more.begin(), more.end());
    example.run(options);
    return example.saved("trace");
}

}  // namespace

TEST_CASE("a shot in the plane gives Green's function with the wavelet, wherever its points lie") {
    constexpr double v = 2000, dt = 0.001, f0 = 15;
    const Example example("acoustic2d");
    example.give("v", {200, 300}, std::vector<double>(200 * 300, v));
    const std::vector<double> source{752.3, -497.1};
    const std::vector<double> places{801.1,  -498.4, 853.75, -496.2, 752.3,
                                     -390.0, 640.0,  -580.0, 951.2,  -497.1};
    example.give("source", {1, 2}, source);
    example.give("places", {5, 2}, places);
    const std::vector<double> trace = traces(example, {"--steps", "320", "--load", "v=v.npy", "--load",
                                                       "shots=source.npy", "--load", "phones=places.npy"});
    REQUIRE(trace.size() == 320 * 5);
    const auto wavelet = [](double t) { return t < 0 ? 0 : 1000 * ricker(f0, t - 1.2 / f0); };
    for (int point = 0; point < 5; ++point) {
        const double r = std::hypot(places[2 * point] - source[0], places[2 * point + 1] - source[1]);
        const double error =
            error_of(trace, 5, point, [&](int step) { return in_the_plane(r, v, step * dt, wavelet); });
        INFO("at a distance of " << r << " m the error is " << error);
        CHECK(error < 0.01);
    }
}

TEST_CASE("a shot in space is the wavelet, later and weaker") {
    constexpr double v = 2000, dt = 0.001, f0 = 12;
    const Example example("shot3d");
    const std::vector<double> source{403.7, 341.2, 296.1};
    const std::vector<double> places{453.4, 352.8, 311.5, 500.0, 340.0, 300.0,
                                     403.7, 411.0, 240.2, 303.1, 341.2, 296.1};
    example.give("source", {1, 3}, source);
    example.give("places", {4, 3}, places);
    const std::vector<double> trace =
        traces(example, {"--steps", "200", "--load", "shots=source.npy", "--load", "phones=places.npy"});
    REQUIRE(trace.size() == 200 * 4);
    for (int point = 0; point < 4; ++point) {
        const double* const place = places.data() + 3 * point;
        const double r = std::hypot(place[0] - source[0], place[1] - source[1], place[2] - source[2]);
        const double error = error_of(trace, 4, point, [&](int step) {
            const double late = step * dt - r / v;
            return late < 0 ? 0 : 1e5 * ricker(f0, late - 1.2 / f0) / (4 * kPi * r);
        });
        INFO("at a distance of " << r << " m the error is " << error);
        CHECK(error < 0.004);
    }
}

TEST_CASE("a source and a receiver may change places") {
    const Example example("shot3d");
    std::vector<double> v;  // two kinds of rock: what is added at a cell takes the velocity of that cell
    for (int cell = 0; cell < 60 * 40 * 40; ++cell)
        v.push_back(cell % 60 > 30 ? 3000 : 1800 + 5 * (cell / 60 % 40));
    example.give("v", {40, 40, 60}, v);
    const std::vector<double> here{203.7, 171.2, 196.1}, there{401.2, 252.8, 141.5};
    example.give("here", {1, 3}, here);
    example.give("there", {1, 3}, there);
    const auto heard = [&](const std::string& from, const std::string& at) {
        return traces(example, {"--grid", "60,40,40", "--steps", "300", "--load", "v=v.npy", "--load",
                                "shots=" + from + ".npy", "--load", "phones=" + at + ".npy"});
    };
    const std::vector<double> one = heard("here", "there"), other = heard("there", "here");
    REQUIRE(one.size() == 300);
    double largest = 0, apart = 0;
    for (std::size_t step = 0; step < one.size(); ++step) {
        largest = std::max(largest, std::abs(one[step]));
        apart = std::max(apart, std::abs(one[step] - other[step]));
    }
    INFO("largest " << largest << ", largest difference " << apart);
    CHECK(largest > 1);
    CHECK(apart < 1e-5 * largest);
}
