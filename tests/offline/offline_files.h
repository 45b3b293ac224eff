// Specs that use all of what the offline launcher has to do, and their files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/launcher.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "examples.h"

namespace halo::test {

struct OfflineCase {
    std::string text;      // of the spec; only arithmetic that is the same on every machine
    std::string schedule;  // as for --schedule
    halo::rt::Extent extent{};
    bool is_fixed = false;  // emitted for that grid alone
    // The grid that the schedule is chosen for, where it is another one.
    std::optional<halo::rt::Extent> planned_extent{};
    std::vector<std::string> reductions{};  // that a temporal kernel gives, too, at each of its steps
};
const std::vector<OfflineCase>& offline_cases();
const std::vector<OfflineCase>& cases_of_several_steps();  // by one kernel; five are more than it does
const std::vector<OfflineCase>& cases_on_the_chip();       // by `resident` schedules
std::vector<OfflineCase> all_offline_cases();
// The first case of that stencil, for any grid. std::out_of_range where there is none.
const OfflineCase& first_of(const std::vector<OfflineCase>& cases, std::string_view stencil);

struct Offline {
    ir::Program program;
    lower::Lowered lowered;
    emit::OfflineFiles files;
};
Offline make_offline(const OfflineCase& offline_case);  // stem: the program's name
Offline make_offline(const Example& example);           // by the schedules chosen for its own grid

void write_file(const std::string& path, const std::string& text);

struct CommandResult {
    int code = -1;
    std::string output;  // both streams
};
CommandResult run_command(const std::string& command);

// nvcc's options under which a remark of its own or of the host's compiler is an error.
inline constexpr const char* kNoRemarks = " -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror";

}  // namespace halo::test
