// Which processors this process may use.
#pragma once

#include <string>
#include <vector>

namespace halo::rt {

// Processor numbers for threads to be pinned to: those that the process is allowed, one of each physical
// core, no more than the control group's quota grants. At least one.
std::vector<int> usable_processors();

// Threads to run by default: as many as usable processors, or what HALO_NUM_THREADS says (1 … 4096). Throws
// Error where that is no such number.
int default_threads();

std::string processor_model();  // "AMD EPYC 9654", or "unknown processor"

// "0-3,8" as the kernel writes sets of processors; empty where the text is no such list.
std::vector<int> parse_processor_list(const std::string& text);

}  // namespace halo::rt
