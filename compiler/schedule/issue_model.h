// Issue slots of operations, for the models that count instructions (temporal.cpp, resident.cpp). Fitted on
// an NVIDIA H200. `haloc tune FILE` runs a program by many schedules and keeps each predicted time beside the
// measured one.
#pragma once

#include "compiler/schedule/footprint.h"

namespace halo::schedule {

namespace issue_model {

// Issue slots of one instruction of f32 that such an operation takes: a division, a root, and a function such
// as exp. Sums, products and comparisons take one. A random number takes so many where two of them share
// their words, as two normal ones are 91 instructions.
inline constexpr double kDivision = 8, kRoot = 8, kFunction = 20, kDraw = 45;

}  // namespace issue_model

// Of a cell, as if all values were of f32.
constexpr double issue_slots(const Operations& operations) {
    return operations.adds + operations.multiplies + operations.fmas + operations.comparisons +
           issue_model::kDivision * operations.divisions + issue_model::kRoot * operations.roots +
           issue_model::kFunction * operations.functions + issue_model::kDraw * operations.draws;
}

}  // namespace halo::schedule
