// The states of a forward run that a gradient goes back to, and the places where they are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/driver/running/engine.h"
#include "compiler/ir/program.h"
#include "runtime/core/snapshots.h"

namespace halo::driver {

// Bytes that may be taken for snapshots.
struct SnapshotRoom {
    std::int64_t on_device = 0;       // past a reserve that is left free
    std::int64_t most_on_device = 0;  // the same where so many are asked for: of a CPU all that is free
    std::int64_t on_host = 0;         // 0 where the device has the host's memory itself
    std::int64_t reserve = 0;         // that stays free in any case
};
SnapshotRoom snapshot_room(Engine& engine);

// Bytes of one snapshot. in_a_row: of one that shares all but its latest level with that of the step before.
std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program, bool in_a_row = false);

// As many as are asked for, else as the room lets be, at most one for each step; on the device first. Without
// being asked the host's memory is used where the device's would have steps done again more than three times
// each. Throws out_of_memory where there is no room for them. bytes, in_a_row: of each, where not every
// step's is kept and where it is.
rt::SnapshotPlaces choose_snapshots(std::optional<std::int64_t> asked, std::int64_t steps, std::int64_t bytes,
                                    std::int64_t in_a_row, const SnapshotRoom& room);

class KeptStates {
public:
    virtual ~KeptStates() = default;
    virtual void keep(int slot) = 0;
    // Levels alone; Engine::go_back_to() counts the steps.
    virtual void restore(int slot) = 0;
    // As rt::Snapshots has it.
    virtual void approach(int /*slot*/) {}
    // Gives a level of a slot to an input of another engine, as rt::Snapshots does; false where it has to be
    // restored first.
    virtual bool give_level(int slot, const std::string& state, int time, Engine& to,
                            const std::string& input) = 0;
    virtual void forget() {}  // all that was kept
};

// Both must outlive them.
std::unique_ptr<KeptStates> make_kept_states(Engine& engine, const ir::Program& program,
                                             const rt::SnapshotPlaces& places);

}  // namespace halo::driver
