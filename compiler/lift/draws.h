// Numbers to run a function on: mostly ordinary ones, and those on both sides of each that its text has.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift {

class Draws {
public:
    // unit: the function and those that it calls. Reals of one array are of one sign or of both, and
    // some of them zeros, by the seed; by every second seed most are near to one number of the text.
    Draws(const c::Unit& unit, unsigned seed);

    // How many seeds, from 0 on, cover each number of the text.
    int enough() const;

    double cell(c::Number type);    // an element of an array
    double number(c::Number type);  // an argument
    double flag();                  // what most elements of a list of whole numbers may be
    double small();                 // a length, or an index, of a few
    double length();                // an argument that says how much there is
    bool chance(double probability);

private:
    using Near = std::vector<std::vector<double>>;  // for each number that the text has, those near to it

    double pick(const Near& from);

    std::mt19937_64 random_;
    bool both_signs_, has_zeros_, is_near_;
    std::size_t round_, asked_ = 0;  // by which a number of the text is chosen; arguments so far
    Near wholes_, reals_;
    std::vector<double> exact_;  // tried one after the other
    int zeros_ = 0;              // cells that are still to be zeros
};

}  // namespace halo::lift
