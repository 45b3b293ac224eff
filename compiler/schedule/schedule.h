// Schedule: how one stage of a program runs on a target. Plain data; nothing in it can change what is computed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace halo::schedule {

enum class Strategy : std::uint8_t {
    direct,  // a thread computes a small box of cells from registers; neighbours come through the caches
    tile,    // a block's cells and their halo are staged in shared memory
    stream   // 2.5D: a block walks along the slowest axis; planes pass through a register queue
};

// Axes in the program's declaration order; entries past the rank are 1.
struct Schedule {
    Strategy strategy = Strategy::direct;
    std::array<int, 3> threads{32, 1, 1};  // of a block
    std::array<int, 3> cells{1, 1, 1};     // of a thread; cells[0] is the vector width
    int planes = 0;        // stream: planes a block walks; 0 for all of them
    int min_blocks = 0;    // blocks an SM that registers are limited for; 0 leaves it to the compiler
    int shared_padding = 0;  // tile and stream: elements added to each row of a shared tile

    // A block's cells along an axis. Along the stream axis: `planes` (see lower/stream.h).
    int tile(int axis) const { return threads[axis] * cells[axis]; }
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

// What a program runs on. The figures that legality is checked against.
struct Target {
    std::string name = "sm_90";
    int max_threads_per_block = 1024;
    int max_threads[3] = {1024, 1024, 64};
    int max_registers_per_thread = 255;
    int registers_per_sm = 65536;
    std::int64_t max_shared_bytes = 232448;        // a block, opted in
    std::int64_t static_shared_bytes = 49152;      // a block, without opting in
    std::int64_t max_blocks[3] = {2147483647, 65535, 65535};
};

}  // namespace halo::schedule
