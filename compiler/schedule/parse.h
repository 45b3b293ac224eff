// Reading a schedule that a user pins: `--schedule '…'` and the text of a `schedule { … }` block.
//
//   stream tile=64x4 threads=16x4 cells=4x1 planes=32 ahead=3 unroll=3 padding=4 min_blocks=2
//   direct threads=32x4 cells=4 chunk=256
//
// A strategy (direct, tile, stream) and settings in any order, between spaces, commas or newlines; `#` starts
// a comment. Whatever is left out is chosen (defaults.h). Lengths are in the order of the program's axes;
// axes not given are 1. `tile` is a block's cells along each axis: threads times cells, so any two give the
// third.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "compiler/support/source.h"

namespace halo::schedule {

// What the user wrote. `tile` is set only where threads or cells is not; where two of the three were given,
// the third is worked out and threads and cells are set.
struct Pins {
    std::optional<Strategy> strategy;  // which one; its settings are below
    std::optional<rt::Lengths> threads, cells, tile;
    std::optional<int> planes, ahead, unroll, padding, min_blocks, chunk, fuse;
    std::array<SourceRange, kSettings>
        where{};  // of each setting, by its number; empty where it was not written

    SourceRange range(Setting setting) const { return where[static_cast<int>(setting)]; }
    std::optional<int> own(Setting setting) const;  // planes, ahead, unroll, padding, chunk or fuse
    bool any() const;                               // anything pinned
};

struct Mistake {
    SourceRange range;    // bytes of the text that was read
    std::string message;  // in the user's words
    std::string mend;     // text to put in place of the range, where there is one
};

struct ParsedSchedule {
    Pins pins;
    std::vector<Mistake> mistakes;  // all of them, in order; pins holds what could be read
};

// rank: axes of the program, 1 to 4; of four the last has one cell a thread.
ParsedSchedule parse(std::string_view text, int rank);

// The base with the pinned values in it, of the pinned strategy. What that strategy has no setting for is
// left out, and check() says so. A pinned tile divides evenly into the base's cells or else makes them 1.
Schedule apply(const Pins& pins, Schedule base);

}  // namespace halo::schedule
