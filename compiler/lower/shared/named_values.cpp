#include "compiler/kernel/build.h"
#include "compiler/lower/shared/cell.h"

namespace halo::lower {

using kernel::Expr;
using kernel::Type;

void declare_values(std::vector<NamedValue> values, kernel::Block before, kernel::Block& body) {
    const bool is_computed = !before.empty();
    for (NamedValue& each : values) {
        const Type type = each.value.type();
        if (!is_computed) {
            body.push_back(kernel::Declare{type, each.name, std::move(each.value)});
            continue;
        }
        const Expr start =
            type == Type::boolean ? kernel::int_literal(0, type) : kernel::real_literal(0, type);
        body.push_back(kernel::Declare{type, each.name, start, true});
        before.push_back(kernel::Assign{kernel::variable(each.name, type), std::move(each.value)});
    }
    if (is_computed) body.push_back(kernel::Scope{std::move(before)});
}

Expr lower_value(Context& context, const CellSources& sources, ir::ExprId id, const std::string& wanted,
                 kernel::Block& body) {
    kernel::Block before;
    Expr value = lower_inline(context, sources, id, before);
    const Type type = value.type();
    const std::string name = context.names().take(wanted);
    declare_values({{name, std::move(value)}}, std::move(before), body);
    return kernel::variable(name, type);
}

}  // namespace halo::lower
