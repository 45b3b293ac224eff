#include "compiler/ir/rewrite.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/analysis.h"

namespace halo::ir {

bool can_have_let(const Program& program, FieldId state) {
    const Field& field = program[state];
    if (field.storage != natural_storage(field.type) || has_formula(field)) return false;
    for (int axis = 0; axis < program.rank(); ++axis)
        for (const Face& face : field.boundary[static_cast<std::size_t>(axis)])
            if (face.kind == BoundaryKind::fixed && changes_with_step(program, face.value)) return false;
    return true;
}

FieldId add_let_like(Program& program, FieldId like, const std::string& suffix) {
    const auto is_taken = [&](const std::string& name) {
        return std::ranges::any_of(program.fields, [&](const Field& field) { return field.name == name; });
    };
    Field let = program[like];
    let.role = Role::intermediate;
    let.history = 0;
    const std::string stem = let.name + suffix;
    let.name = stem;
    for (int number = 2; is_taken(let.name); ++number)
        let.name = stem + "_" + std::to_string(number);
    program.fields.push_back(std::move(let));
    return FieldId{static_cast<std::uint32_t>(program.fields.size() - 1)};
}

void map_reads(Program& program, ExprBuilder& builder, Statement& statement, const MapRead& map) {
    std::map<std::uint32_t, ExprId> made;
    for (const std::uint32_t index : reached_exprs(program, roots_of(statement))) {
        Expr expr = program.exprs[index];  // a copy: the arena grows
        if (const auto* access = std::get_if<Access>(&expr.node)) {
            const std::optional<ExprId> other = map(*access);
            made[index] = other ? *other : builder.add(std::move(expr));
            continue;
        }
        map_operands(expr, [&](ExprId operand) { return made.at(operand.index); });
        made[index] = builder.add(std::move(expr));
    }
    visit_roots(statement, [&](ExprId& root) { root = made.at(root.index); });
}

void replace_reads(Program& program, ExprBuilder& builder, Statement& statement, FieldId field, int time,
                   const ReplaceRead& replace) {
    map_reads(program, builder, statement, [&](const Access& access) {
        const bool is_it = access.field == field && access.time == time;
        return is_it ? std::optional(replace(access)) : std::nullopt;
    });
}

}  // namespace halo::ir
