// Results as JSON, for other programs. Times in seconds, rates in cells (or terms) a second.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compiler/bench/results.h"

namespace halo::bench {

std::string to_json(const Results& results);
nlohmann::ordered_json machine_json(const MachineFacts& machine);

}  // namespace halo::bench
