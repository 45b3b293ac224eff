// The common part of passes on the StencilProgram: writing a program's expressions anew.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/ir/rewrite.h"

namespace halo::passes {

// Calls visit(ExprId&) for each place outside the arena that holds an expression: spacing and origin, values
// of fixed faces, ghosts of formulas, computed columns of tables, values and conditions of statements, and
// what ends repeats. Works on const programs, too.
template <class Program, class Visit>
void for_each_root(Program& program, Visit&& visit) {
    for (auto& axis : program.axes) {
        visit(axis.spacing);
        visit(axis.origin);
    }
    for (auto& field : program.fields) {
        for (int axis = 0; axis < program.rank(); ++axis)
            for (auto& face : field.boundary[axis]) {
                if (face.kind == ir::BoundaryKind::fixed) visit(face.value);
                if (face.kind != ir::BoundaryKind::formula) continue;
                for (auto& ghost : face.ghosts)
                    visit(ghost);
            }
    }
    for (auto& table : program.tables) {
        for (auto& column : table.columns)
            if (column.value) visit(*column.value);
    }
    for (auto& statement : program.statements)
        ir::visit_roots(statement, visit);
    for (auto& end : program.repeat_ends)
        visit(end.until);
}

std::vector<ir::ExprId> roots_of(const ir::Program& program);

// How often each expression is used by the expressions and roots that are needed; 0 for dead ones.
std::vector<std::uint32_t> count_uses(const ir::Program& program);

// True for expressions that read a field, a launch-time weight or a table. The others are uniform, or vary
// with idx and pos alone; arithmetic on those stays as it is written, since whole numbers are exact there and
// conditions such as floor(idx(x)/49) == 1 rely on it.
std::vector<bool> reads_data(const ir::Program& program);

// Writes every needed expression into a fresh arena, in order, so that dead ones are gone and equal ones are
// one. rewrite(builder, expr, old) gets the node with its operands already in the new arena (program.exprs)
// and its old handle, and returns its replacement, mostly builder.add(expr). Halos and margins stay as they
// are: they say what the program means, not what is left of its reads.
template <class Rewrite>
void rebuild(ir::Program& program, Rewrite&& rewrite) {
    const std::vector<std::uint32_t> uses = count_uses(program);
    std::vector<ir::Expr> old = std::exchange(program.exprs, {});
    std::vector<ir::ExprId> replacement(old.size());
    ir::ExprBuilder builder(program);
    for (std::uint32_t i = 0; i < old.size(); ++i) {
        if (uses[i] == 0) continue;
        map_operands(old[i], [&](ir::ExprId operand) { return replacement[operand.index]; });
        replacement[i] = rewrite(builder, std::move(old[i]), ir::ExprId{i});
    }
    for_each_root(program, [&](ir::ExprId& root) { root = replacement[root.index]; });
}

// Drops dead expressions and makes equal ones one.
void prune(ir::Program& program);

}  // namespace halo::passes
