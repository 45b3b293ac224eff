#include "random_iterations.h"

#include <algorithm>
#include <map>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/rewrite.h"

namespace halo::test {

namespace {

bool can_be_repeated(const ir::Program& program) {
    for (const ir::Field& field : program.fields)
        if (field.history > 0 || (field.role == ir::Role::state && ir::has_formula(field))) return false;
    for (const ir::Statement& statement : program.statements) {
        const auto* const assign = std::get_if<ir::Assign>(&statement);
        if (assign != nullptr && (ir::is_partial(*assign) || assign->sweep)) return false;
        for (const ir::ExprId root : ir::roots_of(statement))
            if (ir::changes_with_step(program, root)) return false;
    }
    return true;
}

}  // namespace

std::optional<ir::Program> iterations_of(const ir::Program& program, std::int64_t count) {
    if (!can_be_repeated(program)) return std::nullopt;
    ir::Program repeated = program;
    repeated.statements.clear();
    const std::vector<ir::Repeat> repeats{{0, count}};
    std::map<ir::FieldId, ir::FieldId> next;
    for (std::uint32_t field = 0; field < program.fields.size(); ++field)
        if (program.fields[field].role == ir::Role::state)
            next[{field}] = ir::add_let_like(repeated, {field}, ".next");
    ir::ExprBuilder builder(repeated);
    const auto give = [&](ir::FieldId state, ir::ExprId value, const std::vector<ir::Repeat>& within) {
        ir::Assign assign;
        assign.target = state;
        assign.time = 1;
        assign.value = value;
        assign.repeats = within;
        repeated.statements.emplace_back(std::move(assign));
    };
    for (const auto& [state, let] : next)
        give(state, builder.access(state, 0, {}), {});
    for (ir::Statement statement : program.statements) {
        // t+1 gets out of the way of t, in whose place it is within the repeat.
        for (const auto& [state, let] : next)
            ir::replace_reads(repeated, builder, statement, state, 1, [&](const ir::Access& access) {
                return builder.access(let, 0, access.offset);
            });
        for (const auto& [state, let] : next)
            ir::replace_reads(repeated, builder, statement, state, 0, [&](const ir::Access& access) {
                return builder.access(state, 1, access.offset);
            });
        if (auto* const assign = std::get_if<ir::Assign>(&statement)) {
            if (assign->time == 1) assign->target = next.at(assign->target);
            assign->time = 0;
            assign->repeats = repeats;
        } else if (auto* const reduce = std::get_if<ir::Reduce>(&statement)) {
            reduce->repeats = repeats;
        }
        repeated.statements.push_back(std::move(statement));
    }
    for (const auto& [state, let] : next)
        give(state, builder.access(let, 0, {}), repeats);
    return repeated;
}

}  // namespace halo::test
