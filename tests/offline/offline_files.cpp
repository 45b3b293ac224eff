#include "offline_files.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "compare_engines.h"
#include "compiler/emit/launcher_model.h"
#include "compiler/lower/fixed_grid.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/temporal.h"

namespace halo::test {

const OfflineCase& first_of(const std::vector<OfflineCase>& cases, std::string_view stencil) {
    const std::string begin = "stencil " + std::string(stencil) + "(";
    const auto found = std::ranges::find_if(cases, [&](const OfflineCase& each) {
        return each.text.find(begin) != std::string::npos && !each.is_fixed;
    });
    if (found == cases.end()) throw std::out_of_range("no case of the " + begin);
    return *found;
}

Offline make_offline(const OfflineCase& offline_case) {
    Offline offline;
    offline.program = load_program(offline_case.text);
    const ir::Program& program = offline.program;
    const schedule::GroupingKind* const kind = schedule::find_grouping(offline_case.schedule);
    const schedule::Pins pins =
        kind != nullptr ? schedule::Pins{} : schedule::parse(offline_case.schedule, program.rank()).pins;
    const schedule::Target target;
    schedule::Plan plan;
    for (const ir::Stage& stage : ir::form_stages(program))
        plan.stages.push_back(schedule::choose(program, stage, target, {}, pins).schedule);
    if (kind != nullptr) {
        const schedule::Extent large{512, 512, program.rank() == 3 ? 512 : 1};
        const schedule::Extent own = offline_case.planned_extent.value_or(offline_case.extent);
        const schedule::GroupingChoice choice =
            kind->choose({program, target, kind->needs_whole_grid ? own : large, offline_case.schedule, {}});
        if (!choice.grouping) throw std::runtime_error("no such schedule: " + offline_case.schedule);
        plan.grouping = *choice.grouping;
        if (auto* const temporal = std::get_if<schedule::TemporalSchedule>(&plan.grouping))
            temporal->reductions = offline_case.reductions;
    }
    offline.lowered = lower::lower_cuda(program, plan);
    if (offline_case.is_fixed) lower::fix_grid(offline.lowered, offline_case.extent);
    offline.files = emit::print_offline(offline.lowered.kernels, offline.lowered.plan, program.name);
    return offline;
}

Offline make_offline(const Example& example) {
    Offline offline;
    offline.program = example.program;
    offline.lowered = lower::lower_cuda(example.program, {chosen(example)});
    offline.files = emit::print_offline(offline.lowered.kernels, offline.lowered.plan, example.program.name);
    return offline;
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

CommandResult run_command(const std::string& command) {
    CommandResult result;
    std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    std::array<char, 4096> buffer;
    for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        result.output.append(buffer.data(), count);
    }
    const int status = ::pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return result;
}

}  // namespace halo::test
