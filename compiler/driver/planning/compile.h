// The compiler as a few calls, in order: what docs/architecture.md draws.
//
//   Checked checked = check_text("heat3d.halo", text);              text → diagnostics, or programs and runs
//   ir::Program program = optimize(checked.….program, options);     passes that keep the meaning
//   PlanChoice choice = choose_plan(program, options);
//   Code code = cuda_code(program, choice.plan());
//   Code code = cpu_code(program);
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/planning/tuned.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/plan.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/session.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::driver {

using schedule::cell_count;
using schedule::Extent;

struct EditedCuda;  // edited_cuda.h

// The kernel for several steps of a plan, as whoever has a cache of compiled kernels knows it.
struct KnownKernel {
    bool is_compiled = false;
    std::string key;  // of the cache's entry
};
using FindKernel = std::function<KnownKernel(const ir::Program&, const schedule::Plan&)>;

struct CodeOptions {
    // As of --schedule: none, one for all stages, or one a stage; and one for how steps are grouped.
    std::vector<std::string> schedules;
    std::string file_schedule;  // of the spec's schedule block; --schedule comes before it
    bool whole_schedules =
        false;  // settings that `schedules` leave out have their neutral value and are not chosen
    std::shared_ptr<const EditedCuda> edited;  // stands in for the text that is emitted; none: it does not
    bool strict_fp = false;                    // keep the order of arithmetic as written
    // A host program may give arrays, and share them with other programs: what lies past their faces is what
    // the spec says, and optimize_for_gpu() gives no field a boundary.
    bool arrays_of_host = false;
    schedule::Target target;
    std::optional<schedule::Extent> extent;       // of the grid; without one it is taken to be large
    std::optional<std::int64_t> steps;            // of the run; without it they are taken to be many
    std::vector<std::string> watched;             // reductions that the run reads after every step
    std::shared_ptr<const TunedSchedules> tuned;  // none: the model alone chooses
    // Kernels for several steps take seconds to compile. A run that waits for them is reproducible, as
    // measurements and pinned schedules need; one that does not wait does single steps meanwhile.
    bool wait_for_time_block = true;
    FindKernel find_kernel;     // none: all have yet to be compiled
    bool single_steps = false;  // steps are grouped where that is pinned alone
    // Small stages share a launch where the model says so. Not of code that may run on any grid: on a large
    // one the block that does them would take far longer than many blocks.
    bool shares_launches = true;
    // Stages with reductions run by blocks of one plane of the last axis each, where nothing else is pinned:
    // what pieces of a grid add up is then what the whole grid does, in the same order.
    bool reductions_by_plane = false;
    // Kernels for several steps take part in what pieces of a grid exchange (rt::TimeBlock::OfPieces).
    bool blocks_of_pieces = false;
    bool blocks_store_ghosts = false;  // and store them at the neighbours
    // Programs that levels are shared with, piece by piece: pieces of all are cut alike, and give each other
    // their ghosts after each step.
    std::vector<const ir::Program*> cut_with{};
};

// How one stage runs, and why.
struct StageChoice {
    ir::Stage stage;
    schedule::Footprint footprint;
    schedule::Schedule schedule;
    std::string reason;
    std::vector<std::string> notes;  // why it might run better otherwise
    bool pinned = false;             // by the user, in part or whole
    schedule::Pins pins;
    std::string pinned_text;                 // what `pins` was read from
    std::optional<tune::StoredStage> known;  // what was measured of the stage on this grid and device
    bool tuned = false;                      // the schedule is `known`'s

    // More than 1 in a `repeat`.
    std::int64_t times_in_step(const ir::Program& program) const;
    const ir::RepeatEnd* end_condition(const ir::Program& program) const;  // of its repeat; nullptr: none
    std::string origin() const;  // "pinned", "tuned, measured …" or "chosen by the model"
};

struct Code {
    std::string text;    // all kernels
    std::string edited;  // the file that the text is from, which was edited by hand; empty: it was emitted
    lower::Lowered lowered;
    double lower_seconds = 0, print_seconds = 0;  // that it took
};

// What may be said of emitted code besides how it runs.
struct CudaDetails {
    lower::Notes notes;                          // annotate.h
    std::optional<schedule::Extent> fixed_grid;  // the only grid that it is for (lower/fixed_grid.h)
    // The only one that its kernels of several steps are for; the others are for any.
    std::optional<schedule::Extent> block_grid;
};

// Of code that runs on the options' grid in arrays of our own: its kernels of several steps are for these
// alone. Text that was edited is for any grid, and a host program's arrays may lie otherwise.
CudaDetails details_of_run(const CodeOptions& options);

// The text as it is compiled: the kernel for several steps apart from all others, as it takes far longer.
struct CodeParts {
    std::string steps;
    std::string block;  // empty where there is none
};
CodeParts parts_of(const Code& code);

// As CodeOptions::find_kernel wants it, for a run on that grid. Both must outlive what it gives.
FindKernel find_kernel_in(const rt::Nvrtc& nvrtc, const std::string& arch, const rt::DiskCache& cache,
                          const CudaDetails& details);

// What the compiler made of them.
struct CompiledCode {
    rt::CompiledCuda steps;
    std::optional<rt::CompiledCuda> block;
};
// Compiles both, through the cache, and waits.
CompiledCode compile_parts(rt::Nvrtc& nvrtc, const Code& code, const std::string& arch,
                           const rt::DiskCache& cache);

// The same, but a kernel for several steps that is not in the cache is compiled in a thread of its own, after
// the others. That thread may outlive its caller.
struct SplitCode {
    CompiledCode compiled;
    std::shared_future<rt::AsyncCode> async_block;  // not valid where there is none
    std::string async_key;                          // of the cache's entry for it
};
SplitCode compile_without_waiting(rt::Nvrtc& nvrtc, const Code& code, const std::string& arch,
                                  const rt::DiskCache& cache);

ir::Program optimize(ir::Program program, const CodeOptions& options);
// The same for a GPU that has the whole grid: terms that neighbours read are computed again by each reader
// (passes/recompute_terms.h) where the model says that this is faster. Schedules that are given for each
// stage of what optimize() makes leave it so.
ir::Program optimize_for_gpu(ir::Program program, const CodeOptions& options);
// The names of such terms in a program that optimize_for_gpu() made of a checked one.
std::vector<std::string> computed_again(const ir::Program& checked, const ir::Program& made,
                                        const CodeOptions& options);

// Throws CommandError: usage for a --schedule that cannot be read or built, spec for one of the file.
std::vector<StageChoice> choose_schedules(const ir::Program& program, const CodeOptions& options);
// Of a single step by these schedules, by the model: without results, unless the run looks at them.
schedule::StepCost single_step_cost(const ir::Program& program, const std::vector<StageChoice>& stages,
                                    const CodeOptions& options, const schedule::Extent& extent);
// Throws CommandError (usage) where --schedule has such mistakes: for engines without schedules, which would
// ignore them.
void check_asked_schedules(const CodeOptions& options, int rank);

// What is pinned of how steps are grouped: its text, without mistakes; empty: nothing. Throws as
// choose_schedules does.
std::string pinned_grouping(const CodeOptions& options, int rank);
bool pins_grouping(const CodeOptions& options);

// A way to group steps, and why the run is done so or is not.
struct GroupingVerdict {
    const schedule::GroupingKind* kind = nullptr;
    std::optional<schedule::Grouping> grouping;  // none: it is not taken
    std::string reason;
    double seconds_per_step = 0;  // of what is taken, by the model, launches included
};

// How a program runs, and why.
struct PlanChoice {
    std::vector<StageChoice> stages;
    schedule::StepCost single;               // of single steps by these
    std::vector<GroupingVerdict> groupings;  // one of each kind; at most one is taken
    // What a longer run would take and this one does not, as it would be over before the kernel is compiled:
    // the key of that in the cache. Empty: nothing, or the cache was not asked.
    std::string lacking;
    const GroupingVerdict* taken() const;  // null: single steps
    double seconds_per_step() const;       // of what is taken
    schedule::Plan plan() const;
};
// What is pinned comes before what was measured, and that before what the model says: the fastest of single
// steps and all groupings, launches counted. Throws as choose_schedules does.
PlanChoice choose_plan(const ir::Program& program, const CodeOptions& options);

Code cuda_code(const ir::Program& program, const schedule::Plan& plan, const CudaDetails& details = {});
Code cpu_code(const ir::Program& program);
// What the compiler said of a kernel; null where it said nothing.
const rt::KernelUsage* find_usage(const CompiledCode& compiled, const std::string& kernel);

}  // namespace halo::driver
