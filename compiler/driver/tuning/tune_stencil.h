// A stencil tuned, as `haloc tune` and host programs ask for it, and the words for what came out.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/tuning/tuner.h"

namespace halo::driver {

// How the stencil is to be compiled.
struct TunedCode {
    std::vector<std::string> schedules;  // pinned
    bool strict_fp = false;
    bool arrays_of_host = false;  // as of CodeOptions
};

// Opens the store that `file` names, or the usual one. Throws where results cannot be kept, before anything
// is measured.
tune::Store open_store_for_tuning(const std::string& file);

// request: of request_for_tuning(). As tune_program(); 0 jobs are as many as there are processors, 16 at
// most.
TuneReport tune_stencil(GpuMachine& machine, const CheckedSpec& spec, const sema::AnalyzedStencil& stencil,
                        const RunRequest& request, const TunedCode& code, const tune::Store& store,
                        TunerSettings settings, const Console& console);

const char* kind_word(StageReport::Kind kind);  // "no choice"
// Lines for people about each stage, and about several steps at once.
std::string tuning_text(const TuneReport& report, const Extent& extent);

}  // namespace halo::driver
