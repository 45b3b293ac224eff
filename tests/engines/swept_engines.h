// Runs stencils whose statements go along axes cell after cell.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace halo::test {

// What differs on the CPU or on emulated CUDA on any grid of 1 to `most` cells along each axis, or on one
// where an axis is longer than what is done together.
std::string swept_difference(const std::string& text, int most);

// A field of the interpreter after a step on a grid, from u = 1, 2, 3, …
std::vector<double> after_step(const std::string& text, const std::string& field,
                               const halo::rt::Extent& extent);

}  // namespace halo::test
