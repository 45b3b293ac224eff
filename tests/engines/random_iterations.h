// A random time loop's steps as the iterations of a repeat (random_time_loop.h).
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/program.h"

namespace halo::test {

// The program of which each step does `count` steps of that one, one after the other, by a `repeat`: as the
// front end makes it of `repeat k to count { u[k+1] = … }`. None where a step leaves cells as they are, or
// reads the past or what changes with the step.
std::optional<ir::Program> iterations_of(const ir::Program& program, std::int64_t count);

}  // namespace halo::test
