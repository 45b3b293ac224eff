// Random cuts of a grid into pieces, each on a device, against the interpreter on the whole grid.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compare_engines.h"

namespace halo::test {

// Lowers the program of a piece.
using LowerPiece = std::function<lower::Lowered(const ir::Program& program)>;

struct CutRun {
    bool is_cut = false;  // false: this grid cannot be, and nothing was compared
    rt::ExchangeScheme scheme = rt::ExchangeScheme::synchronous;
    std::int64_t interval = 1;
    std::string description;
    std::string wrong;  // empty: no bit differs
};

// Draws how many pieces there are along each axis, how many steps lie between exchanges and their scheme, and
// runs the reference's steps in two parts; of half of the cases the second is done by other pieces, which go
// on from what the first have left. Some of the others run as ranks of which each has a piece. Pieces take
// turns on the devices. All cells start as NaN where nothing is uploaded. steps_at_once: of the kernels;
// up to three times as many are drawn more often than other intervals.
CutRun run_in_pieces(const ir::Program& program, const Reference& reference, std::uint64_t seed,
                     const std::vector<rt::Device*>& devices, const LowerPiece& lower, const Load& load,
                     int steps_at_once = 1);

}  // namespace halo::test
