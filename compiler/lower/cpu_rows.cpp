#include "compiler/lower/cpu_rows.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

namespace halo::lower {

using kernel::Expr;

namespace {

kernel::Type type_of(const Context& context, const Level& level) {
    return storage_type(context.stage().field(level).storage);
}

}  // namespace

std::string CpuRows::name(const Level& level, const ir::Offset& shift) const {
    std::string name = context_.array(level);
    for (int axis = 1; axis < ir::kMaxRank; ++axis)
        if (const int count = shift[axis])
            name += fmt::format("_{}{}{}", "xyzw"[axis], count < 0 ? "m" : "p", std::abs(count));
    return context_.local(name + "_row");
}

Expr CpuRows::element(const Level& level, const ir::Offset& shift) const {
    return kernel::element(name(level, shift), {context_.place(level, index_[0] + shift[0])},
                           type_of(context_, level));
}

Expr CpuRows::offset(const ir::Offset& shift) const {
    CellIndex row;
    for (int axis = 1; axis < context_.rank(); ++axis)
        row[axis] = index_[axis] + shift[axis];
    const Expr offset = context_.element_offset(row);
    return offset.has_value() ? offset : Expr(0);
}

void CpuRows::declare(int count, kernel::Block& body) const {
    std::map<std::string, bool> declared;
    const auto declare = [&](const Level& level, ir::Offset shift, int number, bool writable) {
        shift[together_.axis] += number;
        const std::string row = name(level, shift);
        if (!declared.insert({row, writable}).second) return;
        const int components = ir::interleave(context_.program(), level.field).count();
        const kernel::Type type = type_of(context_, level);
        body.push_back(kernel::DeclarePointer{
            type, row, kernel::address_of(context_.array(level), offset(shift) * components, type),
            writable});
    };
    for (int number = 0; number < count; ++number)
        for (const Write& write : context_.stage().writes)
            declare(write.level, {}, number, true);
    for (const Read& read : context_.stage().reads)
        for (int number = 0; number < count; ++number)
            for (const ir::Offset& offset : read.offsets)
                declare(read.level, offset, number, false);
}

}  // namespace halo::lower
