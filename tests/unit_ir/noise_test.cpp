#include "compiler/ir/noise.h"

#include <algorithm>
#include <cmath>

#include "catch.h"

using namespace halo::ir;
using Words = std::array<std::uint32_t, 4>;

// The known answers of Random123 1.14, tests/kat_vectors.
TEST_CASE("philox gives the words of its authors") {
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    constexpr std::uint32_t kOnes = 0xffffffff;
    CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
          Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the counter is the cell and the step, the key the seed and half the stream") {
    const Draw draw{0xa4093822, 2 * 0x299f31d0, 0x03707344, {0x243f6a88, 0x85a308d3, 0x13198a2e}};
    Draw odd = draw;
    ++odd.stream;
    CHECK(uniform_noise<float>(draw) == static_cast<float>(0x5001e4) * 0x1p-24F);
    CHECK(uniform_noise<float>(odd) == static_cast<float>(0x24126e) * 0x1p-24F);
    const float radius = std::sqrt(-2 * std::log(static_cast<float>(0xd16cfe09) * 0x1p-32F));
    const float angle = 6.2831853F * static_cast<float>(0x94fdcc) * 0x1p-24F;
    CHECK(normal_noise<float>(draw) == Approx(radius * std::cos(angle)));
    CHECK(normal_noise<float>(odd) == Approx(radius * std::sin(angle)));
    CHECK(uniform_noise<double>({4294967296.0 + 5, 1, 2, {3, 4, 5}}) ==
          uniform_noise<double>({5, 1, 2, {3, 4, 5}}));
    CHECK(uniform_noise<double>({NAN, 1, 2, {3, 4, 5}}) == uniform_noise<double>({0, 1, 2, {3, 4, 5}}));
}

// The coefficients of f32 against the C library's functions of f64.
TEST_CASE("normal noise of f32 is that of Box and Muller to the last places") {
    double farthest = 0;
    for (int x = 0; x < 100'000; ++x) {
        const Draw draw{3, x % 2, 1, {x, 0, 0}};
        const auto words = philox({static_cast<std::uint32_t>(x), 0, 0, 1}, {3, 0});
        const float fraction = (static_cast<float>(words[0]) + 0.5F) * 0x1p-32F;
        const double radius = std::sqrt(-2 * std::log(static_cast<double>(fraction)));
        const double angle = 2 * 3.14159265358979 * static_cast<double>(words[1] >> 8) * 0x1p-24;
        const double wanted = radius * (x % 2 == 0 ? std::cos(angle) : std::sin(angle));
        farthest = std::max(farthest, std::abs(normal_noise<float>(draw) - wanted) / radius);
    }
    CHECK(farthest < 3e-7);
}

TEST_CASE("uniform noise fills [0, 1) and normal noise stays finite") {
    float least = 1, most = 0, farthest = 0;
    for (int x = 0; x < 200'000; ++x) {
        const Draw draw{1, x % 4, 0, {x, 0, 0}};
        const float value = uniform_noise<float>(draw);
        least = std::min(least, value);
        most = std::max(most, value);
        farthest = std::max(farthest, std::abs(normal_noise<float>(draw)));
    }
    CHECK((least >= 0 && least < 1e-4F));
    CHECK((most < 1 && most > 1 - 1e-4F));
    CHECK((farthest > 4 && farthest < 6.8F));
}

namespace {

// Mean, variance, and the moments that tell skewness and weight of tails, over a box of cells.
template <class Number>
std::array<double, 4> moments(int stream, Number draw) {
    std::array<double, 4> sums{};
    constexpr int kCells = 60;
    for (int z = 0; z < kCells; ++z) {
        for (int y = 0; y < kCells; ++y) {
            for (int x = 0; x < kCells; ++x) {
                const double value = draw({42, stream, 17, {x, y, z}});
                double power = 1;
                for (double& sum : sums)
                    sum += power *= value;
            }
        }
    }
    for (double& sum : sums)
        sum /= kCells * kCells * kCells;
    return sums;
}

template <class T>
void check_moments() {
    for (const int stream : {2, 3}) {
        const auto normal = moments(stream, [](const Draw& draw) { return normal_noise<T>(draw); });
        CHECK(normal[0] == Approx(0).margin(0.01));  // 4.6 standard errors of 216,000 draws
        CHECK(normal[1] == Approx(1).margin(0.015));
        CHECK(normal[2] == Approx(0).margin(0.04));
        CHECK(normal[3] == Approx(3).margin(0.1));
        const auto uniform = moments(stream, [](const Draw& draw) { return uniform_noise<T>(draw); });
        for (int power = 1; power <= 4; ++power)
            CHECK(uniform[static_cast<std::size_t>(power - 1)] == Approx(1.0 / (power + 1)).margin(0.003));
    }
}

}  // namespace

TEST_CASE("noise has the moments that it should have") {
    check_moments<float>();
    check_moments<double>();
}

TEST_CASE("neighbours, steps and streams know nothing of each other") {
    double neighbours = 0, steps = 0, pairs = 0, streams = 0, kinds = 0;
    constexpr int kDraws = 200'000;
    for (int x = 0; x < kDraws; ++x) {
        const double here = normal_noise<double>({0, 0, 0, {x, 0, 0}});
        neighbours += here * normal_noise<double>({0, 0, 0, {x + 1, 0, 0}});
        steps += here * normal_noise<double>({0, 0, 1, {x, 0, 0}});
        pairs += here * normal_noise<double>({0, 1, 0, {x, 0, 0}});
        streams += here * normal_noise<double>({0, 2, 0, {x, 0, 0}});
        kinds += here * (uniform_noise<double>({0, 1, 0, {x, 0, 0}}) - 0.5);
        kinds +=
            normal_noise<float>({0, 0, 0, {x, 0, 0}}) * (uniform_noise<float>({0, 1, 0, {x, 0, 0}}) - 0.5F);
    }
    for (const double sum : {neighbours, steps, pairs, streams, kinds})
        CHECK(std::abs(sum / kDraws) < 0.01);  // 4.5 standard errors
}
