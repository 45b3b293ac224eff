#include "compiler/sema/guards.h"

#include <fmt/format.h>

#include <algorithm>

namespace halo::sema {

namespace {

constexpr std::int64_t kMaxBound = 1 << 30;

// Bounds of a region. Negative numbers count from the high face; past_cell() makes an inclusive end
// exclusive.
ir::Region::Bound first_cell(std::int64_t number) {
    return {number < 0, static_cast<int>(number)};
}
ir::Region::Bound past_cell(std::int64_t number) {
    return {number < 0, static_cast<int>(number + 1)};
}

}  // namespace

std::optional<ir::Region::Range> Guards::range_of(const syntax::RegionEntry& entry) {
    if (entry.side) {
        const int cell = *entry.side == syntax::Side::low ? 0 : -1;
        return ir::Region::Range{first_cell(cell), past_cell(cell)};
    }
    if (!entry.low || !entry.high) return std::nullopt;
    const auto low = evaluator_.integer(*entry.low, "the first cell of a range", -kMaxBound, kMaxBound);
    const auto high = evaluator_.integer(*entry.high, "the last cell of a range", -kMaxBound, kMaxBound);
    if (!low || !high) return std::nullopt;
    if ((*low < 0) == (*high < 0) && *low > *high) {
        evaluator_
            .report(DiagnosticKind::out_of_range, entry.where,
                    fmt::format("no cell lies in {}..{}", *low, *high))
            .note("both ends belong to a range; -1 is the last cell, -2 the one before");
        return std::nullopt;
    }
    return ir::Region::Range{first_cell(*low), past_cell(*high)};
}

bool Guards::resolve_entry(const syntax::RegionEntry& entry, Resolved& result) {
    const Symbol* symbol = evaluator_.symbols().find(entry.axis.text);
    if (!symbol || symbol->kind != Symbol::Kind::axis) {
        if (!entry.axis.text.empty()) evaluator_.report_unknown_axis(entry.axis.text, entry.axis.where);
        return false;
    }
    const std::optional<ir::Region::Range> range = range_of(entry);
    if (!range) return false;
    if (std::find(result.axes.begin(), result.axes.end(), symbol->index) != result.axes.end()) {
        evaluator_.report(DiagnosticKind::duplicate_setting, entry.where,
                          fmt::format("the cells along `{}` are given twice", entry.axis.text));
        return false;
    }
    result.axes.push_back(symbol->index);
    result.region.ranges[symbol->index] = *range;
    return true;
}

const Guards::Resolved& Guards::resolve(syntax::GuardId id, Halves place) {
    const auto [found, is_new] = resolved_.try_emplace({id.index, place, evaluator_.grid()});
    Resolved& result = found->second;
    if (!is_new) return result;
    const syntax::Guard& guard = evaluator_.file()[id];
    result.is_valid = true;
    for (const syntax::RegionEntry& entry : guard.region)
        result.is_valid = resolve_entry(entry, result) && result.is_valid;
    if (!guard.condition) return result;
    evaluator_.set_wanted(place);
    result.condition = evaluator_.condition(*guard.condition);
    if (!evaluator_.require_position(result.condition, place, "the condition", *guard.condition))
        result.condition = Value();
    if (!evaluator_.check_grid(result.condition, evaluator_.grid(), evaluator_.where(*guard.condition)))
        result.condition = Value();
    result.is_valid = result.is_valid && !result.condition.is_poison();
    return result;
}

std::optional<Cells> Guards::cells_of(const std::vector<syntax::GuardId>& guards, Halves place) {
    Cells cells;
    std::vector<int> axes;
    bool is_valid = true;
    for (const syntax::GuardId id : guards) {
        const Resolved& guard = resolve(id, place);
        const syntax::Guard& written = evaluator_.file()[id];
        is_valid = is_valid && guard.is_valid;
        for (const int axis : guard.axes) {
            if (std::find(axes.begin(), axes.end(), axis) != axes.end() && is_valid) {
                evaluator_.report(DiagnosticKind::duplicate_setting, written.where,
                                  fmt::format("the cells along `{}` are given by a block around this already",
                                              evaluator_.symbols().axes()[axis]));
                is_valid = false;
            }
            axes.push_back(axis);
            cells.region.ranges[axis] = guard.region.ranges[axis];
        }
        if (!written.condition || !guard.is_valid) continue;
        Arithmetic& arithmetic = evaluator_.arithmetic();
        Value condition = guard.condition;
        if (condition.kind == Value::Kind::truth) {
            if (condition.truth) continue;
            condition = arithmetic.leaf(ir::Scalar::boolean, ir::Constant{0}, true, written.where);
        }
        if (cells.condition) {
            const Value outer = Value::of(*cells.condition, ir::Scalar::boolean, false);
            condition = arithmetic.binary(ir::BinaryOp::logical_and, outer, condition, written.where);
        }
        if (condition.is_poison()) return std::nullopt;
        cells.condition = condition.id;
    }
    return is_valid ? std::optional<Cells>(cells) : std::nullopt;
}

}  // namespace halo::sema
