// Changing what statements compute: the expressions of one, and lets that the compiler adds.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compiler/ir/program.h"

namespace halo::ir {

// Calls map(operand) for each operand and puts the result in its place.
template <class Map>
void map_operands(Expr& expr, Map&& map) {
    if (auto* unary = std::get_if<Unary>(&expr.node)) {
        unary->operand = map(unary->operand);
    } else if (auto* binary = std::get_if<Binary>(&expr.node)) {
        binary->left = map(binary->left);
        binary->right = map(binary->right);
    } else if (auto* fma = std::get_if<Fma>(&expr.node)) {
        fma->a = map(fma->a);
        fma->b = map(fma->b);
        fma->c = map(fma->c);
    } else if (auto* select = std::get_if<Select>(&expr.node)) {
        select->condition = map(select->condition);
        select->then = map(select->then);
        select->otherwise = map(select->otherwise);
    } else if (auto* call = std::get_if<Call>(&expr.node)) {
        for (ExprId& argument : call->arguments)
            argument = map(argument);
    } else if (auto* sum = std::get_if<TableSum>(&expr.node)) {
        sum->value = map(sum->value);
        if (sum->factor) sum->factor = map(*sum->factor);
    } else if (auto* series = std::get_if<SeriesValue>(&expr.node)) {
        series->at = map(series->at);
    }
}

// Calls visit(ExprId&) for each expression of a statement: its value, its condition where it has one, and
// those of its recurrence.
// Takes const statements, too.
template <class AnyStatement, class Visit>
void visit_roots(AnyStatement& statement, Visit&& visit) {
    std::visit(
        [&](auto& alternative) {
            visit(alternative.value);
            if constexpr (requires { alternative.condition; }) {
                if (alternative.condition) visit(*alternative.condition);
            }
            if constexpr (requires { alternative.recurrence; }) {
                if (!alternative.recurrence) return;
                auto& form = *alternative.recurrence;
                for (auto* part : {&form.a, &form.b, &form.c, &form.d})
                    if (*part) visit(**part);
            }
        },
        statement);
}

// Puts map(access) in the place of each read in the statement's expressions for which it gives something. The
// builder is that of the program which has the statement.
using MapRead = std::function<std::optional<ExprId>(const Access&)>;
void map_reads(Program& program, ExprBuilder& builder, Statement& statement, const MapRead& map);
// The same of the reads of one level.
using ReplaceRead = std::function<ExprId(const Access&)>;
void replace_reads(Program& program, ExprBuilder& builder, Statement& statement, FieldId field, int time,
                   const ReplaceRead& replace);

// Whether a let could stand for what a state is given: stored as it is computed, with the same cells past its
// faces, whichever step they are of.
bool can_have_let(const Program& program, FieldId state);
// Adds a field for a let that has the type, boundary and halo of `like`, named as that and the suffix.
FieldId add_let_like(Program& program, FieldId like, const std::string& suffix);

}  // namespace halo::ir
