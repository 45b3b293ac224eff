// Values that one cell computes at several places, as a sum over each of its planes: they get names, so that
// a kernel's text shows what is the same, and stays readable where they are long.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::lower {

class RepeatedValues {
public:
    // shapes: of every expression (ir/shifted.h). uses: how often each that is needed is used, by index;
    // those that are used more than once have names anyway.
    RepeatedValues(const ir::Program& program, const std::vector<std::uint32_t>& shapes,
                   const std::map<std::uint32_t, int>& uses);

    bool has(ir::ExprId id) const { return words_.contains(id.index); }
    // Where it is, from the cell: "_zm1" where the middle of what it reads lies a plane below; "" at the
    // cell.
    const std::string& place(ir::ExprId id) const { return words_.at(id.index); }

private:
    std::map<std::uint32_t, std::string> words_;
};

}  // namespace halo::lower
