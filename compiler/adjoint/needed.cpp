#include "compiler/adjoint/needed.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/adjoint/active.h"
#include "compiler/adjoint/refusals.h"
#include "compiler/ir/analysis.h"

namespace halo::adjoint {

using ir::FieldId;

namespace {

bool is_asked_for(const Chosen& chosen, const ir::Statement& statement) {
    const auto* reduce = std::get_if<ir::Reduce>(&statement);
    const auto* sample = std::get_if<ir::Sample>(&statement);
    return std::ranges::find(chosen.reductions, reduce) != chosen.reductions.end() ||
           std::ranges::find(chosen.samples, sample) != chosen.samples.end();
}

}  // namespace

ir::Program needed_part(const ir::Program& program, const Request& request) {
    const Chosen chosen = choose(program, request);
    std::vector<Dependence> step;
    std::set<FieldId> results(chosen.results.begin(), chosen.results.end());
    for (const ir::Statement& statement : program.statements) {
        if (const auto* assign = std::get_if<ir::Assign>(&statement))
            step.push_back({assign->target, ir::roots_of(statement)});
        if (const auto* inject = std::get_if<ir::Inject>(&statement))
            step.push_back({inject->target, ir::roots_of(statement)});
        if (!is_asked_for(chosen, statement)) continue;
        for (const std::uint32_t i : ir::reached_exprs(program, ir::roots_of(statement)))
            if (const auto* access = std::get_if<ir::Access>(&program.exprs[i].node))
                results.insert(access->field);
    }
    const std::set<FieldId> needed = needed_fields(program, step, results);
    ir::Program part = program;
    part.statements.clear();
    for (const ir::Statement& statement : program.statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        const auto* inject = std::get_if<ir::Inject>(&statement);
        const bool is_needed = (assign != nullptr && needed.contains(assign->target)) ||
                               (inject != nullptr && needed.contains(inject->target)) ||
                               is_asked_for(chosen, statement);
        if (is_needed) part.statements.push_back(statement);
    }
    return part;
}

}  // namespace halo::adjoint
