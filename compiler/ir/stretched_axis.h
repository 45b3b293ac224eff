// Axes whose cells are not equally far apart. What the step reads of them, positions and weights of
// differences, lies in hidden inputs over the axis alone: one number for each cell, computed before the first
// step. Who fills the other inputs of a program fills these as well.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/core/axis_points.h"

namespace halo::ir {

struct Program;

using rt::AxisPoints, rt::AxisTable;

struct StretchedAxis {
    struct Table {
        std::string field;
        AxisTable holds;
    };
    int axis = 0;
    // The distance of each cell to the next: an input over this axis, or the one output of a program over it,
    // which has the params and coefs of the stencil and reads no field.
    std::string field;
    std::shared_ptr<const Program> formula;
    bool is_periodic = false;
    std::vector<Table> tables;
};

// Lines of text: what programs are told apart by.
std::string print(const StretchedAxis& axis);

}  // namespace halo::ir
