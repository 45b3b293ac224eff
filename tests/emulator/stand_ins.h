// Makes CUDA text with inline PTX run on a CPU: functions that hold some get a body in plain C++
// (ptx_stand_ins.cuh). So the text itself needs no second way beside its PTX.
#pragma once

#include <string>

namespace halo::emulator {

// The text with comments and strings blanked, same length.
std::string without_comments(const std::string& text);

// Lines stay where they are. Throws rt::Error where a function with inline PTX has no stand-in.
std::string with_stand_ins(const std::string& text);

}  // namespace halo::emulator
