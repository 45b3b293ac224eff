// The inside of a Session: its parts (stepper.h), and the steppers that work on them. Not for other rooms.
#pragma once

#include <memory>
#include <string>

#include "runtime/core/session/block_steps.h"
#include "runtime/core/session/recorded_steps.h"
#include "runtime/core/session/single_steps.h"
#include "runtime/core/session/stepper.h"
#include "runtime/core/session/time_tile_steps.h"
#include "runtime/core/session/watch.h"

namespace halo::rt {

struct Session::State {
    State(LaunchPlan plan, const Extent& extent, Device& device, std::vector<std::unique_ptr<Module>> modules,
          const SessionOptions& options);

    session::Parts parts;
    session::Snapshot snapshot{parts};
    std::unique_ptr<session::BlockStepper> block;  // where there is one for this grid
    session::SingleSteps singles{parts};
    session::RecordedSteps recorded{parts, singles, snapshot};
    session::TimeTileSteps time_tiles{parts};
    AsyncBlock async_block;
    // The next step is the first of those that are asked for together, and that is another one.
    bool is_first = false;

    // state.cpp
    int field(const std::string& name, int time = 0) const;  // throws where the plan has no such level
    session::Level& level(int field, int time) { return parts.arrays.level(field, time); }
    void prepare();  // what is due
    void fill_due_halos();
    bool make_blocks();  // of the plan's time block; whether there is one for this grid
    void begin_steps();  // others may have changed what steps find for the next one
    void step(std::int64_t count, bool with_results = true);
    void step_alike(std::int64_t count, bool with_results);  // none is full but the last
    void step_singly(bool with_results);
    void step_without_block(std::int64_t count, bool with_results = true);
    void take_async_block();  // after prepare(), where its code is there
    void continue_from(const StepsBefore& before);
    void go_back_to(std::int64_t step);
    session::PieceSteps* pieces() const { return dynamic_cast<session::PieceSteps*>(block.get()); }

    // until.cpp
    session::Watched step_until(std::int64_t count, session::Watch watch);
    session::Watched step_until_known(std::int64_t count, const session::Watch& watch);
};

}  // namespace halo::rt
