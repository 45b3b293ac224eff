// Which expressions are the same at a shifted place: u[x-1] + u[x+1] and u[x] + u[x+2] have one shape, since
// the cell to the right computes for itself what this one would compute for it. A kernel in which cells share
// what they compute does the work of each shape once a cell.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

class ShiftedShapes {
public:
    struct Place {
        std::uint32_t shape = 0;    // equal for expressions that differ by a shift alone
        Offset offset{};            // the shift against others of the shape
        bool is_everywhere = true;  // reads nothing that depends on the cell, so any shift leaves it the same
    };

    // The program may grow while this lives: expressions are looked at when they are first asked for.
    explicit ShiftedShapes(const Program& program) : program_(program) {}

    const Place& of(ExprId id);

private:
    Place place(ExprId id);

    const Program& program_;
    std::vector<Place> places_;
    std::map<std::vector<std::int64_t>, std::uint32_t> shapes_;
};

}  // namespace halo::ir
