// What a run says of the repeats that a condition ends.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/running/engine.h"

namespace halo::driver {

using Reductions = std::vector<std::pair<std::string, double>>;  // of the last step, by name

// A line each; and one for those that ended after the most iterations without it in some of the steps.
std::string iterations_text(const std::vector<rt::RepeatCounts>& repeats, std::int64_t steps,
                            const Reductions& reductions);

// The same in the summary that is JSON, where there are some.
void add_iterations(const std::vector<rt::RepeatCounts>& repeats, nlohmann::ordered_json& json);

}  // namespace halo::driver
