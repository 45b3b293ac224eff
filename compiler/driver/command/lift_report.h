// What haloc lift --all found, as JSON, and that in words.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace halo::driver {

// One file: {"file", "trouble" (where it cannot be read or compiled) with "missing", "left_out" (functions
// without loops over arrays), "functions"}. A function: {"function", "line", "outcome" ("whole", "part",
// "refused"), "verified", "not_verified" (why), "difference" (what was found to be computed otherwise),
// "stencils", "refused"}, of which the last is a list of {"place", "reason"}.
using LiftReport = nlohmann::ordered_json;

std::string file_in_words(const LiftReport& file);
// files: all of them. Counts, and the reasons of refusals, the most frequent first.
LiftReport lift_summary(const LiftReport& files);
std::string summary_in_words(const LiftReport& summary);

}  // namespace halo::driver
