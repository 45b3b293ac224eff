// Shadow memory: for each 4 bytes that a kernel may touch, who wrote and who read them last, and when. From
// that, each access is checked: inside an array, initialised, and ordered after what other threads did to the
// same place.
//
// Two accesses by different threads, one of them a write, are ordered only if a barrier of their block, or a
// meeting of their warp (__syncwarp, a shuffle), lies between them, or a launch. Accesses of less than 4
// bytes are checked for place and initialisation alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halo::emulator {

// One thread at one moment. `block` counts the blocks of all launches, from 2; 1 is the host, 0 nobody.
struct Access {
    std::uint32_t block = 0;
    std::uint32_t epoch = 0;       // barriers that the block has passed
    std::uint16_t thread = 0;      // in its block, x fastest
    std::uint16_t warp_epoch = 0;  // meetings of the warp since the barrier
    std::uint32_t site = 0;        // where in the code: return address, relative to the module's code
};

struct Cell {
    Access write;
    Access reads[2];  // two different threads' suffice: a writer differs from one of them at least
};

enum class Space : std::uint8_t { global, shared, variable };

struct Region {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    Space space = Space::global;
    std::string name;
    std::unique_ptr<Cell[], void (*)(Cell*)> cells{nullptr, nullptr};
    bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
};

enum class FindingKind : std::uint8_t {
    none,
    out_of_bounds,
    misaligned,
    uninitialised,
    race,
    divergent_barrier,
    divergent_warp,  // a shuffle or __syncwarp that not all lanes of its mask reach, or a value of an absent
                     // lane
    deadlock,        // all blocks wait for each other
    bad_launch,      // more threads, blocks or shared memory than the device has
};

// What an access did wrong, before it is put in words.
struct Violation {
    FindingKind kind = FindingKind::none;
    const Region* region = nullptr;  // of the access; for out_of_bounds the nearest one
    std::uintptr_t address = 0;
    bool is_write = false;
    bool other_is_write = false;
    Access other;  // of a race
};

struct CheckOptions {
    bool races = true;
    bool uninitialised_shared = true;
    bool uninitialised_global = true;
};

class Shadow {
public:
    // Arrays must not overlap. Initialised: as if the host had written it all.
    void add(const void* address, std::size_t bytes, Space space, std::string name, bool initialised);
    void remove(const void* address);
    void resize(const void* address, std::size_t bytes);        // to at most what it was added with
    void mark_written(const void* address, std::size_t bytes);  // by the host
    const Region* find(std::uintptr_t address) const;
    const Region* nearest(std::uintptr_t address) const;  // null where there are none

    void set_options(const CheckOptions& options) { options_ = options; }
    void begin_launch(std::uint32_t first_block) { first_block_ = first_block; }

    // Puts away what is known of a shared array, and brings back what was put away of another block's.
    void swap_cells(const void* address, std::vector<Cell>& cells);

    // Checks and notes an access of `bytes` bytes by `who`; true where all is well.
    bool check(std::uintptr_t address, std::size_t bytes, bool is_write, Access who, Violation& violation);

private:
    bool concurrent(const Access& earlier, Access now, bool shared) const;
    bool check_cell(Cell& cell, const Region& region, bool is_write, bool whole, Access who,
                    Violation& violation);
    void forget_hints();

    static constexpr std::size_t kHints = 256;
    std::vector<std::unique_ptr<Region>> regions_;  // by address
    const Region* hints_[kHints] = {};              // by site: most sites touch one array
    CheckOptions options_;
    std::uint32_t first_block_ = 0;  // of the present launch
};

}  // namespace halo::emulator
