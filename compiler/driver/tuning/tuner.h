// Tuner: measured schedules for a program on a grid: the search for each stage, then for several steps at
// once, their store, and what is said meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/console/console.h"
#include "compiler/driver/running/gpu_machine.h"
#include "compiler/driver/tuning/tune_inputs.h"
#include "compiler/tune/store.h"

namespace halo::driver {

struct TunerSettings {
    double budget_seconds = 60;      // of all searches; half of it is for several steps at once
    int jobs = 1;                    // threads that compile
    bool again = false;              // forget what the store has of these stages
    std::optional<Extent> odd_grid;  // the small grid of the check; odd sizes where none is given
    double sample_seconds = 0.03;
};

struct StageReport {
    enum class Kind : std::uint8_t {
        tuned,
        known,      // the store had it, from a search that had come to its end
        no_choice,  // a stage at points, or in place; nothing that does several steps at once
        failed      // nothing right could be run
    };
    Kind kind = Kind::tuned;
    std::string schedule, model_schedule;  // as schedule::print gives them
    double seconds = 0;                    // a step of the program
    std::optional<double> model_seconds;   // likewise; of several steps: that of single ones
    std::optional<double> predicted;       // a step of the stage, by the model
    int trials = 0, known_trials = 0;      // of this run, of earlier ones
    int spilled = 0, refused = 0, wrong = 0, unverified = 0;
    std::string why;                   // of no_choice, where it is known
    std::vector<std::string> dropped;  // sentences, of those that are wrong, and of the first of the others
    tune::SearchResult::Stop stop = tune::SearchResult::Stop::exhausted;
};

struct TunerInput {
    GpuMachine& machine;
    const ir::Program& program;  // after the passes
    const RunRequest& request;
    const sema::RunSpec* run = nullptr;
    std::vector<StageChoice> stages;  // as the model chooses them, around what is pinned
    std::string grouping = {};        // what is pinned of how steps are grouped; empty: nothing
    CudaDetails details = {};         // as a run has them
};

struct TuneReport {
    std::vector<StageReport> stages;        // up to the one that was interrupted; none where steps are pinned
    std::optional<StageReport> steps;       // none: not come to, or a stage failed
    tune::SearchResult::Stop stop() const;  // of the last
    bool failed() const;                    // nothing right could be run of a stage
};

// The run that is tuned for: as `haloc run` would make it, but that the number of steps need not be known,
// and no files are written.
RunRequest request_for_tuning(RunArguments arguments, const CheckedSpec& spec,
                              const sema::AnalyzedStencil& stencil, const Console& console);

// Under an InterruptGuard. Throws rt::Error and CommandError.
TuneReport tune_program(const TunerInput& input, const tune::Store& store, const TunerSettings& settings,
                        const Console& console);

}  // namespace halo::driver
