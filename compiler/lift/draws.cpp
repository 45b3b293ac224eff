#include "compiler/lift/draws.h"

#include <cmath>
#include <limits>

namespace halo::lift {

using c::Number;

Draws::Draws(const c::Unit& unit, unsigned seed)
    : random_(seed), both_signs_(seed % 2 == 1), has_zeros_(seed % 3 == 2) {
    constexpr double kMost = 1e6;  // beyond it a number says nothing about cells
    for (const c::Expr& each : unit.exprs) {
        if (each.kind == c::Expr::Kind::integer) {
            const auto value = static_cast<double>(each.integer);
            if (std::abs(value) > kMost) continue;
            wholes_.insert(wholes_.end(), {value - 1, value, value + 1, -value});
        } else if (each.kind == c::Expr::Kind::real && std::abs(each.real) <= kMost) {
            const double value = each.real;
            reals_.insert(reals_.end(), {value, -value, value * 0.5, value + 0.25, value - 0.25,
                                         std::nextafter(value, kMost), std::nextafter(value, -kMost)});
        }
    }
    wholes_.insert(wholes_.end(), {-2, -1, 0, 1, 2, 3, 7});
    reals_.insert(reals_.end(), {0, -0., 1, -1, 0.5, 2});
    for (const double each : std::vector<double>(wholes_))
        reals_.push_back(each);
}

bool Draws::chance(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
}
double Draws::pick(const std::vector<double>& from) {
    return from[random_() % from.size()];
}

double Draws::cell(Number type) {
    if (type == Number::boolean) return static_cast<double>(random_() % 2);
    if (c::is_integer(type)) return chance(0.2) ? pick(wholes_) : static_cast<double>(random_() % 4);
    // Zeros lie beside each other: a sum of zeros shows their sign.
    const bool begins = has_zeros_ && zeros_ == 0 && chance(0.15);
    if (begins) zeros_ = 1 + static_cast<int>(random_() % 12);
    if (zeros_ > 0) {
        --zeros_;
        return chance(0.9) ? -0. : 0.;
    }
    double value = std::uniform_real_distribution<double>(both_signs_ ? -1.5 : 0.5, 1.5)(random_);
    if (chance(0.15)) value = pick(reals_);
    return type == Number::f32 ? static_cast<float>(value) : value;
}

double Draws::number(Number type) {
    if (type == Number::boolean) return static_cast<double>(random_() % 2);
    if (c::is_integer(type)) {
        if (chance(0.35)) return pick(wholes_);
        if (chance(0.03)) return static_cast<double>(std::numeric_limits<int>::max()) - pick(wholes_);
        return length();
    }
    double value = std::uniform_real_distribution<double>(0.1, 0.9)(random_);
    if (chance(0.35)) value = pick(reals_);
    if (chance(0.1)) value *= both_signs_ ? -100 : 100;
    return type == Number::f32 ? static_cast<float>(value) : value;
}

double Draws::length() {
    return static_cast<double>(chance(0.1) ? 16 + random_() % 30 : 3 + random_() % 14);
}

}  // namespace halo::lift
