// Schedule: how one stage of a program runs on a target. Plain data; nothing in it can change what is
// computed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace halo::schedule {

// A thread or a block has cells along so many axes, and one along a fourth.
inline constexpr int kMostAxesOfTile = 3;

// How the cells of a stage are divided among threads, each way with the settings that it alone has. In all of
// them 0 leaves the value to the compiler.

// A thread computes a small box of cells from registers; neighbours come through the caches.
struct Direct {
    int chunk = 0;  // rows of a table that are in shared memory at a time, where tables are summed; 0: 256
    // Threads of the one block that does the stage, in turn with the stages before and after it that have the
    // same number: all of them are one launch. 0: the stage has a launch of its own.
    int fuse = 0;
    friend bool operator==(const Direct&, const Direct&) = default;
};

// A block's cells and their halo are staged in shared memory.
struct Tile {
    int padding = 0;  // elements added to each row of the tile (shared_layout.h)
    friend bool operator==(const Tile&, const Tile&) = default;
};

// 2.5D: a block traverses the slowest axis; planes arrive in a ring in shared memory and pass through a queue
// in registers.
struct Stream {
    int planes = 0;   // that a block traverses; 0: all of them
    int ahead = 0;    // planes in flight from memory; 0: 3
    int unroll = 0;   // iterations of the traversal; 0: as many as the queue has planes
    int padding = 0;  // elements added to each row of the ring
    friend bool operator==(const Stream&, const Stream&) = default;
};

using Strategy = std::variant<Direct, Tile, Stream>;

// What a schedule says, by the words of its text (parse.h).
enum class Setting : std::uint8_t {
    strategy,
    threads,
    cells,
    tile,
    planes,
    ahead,
    unroll,
    padding,
    min_blocks,
    chunk,
    fuse
};
inline constexpr int kSettings = 11;

// Axes in the program's declaration order; entries past the rank are 1.
struct Schedule {
    Strategy strategy;
    rt::Lengths threads{32, 1, 1};  // of a block
    // Of a thread. Direct and Stream: a box of neighbouring cells, cells[0] of them one vector. Tile: the
    // cells of the block's tile that lie `threads` apart, so that a warp's are neighbours.
    rt::Lengths cells{};
    int min_blocks = 0;  // blocks an SM that registers are limited for; 0 leaves it to the compiler

    // A block's cells along an axis. Along the streaming axis, where threads and cells are 1, a block
    // traverses `planes`.
    int tile(int axis) const { return threads[axis] * cells[axis]; }
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

// Bytes of an SM's shared memory that the system takes for each block.
inline constexpr std::int64_t kSystemSharedBytes = 1024;

// What a program runs on. The figures that legality is checked against.
struct Target {
    std::string name = "sm_90";
    int max_threads_per_block = 1024;
    int max_threads[3] = {1024, 1024, 64};
    int warp = 32;  // threads that run in step
    int max_registers_per_thread = 255;
    int registers_per_sm = 65536;
    int max_threads_per_sm = 2048;
    int max_blocks_per_sm = 32;
    int sms = 132;
    std::int64_t max_shared_bytes = 232448;     // a block, opted in
    std::int64_t static_shared_bytes = 49152;   // a block, without opting in
    std::int64_t shared_bytes_per_sm = 233472;  // of all blocks of an SM, with kSystemSharedBytes for each
    std::int64_t max_blocks[3] = {2147483647, 65535, 65535};

    // What the memories deliver, in bytes a second: copies of large arrays, copies within the L2 cache, and
    // loads of all SMs from L1 or shared memory; then the seconds from one kernel to the next, launched one
    // by one or replayed as a graph, those of a barrier of all blocks, and those of the host to read a
    // reduction after a single step. These are of an H200; `haloc doctor --measure` replaces them with a
    // device's own. They are for choosing and explaining, and limit nothing.
    double dram_bandwidth = 4.29e12;
    double l2_bandwidth = 7.2e12;
    double l1_bandwidth = 2.0e13;
    std::int64_t l2_bytes = 62914560;
    double launch_seconds = 2.9e-6;
    double graph_launch_seconds = 0.72e-6;
    double barrier_seconds = 1.0e-6;
    double check_seconds = 17e-6;  // of the host, to read watched reductions after a step
};

}  // namespace halo::schedule
