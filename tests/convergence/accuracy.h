// The orders of accuracy that schemes show: the error of a known solution on a grid and on one twice as fine,
// in f64, by the reference interpreter. (The other engines are held to its bits elsewhere.)
#pragma once

#include <string>
#include <vector>

namespace halo::test {

struct Measured {
    std::string what;   // "d(f, x)", "periodic", "Runge–Kutta 4"
    std::string where;  // the setting: "of order 4", a time step's formula
    double formal = 0;
    double observed = 0;
};

std::vector<Measured> measure_derivatives();
std::vector<Measured> measure_time_steps();
std::vector<Measured> measure_boundaries();

// docs/accuracy.md as it should be.
std::string accuracy_page();

}  // namespace halo::test
