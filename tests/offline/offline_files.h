// Specs that use all of what the offline launcher has to do, and their files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/emit/launcher.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"

namespace halo::test {

struct OfflineCase {
    std::string text;      // of the spec; only arithmetic that is the same on every machine
    std::string schedule;  // as for --schedule
    std::array<std::int64_t, 3> extent{1, 1, 1};
    bool is_fixed = false;  // emitted for that grid alone
};
const std::vector<OfflineCase>& offline_cases();
const std::vector<OfflineCase>& cases_of_several_steps();  // by one kernel; five are more than it does

struct Offline {
    ir::Program program;
    lower::Lowered lowered;
    emit::OfflineFiles files;
};
Offline make_offline(const OfflineCase& offline_case);  // stem: the program's name

void write_file(const std::string& path, const std::string& text);

struct CommandResult {
    int code = -1;
    std::string output;  // both streams
};
CommandResult run_command(const std::string& command);

}  // namespace halo::test
