// haloc under mpirun, on this machine.
#pragma once

#include <string>
#include <vector>

#include "process.h"

namespace halo::test {

// More processes than there are processors are fine, and mpirun itself says as little as it can.
std::vector<std::string> mpirun(int count);

Outcome run_ranks(const Folder& folder, int count, std::vector<std::string> arguments);

// How often a text holds another.
int count_of(const std::string& text, const std::string& part);

// Processes whose command line has this in it, by their ids; those that have ended and are not looked after
// do not count.
std::vector<int> processes_with(const std::string& words);

}  // namespace halo::test
