// Checkpoints of a run: all that a run needs to go on as if it had never stopped, on any number of devices.
//
// That is, besides what the spec gives again: each level of what steps write and keep (states and outputs),
// the steps done, the reductions of the last step, and the rows of sampled traces. Those of host programs
// hold what the program gave, too (checkpoint_data.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/checkpoint_files.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/request.h"
#include "compiler/sema/run_spec.h"

namespace halo::driver {

// Steps or seconds from one checkpoint to the next; neither: at the end alone.
struct CheckpointInterval {
    std::int64_t steps = 0;
    double seconds = 0;
};
// "500", "30s", "10min", "2h", or nothing. Throws CommandError (usage).
CheckpointInterval parse_interval(const std::string& text);

// Collective: files that the run loads are read for it. Throws rt::Error (io).
RunIdentity identity_of(rt::Ranks& ranks, const ir::Program& program, const sema::RunSpec* run,
                        const RunRequest& request);

// The fields that a checkpoint holds.
std::set<std::string> saved_fields(const Checkpoint& checkpoint, const ir::Program& program);

// Throws CommandError (usage) where the checkpoint is of another run, or after more steps than this one is to
// do.
void check_checkpoint(const Checkpoint& checkpoint, const RunIdentity& identity, const RunRequest& request);

// Collective. What the checkpoint holds goes into the engine, which has done no step.
void restore(rt::Ranks& ranks, const Checkpoint& checkpoint, Engine& engine, const ir::Program& program);

// Collective. Writes the checkpoint after step `done`. write_given_data: writes into its folder what
// `identity` lets it hold besides. Throws rt::Error (io); target.abandon() removes what is half done then.
void write_checkpoint_files(rt::Ranks& ranks, CheckpointFolder& target, Engine& engine,
                            const ir::Program& program, RunIdentity identity, std::int64_t done,
                            const std::function<void(const std::string& folder)>& write_given_data);

class Checkpoints {
public:
    // Collective, as all here is. The references must outlive it. continued: the checkpoint that the run goes
    // on from, if it does.
    Checkpoints(rt::Ranks& ranks, const std::string& path, CheckpointInterval interval, RunIdentity identity,
                const ir::Program& program, const std::optional<Checkpoint>& continued);

    // Steps from `done` until the next one; none where that is not counted in steps.
    std::optional<std::int64_t> steps_to_next(std::int64_t done) const;
    bool is_due(std::int64_t done);
    // One after step `done`, where that one is not there. Where it cannot be written, a warning says so, and
    // the one before remains.
    void write(Engine& engine, std::int64_t done, const Console& console);

    // The folder of the newest one; empty where none was written.
    const std::string& newest() const { return newest_; }
    // Why the last one could not be written; empty where it was.
    const std::string& trouble() const { return trouble_; }

private:
    using Clock = std::chrono::steady_clock;

    void write_files(Engine& engine, std::int64_t done);

    rt::Ranks& ranks_;
    CheckpointInterval interval_;
    RunIdentity identity_;
    const ir::Program& program_;
    CheckpointFolder folder_;
    std::optional<Checkpoint> data_from_;  // which holds what the run was given; none: the spec gives it
    std::optional<std::int64_t> there_;    // the steps of the one that is
    Clock::time_point last_ = Clock::now();
    std::string newest_, trouble_;
};

}  // namespace halo::driver
