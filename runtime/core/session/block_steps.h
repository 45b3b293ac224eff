// Stepping by kernels that do several time steps at once (LaunchPlan::time_block). Not for other rooms.
//
// Such a kernel reads and writes cells alone: it makes what lies past a face itself. So halo images are
// filled only when other steppers follow.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/core/session/stepper.h"
#include "runtime/core/session/watch.h"

namespace halo::rt::session {

class BlockStepper : public Stepper {
public:
    BlockStepper(Parts& parts, Kernel& kernel) : parts_(parts), kernel_(kernel) {}
    void prepare(const std::vector<double>& params) override;
    KernelInfo kernel_info() const { return kernel_.info(); }
    // About as many steps, of which blocks leave none but the last to be done singly, where that has to be.
    virtual std::int64_t whole_steps(std::int64_t steps) const = 0;
    // Whether blocks give all that the condition reads, for each of their steps.
    virtual bool can_watch(const HostScalar& /*until*/) const { return false; }
    // Some steps; none where too few are left for a block.
    virtual Watched watch(std::int64_t /*count*/, const Watch& /*watch*/, const StepAgain& /*again*/) {
        return {};
    }

protected:
    const TimeBlock& block() const { return *parts_.setup.plan.time_block; }
    // Steps at the end of a call that blocks leave: of a plan whose blocks do not write outputs and the like.
    std::int64_t steps_left(bool with_results) const { return block().is_whole || !with_results ? 0 : 1; }
    // Gives arguments that are the same in each launch.
    virtual void give_arguments(PreparedLaunch& /*launch*/, std::int64_t /*phase*/) {}
    // With the arguments of the steps that come next.
    PreparedLaunch& launch_at(std::int64_t phase);
    bool changes_with_step() const;  // some argument does, so that no launch is like another

    Parts& parts_;
    Kernel& kernel_;
    std::vector<double> params_;

private:
    std::vector<PreparedLaunch> launches_;  // by phase
};

// Temporal blocking: a launch does so many steps, and reads and writes memory once.
class TemporalSteps : public BlockStepper {
public:
    TemporalSteps(Parts& parts, Kernel& kernel, Snapshot& snapshot);
    std::int64_t step(std::int64_t count, bool with_results) override;
    void prepare(const std::vector<double>& params) override;
    std::int64_t whole_steps(std::int64_t steps) const override;
    bool can_watch(const HostScalar& until) const override;
    Watched watch(std::int64_t count, const Watch& watch, const StepAgain& again) override;

protected:
    // Block number `number` of those whose partial results are kept.
    virtual void launch(std::int64_t phase, std::int64_t number);
    void count(std::int64_t blocks);  // once they are launched

private:
    // A kernel of a step in several passes, before the last.
    struct Earlier {
        const KernelPlan* plan;
        Kernel* kernel;
        std::vector<PreparedLaunch> launches;  // by phase
    };
    void launch_earlier(std::int64_t phase);
    bool can_record() const;
    int place_of(int reduction) const;            // among TimeBlock::reductions; -1: blocks do not give it
    void note_reductions(std::int64_t step);      // that they are those of this step in partials_
    void finish_reductions(std::int64_t blocks);  // by the device
    std::vector<std::vector<double>> values_of(std::int64_t blocks) const;  // [step][reduction]
    std::int64_t watched_blocks(std::int64_t most, bool& saved);

    Snapshot& snapshot_;
    std::vector<Earlier> earlier_;
    bool ran_ = false;         // once, outside of a recording
    bool finished_ = false;    // its reductions, once, outside of a recording
    std::int64_t length_ = 0;  // blocks of a recording, from phase 0
    std::unique_ptr<Recording> recording_;
    std::unique_ptr<Recording> watched_;  // the same, with the steps' reductions combined
    std::vector<DeviceMemory> partials_;  // by TimeBlock::reductions: [launch][step][block]
    DeviceMemory results_;                // what they come to: [reduction][launch][step]
};

// Of pieces of a grid (TimeBlock::OfPieces): planes are launched as those that cut the grid say.
class PieceSteps final : public TemporalSteps {
public:
    using TemporalSteps::TemporalSteps;
    void set_neighbour(int side, Parts& other, const GhostPlanes& given);
    bool stores_ghosts() const;
    void launch_planes(std::int64_t phase, const PlaneRange& planes, bool to_neighbours);
    void finish() { count(1); }

private:
    struct Neighbour {
        Parts* parts = nullptr;
        GhostPlanes given;
    };
    void launch(std::int64_t phase, std::int64_t number) override;
    void give_arguments(PreparedLaunch& launch, std::int64_t phase) override;
    void* neighbour_cell(const Argument& argument, std::int64_t phase) const;

    std::array<Neighbour, 2> neighbours_;  // below and above
};

// The grid stays on the chip, and one launch does all steps; blocks exchange halos through memory.
class ResidentSteps final : public BlockStepper {
public:
    // Nothing where this grid cannot be kept so: its blocks are not all on the device at once, or do not
    // divide it as the kernel has it.
    static std::unique_ptr<ResidentSteps> make(Parts& parts, Kernel& kernel);
    std::int64_t step(std::int64_t count, bool with_results) override;
    std::int64_t whole_steps(std::int64_t steps) const override { return steps; }

private:
    ResidentSteps(Parts& parts, Kernel& kernel, const Kernels::Blocks& blocks);
    void give_arguments(PreparedLaunch& launch, std::int64_t phase) override;

    Kernels::Blocks blocks_;
    std::vector<DeviceMemory> exchanges_;  // by TimeBlock::Resident::exchanges
    std::int64_t steps_sent_ = 0;          // since the exchanges were cleared
};

// Of the plan's time block; nothing where it has none, or none for such a grid. Throws where no module has
// its kernel.
std::unique_ptr<BlockStepper> make_block_stepper(Parts& parts, Snapshot& snapshot);

}  // namespace halo::rt::session
