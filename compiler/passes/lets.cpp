#include "compiler/passes/lets.h"

#include <algorithm>

#include "compiler/ir/access_walk.h"
#include "compiler/ir/analysis.h"

namespace halo::passes {

using namespace ir;

namespace {

bool is_for_all_cells_at_once(const Statement& statement) {
    if (const auto* assign = std::get_if<Assign>(&statement))
        return !assign->sweep && assign->repeats.empty();
    const auto* reduce = std::get_if<Reduce>(&statement);
    return reduce != nullptr && reduce->repeats.empty() && reduce->factor == 1;
}

bool gives_all_cells(const Assign& assign) {
    return !assign.condition && !assign.sweep && assign.repeats.empty() && assign.region.is_whole() &&
           assign.margins == Margins{};
}

void add_read(LetUse& use, const Access& access, bool is_plain) {
    use.has_plain_readers = use.has_plain_readers && is_plain && !access.is_mapped();
    for (std::size_t axis = 0; axis < use.reach.size(); ++axis) {
        use.reach[axis][0] = std::max(use.reach[axis][0], -access.offset[axis]);
        use.reach[axis][1] = std::max(use.reach[axis][1], access.offset[axis]);
    }
}

}  // namespace

std::vector<LetUse> uses_of_lets(const Program& program) {
    std::vector<LetUse> uses(program.fields.size());
    AccessWalk walk(program);
    std::vector<int> definitions(program.fields.size(), 0);
    for (const Statement& statement : program.statements) {
        const bool is_plain = is_for_all_cells_at_once(statement);
        walk.for_each_access(roots_of(statement), [&](const Access& access) {
            add_read(uses[access.field.index], access, is_plain);
        });
        const auto* assign = std::get_if<Assign>(&statement);
        if (assign == nullptr || program[assign->target].role != Role::intermediate) continue;
        const std::uint32_t target = assign->target.index;
        const bool is_only = ++definitions[target] == 1 && gives_all_cells(*assign);
        uses[target].value = is_only ? std::optional(assign->value) : std::nullopt;
    }
    return uses;
}

}  // namespace halo::passes
