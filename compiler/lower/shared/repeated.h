// Values that one cell computes at several places, such as a sum over each of its planes. They get names, so
// that a kernel's text shows what is the same and stays readable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::lower {

class RepeatedValues {
public:
    // shapes: of every expression (ir/shifted.h). uses: the number of uses of each needed expression, by
    // index; those with several uses have names anyway.
    RepeatedValues(const ir::Program& program, const std::vector<std::uint32_t>& shapes,
                   const std::map<std::uint32_t, int>& uses);

    bool has(ir::ExprId id) const { return words_.contains(id.index); }
    // Its place relative to the cell: "_zm1" where the middle of its reads is a plane below; "" at the cell.
    const std::string& place(ir::ExprId id) const { return words_.at(id.index); }

private:
    std::map<std::uint32_t, std::string> words_;
};

}  // namespace halo::lower
