// The compiler as a few calls, in order: what docs/architecture.md draws.
//
//   Checked checked = check_text("heat3d.halo", text);              text → diagnostics, or programs and runs
//   ir::Program program = optimize(checked.….program, options);     passes that keep the meaning
//   std::vector<StageChoice> stages = choose_schedules(program, options);
//   schedule::TemporalChoice several = choose_temporal(program, stages, options);
//   Code code = cuda_code(program, stages, several.schedule);       lowering and printing
//   Code code = cpu_code(program);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/temporal.h"

namespace halo::driver {

struct CodeOptions {
    // As of --schedule: none, one for all stages, or one a stage; and one for several steps at once.
    std::vector<std::string> schedules;
    std::string file_schedule;  // of the spec's schedule block; --schedule comes before it
    bool strict_fp = false;     // keep the order of arithmetic as written
    schedule::Target target;
    std::optional<schedule::Extent> extent;  // of the grid; without one it is taken to be large
    std::optional<std::int64_t> steps;       // of the run; without it they are taken to be many
};

// How one stage runs, and why.
struct StageChoice {
    ir::Stage stage;
    schedule::Footprint footprint;
    schedule::Schedule schedule;
    std::string reason;
    std::vector<std::string> notes;  // why it might run better otherwise
    bool pinned = false;             // by the user, in part or whole
};

struct Code {
    std::string text;
    lower::Lowered lowered;
    double lower_seconds = 0, print_seconds = 0;  // that it took
};

ir::Program optimize(ir::Program program, const CodeOptions& options);

// Throws CommandError: usage for a --schedule that cannot be read or built, spec for one of the file.
std::vector<StageChoice> choose_schedules(const ir::Program& program, const CodeOptions& options);

bool pins_temporal(const CodeOptions& options);
// How several steps are done at once, where that is faster or pinned. Throws as choose_schedules does.
schedule::TemporalChoice choose_temporal(const ir::Program& program, const std::vector<StageChoice>& stages,
                                         const CodeOptions& options);

Code cuda_code(const ir::Program& program, const std::vector<StageChoice>& stages,
               const std::optional<schedule::TemporalSchedule>& temporal = std::nullopt);
Code cpu_code(const ir::Program& program);

}  // namespace halo::driver
