// Numbers to run a function on: mostly ordinary ones, and those on both sides of each that its text has.
#pragma once

#include <random>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift {

class Draws {
public:
    // unit: the function and those that it calls. Reals of one array are of one sign or of both, and
    // some of them zeros, by the seed.
    Draws(const c::Unit& unit, unsigned seed);

    double cell(c::Number type);    // an element of an array
    double number(c::Number type);  // an argument
    double length();                // an argument that says how much there is
    bool chance(double probability);

private:
    double pick(const std::vector<double>& from);

    std::mt19937_64 random_;
    bool both_signs_, has_zeros_;
    std::vector<double> wholes_, reals_;  // near to what the text has
    int zeros_ = 0;                       // cells that are still to be zeros
};

}  // namespace halo::lift
