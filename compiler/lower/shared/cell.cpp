#include "compiler/lower/shared/cell.h"

#include <algorithm>

#include "compiler/lower/shared/cell_lowering.h"

namespace halo::lower {

using kernel::Expr;

namespace {

// The lets that `roots` read, whose values become roots, too.
std::vector<const ir::Assign*> add_lets(const StageView& stage, std::vector<ir::ExprId>& roots) {
    std::vector<const ir::Assign*> lets = stage.lets_for(roots);
    for (const ir::Assign* let : lets)
        roots.push_back(let->value);
    return lets;
}

}  // namespace

Expr stored_value(const StageView& stage, const Write& write, const CellValues& values) {
    const auto place = std::find(stage.assigns.begin(), stage.assigns.end(), write.assign);
    return values.assigned[static_cast<std::size_t>(place - stage.assigns.begin())];
}

CellValues lower_cell(Context& context, const CellSources& sources, kernel::Block& body) {
    return CellLowering(context, sources, context.stage().roots(), body).lower();
}

InPlaceCell lower_in_place(Context& context, const CellSources& sources, const ir::Assign& changing,
                           kernel::Block& body) {
    std::vector<ir::ExprId> roots{changing.value};  // without its recurrence
    if (changing.condition) roots.push_back(*changing.condition);
    const std::vector<const ir::Assign*> lets = add_lets(context.stage(), roots);
    return CellLowering(context, sources, roots, body).lower_in_place(changing, lets);
}

BoxCell lower_in_box(Context& context, const CellSources& sources, kernel::Block& body) {
    return CellLowering(context, sources, context.stage().roots(), body).lower_in_box();
}

bool lower_line_cell(Context& context, const CellSources& sources, kernel::Block& body,
                     const std::function<void(const Level&, kernel::Expr)>& store) {
    const StageView& stage = context.stage();
    if (!sweeps_whole_lines(stage)) return false;
    std::vector<ir::ExprId> roots;
    for (const ir::Assign* assign : stage.swept)
        roots.push_back(assign->value);  // without its recurrence, and none has a condition
    const std::vector<const ir::Assign*> lets = add_lets(stage, roots);
    CellLowering(context, sources, roots, body)
        .lower_line_cell(stage.swept, lets, [&](const ir::Assign& assign, Expr value) {
            store({assign.target, assign.time}, std::move(value));
        });
    return true;
}

Expr lower_at_point(Context& context, const CellSources& sources, ir::ExprId value, kernel::Block& body) {
    std::vector<ir::ExprId> roots = context.stage().roots();
    roots.push_back(value);
    return CellLowering(context, sources, roots, body).lower_at_point(value);
}

std::vector<Expr> lower_values(Context& context, const CellSources& sources,
                               const std::vector<ir::ExprId>& roots, kernel::Block& body) {
    return CellLowering(context, sources, roots, body).lower_roots(roots);
}

std::vector<Expr> lower_with_lets(Context& context, const CellSources& sources, std::vector<ir::ExprId> roots,
                                  kernel::Block& body) {
    const std::size_t wanted = roots.size();
    const std::vector<const ir::Assign*> lets = add_lets(context.stage(), roots);
    CellLowering lowering(context, sources, roots, body);
    roots.resize(wanted);
    return lowering.lower_roots(roots, lets);
}

}  // namespace halo::lower
