#include "compiler/schedule/temporal_core.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/rewrite.h"
#include "compiler/ir/unread_steps.h"
#include "compiler/schedule/iterated_core.h"
#include "compiler/schedule/pipeline.h"

namespace halo::schedule {

namespace {

// In later steps of a run other statements may be done, one step at a time.
bool is_of_first_steps(const ir::Statement& statement) {
    return ir::steps_of(statement).contains(0);
}

// also: by statement, the reductions that it has besides.
ir::Program core_with(const ir::Program& program, const std::vector<bool>& also) {
    ir::Program core = program;
    const std::vector<bool> needed = ir::needed_in_unread_steps(program, also);
    core.statements.clear();
    for (std::size_t index = 0; index < needed.size(); ++index)
        if (needed[index] && is_of_first_steps(program.statements[index]))
            core.statements.push_back(program.statements[index]);
    return core;
}

// The levels of states whose neighbours within a plane are read.
std::set<ir::Level> levels_read_beside(const ir::Program& core) {
    std::set<ir::Level> levels;
    for (const ir::Statement& statement : core.statements)
        for (const std::uint32_t index : ir::reached_exprs(core, ir::roots_of(statement))) {
            const auto* access = std::get_if<ir::Access>(&core.exprs[index].node);
            if (access != nullptr && core[access->field].role == ir::Role::state &&
                is_within_plane(access->offset, core.rank() - 1))
                levels.insert({access->field, access->time});
        }
    return levels;
}

// The one statement that gives the state its next level; none where a let could not stand for that.
std::optional<std::size_t> whole_writer(const ir::Program& core, ir::FieldId state) {
    std::optional<std::size_t> writer;
    for (std::size_t index = 0; index < core.statements.size(); ++index) {
        const auto* assign = std::get_if<ir::Assign>(&core.statements[index]);
        if (assign == nullptr || assign->target != state) continue;
        if (writer || ir::is_partial(*assign)) return std::nullopt;
        writer = index;
    }
    return ir::can_have_let(core, state) ? writer : std::nullopt;
}

// A pipeline keeps the planes around a cell of one level of a field. Where the neighbours of a state are read
// at t and at t+1, the latter become those of a let that has the same values.
void split_levels(ir::Program& core) {
    const std::set<ir::Level> levels = levels_read_beside(core);
    for (const auto& [state, time] : levels) {
        if (time != 1 || !(levels.contains({state, 0}) || levels.contains({state, -1}))) continue;
        const std::optional<std::size_t> writer = whole_writer(core, state);
        if (!writer) continue;
        ir::ExprBuilder builder(core);
        ir::Assign made = std::get<ir::Assign>(core.statements[*writer]);
        made.target = ir::add_let_like(core, state, "_made");
        made.time = 0;
        const ir::FieldId let = made.target;
        for (std::size_t later = *writer + 1; later < core.statements.size(); ++later)
            ir::replace_reads(core, builder, core.statements[later], state, 1, [&](const ir::Access& access) {
                return builder.access(let, 0, access.offset);
            });
        core.statements.insert(core.statements.begin() + static_cast<std::ptrdiff_t>(*writer), made);
    }
}

// Whether a pipeline exists does not depend on the number of steps.
std::string refusal(ir::Program core) {
    split_levels(core);
    const auto formed = form_pipeline(core, 1);
    const auto* why = std::get_if<std::string>(&formed);
    return why == nullptr ? "" : *why;
}

}  // namespace

ir::Program state_core(const ir::Program& program) {
    return core_with(program, std::vector<bool>(program.statements.size()));
}

namespace {

TemporalCore core_of_repeat(const ir::Program& program) {
    auto formed = iterated_core(program);
    if (auto* const core = std::get_if<TemporalCore>(&formed)) {
        split_levels(core->program);
        return std::move(*core);
    }
    TemporalCore none;
    none.program = program;
    none.refused = std::get<std::string>(std::move(formed));
    return none;
}

}  // namespace

TemporalCore temporal_core(const ir::Program& program, const std::vector<std::string>& wanted) {
    if (ir::has_repeats(program)) return core_of_repeat(program);
    TemporalCore core;
    core.refused = refused_rest(program);
    std::vector<bool> kept(program.statements.size());
    core.program = core_with(program, kept);
    const std::string why_none = wanted.empty() ? "" : refusal(core.program);
    for (std::size_t index = 0; index < kept.size(); ++index) {
        const auto* reduce = std::get_if<ir::Reduce>(&program.statements[index]);
        if (reduce == nullptr || !is_of_first_steps(program.statements[index]) ||
            std::ranges::find(wanted, reduce->name) == wanted.end())
            continue;
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
    core.is_whole = std::cmp_equal(core.program.statements.size(),
                                   std::ranges::count_if(program.statements, is_of_first_steps));
    split_levels(core.program);
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
