#include "compiler/ir/stretched_axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "compiler/ir/print.h"
#include "compiler/ir/program.h"

namespace halo::ir {

namespace {

std::string text_of(const AxisTable& table) {
    const auto at = [](bool half) { return half ? " + 1/2" : ""; };
    const std::string where = fmt::format("of cell {:+}{}", table.shift, at(table.at_half));
    if (table.cells.empty()) return "position " + where;
    return fmt::format("weight {} in the derivative {} over cells {}{}, {}", table.node, table.derivative,
                       fmt::join(table.cells, " "), at(table.cells_at_half), where);
}

}  // namespace

std::string print(const StretchedAxis& axis) {
    std::string text = axis.field;
    if (axis.formula) {
        const auto& assign = std::get<Assign>(axis.formula->statements.front());
        text = print(*axis.formula, assign.value);
    }
    text += axis.is_periodic ? ", periodic\n" : "\n";
    for (const StretchedAxis::Table& table : axis.tables)
        text += fmt::format("    {}: {}\n", table.field, text_of(table.holds));
    return text;
}

}  // namespace halo::ir
