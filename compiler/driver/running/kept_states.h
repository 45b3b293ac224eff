// The states of a forward run that a gradient goes back to, and the places where they are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compiler/adjoint/snapshots.h"
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

// Levels of each state, where all states of the program have as many; else 1.
int snapshot_levels(Engine& engine);

// As many as are asked for, else as the room lets be, at most one for each step; on the device first. Without
// being asked the host's memory is used where the device's would have steps done again more than three times
// each. Where no number is asked for, states on the device share the levels that they have in common. Throws
// out_of_memory where there is no room for them.
struct SnapshotSizes {
    std::int64_t bytes = 0;     // of each, where not every step's is kept
    std::int64_t in_a_row = 0;  // and where it is
    int levels = 1;             // of each, of in_a_row bytes
};
rt::SnapshotPlaces choose_snapshots(std::optional<std::int64_t> asked, std::int64_t steps,
                                    const SnapshotSizes& sizes, const SnapshotRoom& room);
// The same of an engine's states.
rt::SnapshotPlaces choose_snapshots(std::optional<std::int64_t> asked, std::int64_t steps, Engine& engine,
                                    const ir::Program& program);
// What the schedule of a gradient has room for in these places.
adjoint::SnapshotBudget snapshot_budget(const rt::SnapshotPlaces& places, int levels);
// Bytes of each snapshot in these places, on average where they share levels.
std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program, const rt::SnapshotPlaces& places);

class KeptStates {
public:
    virtual ~KeptStates() = default;
    virtual void keep(int slot) = 0;
    // Levels alone; Engine::go_back_to() counts the steps.
    virtual void restore(int slot) = 0;
    // As rt::Snapshots has it.
    virtual void approach(int /*slot*/) {}
    virtual void drop(int /*slot*/) {}
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
