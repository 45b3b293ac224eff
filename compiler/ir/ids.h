// What the parts of a StencilProgram call each other by.
#pragma once

#include <compare>
#include <cstdint>

namespace halo::ir {

// Handles into the vectors of a Program.
template <class Tag>
struct Id {
    std::uint32_t index = 0;
    friend auto operator<=>(const Id&, const Id&) = default;
};
using ExprId = Id<struct ExprTag>;
using FieldId = Id<struct FieldTag>;
using ParamId = Id<struct ParamTag>;
using CoefId = Id<struct CoefTag>;
using TableId = Id<struct TableTag>;
using PointsId = Id<struct PointsTag>;
using ReductionId = Id<struct ReductionTag>;  // the n-th Reduce of the statements

}  // namespace halo::ir
