#include "compiler/lift/draws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace halo::lift {

using c::Number;

namespace {

constexpr double kMostOrdinary = 16;  // the largest length
constexpr std::size_t kPlaces = 3;    // arguments that are set to such a number, one at a time

// Values near a number of the text. The neighbours of a float are farther than those of a double, and adding
// 0.25 to a large number changes nothing.
std::vector<double> near_real(double value) {
    constexpr float kFar = std::numeric_limits<float>::max();
    const auto narrow = static_cast<float>(value);
    return {value,
            value * 0.5,
            value * 1.5,
            value - 1,
            value + 1,
            value - 0.25,
            value + 0.25,
            std::nextafter(value, -kFar),
            std::nextafter(value, kFar),
            static_cast<double>(std::nextafter(narrow, -kFar)),
            static_cast<double>(std::nextafter(narrow, kFar))};
}

}  // namespace

Draws::Draws(const c::Unit& unit, unsigned seed)
    : random_(seed),
      both_signs_(seed % 2 == 1),
      has_zeros_(seed % 3 == 2),
      is_near_((seed + 1) / 2 % 2 == 1),
      round_(seed / 2) {
    // Larger numbers are left out: arithmetic on them is no longer that on cells, as it overflows to infinity
    // or wraps.
    constexpr double kMostReal = 1e30, kMostWhole = std::numeric_limits<int>::max() - 1.;
    std::set<double> wholes,
        reals;  // without repetition, so that a number that is frequent in the text is not drawn more often
    for (const c::Expr& each : unit.exprs) {
        if (each.kind == c::Expr::Kind::integer && each.integer != 0) {
            const double value = std::abs(static_cast<double>(each.integer));
            if (value <= kMostWhole) wholes.insert(value);
            if (value <= kMostReal) reals.insert(value);
        } else if (each.kind == c::Expr::Kind::real && each.real != 0 && std::abs(each.real) <= kMostReal) {
            reals.insert(std::abs(each.real));
        }
    }
    wholes_.push_back({-2, -1, 0, 1, 2, 3, 7});
    reals_.push_back({0, -0., 1, -1, 0.5, 2});
    for (const double each : wholes) {
        wholes_.push_back({each - 1, each, each + 1});
        if (each > kMostOrdinary) exact_.insert(exact_.end(), {each + 1, each, each - 1});
    }
    for (std::size_t i = 0, count = exact_.size(); i < count; ++i)
        exact_.push_back(-exact_[i]);
    for (const double each : reals)
        reals_.push_back(near_real(each));
}

int Draws::enough() const {
    constexpr std::size_t kLeast = 12, kMost = 60, kSeedsEach = 2;
    const std::size_t of_wholes = kPlaces * exact_.size() / 2;  // of one sign
    return static_cast<int>(std::clamp(2 * std::max(kSeedsEach * reals_.size(), of_wholes), kLeast, kMost));
}

bool Draws::chance(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}
// Draws a number near to one of the text, which is the same one for several seeds. Both signs are drawn, as a
// minus in front of a number is an operator of its own.
double Draws::pick(const Near& from) {
    const std::vector<double>& one = from[(is_near_ && chance(0.9) ? round_ : random_()) % from.size()];
    const double value = one[random_() % one.size()];
    return chance(0.35) ? -value : value;
}

double Draws::cell(Number type) {
    if (type == Number::boolean) return static_cast<double>(random_() % 2);
    if (c::is_integer(type)) return chance(0.2) ? pick(wholes_) : static_cast<double>(random_() % 4);
    // Zeros are adjacent, because only a sum of zeros shows their sign.
    const bool begins = has_zeros_ && zeros_ == 0 && chance(0.15);
    if (begins) zeros_ = 1 + static_cast<int>(random_() % 12);
    if (zeros_ > 0) {
        --zeros_;
        return chance(0.9) ? -0. : 0.;
    }
    double value = std::uniform_real_distribution<double>(both_signs_ ? -1.5 : 0.5, 1.5)(random_);
    if (chance(is_near_ ? 0.75 : 0.15)) value = pick(reals_);
    return type == Number::f32 ? static_cast<float>(value) : value;
}

double Draws::number(Number type) {
    if (type == Number::boolean) return static_cast<double>(random_() % 2);
    if (c::is_integer(type)) {
        // One argument at a time is close to a number that no length reaches; the others are ordinary.
        const bool is_chosen = is_near_ && !exact_.empty() && asked_++ % kPlaces == round_ % kPlaces;
        if (is_chosen) return exact_[round_ / kPlaces % exact_.size()];
        if (chance(0.35)) return pick(wholes_);
        if (chance(0.03)) return static_cast<double>(std::numeric_limits<int>::max()) - pick(wholes_);
        return length();
    }
    double value = std::uniform_real_distribution<double>(0.1, 0.9)(random_);
    if (chance(is_near_ ? 0.7 : 0.35)) value = pick(reals_);
    if (chance(0.1)) value *= both_signs_ ? -100 : 100;
    return type == Number::f32 ? static_cast<float>(value) : value;
}

double Draws::flag() {
    return chance(0.6) ? static_cast<double>(random_() % 3) - 1 : pick(wholes_);
}
double Draws::small() {
    return static_cast<double>(random_() % 5);
}
double Draws::length() {
    return static_cast<double>(chance(0.1) ? 16 + random_() % 30 : 3 + random_() % 14);
}

}  // namespace halo::lift
