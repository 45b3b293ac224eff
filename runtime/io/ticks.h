// Round numbers along an axis of a picture, and how they are written.
#pragma once

#include <string>
#include <vector>

namespace halo::rt {

struct Tick {
    double value = 0;
    std::string label;
};

struct Ticks {
    std::vector<Tick> ticks;  // inside [low, high], ascending
    std::string factor;       // "x1e-6": what the labels are to be multiplied by; empty where by 1
};

// About `count` ticks at steps of 1, 2 or 5 times a power of ten. low <= high, both finite.
Ticks make_ticks(double low, double high, int count);

// The same at powers of ten, "1e-3", or where those are too few also at twice and five times them; where
// these are too few, too, as make_ticks(). 0 < low <= high.
Ticks make_logarithmic_ticks(double low, double high, int count);

}  // namespace halo::rt
