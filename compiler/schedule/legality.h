// Whether a stage can run by a schedule on a target.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/footprint.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/schedule.h"

namespace halo::schedule {

using rt::Extent;
inline std::int64_t cell_count(const Extent& extent) {
    return extent.cells();
}

struct Reason {
    bool limit = true;                    // false: a note; the schedule runs, but not as well as it might
    Setting setting = Setting::strategy;  // what to change, to point at where the user wrote it
    std::string text;                     // a sentence that names the limit and both figures
};

// Everything in the way of the schedule, limits before notes; no limits: it can be built. Registers are an
// estimate (registers.h): what is refused could only run with values spilled to memory. pins: what the
// schedule was chosen around; of these, settings that its strategy has not are in the way, too.
std::vector<Reason> check(const ir::Program& program, const ir::Stage& stage, const Schedule& schedule,
                          const Target& target, const std::optional<Extent>& extent = std::nullopt,
                          const Pins& pins = {});
std::vector<Reason> check(const Footprint& footprint, const Schedule& schedule, const Target& target,
                          const std::optional<Extent>& extent = std::nullopt, const Pins& pins = {});

bool is_legal(const std::vector<Reason>& reasons);  // none is a limit

}  // namespace halo::schedule
