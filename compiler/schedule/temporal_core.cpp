#include "compiler/schedule/temporal_core.h"

#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/schedule/pipeline.h"

namespace halo::schedule {

namespace {

// also: by statement, the reductions that it has besides.
ir::Program core_with(const ir::Program& program, const std::vector<bool>& also) {
    ir::Program core = program;
    const std::vector<bool> needed = ir::needed_in_unread_steps(program, also);
    core.statements.clear();
    for (std::size_t index = 0; index < needed.size(); ++index)
        if (needed[index]) core.statements.push_back(program.statements[index]);
    return core;
}

// Whether a pipeline exists does not depend on the number of steps.
std::string refusal(const ir::Program& core) {
    const auto formed = form_pipeline(core, 1);
    const auto* why = std::get_if<std::string>(&formed);
    return why == nullptr ? "" : *why;
}

}  // namespace

ir::Program state_core(const ir::Program& program) {
    return core_with(program, std::vector<bool>(program.statements.size()));
}

TemporalCore temporal_core(const ir::Program& program, const std::vector<std::string>& wanted) {
    TemporalCore core;
    std::vector<bool> kept(program.statements.size());
    core.program = core_with(program, kept);
    const std::string why_none = wanted.empty() ? "" : refusal(core.program);
    for (std::size_t index = 0; index < kept.size(); ++index) {
        const auto* reduce = std::get_if<ir::Reduce>(&program.statements[index]);
        if (reduce == nullptr || std::ranges::find(wanted, reduce->name) == wanted.end()) continue;
        kept[index] = true;
        ir::Program wider = core_with(program, kept);
        std::string why = why_none.empty() ? refusal(wider) : why_none;
        if (why.empty()) {
            core.reductions.push_back(reduce->name);
            core.program = std::move(wider);
        } else {
            core.left_out.push_back({reduce->name, std::move(why)});
            kept[index] = false;
        }
    }
    core.is_whole = core.program.statements.size() == program.statements.size();
    return core;
}

std::string refused_rest(const ir::Program& program) {
    std::vector<std::size_t> statement_of;  // by reduction
    for (std::size_t index = 0; index < program.statements.size(); ++index)
        if (std::holds_alternative<ir::Reduce>(program.statements[index])) statement_of.push_back(index);
    for (std::size_t index = 0; index < program.statements.size(); ++index) {
        const std::vector<bool> reached =
            ir::reachable_exprs(program, ir::roots_of(program.statements[index]));
        for (std::size_t e = 0; e < reached.size(); ++e) {
            const auto* read = std::get_if<ir::ReductionRef>(&program.exprs[e].node);
            if (reached[e] && read && statement_of[read->reduction.index] >= index)
                return "a statement reads a reduction of the step before";
        }
    }
    return "";
}

std::string why_unwatched(const TemporalCore& core) {
    std::string why;
    for (const TemporalCore::LeftOut& left : core.left_out)
        why += (why.empty() ? "" : "; ") +
               ("`" + left.reduction +
                "` is looked at after every step, and cannot be found at each of several: " + left.why);
    return why;
}

}  // namespace halo::schedule
