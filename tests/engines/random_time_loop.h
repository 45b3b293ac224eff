// Random time loops of the kind that several steps of can be done at once: states, lets and inputs of real
// numbers with every boundary kind, on grids that tiles of one warp's cells fit on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analyzed.h"
#include "compare_engines.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/temporal.h"

namespace halo::test {

struct RandomTimeLoop {
    std::string text;
    halo::rt::Extent grid{};
    int steps = 1;
    schedule::TemporalSchedule temporal;
    std::string describe() const;
};

RandomTimeLoop random_time_loop(std::uint64_t seed);

// Single steps by the plainest schedules, and the loop's own; none where it is refused, as where a drawn
// radius is more than a thread has cells, or where the grid is smaller than the tiles.
std::optional<lower::Lowered> lower_temporal(const ir::Program& program, const RandomTimeLoop& loop);

// How such a loop is done with the grid on the chip: boxes of few cells, of which the last along an axis has
// fewer, on a grid of some of them.
struct RandomResident {
    schedule::ResidentSchedule schedule;
    halo::rt::Extent grid{};
    int steps = 1;
    std::string describe(const std::string& text, int rank) const;  // of the loop that is done so
};
RandomResident random_resident(std::uint64_t seed, int rank);
std::optional<lower::Lowered> lower_resident(const ir::Program& program, const RandomResident& drawn);

// Draws loops, does them on an engine, and compares with the interpreter: most of them can be done so.
// difference: of a loop as it was lowered.
using LoopDifference = std::function<std::string(const Reference&, const lower::Lowered&)>;
void check_several_steps(Seeds seeds, const LoopDifference& difference);
// The same of loops whose steps are iterations of a repeat, for those that can be.
void check_iterations(Seeds seeds, const LoopDifference& difference);
// The same of runs that stop where a reduction is what it is after a drawn step. run: says when, else empty.
using StoppedDifference =
    std::function<std::string(const Reference&, const lower::Lowered&, const rt::RunOptions& run)>;
void check_stopping(Seeds seeds, const StoppedDifference& difference);
// times: as many steps as drawn.
void check_on_the_chip(Seeds seeds, int times, const LoopDifference& difference);

}  // namespace halo::test
