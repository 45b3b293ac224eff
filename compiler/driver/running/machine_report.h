// What is found on this machine, what is missing and how to get it.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/planning/target_figures.h"

namespace halo::driver {

struct Finding {
    std::string name;  // for JSON
    std::string title;
    bool found = false;
    std::string detail;  // what was found, or why it is missing and how to get it
};

struct MachineReport {
    std::vector<Finding> findings;
    std::string best_device;  // "cuda", "cpu", "interpreter"
    TargetHere here;          // what schedules are chosen for
};

MachineReport examine_machine();

// Says where the figures are from, and gives them.
std::string explain_figures(const TargetHere& here);

}  // namespace halo::driver
