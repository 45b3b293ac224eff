// Processes of one machine: whether one that was there has ended.
#pragma once

#include <string>

namespace halo::rt {

// Names this process to others: its id, and where that id is one of a process.
std::string process_name();

// Of a process with that name; false also where it cannot be told from here.
bool process_has_ended(const std::string& name);

}  // namespace halo::rt
