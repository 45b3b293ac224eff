#include "compiler/lower/shared/repeated.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace halo::lower {

namespace {

constexpr int kFewestOperations = 4;  // shorter expressions are as readable as a name

struct Extent {
    int operations = 0;
    bool reads = false;
    bool is_long = false;
    ir::Offset low{}, high{};  // of what is read
};

void include(Extent& extent, const ir::Offset& low, const ir::Offset& high) {
    for (int axis = 0; axis < ir::kMaxRank; ++axis) {
        extent.low[axis] = extent.reads ? std::min(extent.low[axis], low[axis]) : low[axis];
        extent.high[axis] = extent.reads ? std::max(extent.high[axis], high[axis]) : high[axis];
    }
    extent.reads = true;
}

bool is_arithmetic(const ir::Expr& expr) {
    if (std::holds_alternative<ir::Fma>(expr.node)) return true;
    const auto* binary = std::get_if<ir::Binary>(&expr.node);
    return binary && ir::is_real(expr.type) &&
           (binary->op == ir::BinaryOp::add || binary->op == ir::BinaryOp::sub ||
            binary->op == ir::BinaryOp::mul);
}

std::string extent_words(const ir::Program& program, const Extent& extent) {
    std::string text;
    for (int axis = 0; axis < program.rank(); ++axis) {
        const int middle = (extent.low[axis] + extent.high[axis]) / 2;
        if (middle == 0) continue;
        text += fmt::format("_{}{}{}", "xyzw"[axis], middle < 0 ? "m" : "p", middle < 0 ? -middle : middle);
    }
    return text;
}

}  // namespace

RepeatedValues::RepeatedValues(const ir::Program& program, const std::vector<std::uint32_t>& shapes,
                               const std::map<std::uint32_t, int>& uses) {
    std::map<std::uint32_t, Extent> extents;
    std::map<std::uint32_t, int> times;
    for (const auto& [index, count] : uses) {  // operands come before their users
        const ir::Expr& expr = program.exprs[index];
        Extent& extent = extents[index];
        if (const auto* access = std::get_if<ir::Access>(&expr.node))
            include(extent, access->offset, access->offset);
        ir::for_each_operand(expr, [&](ir::ExprId operand) {
            const auto part = extents.find(operand.index);
            if (part == extents.end() || !part->second.reads) return;
            if (uses.at(operand.index) == 1) extent.operations += part->second.operations;
            include(extent, part->second.low, part->second.high);
        });
        extent.operations = std::min(kFewestOperations, extent.operations + (is_arithmetic(expr) ? 1 : 0));
        extent.is_long = is_arithmetic(expr) && extent.reads && extent.operations == kFewestOperations;
        if (extent.is_long) ++times[shapes[index]];
    }
    const auto is_repeated = [&](std::uint32_t index) {
        return extents.at(index).is_long && times[shapes[index]] > 1;
    };
    // A part of a repeated value gets no name.
    std::set<std::uint32_t> inside;
    std::map<std::uint32_t, std::vector<std::uint32_t>> outermost;  // by shape
    for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
        const std::uint32_t index = use->first;
        const bool repeated = is_repeated(index);
        if (repeated && !inside.contains(index)) outermost[shapes[index]].push_back(index);
        if (!repeated && !inside.contains(index)) continue;
        ir::for_each_operand(program.exprs[index], [&](ir::ExprId operand) { inside.insert(operand.index); });
    }
    for (const auto& [shape, alike] : outermost) {
        for (const std::uint32_t index : alike)
            if (alike.size() > 1) words_.emplace(index, extent_words(program, extents.at(index)));
    }
}

}  // namespace halo::lower
