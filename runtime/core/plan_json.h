// LaunchPlan as JSON, for kernels that are compiled now and run elsewhere. Numbers survive exactly,
// infinities and NaN included.
#pragma once

#include <string>
#include <string_view>

#include "runtime/core/launch_plan.h"

namespace halo::rt {

std::string plan_to_json(const LaunchPlan& plan);

// Throws Error (bad_argument) that names the missing or wrong entry.
LaunchPlan plan_from_json(std::string_view text);

}  // namespace halo::rt
